"""Ways to a front: in memory, with and without a handshake, and over real HTTP on loopback."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tool_search_processor import ToolContext, tool
from tool_search_processor.server.mcp import ToolServer

_T = TypeVar("_T")
WAYS = ("memory", "memory without handshake", "http", "http without handshake")
SECRET = "0123456789abcdef-of-the-workers"
META = ["search_tools", "call_tool"]


@tool(tags={"github"}, namespace="github", keywords=["ticket"], annotations={"destructiveHint": False})
def create_issue(repo: str, title: str = "none") -> dict[str, str]:
    """Create an issue in a repository."""
    return {"repo": repo, "title": title}


@tool(tags={"github"}, namespace="github", annotations={"readOnlyHint": True})
def list_issues(repo: str) -> list[str]:
    """List the issues of a repository."""
    return [f"{repo}#1"]


@tool(tags={"mail"}, namespace="mail")
def send_email(to: str) -> str:
    """Send an e-mail to somebody."""
    return f"sent to {to}"


@tool(tags={"mail"}, namespace="mail")
def broken_printer() -> str:
    """Print a letter on paper."""
    raise OSError("out of paper")


def front(**options: Any) -> ToolServer:
    """Return a front with one listed tool and three on demand."""
    server = ToolServer([create_issue], **options)
    server.register_on_demand_tool(list_issues, "tickets", "bugs")
    server.register_on_demand_tool(send_email)
    server.register_on_demand_tool(broken_printer)
    return server


class Waiting:
    """A tool that waits until it may go, and the sessions whose calls of it began and ended."""

    def __init__(self) -> None:
        self.began: asyncio.Queue[str | None] = asyncio.Queue()
        self.ended: asyncio.Queue[str | None] = asyncio.Queue()
        self.go = asyncio.Event()

        @tool
        async def wait(context: ToolContext) -> str:
            """Wait until it may go."""
            self.began.put_nowait(context.thread_id)
            try:
                await self.go.wait()
            finally:
                self.ended.put_nowait(context.thread_id)
            return "went"

        self.tool = wait


async def soon(waiting: asyncio.Queue[_T]) -> _T:
    """Return what comes next, which is not long in coming."""
    return await asyncio.wait_for(waiting.get(), 10)


@asynccontextmanager
async def connected(
    server: ToolServer,
    way: str = "memory",
    *,
    headers: Mapping[str, str] | None = None,
    query: str = "",
    **options: Any,
) -> AsyncIterator[Client]:
    """Connect the official client to a front, in one of `WAYS`."""
    mode = {} if way.endswith("without handshake") else {"mode": "legacy"}
    if way.startswith("memory"):
        async with Client(server.lowlevel, **mode, **options) as client:
            yield client
        return
    async with (
        serving(server) as url,
        client_of(f"{url}{query}", headers=headers, **mode, **options) as client,
    ):
        yield client


@asynccontextmanager
async def client_of(
    url: str, *, headers: Mapping[str, str] | None = None, **options: Any
) -> AsyncIterator[Client]:
    """Connect the official client to a URL, with headers."""
    async with (
        httpx2.AsyncClient(headers=dict(headers or {}), timeout=20) as http,
        Client(streamable_http_client(url, http_client=http), **options) as client,
    ):
        yield client


@asynccontextmanager
async def serving(server: ToolServer, **options: Any) -> AsyncIterator[str]:
    """Serve a front on loopback, and give its URL."""
    ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    task = asyncio.create_task(server.run_http(port=0, ready=ready.set_result, **options))
    await asyncio.wait({task, ready}, return_when=asyncio.FIRST_COMPLETED)
    if task.done():
        task.result()
    try:
        yield ready.result()
    finally:
        task.cancel()
        await asyncio.wait({task})


async def names(client: Client) -> list[str]:
    """Return the names of what a client is listed."""
    return [listed.name for listed in (await client.list_tools()).tools]


async def search(client: Client, name: str = "search_tools", **arguments: Any) -> dict[str, Any]:
    """Call the search tool, and hold the answer's text against its data."""
    result = await client.call_tool(name, arguments)
    assert not result.is_error, result.content
    assert json.loads(result.content[0].text) == result.structured_content
    return result.structured_content


async def found(client: Client, **arguments: Any) -> list[str]:
    """Return the names that a search finds."""
    return [result["name"] for result in (await search(client, **arguments))["results"]]


async def proxied(client: Client, name: str, arguments: Any = None, *, proxy: str = "call_tool") -> Any:
    """Call a tool through the proxy."""
    return await client.call_tool(proxy, {"name": name, "arguments": arguments or {}})


def text(result: Any) -> str:
    """Return the text of a result."""
    return "\n".join(block.text for block in result.content)


async def refusal(client: Client, name: str) -> str:
    """Call a tool that isn't there, and return what is said."""
    result = await client.call_tool(name, {})
    assert result.is_error
    assert result.structured_content is None
    return text(result).removeprefix("Error: ")
