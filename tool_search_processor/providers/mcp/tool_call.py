"""Sends one call of a server's tool, times it, follows its progress, and answers it in words."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from tool_search_processor.concurrency.once import Once
from tool_search_processor.errors import ToolCallError
from tool_search_processor.providers.mcp.background import in_background
from tool_search_processor.providers.mcp.connector import Connector
from tool_search_processor.providers.mcp.failures import call_error, is_unreached
from tool_search_processor.providers.mcp.parts import has_more_levels
from tool_search_processor.providers.mcp.rendering import MCPResult, MCPToolError, render_result
from tool_search_processor.providers.mcp.settings import MCPProgress
from tool_search_processor.tools import ToolContext
from tool_search_processor.tools.arguments import ArgumentsCheck, problems_text, schema_check
from tool_search_processor.wire.plain import sendable

if TYPE_CHECKING:
    from mcp import Client

logger = logging.getLogger(__name__)

_MOST_REPORTS = 1_000
"""The most progress reports of one call that wait for the hook; more are dropped."""
_DEEPEST_ARGUMENTS = 200
"""Levels; the SDK can't write 256, and would end the connection over them."""

_T = TypeVar("_T")
Ask = Callable[["Client", Callable[[], None]], Awaitable[_T]]
"""Sends one request; the second argument restarts its time."""


class RequestSender:
    """Sends requests to one server on behalf of callers in any event loop."""

    def __init__(self, connector: Connector) -> None:
        """Send requests over the connection of one server; nothing is sent yet."""
        self._connector = connector
        self._warned = Once()
        self.settings = connector.settings

    async def call(
        self, name: str, arguments: Any, *, context: ToolContext, check: ArgumentsCheck | None = None
    ) -> MCPResult:
        """Call a tool and return what the model reads.

        Cancelling it cancels the call at the server. A call is sent once, unless its server is known not to
        have run it.

        Args:
            name: The server's own name for the tool.
            arguments: What the tool is called with.
            context: Goes to `on_progress`, and to `asking_call`.
            check: Checks the structured result, if the tool promises one.

        Raises:
            ToolCallError: It failed; the text is fit for the model.
        """
        values = sendable(arguments)
        if has_more_levels(values, _DEEPEST_ARGUMENTS):
            raise ToolCallError(
                f"{name} was not run: its arguments are nested more than {_DEEPEST_ARGUMENTS} levels deep."
            )
        tell = self._progress_hook(name, context)

        async def ask(client: Client, renew: Callable[[], None]) -> Any:
            async def note(progress: float, total: float | None, message: str | None) -> None:
                if self.settings.progress_extends_timeout:
                    renew()
                tell(progress, total, message)

            wanted = self.settings.on_progress is not None or self.settings.progress_extends_timeout
            return await client.call_tool(name, values, progress_callback=note if wanted else None)

        result = await self.send(name, ask, context=context)
        rendered = render_result(result, limit=self.settings.max_result_characters)
        if result.is_error:
            raise MCPToolError(rendered)
        if check is not None:
            self._check_structured(result, name, check)
        return rendered

    def _check_structured(self, result: Any, name: str, check: ArgumentsCheck) -> None:
        """Warn, once for each problem, if a result breaks its output schema; it may still be useful."""
        problems = check(result.structured_content).problems if result.structured_content is not None else ()
        if not problems and "structured_content" in result.model_fields_set:
            return
        wrong = problems_text(problems) if problems else "there is no structured content"
        if self._warned.is_new((name, wrong)):
            told = "a result of %r of the MCP server %r does not fit the tool's outputSchema: %s"
            logger.warning(told, name, self.settings.name, wrong)

    async def send(self, what: str, ask: Ask[_T], *, context: ToolContext | None = None) -> _T:
        """Send a request within the time of a call, and return the SDK's result.

        Args:
            what: What errors call it.
            ask: Sends it.
            context: The call that it belongs to.

        Raises:
            ToolCallError: It failed; the text is fit for the model.
        """

        async def in_time(client: Client) -> _T:
            return await self._in_time(what, ask, client, context)

        try:
            return await in_background(lambda: self._connector.request(in_time))
        except ToolCallError:
            raise
        except Exception as exc:  # whatever the SDK raises becomes an answer to the model
            if is_unreached(exc):
                self._connector.marks.change()  # it seemed to be up
            limit = self.settings.max_result_characters
            raise call_error(exc, server=self.settings.name, tool=what, limit=limit) from exc

    async def _in_time(self, what: str, ask: Ask[_T], client: Client, context: ToolContext | None) -> _T:
        seconds = self.settings.call_timeout_seconds
        scope = asyncio.timeout(seconds)

        def renew() -> None:
            if seconds is not None:
                with contextlib.suppress(RuntimeError):  # a report that came after the end
                    scope.reschedule(asyncio.get_running_loop().time() + seconds)

        try:
            async with scope:
                with self._connector.calls.running(context, renew):
                    return await ask(client, renew)
        except TimeoutError as exc:
            if not scope.expired():
                raise
            server = self.settings.name
            logger.warning("%r of the MCP server %r took longer than %s s", what, server, seconds)
            raise ToolCallError(
                f"{what} took longer than {seconds:g} seconds on the server {server!r} and was cancelled; it "
                "may have been carried out in part."
            ) from exc

    def _progress_hook(
        self, name: str, context: ToolContext
    ) -> Callable[[float, float | None, str | None], None]:
        """Return a function that takes reports in the background loop and calls the hook in the caller's."""
        hook = self.settings.on_progress
        if hook is None:
            return lambda *report: None
        loop = asyncio.get_running_loop()
        waiting = 0  # a hostile server may send reports faster than the hook takes them

        def deliver(report: MCPProgress) -> None:
            nonlocal waiting
            waiting -= 1
            try:
                hook(report)
            except Exception:
                logger.exception("on_progress failed on a report of %r", name)

        def tell(progress: float, total: float | None, message: str | None) -> None:
            nonlocal waiting
            if waiting >= _MOST_REPORTS:
                return
            waiting += 1
            report = MCPProgress(
                tool_name=name, progress=progress, total=total, message=message, context=context
            )
            loop.call_soon_threadsafe(deliver, report)

        return tell


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RemoteTool:
    """The function of a server's tool."""

    caller: RequestSender
    """Sends the call."""
    name: str
    """The server's own name for the tool."""
    output_schema: Mapping[str, Any] | None
    """What its structured results have to fit; None if it promises no schema."""
    owner: object
    """The provider, which lives at least as long as its tools."""

    @functools.cached_property
    def _check(self) -> ArgumentsCheck | None:
        return None if self.output_schema is None else schema_check(self.output_schema)

    # the parameter's name must not be a property of any schema: arguments come as one mapping
    async def __call__(self, mcp_call_arguments: Any, context: ToolContext) -> MCPResult:
        """Run the tool."""
        return await self.caller.call(self.name, mcp_call_arguments, context=context, check=self._check)

    def __repr__(self) -> str:
        """Name the server and the tool."""
        return f"<{self.name!r} of the MCP server {self.caller.settings.name!r}>"
