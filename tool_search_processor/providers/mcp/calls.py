"""One call of a server's tool: sent, timed, followed, and answered in words."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

from tool_search_processor.errors import ToolCallError
from tool_search_processor.plain import plain
from tool_search_processor.providers.mcp.background import in_background
from tool_search_processor.providers.mcp.connector import Connector
from tool_search_processor.providers.mcp.failures import call_error, is_unreached
from tool_search_processor.providers.mcp.rendering import MCPResult, error_words, render_result
from tool_search_processor.providers.mcp.settings import MCPProgress, Settings
from tool_search_processor.tools import ToolContext

if TYPE_CHECKING:
    from mcp import Client

logger = logging.getLogger(__name__)

_T = TypeVar("_T")
_Ask = Callable[["Client", Callable[[], None]], Awaitable[_T]]
"""Sends one request; the second argument gives it its time anew."""


class Caller:
    """Sends requests to one server on behalf of callers in any event loop."""

    def __init__(
        self, connector: Connector, settings: Settings, *, on_unreached: Callable[[], object]
    ) -> None:
        """Take what sends.

        Args:
            connector: Gives the connection.
            settings: The provider's options.
            on_unreached: Called when a server turns out to be away that seemed to be there.
        """
        self._connector = connector
        self._on_unreached = on_unreached
        self.settings = settings

    async def call(self, name: str, arguments: Any, context: ToolContext) -> MCPResult:
        """Call a tool and return what the model reads.

        Cancelling it cancels the call at the server. A call is sent once, unless its server is known not to
        have run it.

        Args:
            name: The server's own name for the tool.
            arguments: What the tool is called with.
            context: Goes to `on_progress`.

        Raises:
            ToolCallError: It failed; the text is fit for the model.
        """
        values = plain(arguments)
        tell = self._progress_hook(name, context)

        async def ask(client: Client, extend: Callable[[], None]) -> Any:
            async def note(progress: float, total: float | None, message: str | None) -> None:
                extend()
                tell(progress, total, message)

            wanted = self.settings.on_progress is not None or self.settings.progress_extends_timeout
            return await client.call_tool(name, values, progress_callback=note if wanted else None)

        result = await self._send(name, ask)
        limit = self.settings.max_result_characters
        if result.is_error:
            raise ToolCallError(error_words(result, limit=limit))
        return render_result(result, limit=limit)

    async def read(self, uri: str) -> Any:
        """Read a resource and return the SDK's result.

        Raises:
            ToolCallError: It failed; the text is fit for the model.
        """
        return await self._send(uri, lambda client, _: client.read_resource(uri))

    async def get_prompt(self, name: str, arguments: dict[str, str]) -> Any:
        """Fill in a prompt and return the SDK's result.

        Raises:
            ToolCallError: It failed; the text is fit for the model.
        """
        return await self._send(name, lambda client, _: client.get_prompt(name, arguments))

    async def _send(self, what: str, ask: _Ask[_T]) -> _T:
        async def in_time(client: Client) -> _T:
            return await self._in_time(what, ask, client)

        try:
            return await in_background(lambda: self._connector.request(in_time))
        except ToolCallError:
            raise
        except Exception as exc:  # whatever the SDK and the server come to is an answer to the model
            if is_unreached(exc):
                self._on_unreached()
            raise call_error(exc, server=self.settings.name, tool=what) from exc

    async def _in_time(self, what: str, ask: _Ask[_T], client: Client) -> _T:
        seconds = self.settings.call_timeout_seconds
        scope = asyncio.timeout(seconds)

        def extend() -> None:
            if seconds is not None and self.settings.progress_extends_timeout:
                with contextlib.suppress(RuntimeError):  # a report that came after the end
                    scope.reschedule(asyncio.get_running_loop().time() + seconds)

        try:
            async with scope:
                return await ask(client, extend)
        except TimeoutError as exc:
            if not scope.expired():
                raise
            raise self._overtime(what) from exc

    def _overtime(self, what: str) -> ToolCallError:
        seconds, server = self.settings.call_timeout_seconds, self.settings.name
        logger.warning("%r of the MCP server %r took longer than %s s", what, server, seconds)
        return ToolCallError(
            f"{what} took longer than {seconds:g} seconds on the server {server!r} and was cancelled; it may "
            "have been carried out in part."
        )

    def _progress_hook(
        self, name: str, context: ToolContext
    ) -> Callable[[float, float | None, str | None], None]:
        """Return what takes a report in the background loop and has the hook called in the caller's."""
        hook = self.settings.on_progress
        if hook is None:
            return lambda *report: None
        loop = asyncio.get_running_loop()

        def deliver(report: MCPProgress) -> None:
            try:
                hook(report)
            except Exception:
                logger.exception("on_progress failed on a report of %r", name)

        def tell(progress: float, total: float | None, message: str | None) -> None:
            report = MCPProgress(
                tool_name=name, progress=progress, total=total, message=message, context=context
            )
            loop.call_soon_threadsafe(deliver, report)

        return tell


class RemoteTool:
    """What a tool of a server runs when it is called."""

    def __init__(self, caller: Caller, name: str, *, owner: object) -> None:
        """Take what to call.

        Args:
            caller: Sends the call.
            name: The server's own name for the tool.
            owner: The provider, which lives at least as long as its tools.
        """
        self._caller = caller
        self._name = name
        self._owner = owner

    # the parameter's name must be no property of any schema: arguments come as one mapping
    async def __call__(self, mcp_call_arguments: Any, context: ToolContext) -> MCPResult:
        """Run the tool."""
        return await self._caller.call(self._name, mcp_call_arguments, context)

    def __repr__(self) -> str:
        """Name the server and the tool."""
        return f"<{self._name!r} of the MCP server {self._caller.settings.name!r}>"
