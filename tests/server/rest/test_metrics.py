"""Figures for Prometheus: what is counted, and that no query is in them."""

from tests.search.fake_embedder import FakeEmbedder
from tests.server.figures import figures
from tests.server.rest.serving import SEARCH, client, hybrid


class Broken(FakeEmbedder):
    def embed_query(self, text):
        raise OSError(text)


async def test_searches_are_counted_by_mode_and_outcome():
    async with client(search=hybrid(Broken())) as http:
        for _ in range(2):
            await http.post(SEARCH, json={"query": "send_email", "search_mode": "fts"})
        await http.post(SEARCH, json={"query": "hunter2", "search_mode": "fts"})
        await http.post(SEARCH, json={"query": "hunter2"})
        await http.post(SEARCH, json={})
        answer = await http.get("/metrics")
    found = figures(answer)
    fts = ("mode", "fts")
    assert found["tool_search_searches_total", fts, ("outcome", "ok")] == 3
    assert found["tool_search_searches_total", ("mode", "hybrid"), ("outcome", "failed")] == 1
    assert found["tool_search_seconds_count", fts] == 3
    assert found["tool_search_hits_bucket", ("le", "0.0"), fts] == 1
    assert found["tool_search_top_score_count", fts] == 2
    assert found["tool_search_top_score_bucket", ("le", "0.9"), fts] == 0
    assert "hunter2" not in answer.text


async def test_two_applications_count_for_themselves():
    async with client() as one, client() as other:
        await one.post(SEARCH, json={"query": "mail"})
        assert "tool_search_searches_total{" in (await one.get("/metrics")).text
        assert "tool_search_searches_total{" not in (await other.get("/metrics")).text
