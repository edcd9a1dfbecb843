"""Search by meaning: the exact cosine of a query's vector with the vector of each tool."""

from __future__ import annotations

import functools
import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike

import numpy as np
from numpy.typing import NDArray

from tool_search_processor.concurrency.rare_warnings import RareWarnings
from tool_search_processor.errors import ConfigurationError
from tool_search_processor.search.embedders import (
    CachedEmbedder,
    DescribedEmbedder,
    Embedder,
    Floats,
    LocalEmbedder,
    ModelName,
)
from tool_search_processor.search.embedders.cached import QUERY_SECONDS
from tool_search_processor.search.embedders.workers import EmbeddingStopped, exiting, start_worker
from tool_search_processor.search.index import Documents, Index, ListName, Names
from tool_search_processor.search.masks import Views, best_places
from tool_search_processor.search.protocol import WORDS_ALONE, Document, Hit, distinct
from tool_search_processor.search.vector.cohort import COHORT, NEAREST
from tool_search_processor.search.vector.products import nearest_cosines
from tool_search_processor.search.vector.request_vectors import LEAST_COVERAGE, RequestVectors
from tool_search_processor.search.vector.texts import document_text, query_texts
from tool_search_processor.wire.checks import check_flags

logger = logging.getLogger(__name__)

AnyEmbedder = ModelName | Embedder | Callable[[Sequence[str]], object]

QUERY_CHARACTERS = 2000
"""Only this much of a query is embedded."""

_BEST = 0.99  # 1.0 is an exact name
_INLINE = 32
_MOST_OWN_REQUESTS = 10_000
_RETRY_SECONDS = 30.0
_WARNING_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Vectors:
    """The stored documents, and their vectors row by row."""

    documents: tuple[Document, ...] = ()
    views: Views = field(default_factory=lambda: Views(()))
    vectors: Floats = field(default_factory=lambda: np.zeros((0, 0), np.float32))
    known: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, np.bool_))
    """Whether each vector is known; a vector of zeros is not."""
    requests: RequestVectors = field(default_factory=RequestVectors)

    def rows_of(self, documents: Sequence[Document]) -> NDArray[np.int64]:
        """Return the row of each document's text, -1 if it is missing; found by name."""
        found = np.full(len(documents), -1, np.int64)
        for place, document in enumerate(documents):
            row = self.views.slots.get(document.name)
            if row is not None and (
                self.documents[row] is document
                or document_text(self.documents[row]) == document_text(document)
            ):
                found[place] = row
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Cosines:
    """How near a query is to each document."""

    held: Vectors
    stored: Floats
    """The cosines of the stored documents, in order."""
    extra: Floats
    """The cosines of the request's own documents, in order."""
    by_text: tuple[Floats, Floats]
    """`stored` and `extra` by the documents' texts alone: the same arrays where no example request counts."""


