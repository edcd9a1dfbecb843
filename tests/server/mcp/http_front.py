"""A front over HTTP in a process of its own, with a tool that takes until it is told."""

import asyncio
import sys

from tool_search_processor import tool
from tool_search_processor.server.mcp import ToolServer


@tool
def wait_for_line() -> str:
    """Wait until the parent process writes a line."""
    print("began", flush=True)  # noqa: T201
    return sys.stdin.readline().strip()


class Provider:
    """Says when it is closed."""

    async def list_tools(self, context):
        return []

    async def aclose(self):
        print("closed", flush=True)  # noqa: T201


server = ToolServer([wait_for_line, Provider()])
asyncio.run(server.run_http(port=0, ready=lambda url: print(url, flush=True)))  # noqa: T201
print("ended", flush=True)  # noqa: T201
