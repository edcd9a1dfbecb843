"""The hooks that answer what a server asks, each given no longer than a call of the server's tools."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any

from tool_search_processor.providers.mcp.settings import Settings
from tool_search_processor.tools import ToolContext

logger = logging.getLogger(__name__)

_call: ContextVar[ToolContext | None] = ContextVar("tool_search_processor_mcp_call", default=None)


def asking_call() -> ToolContext | None:
    """Return the call during which a server asks, inside the hooks `sampling` and `elicitation`.

    ```python
    async def elicit(context, params):
        call = asking_call()
        return await ask_person(call.context["user"], params.message)

    git = MCPProvider.stdio("uvx", ["mcp-server-git"], elicitation=elicit)
    ```

    None if that is unknown: the server asks outside of a call, or several calls are under way and the server
    does not say which of them it asks for.
    """
    return _call.get()


class CallsUnderWay:
    """The calls that were sent to one server and are not answered yet."""

    def __init__(self) -> None:
        """Start without calls."""
        self._renewals: dict[int, tuple[ToolContext | None, Callable[[], None]]] = {}

    @contextlib.contextmanager
    def running(self, context: ToolContext | None, renew: Callable[[], None]) -> Iterator[None]:
        """Count a call for as long as the block lasts.

        Args:
            context: The context of the call; None for a request that is not a call of a tool.
            renew: Restarts the time of the call.
        """
        key = id(renew)
        self._renewals[key] = (context, renew)
        before = _call.set(context)
        try:
            yield
        finally:
            _call.reset(before)
            del self._renewals[key]

    def asking(self) -> ToolContext | None:
        """Return the call that the server asks for: by the stream it uses, or because it is the only call."""
        calls = [context for context, _ in self._renewals.values()]
        current = _call.get()
        if current is not None and any(current is context for context in calls):
            return current
        callers = {context and (context.thread_id or id(context)) for context in calls}
        return calls[-1] if len(callers) == 1 else None

    def answered(self, call: ToolContext) -> None:
        """Restart the time of a call whose client has just answered a question."""
        for context, renew in self._renewals.values():
            if context is call:
                renew()


def timed_hook(option: str, settings: Settings, calls: CallsUnderWay) -> Callable[..., Any] | None:
    """Return a hook of the settings with a time limit; None if the settings don't have this hook.

    The call itself has the same limit, which starts again after each answer; but a server may also ask
    outside of a call.

    Args:
        option: "sampling", "elicitation" or "list_roots".
        settings: The provider's options.
        calls: Knows which call the server asks for.
    """
    hook: Callable[..., Any] | None = getattr(settings, option)
    seconds = settings.call_timeout_seconds
    if hook is None:
        return None

    async def answer(*asked: Any) -> Any:
        from mcp_types import REQUEST_TIMEOUT, ErrorData

        call = calls.asking()
        before = _call.set(call)
        scope = asyncio.timeout(seconds)
        try:
            async with scope:
                given = await hook(*asked)
        except TimeoutError:
            if not scope.expired():
                raise
            logger.warning(
                "%s took longer than %g s to answer the MCP server %r", option, seconds, settings.name
            )
            late = f"{option.replace('_', ' ')} took too long".capitalize()
            return ErrorData(code=REQUEST_TIMEOUT, message=late)
        finally:
            _call.reset(before)
        # A server gains no time by repeating a question that is refused.
        if call is not None and not isinstance(given, ErrorData):
            calls.answered(call)
        return given

    return answer