class VectorIndex(Index):
    """Ranks tools by the cosine of their vectors with the query's vector.

    ```python
    index = VectorIndex("multilingual", cache_path="vectors.db")
    search = ToolSearchProcessor([create_issue], search=index)
    ```

    A score is the cosine, scaled to 0 to 1 between the two ends of the embedder's `cosine_range`; it means
    the same for every query of one embedder. The nearest of a tool's example requests counts as well as its
    text, if the embedder knows the query's language. Vectors are stored by content: a tool that has not
    changed is not embedded again, even after a restart if there is a `cache_path`.
    """

    has_words_instead = True

    def __init__(
        self,
        embedder: AnyEmbedder = "minilm+static",
        *,
        cache_path: str | PathLike[str] | None = None,
        background: bool = False,
        timeout_seconds: float | None = QUERY_SECONDS,
    ) -> None:
        """Choose what embeds.

        Args:
            embedder: A local model's name, an `Embedder`, or a function from texts to vectors.
            cache_path: A file for the vectors; processes and models may share one. None keeps them in memory
                only.
            background: Whether `update` embeds more than 32 new tools in a thread, if the embedder is slow
                (`blocking`). Until that is done, a search sees the previous tools. After a failure, a search
                half a minute later starts another attempt.
            timeout_seconds: How long an embedder that is `blocking` may take for a query, or for 256 tools;
                then a `HybridIndex`, or a catalog with this index, ranks by words. None waits as long as it
                takes.

        Raises:
            ConfigurationError: If `embedder` is not one of these, if there is a `cache_path` but no
                `model_id`, or if the time is not above 0.
            ImportError: If the local model's package is missing.
        """
        check_flags(background=background)
        described = DescribedEmbedder.of(LocalEmbedder(embedder) if isinstance(embedder, str) else embedder)
        self.embedder = CachedEmbedder(described, path=cache_path, timeout_seconds=timeout_seconds)
        self.blocking = described.blocking
        self._low, high = described.cosine_range
        self._span = high - self._low
        self._background = background and described.blocking
        self._lock = threading.Lock()
        self._cohort_turn = threading.Lock()
        self._snapshot = Vectors()
        self._own_asked = RequestVectors()
        self._wanted: tuple[Document, ...] = ()
        self._worker: threading.Thread | None = None
        self._made = (0, 0)
        self._failed_at: float | None = None
        self._warnings = RareWarnings(logger, seconds=_WARNING_SECONDS)

    def lists(self) -> Mapping[ListName, Index]:
        """Return its only list, the one by meaning."""
        return {"vector": self}

    @property
    def ready(self) -> bool:
        """Whether a search sees the documents of the last update."""
        return self._snapshot.documents == self._wanted

    def wait(self, timeout_seconds: float | None = None) -> bool:
        """Wait until building in the background has ended; return whether the index is ready."""
        worker = self._worker
        if worker is not None:
            worker.join(timeout_seconds)
        return self.ready

    @property
    def building(self) -> tuple[int, int] | None:
        """How many vectors, of how many, are made in the background; None if nothing is."""
        return self._made if self._is_building else None

    def update(self, documents: Sequence[Document]) -> None:
        """Make `documents` the whole content, in this order; only new texts are embedded."""
        wanted = distinct(documents)
        with self._lock:
            self._wanted = wanted
            if self._is_building:
                return
            if self._background and self._missing(wanted) > _INLINE:
                self._build_in_background()
                return
            try:
                self._snapshot = self._build(wanted, in_time=self._background)
            except Exception:
                self._failed_at = time.monotonic()
                raise
            self._failed_at = None

    def _search(self, query: str, limit: int | None, within: Names, extra: Documents) -> list[Hit]:
        cosines = self.cosines(query, extra=extra)
        held = cosines.held
        both = np.concatenate([cosines.stored, cosines.extra])
        scores = np.asarray(np.clip((both - self._low) / self._span, 0.0, _BEST), np.float32)
        documents = (*held.documents, *extra)
        name = query.strip()
        stored = held.views.slots.get(name)
        own = [place for place, document in enumerate(extra, len(held.documents)) if document.name == name]
        scores[own if stored is None else [stored, *own]] = 1.0
        mask = held.views.mask(within, [document.name for document in extra])
        if mask is not None:
            scores[: len(mask)] *= mask
        return [
            Hit(name=documents[place].name, score=float(scores[place]), vector_rank=rank)
            for rank, place in enumerate(best_places(scores, limit), 1)
        ]

    def cosines(self, query: str, *, extra: Sequence[Document] = ()) -> Cosines:
        """Return how near the query, or its nearest clause, is to every document."""
        snapshot = self._snapshot
        self._catch_up()
        own = self.embedder.documents_in_time([document_text(document) for document in extra])
        own_requests = self._own_requests(extra)
        # Requests are compared with the whole query: it is embedded by the same call.
        vectors = self._asked(query, with_whole=bool(snapshot.requests.texts or own_requests.texts))
        stored = nearest_cosines(snapshot.vectors, vectors, len(snapshot.documents))
        others = nearest_cosines(own, vectors, len(extra))
        return Cosines(
            held=snapshot,
            stored=self._lifted(stored, snapshot.requests, query),
            extra=self._lifted(others, own_requests, query),
            by_text=(stored, others),
        )

    def cohort_cosine(self, query: str) -> float:
        """Return how near the query, or its nearest clause, is to tools in general; see `cohort`."""
        nearness = nearest_cosines(self._cohort, self._asked(query), len(COHORT))
        return float(np.partition(nearness, -NEAREST)[-NEAREST:].mean())

    @functools.cached_property
    def _cohort(self) -> Floats:
        return self.embedder.documents_in_time(COHORT, turn=self._cohort_turn)

    def _asked(self, query: str, *, with_whole: bool = False) -> Floats:
        """Return the vectors of a query and its clauses, (n, dimensions); (1, 0) for a blank query."""
        asked = query[:QUERY_CHARACTERS].strip()
        if not asked:
            return np.zeros((1, 0), np.float32)
        texts = query_texts(asked)
        vectors = self.embedder.queries([asked, *texts] if with_whole and asked not in texts else texts)
        if not vectors.any() and self._should_know(asked):
            raise ConfigurationError("the embedder made no vector of a query (zeros, NaN or infinite)")
        return vectors

    def _own_requests(self, extra: Sequence[Document]) -> RequestVectors:
        """Return the vectors of the requests of a request's own documents; a few new ones each time.

        A search must not wait for the thousands that were learned before a restart. They stay in memory: what
        people ask has no end, and can be forgotten.
        """
        if not any(document.example_requests for document in extra):
            return RequestVectors()
        fresh = self._own_asked.missing(extra)[:_INLINE]
        embed = functools.partial(self.embedder.documents_in_time, in_memory=True)
        known = self._own_asked = self._own_asked.with_texts(fresh, embed, most=_MOST_OWN_REQUESTS)
        return known.among(extra)

    def _lifted(self, cosines: Floats, requests: RequestVectors, query: str) -> Floats:
        """Return cosines in which the nearest of a tool's example requests counts as well as its text."""
        asked = query[:QUERY_CHARACTERS].strip()
        if not requests.texts or not asked or self.embedder.embedder.coverage(asked) < LEAST_COVERAGE:
            return cosines
        return requests.lift(cosines, self.embedder.query(asked), span=self._span)

    def warn(self, message: str, *, exc_info: bool = True) -> None:
        """Log a failure of the embedder: as a warning at most once a minute, else for debugging."""
        self._warnings.warn(message, about="the embedder", exc_info=exc_info)

    def _missing(self, documents: Sequence[Document]) -> int:
        snapshot = self._snapshot
        without = int(np.count_nonzero(snapshot.rows_of(documents) < 0))
        return without + len(snapshot.requests.missing(documents))

    def _build_in_background(self) -> None:
        self._made = (0, len(self._wanted))
        self._worker = start_worker(self._build_wanted, name="vector-index")
        self._failed_at = None
        logger.info("vectors of %d tools are made in the background", len(self._wanted))

    @property
    def _is_building(self) -> bool:
        return self._worker is not None and self._worker.is_alive()  # a forked process has no such thread

    def _catch_up(self) -> None:
        """Build again some time after a failure, or in a forked process whose parent was building."""
        failed_at = self._failed_at
        if self._is_building or (self._worker is None and failed_at is None):
            return
        if failed_at is not None and time.monotonic() - failed_at < _RETRY_SECONDS:
            return
        with self._lock:
            if not self._is_building and not self.ready:
                self._build_in_background()

    def _build_wanted(self) -> None:
        """Build until the last update is done."""
        while True:
            wanted = self._wanted
            built = None
            try:
                built = self._build(wanted, stop=exiting)
            except EmbeddingStopped:
                return
            except BaseException:  # noqa: BLE001 - foreign code, and nobody sees what this thread raises
                self.warn(f"{WORDS_ALONE}: embedding of {len(wanted)} tools failed")
            with self._lock:
                if built is not None:
                    self._snapshot = built
                if self._wanted is wanted:
                    self._worker = None
                    self._failed_at = time.monotonic() if built is None else None
                    if built is not None:
                        logger.info("vectors of %d tools are ready", len(wanted))
                    return

    def _build(
        self,
        documents: tuple[Document, ...],
        *,
        stop: threading.Event | None = None,
        in_time: bool = False,
    ) -> Vectors:
        old = self._snapshot
        if documents == old.documents:
            return old
        rows = old.rows_of(documents)
        missing = np.flatnonzero(rows < 0)
        texts = [document_text(documents[place]) for place in missing.tolist()]
        embedder = self.embedder

        def embed(texts: Sequence[str]) -> Floats:
            if in_time:
                return embedder.documents_in_time(texts)
            return embedder.documents(texts, stop=stop, on_made=self._count_made)

        fresh = embed(texts)
        self._check(texts, fresh)
        kept = old.vectors if len(missing) < len(documents) else fresh
        dimensions = {vectors.shape[1] for vectors in (fresh, kept) if len(vectors)}
        if len(dimensions) > 1:
            raise ConfigurationError(
                f"the embedder made vectors of {sorted(dimensions)} dimensions for one index"
            )
        # Missing rows are first filled with any other: -1 is the last.
        vectors = kept[rows] if len(missing) < len(documents) else fresh
        if len(missing) < len(documents) and len(missing):
            vectors[missing] = fresh
        views = Views([document.name for document in documents])
        requests = old.requests.of(documents, embed)
        return Vectors(documents, views, vectors, vectors.any(axis=1), requests)

    def _count_made(self, made: int, total: int) -> None:
        self._made = made, total

    def _check(self, texts: Sequence[str], vectors: Floats) -> None:
        """Raise if no text has a vector though it should have one; warn if some have none."""
        empty = [texts[place] for place in np.flatnonzero(~vectors.any(axis=1)).tolist()]
        without = sum(map(self._should_know, empty))
        if not without:
            return
        found = f"the embedder made no vector of {without} of {len(texts)} tools (zeros, NaN or infinite)"
        if without == len(texts):
            raise ConfigurationError(found)
        self.warn(f"{found}: words answer for them", exc_info=False)

    def _should_know(self, text: str) -> bool:
        """Return True if a string has words, and its language is not unknown to the embedder."""
        return any(map(str.isalnum, text)) and self.embedder.embedder.coverage(text) > 0
