"""Reads the lists of an MCP server, page by page and each within its time."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from tool_search_processor.errors import ProviderError
from tool_search_processor.providers.mcp.background import in_background
from tool_search_processor.providers.mcp.connector import Connector
from tool_search_processor.providers.mcp.failures import reason
from tool_search_processor.providers.mcp.left_out import LeftOut, ListKind

if TYPE_CHECKING:
    from mcp import Client

logger = logging.getLogger(__name__)

_T = TypeVar("_T")
_MOST_PAGES = 1_000
_MOST_BYTES = 64 * 1024 * 1024
"""The most bytes of all pages of a list, as JSON."""


class ListReader:
    """Reads lists over a connection, in the background loop; a failure names the server."""

    def __init__(self, connector: Connector) -> None:
        """Read the lists of one server's connection; nothing is read yet."""
        self._connector = connector
        self._is_warm = False

    async def warm_up(self) -> None:
        """Import the SDK, so that no server's time has to include it."""
        if not self._is_warm:
            await asyncio.to_thread(import_module, "mcp")
            self._is_warm = True

    async def read(self, read: Callable[[Client], Awaitable[_T]]) -> _T:
        """Return what a function reads with a client.

        Raises:
            ProviderError: The server can't be reached, or did not give a list in time.
        """
        name, seconds = self._connector.settings.name, self._connector.settings.list_timeout_seconds

        async def read_in_time(client: Client) -> _T:
            async with asyncio.timeout(seconds):
                return await read(client)

        try:
            await self.warm_up()
            return await in_background(lambda: self._connector.request(read_in_time))
        except BaseException as exc:
            self._connector.marks.fail()
            if isinstance(exc, TimeoutError):
                raise ProviderError(f"the MCP server {name!r} gave no list within {seconds:g} s") from exc
            if isinstance(exc, Exception) and not isinstance(exc, ProviderError):
                raise ProviderError(f"the MCP server {name!r} could not list: {reason(exc)}") from exc
            raise


async def read_pages(
    fetch: Callable[..., Awaitable[Any]], kind: ListKind, *, limit: int, left_out: LeftOut
) -> list[Any]:
    """Return the items of all pages of a list, in order and each item once.

    Args:
        fetch: Takes a `cursor`, None for the first page, and returns a page.
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
        page = await fetch(cursor=cursor)
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
