"""An agent over two real MCP servers, mcp-server-time and mcp-server-git, each in a process of its own.

See the tools of both under their servers' names, which of them a person has to approve, a tool that an
overlay renames and fills in, and two calls of a run. Instead of SERVERS you can pass the path of a
configuration file of other clients.

    pip install ".[mcp]" mcp-server-git mcp-server-time
    python examples/mcp_servers.py
    python examples/mcp_servers.py --model openai/gpt-5.5
"""

from __future__ import annotations

import asyncio
import importlib.util
import subprocess
import sys
import tempfile

from models import choose_model, last_result

from tool_search_processor import Agent, Catalog, ToolSearchProcessor
from tool_search_processor.providers.mcp import MCPProvider, is_destructive
from tool_search_processor.testing import Reply, call
from tool_search_processor.transforms import ArgTransform, ToolTransform, ToolTransformConfig

PACKAGES = ("mcp", "mcp_server_git", "mcp_server_time")
SERVERS = {
    "clock": {"command": sys.executable, "args": ["-m", "mcp_server_time", "--local-timezone", "UTC"]},
    "repo": {"command": sys.executable, "args": ["-m", "mcp_server_git"]},
}
TIME = {"source_timezone": "UTC", "time": "12:30", "target_timezone": "Asia/Tokyo"}
SCRIPT: list[Reply] = [
    call("search_tools", {"query": ["show the commit logs", "convert time between timezones"]}),
    lambda request: call(
        "load_tool", {"tool_names": [hit["name"] for hit in last_result(request)["results"]]}
    ),
    call("history", {"max_count": 1}),
    call("clock_convert_time", TIME),
    lambda request: f"It is {last_result(request)['target']['datetime'][11:16]} in Tokyo.",
]


def make_repository(folder: str) -> None:
    """Make a repository with one commit."""
    ada = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"]
    for command in (["init", "-q"], [*ada, "commit", "-q", "--allow-empty", "-m", "Begin"]):
        subprocess.run(["git", "-C", folder, *command], check=True)


async def main(folder: str) -> None:
    """Ask the question and print what the servers offer and say."""
    make_repository(folder)
    path = ArgTransform(hide=True, default=folder)
    overlay = ToolTransform(
        {"repo_git_log": ToolTransformConfig(name="history", arguments={"repo_path": path})}
    )
    servers = MCPProvider.from_config({"mcpServers": SERVERS}, requires_approval=is_destructive)
    catalog = Catalog(servers, transforms=[overlay])
    agent = Agent(name="mcp", input_processors=[ToolSearchProcessor(catalog)], **choose_model(SCRIPT))
    print(f"model: {agent.model}")
    for tool in await catalog.list_tools():
        needs = " needs approval" if tool.requires_approval else ""
        print(f"  {tool.namespace}: {tool.name}({', '.join(tool.parameters['properties'])}){needs}")
    result = await agent.run("What was the last commit? What time is 12:30 UTC in Tokyo?")
    for message in result.messages:
        if message["role"] == "tool" and message["name"] in ("history", "clock_convert_time"):
            print(f"{message['name']}: {' '.join(message['content'].split())[:150]}")
    print(f"Answer: {result.output}")
    await catalog.aclose()


if __name__ == "__main__":
    if all(map(importlib.util.find_spec, PACKAGES)):
        with tempfile.TemporaryDirectory() as name:
            asyncio.run(main(name))
    else:
        print('The servers are not installed: pip install ".[mcp]" mcp-server-git mcp-server-time')
