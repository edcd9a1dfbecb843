"""Reading a server's lists, page by page, and its tools as tools of this package."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any

from tool_search_processor.errors import InvalidToolError
from tool_search_processor.providers.mcp.left_out import LeftOut, ListKind
from tool_search_processor.tools import Tool
from tool_search_processor.tools.foreign import HIDDEN

logger = logging.getLogger(__name__)

_MOST_PAGES = 1_000
_MOST_BYTES = 64 * 1024 * 1024
"""The most bytes of all pages of a list, as JSON."""


async def read_pages(
    fetch: Callable[[str | None], Awaitable[Any]], kind: ListKind, *, limit: int, left_out: LeftOut
) -> list[Any]:
    """Return the items of all pages of a list, in order and each item once.

    Args:
        fetch: Takes a cursor, None for the first page, and returns a page.
        kind: What is listed.
        limit: The most items; more are left out, with a warning.
        left_out: Records items that differ from an earlier one of the same name; it knows the server.
    """
    found: dict[str, Any] = {}
    size = 0
    cursors: set[str | None] = {None}
    cursor: str | None = None
    why = f"has more than {_MOST_PAGES:,} pages"
    for _ in range(_MOST_PAGES):
        page = await fetch(cursor)
        size += len(page.model_dump_json())
        if size > _MOST_BYTES:
            why = f"has more than {_MOST_BYTES:,} bytes"
            break
        known, items = len(found), getattr(page, kind.attribute)
        _add(items, found, kind, left_out)
        cursor = page.next_cursor
        if len(found) > limit:
            why = f"has more than {limit:,}"
            break
        if not cursor:
            return [*found.values()]
        if items and len(found) == known:
            why = "repeats a page"
            break
        if cursor in cursors:
            why = "says the same cursor again"
            break
        cursors.add(cursor)
    logger.warning("the list of %s of the MCP server %r was cut: it %s", kind.attribute, left_out.server, why)
    return [*found.values()][:limit]


def _add(items: Iterable[Any], found: dict[str, Any], kind: ListKind, left_out: LeftOut) -> None:
    """Add the items that are new."""
    for item in items:
        key = getattr(item, kind.key)
        if found.setdefault(key, item) != item:
            left_out.note(kind.method, key, f"the server lists another of this {kind.key} before it")


class Marks:
    """Counts the moments at which a provider's lists may have changed."""

    def __init__(self) -> None:
        """Begin at 0."""
        self.count = 0
        self._has_failed = False

    def change(self) -> None:
        """Count a change."""
        self.count += 1

    def fail(self) -> None:
        """Note a listing that failed, or whose caller did not wait for its end."""
        self._has_failed = True

    def connected(self) -> None:
        """Count the moment at which a server answers after its list could not be read."""
        if self._has_failed:
            self._has_failed = False
            self.change()


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
