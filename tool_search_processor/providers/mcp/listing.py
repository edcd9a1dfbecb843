"""Reading a server's lists, page by page, and its tools as tools of this package."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from tool_search_processor.errors import InvalidToolError
from tool_search_processor.tools import Tool

logger = logging.getLogger(__name__)

_MOST_PAGES = 1_000
_MOST_BYTES = 64 * 1024 * 1024
"""Of all pages of a list as JSON."""


async def read_pages(
    fetch: Callable[[str | None], Awaitable[Any]], attribute: str, *, limit: int, server: str
) -> list[Any]:
    """Return what all pages of a list hold, in order.

    Args:
        fetch: Takes a cursor, None for the first page, and returns a page.
        attribute: Where a page has its items.
        limit: The most items; more are left out, with a warning.
        server: What the warning calls the server.
    """
    found: list[Any] = []
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
        found += getattr(page, attribute)
        cursor = page.next_cursor
        if len(found) > limit:
            why = f"has more than {limit:,}"
            break
        if not cursor:
            return found
        if cursor in cursors:
            why = "says the same cursor again"
            break
        cursors.add(cursor)
    logger.warning("the list of %s of the MCP server %r was cut: it %s", attribute, server, why)
    return found[:limit]


class Marks:
    """Counts the moments from which on a provider's lists may be others."""

    def __init__(self) -> None:
        """Begin at 0."""
        self.count = 0
        self._has_failed = False

    def change(self) -> None:
        """Count a moment."""
        self.count += 1

    def fail(self) -> None:
        """Note a listing that failed, or whose caller did not wait for its end."""
        self._has_failed = True

    def connected(self) -> None:
        """Count the moment at which a server answers whose list could not be had."""
        if self._has_failed:
            self._has_failed = False
            self.change()


class ToolImporter:
    """Makes tools of a server's definitions; a definition that has not changed keeps its tool."""

    def __init__(self, make: Callable[[Any], Tool], *, server: str) -> None:
        """Begin with nothing known.

        Args:
            make: Makes the tool of one definition.
            server: What warnings call the server.
        """
        self._make = make
        self._server = server
        self._known: dict[str, tuple[Any, Tool | None]] = {}

    def tools(self, definitions: Sequence[Any]) -> tuple[Tool, ...]:
        """Return the tools, in the server's order; one that can be none is left out, with one warning."""
        known = {definition.name: self._known.get(definition.name) for definition in definitions}
        fresh: dict[str, tuple[Any, Tool | None]] = {}
        tools = []
        for definition in definitions:
            pair = known[definition.name]
            if pair is None or pair[0] != definition:
                pair = (definition, self._made(definition))
            fresh[definition.name] = pair
            if pair[1] is not None:
                tools.append(pair[1])
        self._known = fresh
        return tuple(tools)

    def _made(self, definition: Any) -> Tool | None:
        try:
            return self._make(definition)
        except InvalidToolError as exc:
            logger.warning("a tool of the MCP server %r is left out: %s", self._server, exc)
            return None
