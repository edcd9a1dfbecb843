"""Tools that a function returns for each request."""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from types import UnionType
from typing import Any

from tool_search_processor.concurrency.foreign_calls import awaited, takes_one
from tool_search_processor.errors import ConfigurationError, InvalidToolError
from tool_search_processor.providers.functions import FunctionTools, to_tools
from tool_search_processor.providers.provider import Context, Provider
from tool_search_processor.tools import Tool
from tool_search_processor.tools.execution import ToolContext
from tool_search_processor.tools.hints import Hints

ToolsFunction = Callable[[Context], Iterable[Any] | Mapping[str, Any] | Awaitable[Any]]

_CONTEXT_NAMES = ("context", "ctx")
_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_ARGUMENTS = (str, bytes, int, float, list, tuple, set, frozenset, ToolContext)
"""What a tool's parameter may be annotated with, but never the context of a request."""
_MAPPING_WORD = re.compile(r"\b(?:Mutable)?Mapping\b|\b[dD]ict\b")


class CallableProvider(Provider):
    """Asks a function for the tools of each request, and keeps nothing between requests.

    ```python
    def tools_of(context: Mapping[str, Any]) -> list[Any]:
        return [create_issue] if context.get("plan") == "pro" else []

    catalog = Catalog([list_issues, CallableProvider(tools_of)])
    tools = await catalog.list_tools({"plan": "pro"})
    [tool.name for tool in tools]  # -> ['list_issues', 'create_issue']
    ```
    """

    def __init__(self, function: ToolsFunction, *, name: str | None = None) -> None:
        """Provide the tools that `function` returns for each request.

        Args:
            function: `(context) -> tools`, sync or async, its parameter called `context` or `ctx` or
                annotated as a mapping: any other function is a tool that should stand in a list. It runs at
                each step, in the event loop, so a costly one should keep its own cache. Return the same
                `Tool` objects, or the same functions, where they are the same: that is the cheapest.
            name: What status reports and errors call this provider; the function's name by default.

        Raises:
            ConfigurationError: When `function` can't be called with a context alone, or doesn't say that
                it takes one.
        """
        if not callable(function):
            raise ConfigurationError(f"CallableProvider takes a function, found {function!r:.80}")
        if not takes_one(function) or not _names_context(function):
            raise ConfigurationError(
                f"{function!r:.80} can't be asked for tools, since it doesn't take the context of a request: "
                "if it is a tool, put it in a list; if it returns tools, pass what it returns, or name its "
                "one parameter `context`"
            )
        self._function = function
        self._make = FunctionTools()
        self.name = name or str(getattr(function, "__name__", type(function).__name__))

    async def list_tools(self, context: Context) -> Sequence[Tool]:
        """Return what the function returns for this request."""
        given = await awaited(self._function(context))
        return to_tools(given, origin=self.name, make=self._make)


def _names_context(function: ToolsFunction) -> bool:
    """Return True if the first parameter is the context of a request, by its annotation or its name."""
    try:
        first = next(iter(inspect.signature(function).parameters.values()), None)
    except (TypeError, ValueError):  # some callables of C have no signature
        return False
    if first is None or first.kind not in _POSITIONAL:
        return False
    try:
        annotation = Hints(function, first.name).resolve(first.annotation, first.name)
    except InvalidToolError:  # a name that only a type checker imports
        annotation = first.annotation
    kinds = list(_kinds(annotation))
    if any(map(_is_mapping, kinds)):
        return True
    is_argument = any(isinstance(kind, type) and issubclass(kind, _ARGUMENTS) for kind in kinds)
    return first.name.strip("_") in _CONTEXT_NAMES and not is_argument


def _kinds(annotation: Any) -> Iterator[Any]:
    """Yield what an annotation allows: the classes in it, and as a string what can't be evaluated."""
    origin, inside = typing.get_origin(annotation), typing.get_args(annotation)
    alias = getattr(annotation, "__value__", None) or getattr(annotation, "__supertype__", None)
    if alias is not None:  # `type Context = ...`, and NewType
        yield from _kinds(alias)
    elif origin is typing.Annotated:
        yield from _kinds(inside[0])
    elif origin is typing.Literal:
        yield from map(type, inside)
    elif origin in (typing.Union, UnionType):
        for kind in inside:
            yield from _kinds(kind)
    else:
        yield origin or annotation


def _is_mapping(kind: Any) -> bool:
    if isinstance(kind, str):
        return _MAPPING_WORD.search(kind) is not None
    return isinstance(kind, type) and (issubclass(kind, Mapping) or typing.is_typeddict(kind))
