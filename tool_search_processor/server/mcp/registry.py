"""What a front takes after it was made: tools, transforms, and middleware around calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Unpack, overload

from tool_search_processor import meta_tools
from tool_search_processor.concurrency.shared_task import run_without_waiting
from tool_search_processor.errors import DuplicateToolError, ReservedToolNameError
from tool_search_processor.providers.functions import is_function, to_tool
from tool_search_processor.providers.given import ToolSource, as_providers
from tool_search_processor.providers.static import StaticProvider
from tool_search_processor.server.mcp.middleware import Middleware, MiddlewareT, as_middleware
from tool_search_processor.server.mcp.running import Runner
from tool_search_processor.server.mcp.tool_modes import is_on_demand, on_demand
from tool_search_processor.tools import Tool
from tool_search_processor.tools.importers import ToolFields
from tool_search_processor.transforms.rows import transform_stages
from tool_search_processor.transforms.transform import Transform

REGISTERED = "registered"
"""What a catalog's status calls the tools that were registered one by one."""

_Decorator = Callable[[Callable[..., Any] | Tool], Tool]
_NOT_GIVEN: Any = object()


class _Registered(StaticProvider):
    """The tools that are registered one by one: a transform may be about a tool that is still to come."""

    grows = True

    @property
    def tools(self) -> Sequence[Tool]:
        """The tools as they are now."""
        return self._tools


class Registry(Runner):
    """A runner that takes tools, transforms and middleware, at run time, too."""

    def __init__(self, middleware: Iterable[Middleware]) -> None:
        """Begin with nothing registered.

        Raises:
            ConfigurationError: A middleware can't be called.
        """
        super().__init__()
        self._registered = _Registered(name=REGISTERED)
        self._middleware = as_middleware(middleware)
        self._given_names: frozenset[str] = frozenset()
        """The final names of the tools that were given; `_registered` knows those that were registered."""

    @overload
    def register_tool(self, tool: Callable[..., Any] | Tool, /, **fields: Unpack[ToolFields]) -> Tool: ...
    @overload
    def register_tool(self, /, **fields: Unpack[ToolFields]) -> _Decorator: ...
    def register_tool(self, tool: Any = _NOT_GIVEN, /, **fields: Unpack[ToolFields]) -> Tool | _Decorator:
        """Add a tool, or a function, that mode `normal` lists; at run time, too.

        ```python
        server.register_tool(create_issue)

        @server.register_tool
        def list_issues(repo: str) -> list[str]: ...

        @server.register_tool(tags={"github"})
        def close_issue(repo: str, number: int) -> str: ...
        ```

        Args:
            tool: The tool or function; without one, this is a decorator.
            fields: Fields of `Tool`, over what the function says.

        Returns:
            The tool, which can still be called as the function.

        Raises:
            DuplicateToolError: When its name is taken.
            ReservedToolNameError: When it has a meta-tool's name.
        """
        if tool is _NOT_GIVEN:
            return lambda decorated: self.register_tool(decorated, **fields)
        return self._register(_made(tool, fields, origin="register_tool"))

    @overload
    def register_on_demand_tool(
        self, tool: Callable[..., Any] | Tool, /, *words: str, **fields: Unpack[ToolFields]
    ) -> Tool: ...
    @overload
    def register_on_demand_tool(self, /, *words: str, **fields: Unpack[ToolFields]) -> _Decorator: ...
    def register_on_demand_tool(
        self, tool: Any = _NOT_GIVEN, /, *words: str, **fields: Unpack[ToolFields]
    ) -> Tool | _Decorator:
        """Add a tool, or a function, that is found by search only; at run time, too.

        ```python
        server.register_on_demand_tool(close_issue, "resolve", "done")

        @server.register_on_demand_tool("label", "tag")
        def add_label(issue: int, label: str) -> str: ...
        ```

        Args:
            tool: What is hidden, searchable and callable; without one, this is a decorator.
            words: More keywords to find it by.
            fields: Fields of `Tool`, over what the function says.

        Returns:
            The tool, which can still be called as the function.

        Raises:
            DuplicateToolError: When its name is taken.
            ReservedToolNameError: When it has a meta-tool's name.
        """
        if tool is _NOT_GIVEN or isinstance(tool, str):
            given = words if tool is _NOT_GIVEN else (tool, *words)
            return lambda decorated: self.register_on_demand_tool(decorated, *given, **fields)
        made = _made(tool, fields, origin="register_on_demand_tool")
        return self._register(on_demand(made, *words))

    def unregister_tools(self, *names: str) -> None:
        """Remove registered tools; unknown names are ignored."""
        self._registered.remove(*names)
        self.notify_changed()

    def add_transform(self, transform: Transform) -> None:
        """Apply one more transform, after the existing ones, to everything that is served.

        Raises:
            ConfigurationError: It can't do its work on a tool that is served now. Of a tool that isn't there,
                and may still be registered, a warning is logged.
        """
        self.catalog.add_transform(transform)
        self._note_given()
        self.notify_changed()

    def add_middleware(self, middleware: MiddlewareT) -> MiddlewareT:
        """Wrap each call of a tool in a function, inside the existing middleware; also works as a decorator.

        Raises:
            ConfigurationError: It can't be called.
        """
        self._middleware = (*self._middleware, *as_middleware([middleware]))
        return middleware

    def _register(self, tool: Tool) -> Tool:
        for served in self._served_as(tool):
            if served.name in self.options.names.present:
                raise ReservedToolNameError(
                    f"the tool {served.name!r} has a meta-tool's name: rename it, or change search_tool_name "
                    "or call_tool_name"
                )
            if served.name in self._given_names:
                raise DuplicateToolError(served.name, (self.catalog.name, "register_tool"))
        self._registered.add(tool)
        if self.lowlevel.instructions is None and is_on_demand(tool):
            self.lowlevel.instructions = meta_tools.instruction_text(self.options.names)
        self.notify_changed()
        return tool

    def _note_given(self) -> None:
        """Note the current names of the tools that were given."""
        known = self.catalog.known_names or frozenset()
        registered = (served.name for tool in self._registered.tools for served in self._served_as(tool))
        self._given_names = known.difference(registered)

    def _served_as(self, tool: Tool) -> Sequence[Tool]:
        """Return what a tool becomes under the transforms; the tool itself if that needs waiting."""
        found: list[Tool] = [tool]
        transforms = [transform.for_part() for transform in self.catalog.transforms]

        async def look() -> None:
            found[:] = (await transform_stages(transforms, (tool,)))[-1]

        run_without_waiting(look())
        return found


def as_sources(tools: ToolSource) -> list[Any]:
    """Return what was given as items of a list of sources."""
    return list(tools) if isinstance(tools, list | tuple) else [*as_providers(tools)]


def _made(tool: Any, fields: ToolFields, *, origin: str) -> Tool:
    if fields and is_function(tool):
        return Tool.from_function(tool, **fields)
    made = to_tool(tool, origin=origin)
    return made.replace(**fields) if fields else made
