"""ratel-ai's tool catalog with its default method, BM25."""

from protocol import serve
from ratel_ai import ExecutableTool, ToolCatalog


async def build(tools):
    """Register the tools."""
    catalog = ToolCatalog()
    await catalog.register(
        [
            ExecutableTool(
                id=tool["name"],
                name=tool["name"],
                description=tool["description"],
                input_schema=tool["parameters"],
                output_schema={"type": "object"},
                execute=lambda values: values,
            )
            for tool in tools
        ]
    )
    return lambda query, limit: [hit.tool_id for hit in catalog.search(query, limit)]


serve("ratel-ai", build)
