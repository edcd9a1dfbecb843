"""Two MCP servers as one, whose tools any MCP client finds by search: `tool-search serve`.

See what a client is listed of both servers, what a search finds, and a call that goes through to its server.
Your client starts the same command, by its full path in a virtual environment, with a file of SERVERS' shape.

Claude Desktop (claude_desktop_config.json) and Cursor (~/.cursor/mcp.json):
    {"mcpServers": {"tools": {"command": "tool-search",
                              "args": ["serve", "--config", "/path/to/servers.json"]}}}
VS Code (.vscode/mcp.json):
    {"servers": {"tools": {"type": "stdio", "command": "tool-search",
                           "args": ["serve", "--config", "${workspaceFolder}/servers.json"]}}}
Where `tool-search serve --config servers.json --http 8000` runs (with a token: its header, too), Cursor:
    {"mcpServers": {"tools": {"url": "http://127.0.0.1:8000/mcp",
                              "headers": {"Authorization": "Bearer ${env:TOOL_SEARCH_TOKEN}"}}}}
VS Code:
    {"servers": {"tools": {"type": "http", "url": "http://127.0.0.1:8000/mcp",
                           "headers": {"Authorization": "Bearer ${input:token}"}}},
     "inputs": [{"id": "token", "type": "promptString", "description": "Token", "password": true}]}
Claude Desktop, which starts processes only:
    {"mcpServers": {"tools": {"command": "npx", "args": ["mcp-remote", "http://127.0.0.1:8000/mcp"]}}}

    pip install ".[mcp,server]" mcp-server-git mcp-server-time
    python examples/gateway.py
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcp import Client

PACKAGES = ("mcp", "mcp_server_git", "mcp_server_time", "uvicorn")
SERVERS = {
    "clock": {"command": sys.executable, "args": ["-m", "mcp_server_time", "--local-timezone", "UTC"]},
    "repo": {"command": sys.executable, "args": ["-m", "mcp_server_git"]},
}
TIME = {"source_timezone": "UTC", "time": "12:30", "target_timezone": "Asia/Tokyo"}


async def main(config: Path) -> None:
    """Start the gateway, as a client does."""
    from mcp import Client, StdioServerParameters
    from mcp.client.stdio import stdio_client

    command = ["-m", "tool_search_processor", "serve", "--config", str(config)]
    gateway = StdioServerParameters(command=sys.executable, args=command)
    with config.with_suffix(".log").open("w") as log:  # where it tells of servers that are down
        await ask(Client(stdio_client(gateway, errlog=log)))


async def ask(gateway: Client) -> None:
    """List, search and call."""
    async with gateway as client:
        for tool in (await client.list_tools()).tools:
            print(f"listed: {tool.name}: {tool.description}")
        query = "convert a time between timezones"
        found = await client.call_tool("search_tools", {"query": query})
        for result in (found.structured_content or {})["results"]:
            print(f"found:  {result['score']:.2f} {result['name']}")
        call = {"name": "clock_convert_time", "arguments": TIME}
        for block in (await client.call_tool("call_tool", call)).content:
            if block.type == "text":
                print(f"called: {json.loads(block.text)['target']['datetime']}")


if __name__ == "__main__":
    if all(map(importlib.util.find_spec, PACKAGES)):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "servers.json")
            path.write_text(json.dumps({"mcpServers": SERVERS}), "utf-8")
            asyncio.run(main(path))
    else:
        print('They are not installed: pip install ".[mcp,server]" mcp-server-git mcp-server-time')
