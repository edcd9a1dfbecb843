"""What one search may see: what the engine can be told of it, and what is looked at afterwards."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from tool_search_processor.search.milvus.collection import cut, literals
from tool_search_processor.search.protocol import Document

PUSHED_NAMES = 1000
"""At most so many names are put into the engine's filter at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """The stored tools that one search may see."""

    within: Collection[str] | None = None
    """Their names; None for all."""
    tags: frozenset[str] = frozenset()
    """Only tools that bear any of these; empty asks nothing."""
    namespaces: frozenset[str] = frozenset()
    """Only tools of any of these; empty asks nothing."""
    hidden: frozenset[str] = frozenset()
    """Names that a document of the request's own bears."""

    @property
    def is_pushed(self) -> bool:
        """Whether the engine's filter says all that `within` does."""
        return self.within is None or len(self.within) <= PUSHED_NAMES

    @property
    def expression(self) -> str:
        """The filter for the engine; empty where it has nothing to filter."""
        return self._with(self.within if self.is_pushed else None)

    def chunks(self) -> Iterator[str]:
        """Yield filters that together let the engine see exactly this view."""
        names = sorted(self.within or ())
        for start in range(0, len(names), PUSHED_NAMES):
            yield self._with(names[start : start + PUSHED_NAMES])

    def shows(self, name: str) -> bool:
        """Tell whether a row that came through the filter is seen."""
        return name not in self.hidden and (self.within is None or name in self.within)

    def admits(self, document: Document) -> bool:
        """Tell whether a document of the request's own is seen; `within` is not about those."""
        return (not self.tags or not self.tags.isdisjoint(document.tags)) and (
            not self.namespaces or document.namespace in self.namespaces
        )

    def _with(self, names: Collection[str] | None) -> str:
        conditions = [] if names is None else [f"name in {literals(names)}"]
        if self.tags:
            conditions.append(f"array_contains_any(tags, {literals(_stored(self.tags))})")
        if self.namespaces:
            conditions.append(f"namespace in {literals(_stored(self.namespaces))}")
        return " and ".join(conditions)


def _stored(texts: Collection[str]) -> list[str]:
    return [cut(text) for text in texts]
