"""Checks what an extra gives, and what is said without it: check_extras.py [EXTRA].

For an environment that holds the package with that one extra: what the extra is for runs. Whatever needs
another runs too, where it is there by chance, or says the command that installs it and nothing less.
"""

import asyncio
import contextlib
import io
import json
import os
import sys
import tempfile
import threading
import urllib.request
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urljoin

from tool_search_processor import Agent, Catalog, Tool
from tool_search_processor.cli import main
from tool_search_processor.errors import StoreError
from tool_search_processor.search.embedders import LiteLLMEmbedder, LocalEmbedder

os.environ.setdefault("LITELLM_OFFLINE_MODE", "true")
COMMAND = 'pip install "tool-search-processor[{}]"'
QUERY = "what is the weather"
TOOLS = [
    Tool("get_forecast", "Tell the weather of tomorrow.", execute=lambda: "rain"),
    Tool("send_email", "Write to somebody."),
]
ANSWERS = {
    "/v1/chat/completions": {"choices": [{"message": {"role": "assistant", "content": "sunny"}}]},
    "/v1/embeddings": {"data": [{"index": 0, "embedding": [0.6, 0.8]}], "usage": {}},
    "/forecast": {"weather": "rain"},
}
DOCUMENT = """
openapi: 3.1.0
info: {title: weather, version: "1"}
paths: {/forecast: {get: {operationId: get_forecast, summary: Tell the weather of tomorrow.}}}
"""


class Answers(BaseHTTPRequestHandler):
    """Answers as a model provider and an API do."""

    def do_GET(self) -> None:
        """Answer a path, whatever was sent."""
        self.rfile.read(int(self.headers.get("content-length", 0)))
        body = json.dumps(ANSWERS[self.path]).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET  # noqa: N815

    def log_message(self, *_: object) -> None:
        """Keep quiet."""


@contextmanager
def answering() -> Iterator[str]:
    """Serve `ANSWERS` on loopback, and give the URL."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        threading.Thread(target=server.serve_forever).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


def check(found: object, expected: object) -> None:
    """Fail where something else was found."""
    if found != expected:
        raise SystemExit(f"found {found!r}, expected {expected!r}")


async def searched(search: object, tools: object = TOOLS) -> None:
    """Search a catalog of two tools."""
    catalog = Catalog(tools, search=search)
    hits = await catalog.search(QUERY, limit=1)
    check([hit.name for hit in hits], ["get_forecast"])
    await catalog.aclose()


async def agent() -> None:
    """A model's answer over HTTP."""
    with answering() as url:
        settings = {"api_base": f"{url}/v1", "api_key": "none"}
        result = await Agent("asked", "openai/any", model_settings=settings).run("How is the weather?")
    check(result.output, "sunny")


async def hosted_embedder() -> None:
    """A vector over HTTP."""
    with answering() as url:
        embedder = LiteLLMEmbedder("openai/any", api_base=f"{url}/v1", api_key="none")
        vector = await asyncio.to_thread(embedder.embed_query, QUERY)
    check(vector.shape, (2,))


async def local_embedders() -> None:
    """Every model that is inside."""
    for model in ("minilm+static", "minilm", "static", "multilingual"):
        check(LocalEmbedder(model).embed_query(QUERY).ndim, 1)


async def vector() -> None:
    """Search by meaning."""
    await searched("vector")


async def hybrid() -> None:
    """Search by words and meaning."""
    await searched("hybrid")


async def milvus() -> None:
    """The embedded engine."""
    from tool_search_processor.search.milvus import MilvusIndex

    with tempfile.TemporaryDirectory() as folder:
        await searched(MilvusIndex(Path(folder) / "tools.db"))


async def redis() -> None:
    """A server that is down is told of by the client."""
    from tool_search_processor.stores import LoadScope, RedisStore

    store = RedisStore("redis://127.0.0.1:1", on_error="raise")
    with contextlib.suppress(StoreError):
        check(await store.loaded(LoadScope("here", "a thread")), "an error")
    await store.aclose()


