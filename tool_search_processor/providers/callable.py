"""Tools that a function gives, anew for each request."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any

from tool_search_processor.errors import ConfigurationError
from tool_search_processor.hooks import takes_one
from tool_search_processor.providers.base import Context, Provider, to_tools
from tool_search_processor.providers.functions import FunctionTools
from tool_search_processor.tools import Tool

ToolsFunction = Callable[[Context], Iterable[Any] | Mapping[str, Any] | Awaitable[Any]]


class CallableProvider(Provider):
    """Asks a function for the tools of each request; nothing is kept from one to the next.

    ```python
    def tools_of(context: Mapping[str, Any]) -> list[Any]:
        return [create_issue] if context.get("plan") == "pro" else []

    catalog = Catalog([list_issues, CallableProvider(tools_of)])
    tools = await catalog.list_tools({"plan": "pro"})
    [tool.name for tool in tools]  # -> ['list_issues', 'create_issue']
    ```
    """

    def __init__(self, function: ToolsFunction, *, name: str | None = None) -> None:
        """Take the function.

        Args:
            function: `(context) -> tools`, sync or async. It runs at each step, in the event loop, so a
                costly one should keep its own cache. Return the same `Tool` objects, or the same functions,
                where they are the same: that is the cheapest.
            name: What status reports and errors call this provider; the function's name by default.

        Raises:
            ConfigurationError: When `function` can't be called with a context alone.
        """
        if not callable(function):
            raise ConfigurationError(f"CallableProvider takes a function, found {function!r:.80}")
        if not takes_one(function):
            raise ConfigurationError(
                f"a function that gives tools takes the context of the request, {function!r:.80} does not: "
                "add the parameter `context`, or pass a list, what it returns"
            )
        self._function = function
        self._make = FunctionTools()
        self.name = name or str(getattr(function, "__name__", type(function).__name__))

    async def list_tools(self, context: Context) -> Sequence[Tool]:
        """Return what the function gives for this request."""
        result = self._function(context)
        given = await result if inspect.isawaitable(result) else result
        return to_tools(given, origin=self.name, make=self._make)
