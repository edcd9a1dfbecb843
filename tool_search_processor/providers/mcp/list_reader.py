"""Reads the lists of an MCP server, each within its time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

from tool_search_processor.errors import ProviderError
from tool_search_processor.providers.mcp.background import in_background
from tool_search_processor.providers.mcp.connector import Connector
from tool_search_processor.providers.mcp.failures import reason
from tool_search_processor.providers.mcp.sdk import load_sdk
from tool_search_processor.providers.mcp.settings import Settings

if TYPE_CHECKING:
    from mcp import Client

_T = TypeVar("_T")


class ListReader:
    """Reads lists over a connection, in the background loop; a failure names the server."""

    def __init__(self, connector: Connector, settings: Settings, *, on_failure: Callable[[], object]) -> None:
        """Read the lists of one server's connection; nothing is read yet.

        Args:
            connector: Gives a client of the server.
            settings: Hold the name of the server and the longest time for a list.
            on_failure: Called whenever a list could not be read.
        """
        self._connector = connector
        self._settings = settings
        self._on_failure = on_failure
        self._is_warm = False

    async def warm_up(self) -> None:
        """Import the SDK, so that no server's time has to include it."""
        if not self._is_warm:
            await load_sdk()
            self._is_warm = True

    async def read(self, read: Callable[[Client], Awaitable[_T]]) -> _T:
        """Return what a function reads with a client.

        Raises:
            ProviderError: The server can't be reached, or did not give a list in time.
        """
        name, seconds = self._settings.name, self._settings.list_timeout_seconds

        async def read_in_time(client: Client) -> _T:
            async with asyncio.timeout(seconds):
                return await read(client)

        has_failed = True
        try:
            await self.warm_up()
            listed = await in_background(lambda: self._connector.request(read_in_time))
            has_failed = False
            return listed
        except ProviderError:
            raise
        except TimeoutError as exc:
            raise ProviderError(f"the MCP server {name!r} gave no list within {seconds:g} s") from exc
        except Exception as exc:
            raise ProviderError(f"the MCP server {name!r} could not list: {reason(exc)}") from exc
        finally:
            if has_failed:
                self._on_failure()
