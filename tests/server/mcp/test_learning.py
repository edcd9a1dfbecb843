"""A front that learns: from its clients' searches and calls, each for its session or user."""

from tests.catalog.learning import ASKED, tools
from tests.server.mcp.support import connected, search
from tests.support import make
from tool_search_processor import Experience
from tool_search_processor.server.gateway import Gateway
from tool_search_processor.server.mcp import ToolServer


async def found_after(server):
    async with connected(server) as client:
        await search(client, query=ASKED)
        await client.call_tool("call_tool", {"name": "op_7", "arguments": {}})
    async with connected(server) as client:
        answer = await search(client, query=ASKED)
    return [result["name"] for result in answer["results"]]


async def test_a_call_after_a_search_is_learned_from_for_later_sessions():
    experience = Experience()
    assert await found_after(ToolServer(tools(), mode="discovery", experience=experience)) == ["op_7"]
    [record] = await experience.export()
    assert (record["query"], record["tool"]) == (ASKED, "op_7")


async def test_a_gateway_takes_it_too():
    gateway = Gateway(tools(), experience=Experience())
    assert await found_after(gateway.server) == ["op_7"]


async def test_a_front_without_it_learns_nothing():
    assert await found_after(ToolServer(tools(), mode="discovery")) == []


async def test_a_call_that_fails_is_not_learned_from():
    def fail():
        raise ValueError("no")

    experience = Experience()
    server = ToolServer([make("broken", execute=fail)], mode="discovery", experience=experience)
    async with connected(server) as client:
        await search(client, query=ASKED)
        assert (await client.call_tool("call_tool", {"name": "broken", "arguments": {}})).is_error
    assert await experience.export() == []
