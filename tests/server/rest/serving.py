"""What tests of the REST endpoint share: tools, an index with both lists, and servers of either kind."""

from __future__ import annotations

import socket
import threading
from contextlib import asynccontextmanager

import httpx
import uvicorn

from tests.search.fake_embedder import FakeEmbedder
from tool_search_processor import Tool
from tool_search_processor.search.hybrid import HybridIndex
from tool_search_processor.search.vector import VectorIndex
from tool_search_processor.server.rest import create_app

MAIL = Tool(
    "send_email",
    "Send an email to somebody.",
    {"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]},
    tags={"mail", "write"},
    namespace="mail",
    requires_approval=True,
)
TOOLS = [
    MAIL,
    Tool("read_email", "Read an email of the inbox.", tags={"mail"}, namespace="mail"),
    Tool("get_weather", "Tell the weather in a city.", tool_type="external_mcp", namespace="weather"),
    Tool("stock_price", "Look up the price of a share.", tags={"finance"}),
]
SEARCH = "/v1/tools/search"


def hybrid(embedder=None, *, background=False):
    return HybridIndex(vector=VectorIndex(embedder or FakeEmbedder(), background=background))


@asynccontextmanager
async def client(tools=TOOLS, **options):
    """Serve an app in this process, from its start to its end, and give a client of it."""
    options.setdefault("search", hybrid())
    app = create_app(tools, **options)
    transport = httpx.ASGITransport(app, client=("127.0.0.1", 5000))
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://localhost") as http,
    ):
        yield http


class HttpServer:
    """Serves an app over HTTP on a free port of loopback, in a thread."""

    def __init__(self, app):
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        config = uvicorn.Config(app, log_level="warning", ws="none", loop="asyncio", lifespan="on")
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._socket]})

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._server.should_exit = True
        self._thread.join()
        self._socket.close()
