"""An MCP server that lists two tools and has hundreds: the rest is found by search, run through a proxy.

See what a client is listed in each mode, what a search finds, a call through the proxy with its progress, and
a tool that switches others off for its own session alone. A real server ends in `server.run()` or
`server.run("http", port=8000)`; here the clients are in this process.

    pip install ".[server]"
    python examples/tool_server.py
"""

from __future__ import annotations

import asyncio
import importlib.util
from typing import TYPE_CHECKING

import standard_library

from tool_search_processor import tool
from tool_search_processor.tools import ToolContext

if TYPE_CHECKING:
    from mcp_types import CallToolResult


@tool
def focus_on(namespace: str, context: ToolContext) -> str:
    """Switch off everything outside one namespace, for this session."""
    holds_for = context.context["session_rules"].enable(namespaces=[namespace], only=True)
    return f"Only {namespace} is left, for this {holds_for}."


@tool
def count_slowly(context: ToolContext) -> str:
    """Count to three and report progress."""
    for number in (1, 2, 3):
        context.context["report_progress"](number, 3)
    return "Counted."


def names_in(result: CallToolResult) -> list[str]:
    """Return the names that a search found."""
    return [found["name"] for found in (result.structured_content or {})["results"]]


async def show(progress: float, total: float | None, message: str | None) -> None:
    """Print a report of progress."""
    print(f"  {progress:g} of {total:g}")


async def main() -> None:
    """Serve, and be the clients."""
    from mcp import Client

    from tool_search_processor.server.mcp import ToolServer

    server = ToolServer([focus_on, count_slowly], top_k=3)
    for each in standard_library.tools():
        server.register_on_demand_tool(each)
    async with Client(server.lowlevel) as client, Client(server.lowlevel) as other:
        print("listed:", [listed.name for listed in (await client.list_tools()).tools])
        query = {"query": "how many days between two dates"}
        print("found:", names_in(await client.call_tool("search_tools", query)))
        await client.call_tool("call_tool", {"name": "count_slowly"}, progress_callback=show)
        said = await client.call_tool("focus_on", {"namespace": "dates"})
        print(*[block.text for block in said.content if block.type == "text"])
        for name, asked in (("this session", client), ("another", other)):
            found = await asked.call_tool("search_tools", {"query": "color contrast"})
            print(f"{name} finds:", names_in(found))
    async with Client(ToolServer(standard_library.tools(), mode="discovery").lowlevel) as client:
        print("discovery:", [listed.name for listed in (await client.list_tools()).tools])


if __name__ == "__main__":
    if importlib.util.find_spec("mcp"):
        asyncio.run(main())
    else:
        print('The SDK is not installed: pip install ".[server]"')
