"""Words and meaning together: one ranking from lexical and vector search."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from tool_search_processor.errors import ConfigurationError
from tool_search_processor.search.bm25 import BM25Index
from tool_search_processor.search.bm25.confidence import bias_of
from tool_search_processor.search.hybrid.fusion import (
    LEAST_COVERAGE,
    NAMED_SCORE,
    UNMATCHED,
    Floats,
    least_odds,
    log_odds_of,
    odds_of,
    reciprocal_ranks,
    scores_of,
)
from tool_search_processor.search.index import Documents, Index, ListName, Names, OneList, adapted
from tool_search_processor.search.masks import Views, best_places
from tool_search_processor.search.protocol import WORDS_ALONE, Document, Hit, SearchIndex, distinct
from tool_search_processor.search.strategies import is_index
from tool_search_processor.search.vector import VectorIndex
from tool_search_processor.search.vector.index import Cosines, Vectors
from tool_search_processor.wire.checks import check_choice, check_count, check_fraction, check_positive

Fusion = Literal["score", "rrf"]
_ValueT = TypeVar("_ValueT")


@dataclass(frozen=True, slots=True)
class _Held:
    documents: tuple[Document, ...] = ()
    views: Views = field(default_factory=lambda: Views(()))


@dataclass(frozen=True, kw_only=True)
class _Lists:
    """The answers of both parts to one query; arrays have one value for each document."""

    held: _Held
    extra: Documents
    seen: NDArray[np.bool_]
    cosines: Floats
    """NaN for a document whose vector is not there yet."""
    by_text: Floats
    """The cosines by the documents' texts alone; the same array where no example request counts."""
    words: tuple[Hit, ...]
    """The beginning of the lexical list."""
    meaning: tuple[int, ...]
    """The beginning of the vector list, as places."""

    @cached_property
    def documents(self) -> tuple[Document, ...]:
        """The stored ones, then the request's own."""
        return (*self.held.documents, *self.extra) if self.extra else self.held.documents

    @cached_property
    def _places(self) -> Mapping[str, int]:
        return {document.name: place for place, document in enumerate(self.extra, len(self.held.documents))}

    def place(self, name: str) -> int:
        """Return the place of a document, of the request's own before a stored one of its name."""
        own = self._places.get(name)
        return self.held.views.slots[name] if own is None else own

    @property
    def nearest_by_text(self) -> float:
        """The cosine of the tool whose text is the nearest; NaN if none is near."""
        if not self.meaning:
            return math.nan
        if self.by_text is self.cosines:
            return float(self.cosines[self.meaning[0]])
        return float(np.nanmax(np.where(self.seen, self.by_text, np.float32(-1))))


