"""Pydantic AI's ToolSearch capability with its local strategy, called as an agent's step calls it.

The toolset is prepared once; an agent does so at each step.
"""

from protocol import serve
from pydantic_ai import RunContext, Tool
from pydantic_ai.capabilities import ToolSearch
from pydantic_ai.exceptions import ModelRetry
from pydantic_ai.models.test import TestModel
from pydantic_ai.toolsets import FunctionToolset
from pydantic_ai.usage import RunUsage


async def build(tools):
    """Put the tools into a toolset whose tools are loaded on demand."""
    made = [
        Tool.from_schema(
            lambda **arguments: arguments,
            name=tool["name"],
            description=tool["description"],
            json_schema=tool["parameters"],
        )
        for tool in tools
    ]
    searchable = ToolSearch(max_results=10).get_wrapper_toolset(FunctionToolset(made).defer_loading())
    context = RunContext(deps=None, model=TestModel(), usage=RunUsage())
    search_tool = (await searchable.get_tools(context))["search_tools"]

    async def search(query, limit):
        try:
            found = await searchable.call_tool("search_tools", {"queries": [query]}, context, search_tool)
        except ModelRetry:  # a query without a Latin letter or digit
            return []
        return [match["name"] for match in found["discovered_tools"]][:limit]

    return search


serve("pydantic-ai-slim", build)
