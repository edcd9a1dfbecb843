"""Code of the server's own around each call of a tool: audit, limits, and the like."""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import mcp_types as types

from tool_search_processor.tools import Tool
from tool_search_processor.wire.checks import refuse


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A call that is about to be made: the tool has been found, and policy has admitted it.

    ```python
    async def no_nights(call: ToolCall, next: Any) -> Any:
        if call.name == "create_issue" and call.context["headers"].get("x-shift") == "night":
            raise ToolCallError("Issues are created by day: wait until morning.")
        return await next(call)

    server = ToolServer([create_issue], middleware=[no_nights])
    ```
    """

    tool: Tool
    arguments: Any
    """As the client sent them, and not yet checked."""
    context: Mapping[str, Any]
    """The request's data, as the filter sees it: `user`, `headers`, `session_id`, `mode` …"""
    through_proxy: bool
    """Whether it came through the meta-tool that runs others."""

    @property
    def name(self) -> str:
        """The tool's name."""
        return self.tool.name

    def replace(self, **changes: Any) -> ToolCall:
        """Return the call with something else in it, such as other arguments."""
        return dataclasses.replace(self, **changes)


class Next(Protocol):
    """Makes a call, including the middleware further in."""

    def __call__(self, call: ToolCall = ..., /) -> Awaitable[types.CallToolResult]:
        """Return what the client would be answered; a tool that fails raises nothing here."""
        ...


Middleware = Callable[[ToolCall, Next], Any]
"""`async (call, next)`: returns what `await next(call)` returned, or something in its place.

What it returns is answered as a tool's result is, and what it raises as a tool's failure.
"""

MiddlewareT = TypeVar("MiddlewareT", bound=Middleware)


def as_middleware(given: Iterable[Middleware]) -> tuple[Middleware, ...]:
    """Return the functions that wrap calls, the outermost first.

    Raises:
        ConfigurationError: Something of it can't be called.
    """
    if callable(given) or not isinstance(given, Iterable):
        refuse("middleware", "a list of functions async (call, next)", given, hint=": put it in a list")
    found = tuple(given)
    for each in found:
        if not callable(each) or isinstance(each, type):
            refuse("middleware", "a list of functions async (call, next)", each)
    return found
