"""What a processor or a front has learned counts in searches over REST."""

import pytest

from tests.catalog.learning import ASKED, tools
from tests.server.mcp.support import connected, search
from tests.server.rest.serving import SEARCH, client, hybrid, names
from tool_search_processor import Experience
from tool_search_processor.server.gateway import Gateway


@pytest.mark.parametrize("mode", ["fts", "vector", "hybrid"])
async def test_every_mode_counts_what_was_learned(mode):
    experience = Experience()
    await experience.load([{"query": ASKED, "tool": "op_7"}])
    async with client(tools(), search=hybrid(), experience=experience) as http:
        answer = await http.post(SEARCH, json={"query": ASKED, "search_mode": mode})
    assert names(answer)[0] == "op_7"


async def test_what_is_denied_is_not_found_for_having_been_learned():
    experience = Experience()
    await experience.load([{"query": ASKED, "tool": "op_7"}])
    options = {"experience": experience, "filter": lambda request: request.tool_name != "op_7"}
    async with client(tools(), search="bm25", **options) as http:
        assert names(await http.post(SEARCH, json={"query": ASKED})) == []


async def test_each_scope_has_learned_for_itself():
    experience = Experience(scope=lambda context: context["headers"].get("x-tenant", ""))
    await experience.load([{"query": ASKED, "tool": "op_7", "scope": "ours"}])
    async with client(tools(), search="bm25", experience=experience) as http:
        for tenant, found in (("ours", ["op_7"]), ("theirs", [])):
            answer = await http.post(SEARCH, json={"query": ASKED}, headers={"x-tenant": tenant})
            assert names(answer) == found


async def test_what_a_gateway_learns_from_its_clients_is_found_over_rest():
    gateway = Gateway(tools(), experience=Experience())
    async with connected(gateway.server) as mcp:
        await search(mcp, query=ASKED)
        await mcp.call_tool("call_tool", {"name": "op_7", "arguments": {}})
        view = await gateway.search.view({})
        with view.admission() as admission:
            found = await view.find(ASKED, admission, mode="fts", wanted=view.wanted(limit=5))
    assert [one.tool.name for one in found] == ["op_7"]
