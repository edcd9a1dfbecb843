"""FastMCP with its BM25 search transform, asked through the server's own `call_tool`."""

from fastmcp import FastMCP
from fastmcp.server.transforms.search import BM25SearchTransform
from fastmcp.tools import Tool
from protocol import serve


def build(tools):
    """Put the tools on a server."""
    server = FastMCP("bench")
    for tool in tools:
        server.add_tool(
            Tool(name=tool["name"], description=tool["description"], parameters=tool["parameters"])
        )
    server.add_transform(BM25SearchTransform(max_results=10))

    async def search(query, limit):
        answer = await server.call_tool("search_tools", {"query": query})
        found = answer.structured_content or {}
        return [tool["name"] for tool in found.get("result", [])][:limit]

    return search


serve("fastmcp", build)
