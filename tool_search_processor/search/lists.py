"""The lists of an index, each searched alone: by words, by meaning, or both in one."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal, Protocol, runtime_checkable

from tool_search_processor.search.protocol import Document, Hit, SearchIndex
from tool_search_processor.search.strategies import AnyIndex

SearchMode = Literal["fts", "vector", "hybrid"]
"""By words, by meaning, or by both."""
ListName = Literal["fts", "vector"]


@runtime_checkable
class TwoLists(Protocol):
    """An index of two lists that can be searched alone, as `HybridIndex` is."""

    lexical: SearchIndex
    vector: SearchIndex

    def update(self, documents: Sequence[Document]) -> None:
        """Make `documents` the whole content of both."""
        ...


class ListIndex:
    """One list of an index of two, searched alone; an update reaches the whole."""

    def __init__(self, whole: TwoLists, part: SearchIndex) -> None:
        """Take the whole and the part."""
        self._whole = whole
        self._part = part
        self.blocking = bool(getattr(part, "blocking", False))

    def update(self, documents: Sequence[Document]) -> None:
        """Make `documents` the whole content; nothing happens where the whole holds them."""
        self._whole.update(documents)

    def search(
        self,
        query: str,
        *,
        limit: int | None = None,
        within: Collection[str] | None = None,
        extra: Sequence[Document] = (),
    ) -> list[Hit]:
        """Rank the documents by this list alone; see `SearchIndex.search`."""
        return self._part.search(query, limit=limit, within=within, extra=extra)


def lists_of(index: AnyIndex) -> dict[ListName, AnyIndex]:
    """Return the lists of an index by name: two, `"vector"` for one that embeds, else `"fts"`."""
    if isinstance(index, TwoLists):
        return {"fts": ListIndex(index, index.lexical), "vector": ListIndex(index, index.vector)}
    return {"vector" if hasattr(index, "embedder") else "fts": index}
