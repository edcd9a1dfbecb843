"""A server's tools as tools of this package."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tool_search_processor.errors import InvalidToolError
from tool_search_processor.providers.mcp.left_out import LeftOut
from tool_search_processor.tools import Tool
from tool_search_processor.tools.foreign import HIDDEN


class ToolImporter:
    """Makes tools from a server's definitions; an unchanged definition keeps its tool."""

    def __init__(self, make: Callable[[Any], Tool], *, left_out: LeftOut) -> None:
        """Begin with nothing known.

        Args:
            make: Makes the tool of one definition.
            left_out: Records the definitions that can't become tools.
        """
        self._make = make
        self._left_out = left_out
        self._known: dict[str, tuple[Any, Tool | str]] = {}

    def tools(self, definitions: Sequence[Any]) -> tuple[Tool, ...]:
        """Return the tools that can be used, in the server's order."""
        fresh: dict[str, tuple[Any, Tool | str]] = {}
        tools = []
        for definition in definitions:
            pair = self._known.get(definition.name)
            if pair is None or pair[0] != definition:
                pair = (definition, self._made(definition))
            fresh[definition.name] = pair
            if isinstance(pair[1], Tool):
                tools.append(pair[1])
            else:
                self._left_out.note("tools/list", definition.name, pair[1])
        self._known = fresh
        return tuple(tools)

    def _made(self, definition: Any) -> Tool | str:
        """Return the tool, or why it can't be made."""
        try:
            tool = self._make(definition)
        except InvalidToolError as exc:
            return str(exc)
        self._left_out.note_hidden("tools/list", tool.name, tool.metadata.get(HIDDEN, 0))
        return tool
