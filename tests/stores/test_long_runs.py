"""A run that takes longer than its thread's time to live: what it has used is there at the next turn."""

import pytest

from tests.stores.servers import NEEDED, ServerClock
from tool_search_processor import Agent, ToolSearchProcessor
from tool_search_processor.stores import HistoryStore, MemoryStore, RedisStore
from tool_search_processor.testing import ManualClock, ScriptedModel, call

TTL = 60.0
LOAD = call("load_tool", {"tool_names": ["export"]})


@pytest.fixture(params=["memory", "history", pytest.param("redis", marks=NEEDED)])
def kept(request):
    """Return a store and its clock."""
    if request.param == "redis":
        server = request.getfixturevalue("redis_server")
        store = RedisStore(server.url, ttl_seconds=TTL, on_error="raise", timeout_seconds=30)
        return store, ServerClock(server)
    clock = ManualClock()
    return HistoryStore() if request.param == "history" else MemoryStore(TTL, clock=clock), clock


def slow_tools(clock):
    def export() -> str:
        """Export all."""
        clock.advance(TTL + 1)
        return "exported"

    return [export]


async def test_of_an_agent(kept):
    store, clock = kept
    searcher = ToolSearchProcessor(slow_tools(clock), store=store)
    model = ScriptedModel([LOAD, call("export"), "done", "hello", "hello again"])
    agent = Agent("a", "m", completion=model, input_processors=[searcher])
    result = await agent.run("export", thread_id="t")
    result = await agent.run("again", thread_id="t", messages=result.messages)
    assert model.requests[3].tool_names == ["search_tools", "load_tool", "export"]
    await searcher.aclose()


async def test_of_a_loop_of_ones_own(kept):
    store, clock = kept
    searcher = ToolSearchProcessor(slow_tools(clock), store=store)
    messages = [{"role": "user", "content": "export"}]
    async with searcher.session(thread_id="t") as session:
        for made in (LOAD, call("export")):
            await session.tools(messages)
            function = {"name": made.calls[0].name, "arguments": made.calls[0].arguments}
            messages += [{"role": "assistant", "tool_calls": [{"id": "call_0", "function": function}]}]
            messages += await session.execute(messages[-1])
    async with searcher.session(thread_id="t") as session:
        assert [tool.name for tool in await session.tools(messages)] == [
            "search_tools",
            "load_tool",
            "export",
        ]
    await searcher.aclose()
