"""A server on loopback that answers as a test says, byte by byte if it likes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

_TURNS = 4  # of the event loop, until a connection that was accepted is given to its handler
Answer = Callable[["Request", asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Request:
    """What came."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Server:
    """Where it is, and what came so far."""

    url: str
    requests: list[Request] = field(default_factory=list)


@asynccontextmanager
async def serve(answer: Answer) -> AsyncIterator[Server]:
    """Answer each request by `answer(request, writer)`; a connection is one request.

    At the end every connection is closed and every answer over: no later test finds one left open.
    """
    server = Server(url="")
    handling: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

    def begin(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        handling[asyncio.ensure_future(handle(reader, writer))] = writer

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await converse(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        method, target, _ = head[0].split(" ")
        headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in head[1:] if line)}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        request = Request(method, target, headers, body)
        server.requests.append(request)
        await answer(request, writer)

    listening = await asyncio.start_server(begin, "127.0.0.1", 0)
    server.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
    try:
        yield server
    finally:
        # accept no more, and only then close: asyncio leaves one open that comes in between
        asyncio.get_running_loop().remove_reader(listening.sockets[0].fileno())
        for _ in range(_TURNS):
            await asyncio.sleep(0)
        listening.close()
        for task, writer in handling.items():
            writer.transport.abort()
            task.cancel()
        await asyncio.gather(*handling, return_exceptions=True)


async def reply(
    writer: asyncio.StreamWriter, body: bytes | str = b"", *, status: str = "200 OK", **headers: str
) -> None:
    """Write a whole answer; `content_type` stands for the header `content-type`."""
    content = body.encode() if isinstance(body, str) else body
    lines = {"content-length": str(len(content)), **{k.replace("_", "-"): v for k, v in headers.items()}}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    writer.write(f"HTTP/1.1 {status}\r\nconnection: close\r\n{head}\r\n".encode() + content)
    await writer.drain()
