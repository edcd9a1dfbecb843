"""The API of `openapi_catalog.py`: a library of three books, on loopback."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

BOOKS = ["Pride and Prejudice", "Moby Dick", "The Book of Tea"]
READERS = {"token-of-ada": "Ada"}


async def find(request: Request) -> JSONResponse:
    """Return the books whose titles hold all words."""
    words = request.query_params.getlist("words")
    print(f"GET {request.url.path} {words}")
    found = [number for number, title in enumerate(BOOKS) if all(word in title.lower() for word in words)]
    return JSONResponse([{"id": number, "title": BOOKS[number]} for number in found])


async def borrow(request: Request) -> JSONResponse:
    """Lend a book to whose token it is."""
    reader = READERS.get(request.headers.get("authorization", "").removeprefix("Bearer "))
    if reader is None:
        return JSONResponse({"error": "unknown token"}, status_code=401)
    body = await request.json()
    print(f"POST {request.url.path} {body}")
    return JSONResponse({"reader": reader, "book": body["book"]}, status_code=201)


@asynccontextmanager
async def serving() -> AsyncIterator[str]:
    """Serve on a free port of loopback, and yield the URL."""
    routes = [Route("/branches/{branch}/books", find), Route("/loans", borrow, methods=["POST"])]
    server = uvicorn.Server(uvicorn.Config(Starlette(routes=routes), log_level="error", lifespan="off"))
    listening = socket.create_server(("127.0.0.1", 0))
    task = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        await task
