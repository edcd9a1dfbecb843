"""Remembers the results for the tools of the last list."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tool_search_processor.tools import Tool


class ToolMemo:
    """Remembers what each tool of the last list became, so that one changed tool costs one change.

    Tools are told apart by identity: they are frozen, so the same object is the same tool. Nothing is
    kept of a tool that the latest list does not hold.
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[Tool, Tool | None]] = {}

    def map(self, tools: Iterable[Tool], change: Callable[[Tool], Tool | None]) -> list[Tool]:
        """Return the changed tools in order, without those for which `change` returns None."""
        known, latest = self._known, {}
        changed: list[Tool] = []
        for tool in tools:
            # what is kept holds its tool, so no other tool can have the same id
            entry = latest[id(tool)] = known.get(id(tool)) or (tool, change(tool))
            if entry[1] is not None:
                changed.append(entry[1])
        self._known = latest
        return changed
