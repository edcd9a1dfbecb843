"""What one search may see: the part that the engine filters, and the part that is checked afterwards."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from tool_search_processor.search.milvus.collection import cut, literals
from tool_search_processor.search.protocol import Document

PUSHED_NAMES = 1000
"""The most names in one filter of the engine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """The stored tools that one search may see."""

    within: Collection[str] | None = None
    """Their names; None for all."""
    tags: frozenset[str] = frozenset()
    """Only tools with any of these tags; empty for all tools."""
    namespaces: frozenset[str] = frozenset()
    """Only tools of any of these namespaces; empty for all tools."""
    hidden: frozenset[str] = frozenset()
    """The names of the request's own documents."""

    @property
    def is_pushed(self) -> bool:
        """Whether the engine's filter covers `within` completely."""
        return self.within is None or len(self.within) <= PUSHED_NAMES

    @property
    def expression(self) -> str:
        """The filter for the engine; empty if there is nothing to filter."""
        return self._with(self.within if self.is_pushed else None)

    def chunks(self) -> Iterator[str]:
        """Yield filters that together select exactly this view."""
        names = sorted(self.within or ())
        for start in range(0, len(names), PUSHED_NAMES):
            yield self._with(names[start : start + PUSHED_NAMES])

    def shows(self, name: str) -> bool:
        """Return True if a row that passed the filter is visible."""
        return name not in self.hidden and (self.within is None or name in self.within)

    def admits(self, document: Document) -> bool:
        """Return True if one of the request's own documents is visible; `within` does not apply to them."""
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
