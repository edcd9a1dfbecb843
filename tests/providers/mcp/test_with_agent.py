"""A run goes on whatever becomes of a server."""

import asyncio
import json
import os
import signal
import sys

import pytest

from tests.providers.mcp.asking import SMALL, HttpServer, changed
from tool_search_processor import Agent, ToolSearchProcessor
from tool_search_processor.providers import MCPProvider
from tool_search_processor.providers.mcp import is_destructive
from tool_search_processor.testing import ScriptedModel, call

pytestmark = pytest.mark.slow


def agent_of(provider, *replies):
    processor = ToolSearchProcessor([provider])
    return Agent(name="a", model="m", completion=ScriptedModel(replies), input_processors=[processor])


def last(request):
    return request.messages[-1]["content"]


def test_a_run_survives_a_server_that_is_killed_in_the_middle_of_a_call():
    processes, told = [], []
    provider = MCPProvider.stdio(
        sys.executable,
        [SMALL],
        name="small",
        on_progress=lambda report: os.kill(processes[0], signal.SIGKILL),
    )

    def note_process(request):
        processes.append(int(last(request)))
        return call("hang", {})

    def note_failure(request):
        told.append(last(request))
        return call("grow", {"name": "sprout"})

    agent = agent_of(
        provider,
        call("load_tool", {"tool_names": ["process_id", "hang", "grow"]}),
        call("process_id", {}),
        note_process,
        note_failure,
        call("search_tools", {"query": "sprout"}),
        lambda request: call("sprout", {}),
        call("process_id", {}),
        last,
    )

    result = agent.run_sync("Do it.")

    assert result.finish_reason == "stop"
    assert int(result.output) != processes[0]
    assert "the connection to the server 'small' ended during the call of hang" in told[0]
    said = [message["content"] for message in result.messages if message["role"] == "tool"]
    assert json.loads(said[4])["results"][0]["name"] == "sprout"
    assert said[5] == "done"
    asyncio.run(provider.aclose())


@pytest.mark.parametrize("options", [(), ("--old",)], ids=["2026-07-28", "2025-11-25"])
async def test_a_run_survives_a_server_over_http_that_dies_in_a_call_and_comes_back(options):
    server = HttpServer(*options)
    provider = MCPProvider.http(server.url, name="large")
    told = []

    async def restart(request):
        told.append(last(request))
        await asyncio.to_thread(server.kill)
        await asyncio.to_thread(server.start)
        await provider.list_tools({})
        marks.append(provider.version())
        return call("grow", {"name": "sprout"})

    async def wait(request):  # the list of the next step is the new one
        await changed(provider, marks[-1])
        return call("add", {"first": 1, "second": 2})

    marks = []
    agent = agent_of(
        provider,
        call("load_tool", {"tool_names": ["die", "grow", "add"]}),
        call("die", {}),
        restart,
        wait,
        call("search_tools", {"query": "sprout"}),
        lambda request: call("sprout", {}),
        last,
    )
    try:
        result = await agent.run("Do it.")
    finally:
        await provider.aclose()
        server.kill()

    assert result.finish_reason == "stop"
    assert "ended during the call of die" in told[0]
    said = [message["content"] for message in result.messages if message["role"] == "tool"]
    assert "3" in said[3]
    assert json.loads(said[4])["results"][0]["name"] == "sprout"
    assert result.output == "grown"


def test_a_destructive_tool_waits_for_approval():
    provider = MCPProvider.stdio(sys.executable, [SMALL], requires_approval=is_destructive)
    agent = agent_of(provider, call("load_tool", {"tool_names": ["wipe"]}), call("wipe", {}), last)

    stopped = agent.run_sync("Wipe it.")
    (pending,) = stopped.pending
    assert (stopped.finish_reason, pending.name) == ("pending", "wipe")
    assert agent.resume_sync(stopped, {pending.call_id: True}).output == "done"
    asyncio.run(provider.aclose())


def test_hints_can_be_asked_by_a_filter():
    provider = MCPProvider.stdio(sys.executable, [SMALL])
    processor = ToolSearchProcessor([provider], filter=lambda request: not is_destructive(request.tool))

    async def found():
        hits = await processor.search("count letters and delete everything")
        await processor.catalog.aclose()
        return [hit.name for hit in hits]

    assert asyncio.run(found()) == ["count"]
