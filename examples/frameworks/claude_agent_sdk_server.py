"""Tools for the Claude Agent SDK, found by search: an MCP server of two tools in this process, one a session.

See what Claude is listed, finds and calls for two users, of whom one may send mail. A real program ends in
`ClaudeSDKClient(options=options_for(user))`; here an MCP client asks what Claude Code would ask.

Claude Code defers MCP tools itself, which would hide the two tools: ENABLE_TOOL_SEARCH switches that off.
`can_use_tool` and hooks see `mcp__tools__call_tool`, with the tool's name in its input.

    pip install "tool-search-processor[server]" claude-agent-sdk
    python examples/frameworks/claude_agent_sdk_server.py
"""

from __future__ import annotations

import asyncio
from typing import Any

from claude_agent_sdk import ClaudeAgentOptions
from mcp import Client

from tool_search_processor import Catalog, FilterRequest, tool


@tool
def forecast(city: str) -> str:
    """Tell the weather of a city for the next days."""
    return f"Sunny in {city}."


@tool(tags={"mail"})
def send_mail(recipient: str, text: str) -> str:
    """Send a mail."""
    return f"Sent to {recipient}: {text}"


CATALOG = Catalog([forecast, send_mail])
MAY_SEND = {"ada"}


def options_for(user: str) -> ClaudeAgentOptions:
    """Return the options of one user's session."""

    def policy(request: FilterRequest) -> bool:
        return "mail" not in request.tool.tags or user in MAY_SEND

    # README begin
    from tool_search_processor.server.mcp import ToolServer

    server = ToolServer(CATALOG, mode="discovery", filter=policy)  # one a session, over one shared catalog
    return ClaudeAgentOptions(
        mcp_servers={"tools": {"type": "sdk", "name": "tools", "instance": server.lowlevel}},
        allowed_tools=["mcp__tools__search_tools", "mcp__tools__call_tool"],
        env={"ENABLE_TOOL_SEARCH": "false"},
    )
    # README end


async def main() -> None:
    """Search and call as Claude would, for each user."""
    print("model: none (an MCP client asks what Claude Code would ask)")
    mail = {"name": "send_mail", "arguments": {"recipient": "bob", "text": "Hello"}}
    for user in ("ada", "eve"):
        servers: Any = options_for(user).mcp_servers
        async with Client(servers["tools"]["instance"]) as client:
            listed = [each.name for each in (await client.list_tools()).tools]
            found = await client.call_tool("search_tools", {"query": "send a mail"})
            names = [each["name"] for each in (found.structured_content or {})["results"]]
            answer = await client.call_tool("call_tool", mail)
        print(f"{user}: listed {', '.join(listed)}; found {', '.join(names) or 'nothing'}")
        print(f"  {answer.content[0].text}")  # type: ignore[union-attr]  # text, as no tool here gives media


if __name__ == "__main__":
    asyncio.run(main())
