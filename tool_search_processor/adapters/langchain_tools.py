"""Converts LangChain tools for a catalog, and lists tools for a LangChain model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, TypeGuard

from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_function

from tool_search_processor.adapters.framework_tools import FrameworkTools
from tool_search_processor.errors import InvalidToolError
from tool_search_processor.meta_tools import MetaTool
from tool_search_processor.session.foreign_tools import ForeignTool, original_of, run_by_framework
from tool_search_processor.tools import Tool
from tool_search_processor.tools.tool_names import is_tool_name

LangChainTool: TypeAlias = "BaseTool | dict[str, Any]"
"""What an agent may list: a tool, or the definition of one that the provider or a middleware runs."""


class OwnTools:
    """The tools that an agent has without the searcher."""

    def __init__(self, *, hide: bool) -> None:
        """Set whether tools that LangChain runs are withheld until the model has loaded them."""
        self._hide = hide
        self._converted = FrameworkTools(from_langchain)

    def seen(self, tools: Sequence[LangChainTool]) -> list[Tool]:
        """Return the agent's tools as the searcher sees them, without any that has no valid name."""
        hidden = [tool for tool in tools if self._hides(tool)]
        listed = [tool for tool in tools if not self._hides(tool) and is_tool_name(_name_of(tool))]
        always = (ForeignTool(_name_of(tool), original=tool, pinned=True) for tool in listed)
        return [*always, *self._converted.of(hidden)]

    def listed_names(self, tools: Sequence[LangChainTool]) -> set[str]:
        """Return the names of the tools that are never withheld."""
        return {_name_of(tool) for tool in tools if not self._hides(tool)}

    def offered(self, listed: Sequence[Tool], own: Sequence[LangChainTool]) -> list[LangChainTool]:
        """Return what a model is offered: the meta-tools, the agent's own tools, pinned and loaded ones."""
        meta = [tool.to_openai() for tool in listed if isinstance(tool, MetaTool)]
        unnamed = [tool for tool in own if not self._hides(tool) and not is_tool_name(_name_of(tool))]
        originals = {id(tool) for tool in own}
        rest = [self._sent(tool, originals) for tool in listed if not isinstance(tool, MetaTool)]
        return [*meta, *unnamed, *rest]

    def _hides(self, tool: LangChainTool) -> TypeGuard[BaseTool]:
        return self._hide and isinstance(tool, BaseTool)

    def _sent(self, tool: Tool, own: set[int]) -> LangChainTool:
        """Return LangChain's own object of a tool, unless the catalog has changed its definition."""
        listed = original_of(tool, object)
        if isinstance(listed, BaseTool | dict) and id(listed) in own:
            return listed
        original: BaseTool | None = original_of(tool, BaseTool)
        if original is None:
            return tool.to_openai()
        as_given = map(_definition, self._converted.of([original]))
        return original if _definition(tool) in as_given else tool.to_openai()


def from_langchain(tool: BaseTool) -> ForeignTool:
    """Return a LangChain tool as a tool for a catalog.

    ```python
    pay_with_approval = from_langchain(pay).replace(requires_approval=True)
    search = ToolSearchProcessor([from_langchain(whoami), pay_with_approval])
    ```

    In an agent with `ToolSearchMiddleware`, LangChain runs it, with `ToolRuntime` and injected state.
    Anywhere else it is invoked with its arguments alone. It has the `tags` and the `metadata` of the
    LangChain tool.

    Raises:
        InvalidToolError: It can't be described to a model, or providers refuse its name.
    """
    if not isinstance(tool, BaseTool):
        raise InvalidToolError(
            f"from_langchain takes a tool of LangChain, found {tool!r:.80}: a ToolSearchProcessor takes "
            "plain functions as they are"
        )

    async def outside(arguments: Mapping[str, Any]) -> Any:
        return await tool.ainvoke(dict(arguments))

    try:
        definition = convert_to_openai_function(tool)
    except Exception as exc:  # pydantic: a type has no JSON schema
        raise InvalidToolError(f"the LangChain tool {tool.name!r} has no schema for a model: {exc}") from exc
    return ForeignTool(
        tool.name,
        definition.get("description", ""),
        definition.get("parameters", {"type": "object", "properties": {}}),
        run_by_framework(outside),
        tags=frozenset(tool.tags or ()),
        metadata=tool.metadata or {},
        original=tool,
    )


def _name_of(tool: BaseTool | dict[str, Any]) -> str:
    """Return a tool's name; an empty string for a provider's tool that has none."""
    if isinstance(tool, BaseTool):
        return str(tool.name)
    return str(tool.get("name") or tool.get("function", {}).get("name") or "")


def _definition(tool: Tool) -> tuple[Any, ...]:
    return tool.name, tool.description, tool.parameters
