"""From the engine's lists to scored names."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np

from tool_search_processor.search.bm25.confidence import MOST_SCORE
from tool_search_processor.search.milvus.collection import Row, ToolCollection
from tool_search_processor.search.milvus.meaning import Meaning
from tool_search_processor.search.milvus.row_masks import View
from tool_search_processor.search.milvus.terms import TextQuery, evidence_in
from tool_search_processor.search.protocol import Document

K = 60
"""Of reciprocal rank fusion."""

_SPARE = 2
_DEEPER = 4
_LEAST_WINDOW = 32
_DECIMALS = 6  # the last bits of a score depend on the segment
_WORTH = MOST_SCORE * (K + 1) / 2
"""Turns a sum of reciprocal ranks into a share of the best possible sum: first in both lists."""

Scored = list[tuple[str, float]]
"""Names with their scores, 0 to 1, best first; ties are in order."""
_Fetch = Callable[[int, str], Sequence[Row]]
"""Asks the engine for a number of rows that pass a filter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineRanking:
    """One query to one collection. `limit` None gives all; a higher limit only makes a list longer."""

    collection: ToolCollection
    query: str
    view: View
    skipped: Collection[str]
    """Names that have been ranked already."""
    size: int
    """How many tools are published; at 0 the engine is not asked."""
    order: Callable[[str], tuple[int, str]]
    """The sort key that breaks ties."""
    depth: int
    """How much of each list is fused."""
    window: int
    """The most rows that the engine returns at a time."""

    def by_text(self, own: Sequence[Document], limit: int | None) -> Scored:
        """Rank by words: stored tools and the request's own."""
        asked = TextQuery.of(self.query)
        size = max(self.size, len(own))
        rows = [(name, evidence_in(score)) for name, score in self._text_rows(asked, limit)]
        rows += [(document.name, asked.evidence_of(document, size)) for document in own]
        best = sorted((row for row in rows if row[1] > 0), key=lambda row: -row[1])[:limit]
        scores = asked.confidence(size).of(np.array([evidence for _, evidence in best], np.float32))
        return [(name, float(score)) for (name, _), score in zip(best, scores, strict=True)]

    def by_vector(self, meaning: Meaning, own: Sequence[Document], limit: int | None) -> Scored:
        """Rank by meaning."""
        vector = meaning.query(self.query)
        if vector is None:
            return []
        rows = [*self._vector_rows(vector.tolist(), limit), *meaning.nearness(own, vector)]
        best = sorted(rows, key=lambda row: -row[1])
        return [(name, score) for name, cosine in best if (score := meaning.score(cosine)) > 0][:limit]

    def by_both(self, meaning: Meaning, own: Sequence[Document], limit: int | None) -> Scored:
        """Rank by reciprocal rank fusion of both lists down to `depth`, then by the better rank."""
        asked, vector = TextQuery.of(self.query), meaning.query(self.query)
        if not asked.shares or vector is None:
            # Without words or without meaning, the other list is all there is.
            return self.by_text(own, limit) if asked.shares else self.by_vector(meaning, own, limit)
        wanted = vector.tolist()
        found, is_cut = self._fused(asked, wanted)
        if is_cut and (limit is None or len(found) < limit):
            lists = self._text_rows(asked, limit), self._vector_rows(wanted, limit)
            found += self._further(lists, {name for name, _ in found})
        if own:
            found += self._placed(own, asked, meaning.nearness(own, vector), wanted)
        best = sorted(found, key=lambda row: -row[1])[:limit]
        return [(name, share * _WORTH) for name, share in best]

    def _fused(self, asked: TextQuery, vector: Sequence[float]) -> tuple[list[Row], bool]:
        """Return the list that the engine fused, and whether it may have been cut."""
        if not self._asks:
            return [], False
        rows = self.collection.by_both(
            asked.text, vector, depth=self.depth, k=K, expression=self.view.expression
        )
        seen = [(name, round(share, _DECIMALS + 2)) for name, share in rows if self._shows(name)]
        return self._sorted(seen), len(rows) >= self.depth

    def _further(self, lists: Iterable[Sequence[Row]], known: set[str]) -> Iterator[Row]:
        """Yield the other rows of both lists, by the better rank, with less than any fused row."""
        for rank, row in enumerate(zip_longest(*lists), 1):
            for item in row:
                if item is not None and item[0] not in known:
                    known.add(item[0])
                    yield item[0], 1 / (K + self.depth + rank)

    def _placed(
        self, own: Sequence[Document], asked: TextQuery, near: Sequence[Row], vector: Sequence[float]
    ) -> Iterator[Row]:
        """Yield the request's own documents by the ranks they would have among the stored ones."""
        size = max(self.size, len(own))
        stored = [evidence_in(score) for _, score in self._text_rows(asked, self.depth)]
        cosines = [cosine for _, cosine in self._vector_rows(vector, self.depth)]
        for document, (name, cosine) in zip(own, near, strict=True):
            evidence = asked.evidence_of(document, size)
            share = self._share(evidence, stored) + self._share(cosine, cosines)
            if share > 0:
                yield name, share

    def _share(self, value: float, others: Sequence[float]) -> float:
        rank = 1 + sum(other >= value for other in others)
        return 1 / (K + rank) if value > 0 and rank <= self.depth else 0.0

    def _text_rows(self, asked: TextQuery, limit: int | None) -> list[Row]:
        text = asked.text
        if not text:
            return []
        return self._rows(lambda n, where: self.collection.by_text(text, limit=n, expression=where), limit)

    def _vector_rows(self, vector: Sequence[float], limit: int | None) -> list[Row]:
        return self._rows(
            lambda n, where: self.collection.by_vector(vector, limit=n, expression=where), limit
        )

    def _rows(self, fetch: _Fetch, limit: int | None) -> list[Row]:
        """Return the best visible rows, fetching deeper until there are enough and no tie is cut."""
        if not self._asks:
            return []
        asked = self.window if limit is None else min(max(limit * _SPARE, _LEAST_WINDOW), self.window)
        while True:
            rows = _rounded(fetch(asked, self.view.expression))
            is_whole = len(rows) < asked
            last = rows[-1][1] if rows else 0.0
            # Which rows of equal score the engine cuts off is up to the engine.
            at_end = is_whole or asked >= self.window
            seen = [row for row in rows if self._shows(row[0]) and (at_end or row[1] > last)]
            is_enough = limit is not None and len(seen) >= limit
            if at_end or is_enough:
                break
            asked = min(asked * _DEEPER, self.window)
        if not (is_whole or is_enough or self.view.is_pushed):
            chunks = [_rounded(fetch(self.window, chunk)) for chunk in self.view.chunks()]
            seen = [row for chunk in chunks for row in chunk if self._shows(row[0])]
        return self._sorted(seen)[:limit]

    @property
    def _asks(self) -> bool:
        return self.size > 0 and (self.view.within is None or len(self.view.within) > 0)

    def _shows(self, name: str) -> bool:
        return name not in self.skipped and self.view.shows(name)

    def _sorted(self, rows: list[Row]) -> list[Row]:
        return sorted(rows, key=lambda row: (-row[1], self.order(row[0])))


def _rounded(rows: Sequence[Row]) -> list[Row]:
    return [(name, round(score, _DECIMALS)) for name, score in rows]