class HybridIndex(Index):
    """Ranks tools by their words and by their meaning.

    ```python
    index = HybridIndex(BM25Index(), VectorIndex("static"), weight=0.3)
    search = ToolSearchProcessor([create_issue], search=index)
    ```

    With `fusion="score"` each list gives the odds that a tool fits, and the odds are multiplied. A query in a
    language that the embedder doesn't know (Chinese, with an English model) is left to the words; a query
    whose words are in no tool (Russian, with English tools) is left to the meaning. The score also takes in
    how much nearer the query is to this catalog than to tools in general: the names of some everyday tools
    are embedded once for it, at the first query. With `fusion="rrf"` ranks are added: weighted reciprocal
    rank fusion. Either way a tool that the query names comes first, with score 1.0 for the exact name.

    The effect of a `min_score`, with `fusion="score"` and the default embedder, measured as in `BM25Index`
    (`python tests/benchmarks/bench_min_score.py --set DIR … --search hybrid`):

        min_score      0     0.1   0.2   0.3   0.4   0.5
        answered      1.00  0.99  0.97  0.93  0.89  0.83
        recall@5      0.85  0.84  0.82  0.79  0.75  0.71
        no answer     0.13  0.47  0.67  0.78  0.85  0.89

    0.1 costs nothing; 0.2 is a good choice if a wrong tool does harm.

    While the embedder fails or takes too long, words answer alone, and the log has one warning a minute.
    Words also answer alone until the vectors are ready: those of more than 32 tools are built in the
    background, 2,000 in about five seconds. To have them before the first request, `await search.warm_up()`.
    To have them right after a restart, search by the name "hybrid" with an `index_cache`, or pass
    `VectorIndex(cache_path=..., background=True)`.
    """

    def __init__(
        self,
        lexical: SearchIndex | None = None,
        vector: VectorIndex | None = None,
        *,
        fusion: Fusion = "score",
        weight: float = 0.5,
        k: float = 60.0,
        depth: int = 50,
    ) -> None:
        """Choose the two parts and how they are combined.

        Args:
            lexical: Search by words; a `BM25Index` unless given.
            vector: Search by meaning; `VectorIndex(background=True)` unless given.
            fusion: `"score"` or `"rrf"`.
            weight: The meaning's share in the ranking, 0 to 1; a half measured best.
            k: For reciprocal rank fusion: the higher it is, the less the first places count.
            depth: How many places of each list are fused, and carry a rank in the hits. Choose more than a
                search returns, or tools that stand further down in both lists are missed.

        Raises:
            ConfigurationError: For an unknown fusion, a number out of range, or a part of the wrong type.
            ImportError: If the package of the default embedder is missing.
        """
        check_choice("fusion", fusion, ("score", "rrf"))
        check_fraction("weight", weight)
        check_positive("k", k, finite=True)
        check_count("depth", depth)
        if lexical is not None and (isinstance(lexical, type) or not is_index(lexical)):
            raise ConfigurationError(
                f"lexical must be an index to search by words, such as BM25Index(); found {lexical!r:.80}"
            )
        if vector is not None and not isinstance(vector, VectorIndex):
            raise ConfigurationError(
                f"vector must be a VectorIndex, such as VectorIndex(embedder); found {vector!r:.80}"
            )
        self.lexical = BM25Index() if lexical is None else lexical
        self._words = adapted(self.lexical)
        self.vector = VectorIndex(background=True) if vector is None else vector
        self.blocking = self.vector.blocking
        self._fusion = fusion
        self._weight = weight
        self._k = k
        self._depth = depth
        self._lock = threading.Lock()
        self._changes = 0  # odd while the parts are in different states
        self._snapshot = _Held()
        self._alignment: tuple[_Held, Vectors, NDArray[np.int64]] | None = None

    def lists(self) -> Mapping[ListName, Index]:
        """Return the two lists, each to be searched alone."""
        return {"fts": OneList(self, self.lexical), "vector": OneList(self, self.vector)}

    @property
    def ready(self) -> bool:
        """Whether the vectors of all documents are ready."""
        return self.vector.ready

    def wait(self, timeout_seconds: float | None = None) -> bool:
        """Wait until building in the background has ended; return whether all vectors are ready.

        An `update` starts it: a catalog makes the first one at its first search or `refresh`.
        """
        return self.vector.wait(timeout_seconds)

    @property
    def building(self) -> tuple[int, int] | None:
        """How many vectors, of how many, are made in the background; None if nothing is."""
        return self.vector.building

    def update(self, documents: Sequence[Document]) -> None:
        """Make `documents` the whole content, in this order."""
        with self._lock:
            held = distinct(documents)
            if held != self._snapshot.documents:
                self._changes += 1
                try:
                    self._words.update(held)
                    self._snapshot = _Held(held, Views([document.name for document in held]))
                finally:
                    self._changes += 1
            self._embedded(lambda: self.vector.update(held))

    def _search(self, query: str, limit: int | None, within: Names, extra: Documents) -> list[Hit]:
        if not query.strip():
            return []
        started = self._changes
        if started % 2 == 0:
            try:
                hits = self._ranked(query, limit, within, extra)
            except (KeyError, IndexError, ValueError):  # old and new arrays were mixed
                if self._changes == started:
                    raise
            else:
                if self._changes == started:
                    return hits
        with self._lock:
            return self._ranked(query, limit, within, extra)

    def _ranked(self, query: str, limit: int | None, within: Names, extra: Documents) -> list[Hit]:
        lists = self._lists(self._snapshot, query, within, extra)
        scores = self._by_ranks(lists) if self._fusion == "rrf" else self._by_odds(lists, query)
        scores *= lists.seen
        for hit in lists.words:
            if hit.score >= NAMED_SCORE:
                scores[lists.place(hit.name)] = hit.score
        by_words = {hit.name: (rank, hit.matched) for rank, hit in enumerate(lists.words, 1)}
        by_meaning = {place: rank for rank, place in enumerate(lists.meaning, 1)}
        hits = []
        for place in best_places(scores, limit):
            name = lists.documents[place].name
            text_rank, matched = by_words.get(name, (None, ()))
            hits.append(Hit(name, float(scores[place]), text_rank, by_meaning.get(place), matched))
        return hits

    def _lists(self, held: _Held, query: str, within: Names, extra: Documents) -> _Lists:
        size = len(held.documents)
        seen = np.ones(size + len(extra), bool)
        mask = held.views.mask(within, [document.name for document in extra])
        if mask is not None:
            seen[:size] = mask
        cosines, by_text = self._cosines(held, query, extra)
        return _Lists(
            held=held,
            extra=extra,
            seen=seen,
            cosines=cosines,
            by_text=by_text,
            words=tuple(self._words.search(query, limit=self._depth, within=within, extra=extra)),
            # A comparison with NaN is false: an unknown document is not a match.
            meaning=tuple(best_places(cosines if mask is None else cosines * seen, self._depth)),
        )

    def _cosines(self, held: _Held, query: str, extra: Documents) -> tuple[Floats, Floats]:
        """Return one cosine for each document, and those by text alone; vectors may lag behind the words."""
        found = self._embedded(lambda: self.vector.cosines(query, extra=extra))
        if found is None:
            unknown = np.full(len(held.documents) + len(extra), np.nan, np.float32)
            return unknown, unknown
        cosines = self._aligned(held, found, found.stored, found.extra)
        is_same = found.by_text[0] is found.stored and found.by_text[1] is found.extra
        return cosines, cosines if is_same else self._aligned(held, found, *found.by_text)

    def _aligned(self, held: _Held, found: Cosines, stored: Floats, extra: Floats) -> Floats:
        """Return cosines in the order of the documents that are held."""
        stored = np.where(found.held.known, stored, np.float32(np.nan))
        if found.held.documents is held.documents:
            return np.concatenate([stored, extra])
        alignment = self._alignment
        if alignment is None or alignment[0] is not held or alignment[1] is not found.held:
            alignment = self._alignment = held, found.held, found.held.rows_of(held.documents)
        known = np.append(stored, np.float32(np.nan))  # -1 is the last
        return np.concatenate([known[alignment[2]], extra])

    def _embedded(self, ask: Callable[[], _ValueT]) -> _ValueT | None:
        """Return the answer of the embedder, or None with a warning at most once a minute if it fails."""
        try:
            return ask()
        except Exception:  # noqa: BLE001 - foreign code: down, slow, or its answers are no vectors
            self.vector.warn(WORDS_ALONE)
            return None

    def _by_odds(self, lists: _Lists, query: str) -> Floats:
        described = self.vector.embedder.embedder
        low, high = described.cosine_range
        coverage = described.coverage(query)
        share = self._weight / max(1 - self._weight, 1e-6) * max(coverage, LEAST_COVERAGE)
        words = self._log_odds(lists, query)
        total, size = len(lists.documents), int(np.count_nonzero(lists.seen))
        nearness = (lists.cosines - low) / (high - low)
        odds = odds_of(words, nearness, weight=share, prior=bias_of(total))
        judge = partial(scores_of, least=least_odds(total), coverage=coverage, size=size)
        general, nearest = self._general(lists, query), lists.nearest_by_text
        scores = judge(odds, lead=(nearest - general) / (high - low))
        if lists.by_text is not lists.cosines:
            # An example request is near to its own tool, and says nothing about the others.
            best = int(np.argmax(np.where(lists.seen, odds, -np.inf)))
            own = max(nearest, float(lists.cosines[best]))
            scores[best] = judge(odds[best : best + 1], lead=(own - general) / (high - low))[0]
        return scores

    def _general(self, lists: _Lists, query: str) -> float:
        """Return how near the query is to tools in general; NaN if unknown, or if no tool is near."""
        general = self._embedded(lambda: self.vector.cohort_cosine(query)) if lists.meaning else None
        return math.nan if general is None else general

    def _log_odds(self, lists: _Lists, query: str) -> Floats:
        known = self._words.log_odds(query, extra=lists.extra)
        if known is not None:
            return known
        odds = np.full(len(lists.documents), UNMATCHED, np.float32)
        for hit in self._words.search(query, extra=lists.extra):
            odds[lists.place(hit.name)] = log_odds_of(hit.score)
        return odds

    def _by_ranks(self, lists: _Lists) -> Floats:
        places = [lists.place(hit.name) for hit in lists.words]
        both = [(1 - self._weight, places), (self._weight, lists.meaning)]
        return reciprocal_ranks(both, size=len(lists.documents), k=self._k)
