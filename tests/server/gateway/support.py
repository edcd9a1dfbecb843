"""What tests of the gateway share: upstreams that are real servers, and a gateway over real HTTP."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from tests.providers.mcp.asking import SMALL
from tool_search_processor.server.gateway import Gateway

PETS = {
    "openapi": "3.1.0",
    "info": {"title": "Pets", "version": "1"},
    "paths": {
        "/pets": {"get": {"operationId": "listPets", "summary": "List the pets of the shop."}},
        "/pets/{id}": {
            "delete": {
                "operationId": "sellPet",
                "summary": "Sell a pet.",
                "security": [{"key": []}],
                "parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}],
            }
        },
    },
    "components": {"securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}}},
}


def small(*options: str) -> dict[str, Any]:
    """Return the entry of a small server, for a configuration."""
    return {"command": sys.executable, "args": [SMALL, *options]}


def config(**servers: Mapping[str, Any]) -> dict[str, Any]:
    """Return a configuration."""
    return {"mcpServers": servers}


@asynccontextmanager
async def running(gateway: Gateway, **options: Any) -> AsyncIterator[str]:
    """Serve a gateway on loopback until its upstreams were started and the block is left; give its URL."""
    loop = asyncio.get_running_loop()
    ready: asyncio.Future[str] = loop.create_future()
    started = asyncio.Event()
    task = asyncio.create_task(
        gateway.run_http(port=0, ready=ready.set_result, started=started.set, **options)
    )
    try:
        waiting = asyncio.create_task(started.wait())
        await asyncio.wait({task, waiting}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            waiting.cancel()
            task.result()
        yield ready.result()
    finally:
        task.cancel()
        await asyncio.wait({task})
