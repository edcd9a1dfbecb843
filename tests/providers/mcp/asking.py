"""What tests of MCP servers share: where the servers are, ways to ask, and waiting."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tool_search_processor import Tool
from tool_search_processor.providers import MCPProvider

SMALL = str(Path(__file__).with_name("small_server.py"))
LARGE = str(Path(__file__).with_name("large_server.py"))
SCRIPTED = str(Path(__file__).with_name("scripted_server.py"))


async def tools_of(provider: MCPProvider) -> dict[str, Tool]:
    """Return a provider's tools by name."""
    return {tool.name: tool for tool in await provider.list_tools({})}


async def call(provider: MCPProvider, tool_name: str, /, **arguments: Any) -> Any:
    """List the tools and call one."""
    return await (await tools_of(provider))[tool_name].call(arguments)


async def process_of(provider: MCPProvider) -> int:
    """Return the process id of a small server."""
    return int(await call(provider, "process_id"))


async def until(condition: Callable[[], bool]) -> None:
    """Wait for what another process or thread brings about."""
    async with asyncio.timeout(20):
        while not condition():  # noqa: ASYNC110 - nothing tells of it
            await asyncio.sleep(0.01)


async def changed(provider: MCPProvider, mark: object) -> None:
    """Wait until a provider's mark is another."""
    await until(lambda: provider.version() != mark)


def ended(process: int) -> bool:
    """Tell whether a process is gone, and no zombie either."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    return False


class HttpServer:
    """The large server over HTTP, in a process of its own."""

    def __init__(self, *options: str) -> None:
        """Start it on a free port of loopback."""
        self._options = options
        self.port = "0"
        self.start()
        self.url = f"http://127.0.0.1:{self.port}/mcp"

    def start(self) -> None:
        """Start it, on the same port if it ran before, and wait until it listens."""
        command = [sys.executable, LARGE, "http", self.port, *self._options]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout
        self.port = self.process.stdout.readline().strip()

    def kill(self) -> None:
        """End it as a power failure would."""
        self.process.kill()
        self.process.wait()
        assert self.process.stdout
        self.process.stdout.close()
