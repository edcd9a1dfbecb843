"""Figures of a front: searches and calls are counted, and nothing that was asked is in them."""

import httpx2

from tests.server.figures import figures
from tests.server.mcp.support import client_of, found, front, proxied, serving
from tool_search_processor.search.bm25 import BM25Index
from tool_search_processor.server.gateway import Gateway
from tool_search_processor.server.mcp import ToolServer


class Fragile(BM25Index):
    """Breaks at one query."""

    def search(self, query, **options):
        if query == "hunter2":
            raise OSError(query)
        return super().search(query, **options)


async def test_searches_and_calls_are_counted_by_outcome():
    async with serving(front(search=Fragile())) as url, client_of(url) as client:
        assert "send_email" in await found(client, query="send e-mail")
        assert await found(client, query="zebra") == []
        await found(client)  # asks for nothing
        assert (await client.call_tool("search_tools", {"query": "hunter2"})).is_error
        await proxied(client, "send_email", {"to": "swordfish"})
        await client.call_tool("send_email", {"to": "swordfish"})
        await proxied(client, "broken_printer")
        async with httpx2.AsyncClient() as http:
            answer = await http.get(url.replace("/mcp", "/metrics"))
    counted, mcp = figures(answer), ("mode", "mcp")
    assert counted["tool_search_searches_total", mcp, ("outcome", "ok")] == 2
    assert counted["tool_search_searches_total", mcp, ("outcome", "failed")] == 1
    assert counted["tool_search_hits_bucket", ("le", "0.0"), mcp] == 1
    assert counted["tool_search_top_score_count", mcp] == 1
    assert counted["tool_search_calls_total", ("outcome", "ok")] == 2
    assert counted["tool_search_calls_total", ("outcome", "failed")] == 1
    assert not any(word in answer.text for word in ("hunter2", "swordfish", "send_email", "zebra"))


async def test_figures_need_the_token():
    async with serving(front(authenticate="secret")) as url, httpx2.AsyncClient() as http:
        assert (await http.get(url.replace("/mcp", "/metrics"))).status_code == 401


async def test_a_gateway_counts_both_its_wires_in_one_place():
    gateway = Gateway(front().catalog)
    app = gateway.http_app()
    transport = httpx2.ASGITransport(app)
    async with (
        app.router.lifespan_context(app),
        httpx2.AsyncClient(transport=transport, base_url="http://localhost") as http,
    ):
        await http.post("/v1/tools/search", json={"query": "mail"})
        gateway.server.metrics.called(failed=False)
        counted = figures(await http.get("/metrics"))
    assert counted["tool_search_searches_total", ("mode", "fts"), ("outcome", "ok")] == 1
    assert counted["tool_search_calls_total", ("outcome", "ok")] == 1


def test_without_an_http_app_nothing_is_counted():
    assert ToolServer().metrics is None
