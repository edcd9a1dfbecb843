"""Events come as things happen, and leaving early stops everything."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import pytest

from tests.processors import Resolver
from tool_search_processor.agent import Agent
from tool_search_processor.agent.runs import (
    Done,
    StepEnd,
    StepStart,
    TextDelta,
    ToolCallEvent,
    ToolResultEvent,
)
from tool_search_processor.errors import ConfigurationError
from tool_search_processor.testing import ScriptedModel, call
from tool_search_processor.tools import Tool


def add(a: int, b: int = 1) -> int:
    """Add two numbers."""
    return a + b


def agent_of(script, **options):
    return Agent(name="a", model="m", completion=ScriptedModel(script), **options)


SCRIPT = [[call("add", {"a": 1}, text="let me see"), call("add", {"a": 2})], "three letters"]


async def test_the_events_of_a_run():
    resolver = Resolver()
    agent = agent_of(SCRIPT, tools=[add], input_processors=[resolver])
    events = [event async for event in agent.stream("q")]
    kinds = [type(event) for event in events]
    assert kinds == [
        StepStart,
        *[TextDelta] * 3,
        *[ToolCallEvent] * 2,
        *[ToolResultEvent] * 2,
        StepEnd,
        StepStart,
        *[TextDelta] * 3,
        StepEnd,
        Done,
    ]
    assert events[0] == StepStart(step_number=0, tools=["add"])
    assert "".join(event.text for event in events[1:4]) == "let me see"
    assert events[4] == ToolCallEvent(call_id="call_1", name="add", target="add", arguments={"a": 1})
    assert events[7] == ToolResultEvent(call_id="call_2", name="add", text="3")
    result = events[-1].result
    assert result.usage == events[8].usage + events[-2].usage
    assert resolver.ended == [result.run_id]


async def test_a_call_through_a_proxy_tells_what_runs():
    class Proxy(Tool):
        async def target(self, arguments, context=None):
            return Tool.from_function(add), arguments["arguments"]

    through = call("call_tool", {"name": "add", "arguments": {"a": 1}})
    agent = agent_of([through, "ok"], tools=[Proxy(name="call_tool")])
    events = [event async for event in agent.stream("q")]
    assert events[1:3] == [
        ToolCallEvent(call_id="call_1", name="call_tool", target="add", arguments={"a": 1}),
        ToolResultEvent(call_id="call_1", name="call_tool", text="2"),
    ]


async def test_a_stream_ends_as_a_run_does():
    streamed = [event async for event in agent_of(SCRIPT, tools=[add]).stream("q")][-1].result
    run = await agent_of(SCRIPT, tools=[add]).run("q")
    assert streamed.messages == run.messages
    assert (streamed.output, streamed.usage, streamed.steps) == (run.output, run.usage, run.steps)


async def test_the_model_is_asked_to_stream():
    model = ScriptedModel(["ok"])
    agent = Agent(name="a", model="m", completion=model)
    assert [event async for event in agent.stream("q")]
    assert model.requests[0].stream
    assert model.requests[0].settings == {"stream_options": {"include_usage": True}}


@pytest.mark.parametrize("kind", [StepStart, TextDelta, ToolCallEvent, ToolResultEvent, StepEnd])
async def test_leaving_early_ends_the_run_once(kind):
    resolver = Resolver()
    agent = agent_of(SCRIPT, tools=[add], input_processors=[resolver])
    async with aclosing(agent.stream("q")) as events:
        async for event in events:
            if isinstance(event, kind):
                break
    assert len(resolver.ended) == 1


async def test_leaving_early_cancels_running_tools():
    started, ended = asyncio.Event(), []

    async def slow() -> None:
        """Wait for ever."""
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    async def quick() -> str:
        """Answer once the other runs."""
        await started.wait()
        return "ok"

    agent = agent_of([[call("quick"), call("slow")]], tools=[quick, slow])
    async with aclosing(agent.stream("q")) as events:
        async for event in events:
            if isinstance(event, ToolResultEvent):
                assert event.text == "ok"
                break
    assert ended == [True]


async def test_results_come_as_soon_as_those_before_are_there():
    release = asyncio.Event()

    async def slow() -> str:
        """Wait for the word."""
        await release.wait()
        return "slow"

    agent = agent_of([[call("add", {"a": 1}), call("slow")], "ok"], tools=[add, slow])
    texts = []
    async for event in agent.stream("q"):
        if isinstance(event, ToolResultEvent):
            texts.append(event.text)
            release.set()
    assert texts == ["2", "slow"]


async def test_errors_come_through_the_stream():
    resolver = Resolver()
    agent = agent_of([OSError("down")], input_processors=[resolver])
    with pytest.raises(OSError, match="down"):
        assert [event async for event in agent.stream("q")]
    assert len(resolver.ended) == 1


async def test_mistakes_raise_at_once():
    with pytest.raises(ConfigurationError, match="nothing to send"):
        agent_of([]).stream("")