async def rest() -> None:
    """The endpoint over HTTP."""
    from tool_search_processor.server.rest import create_app
    from tool_search_processor.server.serving import serve

    await got_from(lambda ready: serve(create_app(TOOLS, search="bm25"), port=0, ready=ready), "/metrics")


async def gateway() -> None:
    """The gateway over HTTP."""
    from tool_search_processor.server.gateway import Gateway

    await got_from(lambda ready: Gateway(TOOLS).run_http(port=0, ready=ready), "/health")


async def got_from(serving: Callable[[Callable[[str], object]], Awaitable[None]], path: str) -> None:
    """Ask a server for a path, and end it."""
    ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    task = asyncio.ensure_future(serving(ready.set_result))
    await asyncio.wait({task, ready}, return_when=asyncio.FIRST_COMPLETED)
    if task.done():
        await task
    with await asyncio.to_thread(urllib.request.urlopen, urljoin(await ready, path)) as response:
        check(response.status, 200)
    task.cancel()
    await asyncio.wait({task})


async def tool_server() -> None:
    """The protocol's front, over its SDK's client."""
    from tool_search_processor.server.mcp import ToolServer

    server = ToolServer(TOOLS, mode="discovery")
    from mcp import Client

    async with Client(server.lowlevel) as client:
        answer = await client.call_tool("search_tools", {"query": QUERY})
    check(answer.structured_content["results"][0]["name"], "get_forecast")


async def mcp() -> None:
    """A server's tools, found and called."""
    from tool_search_processor.providers import MCPProvider

    try:
        from mcp.server import MCPServer
    except ImportError:
        MCPProvider.stdio("none", name="weather")
        raise
    server = MCPServer("weather")
    server.add_tool(lambda: "rain", name="get_forecast", description="Tell the weather of tomorrow.")
    await searched("bm25", MCPProvider.in_memory(server))


async def openapi() -> None:
    """A document in YAML, and a call."""
    from tool_search_processor.providers import OpenAPIProvider

    with tempfile.TemporaryDirectory() as folder, answering() as url:
        path = Path(folder) / "weather.yaml"
        path.write_text(DOCUMENT, "utf-8")
        catalog = Catalog([OpenAPIProvider(path, base_url=url)])
        (tool,) = await catalog.list_tools()
        check(await tool.call({}), {"weather": "rain"})
        await catalog.aclose()


async def cli() -> None:
    """A table of hits."""
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()) as out:
        path = Path(folder) / "tools.jsonl"
        path.write_text(
            "\n".join(json.dumps({"name": tool.name, "description": tool.description}) for tool in TOOLS)
        )
        with contextlib.redirect_stderr(io.StringIO()) as err:
            code = main(["search", "--tools", str(path), QUERY])
    if code:
        raise ImportError(err.getvalue())
    check(out.getvalue().count("get_forecast"), 1)


FEATURES: dict[Callable[[], Awaitable[None]], str] = {
    agent: "agent",
    hosted_embedder: "agent",
    local_embedders: "embeddings",
    vector: "embeddings",
    hybrid: "embeddings",
    milvus: "milvus",
    redis: "redis",
    rest: "server",
    tool_server: "server",
    gateway: "server",
    mcp: "mcp",
    openapi: "openapi",
    cli: "cli",
}


async def check_features(installed: str | None) -> None:
    """Run every feature; only one of another extra may be refused."""
    ran = []
    for feature, extra in FEATURES.items():
        try:
            await feature()
        except ImportError as exc:
            if extra == installed or COMMAND.format(extra) not in str(exc):
                sys.exit(f"{feature.__name__} with the extra {installed}: {type(exc).__name__}: {exc}")
        else:
            ran.append(feature.__name__)
    print(f"the extra {installed}: {', '.join(ran) or 'nothing'} can be used, the rest says what it needs")


if __name__ == "__main__":
    asyncio.run(check_features(sys.argv[1] if len(sys.argv) > 1 else None))
