"""A real MCP server, made with the SDK: over stdio, or over HTTP on a port of loopback.

    python large_server.py stdio
    python large_server.py http PORT [--old]    (port 0 takes any; the port is printed)

`--old` hides that it speaks the protocol of 2026-07-28, so that clients use that of 2025-11-25 with sessions.
"""

from __future__ import annotations

import logging
import os
import socket
import sys

import anyio
import uvicorn
from mcp.server.mcpserver import Context, MCPServer
from mcp.types import ToolAnnotations

server = MCPServer("large", log_level="ERROR")
seen: list[str] = []


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def add(first: int, second: int) -> int:
    """Add two numbers."""
    return first + second


@server.tool()
async def grow(name: str, ctx: Context) -> str:
    """Add a tool."""
    server.add_tool(lambda: "grown", name=name, description="Grown.")
    await ctx.notify_tools_changed()
    await ctx.session.send_tool_list_changed()
    return "done"


@server.tool()
async def hang(ctx: Context) -> str:
    """Never answer."""
    await ctx.report_progress(1, 2)
    try:
        await anyio.sleep_forever()
    except BaseException:
        seen.append("cancelled")
        raise
    return "never"


@server.tool()
def what_was_seen() -> list[str]:
    """Tell what happened to calls."""
    return seen


@server.tool()
def headers(ctx: Context) -> dict[str, str]:
    """Tell the headers of the request."""
    request = ctx.request_context.request
    return dict(request.headers) if request is not None else {}


@server.tool()
async def die(ctx: Context) -> str:
    """End the process."""
    await ctx.report_progress(1)
    os._exit(7)


@server.resource("note://{key}")
def note(key: str) -> str:
    """A note."""
    return f"The text of {key}."


class Old:
    """Answers what only newer clients ask as an old server does."""

    def __init__(self, app):
        self.app = app

    async def __call__(self, scope, receive, send):
        if scope["type"] != "http" or scope["method"] != "POST":
            return await self.app(scope, receive, send)
        message = await receive()
        if b'"server/discover"' in message["body"]:
            await send({"type": "http.response.start", "status": 404, "headers": []})
            return await send({"type": "http.response.body", "body": b""})
        waiting = [message]

        async def again():
            return waiting.pop() if waiting else await receive()

        return await self.app(scope, again, send)


def main(kind, port="0", *options):
    if kind == "stdio":
        return server.run("stdio")
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind(("127.0.0.1", int(port)))
    listening.listen()
    app = server.streamable_http_app()
    config = uvicorn.Config(Old(app) if "--old" in options else app, log_level="warning", lifespan="on")
    sys.stdout.write(f"{listening.getsockname()[1]}\n")
    sys.stdout.flush()
    return uvicorn.Server(config).run(sockets=[listening])


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    main(*sys.argv[1:])
