"""A FastMCP server with sixty tools lists two: the rest is found by search, under the policy of each caller.

See what a client is listed and what that costs, what a search finds, a call through the proxy, and a tool
that this caller may not use: it is answered like a tool that doesn't exist, even when called by its own name.

    pip install "tool-search-processor[fastmcp]"
    python examples/frameworks/fastmcp_server.py
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from itertools import product
from typing import Any

from fastmcp import Client, FastMCP

from tool_search_processor.policy.filters import FilterRequest

SERVICES = ("github", "jira", "slack", "drive", "mail", "calendar")
VERBS = ("create", "list", "update", "delete", "share")
NOUNS = ("message", "file")


def action(name: str) -> Callable[[str], str]:
    """Return a function that says what it would do."""

    def act(title: str) -> str:
        return f"{name}: {title}"

    return act


def build() -> FastMCP:
    """Return a server with sixty tools of its own."""
    mcp = FastMCP("Office")
    for service, verb, noun in product(SERVICES, VERBS, NOUNS):
        name, about = f"{service}_{verb}_{noun}", f"{verb.title()} a {noun} in {service}."
        mcp.tool(action(name), name=name, description=about, tags={service, verb})
    return mcp


async def cost(client: Client[Any]) -> tuple[list[str], int]:
    """Return what a client is listed: the names, and the characters of the definitions."""
    tools = await client.list_tools()
    return [tool.name for tool in tools], sum(len(json.dumps(tool.model_dump(mode="json"))) for tool in tools)


async def main() -> None:
    """Serve, and be the client."""

    def policy(request: FilterRequest) -> bool:
        return "delete" not in request.tool.tags or request.context["user"] is not None

    mcp = build()
    async with Client(mcp) as client:
        names, before = await cost(client)
    # README begin
    from tool_search_processor.adapters.fastmcp import ToolSearchTransform

    mcp.add_transform(ToolSearchTransform(top_k=2, filter=policy, always_visible=["mail_list_message"]))
    # README end
    async with Client(mcp) as client:
        listed, after = await cost(client)
        print(f"listed: {listed} instead of {len(names)} tools: {after:,} characters instead of {before:,}")
        for query in ("share a file on drive", "delete a file on drive"):
            found = await client.call_tool("search_tools", {"query": query})
            print(f"{query}:", [result["name"] for result in found.structured_content["results"]])
        call = {"name": "drive_share_file", "arguments": {"title": "plan.pdf"}}
        print((await client.call_tool("call_tool", call)).data)
        for name in ("drive_delete_file", "no_such_tool"):
            print((await client.call_tool(name, {"title": "x"}, raise_on_error=False)).content[0].text)


if __name__ == "__main__":
    logging.getLogger("fastmcp.client").setLevel(logging.ERROR)  # it warns of calls of unlisted tools
    asyncio.run(main())
