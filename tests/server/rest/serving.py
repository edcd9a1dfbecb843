"""What tests of the REST endpoint share: tools, an index with both lists, and servers of either kind."""

from __future__ import annotations

from contextlib import asynccontextmanager

import httpx

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


def names(answer):
    """Return the names that the answer to a search holds."""
    return [result["tool"]["name"] for result in answer.json()]


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
