"""The agent over LiteLLM: on its wire, and over real HTTP to an OpenAI-compatible server."""

from __future__ import annotations

import json
import socket

import httpx
import pytest
import respx
from pydantic import BaseModel
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, StreamingResponse
from starlette.routing import Route

from tests.agent.litellm_clients import close_litellm
from tests.http_server import HttpServer
from tool_search_processor.agent import Agent
from tool_search_processor.agent.runs import Done, TextDelta
from tool_search_processor.concurrency.blocking import close_private_loop, run_blocking
from tool_search_processor.errors import TokenLimitError, ToolSearchError
from tool_search_processor.processor import ToolSearchProcessor
from tool_search_processor.steps import InputStep
from tool_search_processor.testing import ScriptedModel, call
from tool_search_processor.tokens.limiter import TokenLimiter, default_counter
from tool_search_processor.tools import Tool

# litellm looks at every attribute of a streamed usage, those that pydantic deprecates included
pytestmark = [
    pytest.mark.usefixtures("litellm_closed"),
    pytest.mark.filterwarnings("ignore:Accessing the 'model_:DeprecationWarning"),
]

SCRIPT = [[call("add", {"a": 1}, text="adding"), call("add", {"a": 2})], "three"]
BASE = "http://llm.test/v1"


def add(a: int, b: int = 1) -> int:
    """Add two numbers."""
    return a + b


def agent_at(base: str, **options) -> Agent:
    settings = {"api_base": base, "api_key": "x", "num_retries": 0, "timeout": 20}
    return Agent(
        name="a",
        model="openai/test",
        instructions="Be brief.",
        tools=[add],
        model_settings={**settings, **options.pop("model_settings", {})},
        **options,
    )


class Server(HttpServer):
    """An OpenAI-compatible server on loopback that answers from a script."""

    def __init__(self, script):
        self.model = ScriptedModel(script)
        self.bodies = []
        self.peers = set()
        app = Starlette(routes=[Route("/v1/chat/completions", self.answer, methods=["POST"])])
        super().__init__(app)
        self.base = f"{self.url}/v1"

    async def answer(self, request: Request):
        self.peers.add(request.client)
        body = await request.json()
        self.bodies.append(body)
        response = await self.model(**body)
        if not body.get("stream"):
            return JSONResponse(response)
        return StreamingResponse(self._events(response), media_type="text/event-stream")

    async def _events(self, chunks):
        async for chunk in chunks:
            yield f"data: {json.dumps(chunk)}\n\n"
        yield "data: [DONE]\n\n"


@pytest.mark.slow
async def test_over_http():
    with Server(SCRIPT) as server:
        result = await agent_at(server.base).run("what is it?")
        await close_litellm()
    assert (result.output, result.steps, result.finish_reason) == ("three", 2, "stop")
    assert [m["content"] for m in result.messages if m["role"] == "tool"] == ["2", "3"]
    first, second = server.bodies
    assert first["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "what is it?"},
    ]
    assert first["tools"] == second["tools"] == [Tool.from_function(add).to_openai()]
    assert "parallel_tool_calls" not in first
    assert [message["role"] for message in second["messages"]] == [
        "system",
        "user",
        "assistant",
        "tool",
        "tool",
    ]
    assert result.usage.total_tokens > 0


async def test_streaming_over_http():
    with Server(SCRIPT) as server:
        events = [event async for event in agent_at(server.base).stream("what is it?")]
        await close_litellm()
    assert isinstance(events[-1], Done)
    result = events[-1].result
    assert (result.output, result.steps) == ("three", 2)
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == "addingthree"
    assert [m["content"] for m in result.messages if m["role"] == "tool"] == ["2", "3"]
    assert all(body["stream"] and body["stream_options"] == {"include_usage": True} for body in server.bodies)
    assert result.usage.prompt_tokens > 0


def test_run_sync_keeps_its_connection():
    with Server(["one", "two"]) as server:
        agent = agent_at(server.base)
        try:
            assert [agent.run_sync("q").output, agent.run_sync("q").output] == ["one", "two"]
            run_blocking(close_litellm, door="", instead="")
        finally:
            close_private_loop()
    assert len(server.peers) == 1, "one connection served both calls"


def reply(message, finish_reason="stop"):
    return {
        "id": "r",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "finish_reason": finish_reason, "message": message}],
        "usage": {"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9},
    }


async def test_the_bodies_on_the_wire():
    message = {
        "role": "assistant",
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}
        ],
    }
    with respx.mock(base_url=BASE) as wire:
        route = wire.post("/chat/completions").mock(
            side_effect=[
                respx.MockResponse(json=reply(message, "tool_calls")),
                respx.MockResponse(json=reply({"role": "assistant", "content": "two"})),
            ]
        )
        agent = agent_at(BASE, parallel_tool_calls=False, model_settings={"temperature": 0})
        result = await agent.run("q")
    bodies = [json.loads(item.request.content) for item in route.calls]
    assert set(bodies[0]) == {"messages", "model", "temperature", "tools", "parallel_tool_calls"}
    assert bodies[0]["parallel_tool_calls"] is False
    assert bodies[0]["tools"] == bodies[1]["tools"] == [Tool.from_function(add).to_openai()]
    assert bodies[1]["messages"][2:] == [
        {**message, "content": ""},
        {"role": "tool", "tool_call_id": "c1", "name": "add", "content": "2"},
    ]
    assert (result.output, result.usage.prompt_tokens, result.usage.total_tokens) == ("two", 14, 18)


async def test_a_streamed_answer_on_the_wire():
    rows = [
        {"index": 0, "id": "c1", "type": "function", "function": {"name": "add", "arguments": ""}},
        {"index": 0, "function": {"arguments": '{"a"'}},
        {"index": 0, "function": {"arguments": ":1}"}},
    ]
    deltas = [({"tool_calls": [row]}, None) for row in rows] + [({}, "tool_calls")]
    with respx.mock(base_url=BASE) as wire:
        wire.post("/chat/completions").mock(
            side_effect=[
                _sse(*deltas),
                _sse(({"content": "t"}, None), ({"content": "wo"}, None), ({}, "stop")),
            ]
        )
        events = [event async for event in agent_at(BASE).stream("q")]
    result = events[-1].result
    assert (result.output, result.messages[2]["content"]) == ("two", "2")


@pytest.mark.parametrize("text", ["", "data: [DONE]\n\n"])
async def test_a_stream_that_ends_after_its_headers_is_no_answer(text):
    with respx.mock(base_url=BASE) as wire:
        wire.post("/chat/completions").respond(headers={"content-type": "text/event-stream"}, text=text)
        with pytest.raises(ToolSearchError, match="ended before its answer began"):
            _ = [event async for event in agent_at(BASE).stream("q")]


async def test_a_streamed_answer_may_be_empty():
    with respx.mock(base_url=BASE) as wire:
        wire.post("/chat/completions").mock(
            return_value=_sse(({"role": "assistant", "content": ""}, None), ({}, "stop"))
        )
        events = [event async for event in agent_at(BASE).stream("q")]
    assert (events[-1].result.output, events[-1].result.finish_reason) == ("", "empty")


def _sse(*deltas):
    rows = [
        {
            "id": "r",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": "m",
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}],
        }
        for delta, finish_reason in deltas
    ]
    text = "".join(f"data: {json.dumps(row)}\n\n" for row in rows) + "data: [DONE]\n\n"
    return respx.MockResponse(headers={"content-type": "text/event-stream"}, text=text)


def _answered(*output):
    """An answer of OpenAI's Responses API, where litellm sends GPT-5.4 and later when there are tools."""
    usage = {"input_tokens": 7, "output_tokens": 2, "total_tokens": 9}
    return {
        "id": "resp_1", "object": "response", "created_at": 1, "status": "completed", "model": "gpt-5.5",
        "output": list(output), "parallel_tool_calls": True, "tool_choice": "auto", "tools": [],
        "usage": usage,
    }  # fmt: skip


class Sum(BaseModel):
    total: int


async def test_settings_that_are_objects_reach_litellm_as_they_are():
    settings = {"response_format": Sum, "timeout": httpx.Timeout(7), "stop": ("END",)}
    with respx.mock(base_url=BASE) as wire:
        route = wire.post("/chat/completions").mock(
            return_value=_sse(({"content": "three"}, None), ({}, "stop"))
        )
        events = [event async for event in agent_at(BASE, model_settings=settings).stream("q")]
    assert events[-1].result.output == "three"
    body = json.loads(route.calls.last.request.content)
    assert body["response_format"]["json_schema"]["schema"]["properties"]["total"]["type"] == "integer"
    assert body["stop"] == ["END"]
    assert set(route.calls.last.request.extensions["timeout"].values()) == {7}


THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "e"}
CALLED = {
    "type": "function_call", "id": "fc_1", "call_id": "c1", "name": "add", "arguments": '{"a": 1}',
    "status": "completed",
}  # fmt: skip
SAID = {
    "type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
    "content": [{"type": "output_text", "text": "two", "annotations": []}],
}  # fmt: skip


def _response_events(*output):
    """The same as server-sent events."""
    events = [{"type": "response.created", "response": {**_answered(), "status": "in_progress"}}]
    for index, item in enumerate(output):
        place = {"output_index": index, "item_id": item["id"]}
        begun = {**item, "arguments": ""} if "arguments" in item else item
        events.append({"type": "response.output_item.added", "output_index": index, "item": begun})
        if "arguments" in item:
            delta = {"type": "response.function_call_arguments.delta", "delta": item["arguments"]}
            events.append({**delta, **place})
        if "content" in item:
            delta = {"type": "response.output_text.delta", "delta": item["content"][0]["text"]}
            events.append({**delta, **place, "content_index": 0})
        events.append({"type": "response.output_item.done", "output_index": index, "item": item})
    events.append({"type": "response.completed", "response": _answered(*output)})
    rows = [json.dumps({**event, "sequence_number": number}) for number, event in enumerate(events)]
    text = "".join(f"data: {row}\n\n" for row in rows)
    return respx.MockResponse(headers={"content-type": "text/event-stream"}, text=text)


@pytest.mark.parametrize("stream", [False, True])
async def test_the_models_reasoning_goes_back_to_the_responses_api(stream):
    """Without it the model starts to think from nothing after each call of a tool."""
    agent = Agent("a", "openai/gpt-5.5", tools=[add], model_settings={"api_key": "x", "num_retries": 0})
    answers = [(THOUGHT, CALLED), (SAID,)]
    with respx.mock(base_url="https://api.openai.com/v1") as wire:
        route = wire.post("/responses").mock(
            side_effect=[
                _response_events(*answer) if stream else respx.MockResponse(json=_answered(*answer))
                for answer in answers
            ]
        )
        if stream:
            result = [event async for event in agent.stream("q")][-1].result
        else:
            result = await agent.run("q")
    assert result.output == "two"
    question, thought, called, answer = json.loads(route.calls[-1].request.content)["input"]
    assert question["role"] == "user"
    assert thought == THOUGHT
    assert (called["type"], called["name"]) == ("function_call", "add")
    assert (answer["type"], answer["call_id"]) == ("function_call_output", called["call_id"])


def calling(name, arguments, call_id):
    function = {"name": name, "arguments": json.dumps(arguments)}
    message = {"role": "assistant", "tool_calls": [{"id": call_id, "type": "function", "function": function}]}
    return respx.MockResponse(json=reply(message, "tool_calls"))


def sent_tools(request) -> bytes:
    """Return the bytes of the definitions in a request's body, as the provider's cache would see them."""
    body = request.content
    start = body.index(b'"tools":')
    _, end = json.JSONDecoder().raw_decode(body[start + len(b'"tools":') :].decode())
    return body[start : start + end]


@pytest.mark.parametrize(
    ("mode", "steps"),
    [
        ("call", [("search_tools", {"query": "add"}), ("call_tool", {"name": "add", "arguments": {"a": 4}})]),
        (
            "load",
            [("search_tools", {"query": "add"}), ("load_tool", {"tool_names": ["add"]}), ("add", {"a": 4})],
        ),
    ],
)
async def test_the_definitions_on_the_wire_only_grow_at_their_end(mode, steps):
    search = ToolSearchProcessor(tools=[add], mode=mode)
    agent = Agent(
        name="a",
        model="openai/test",
        input_processors=[search],
        model_settings={"api_base": BASE, "api_key": "x", "num_retries": 0},
    )
    answers = [calling(name, arguments, f"c{n}") for n, (name, arguments) in enumerate(steps)]
    answers.append(respx.MockResponse(json=reply({"role": "assistant", "content": "five"})))
    with respx.mock(base_url=BASE) as wire:
        route = wire.post("/chat/completions").mock(side_effect=answers)
        result = await agent.run("what is 4 + 1?")
    assert (result.output, result.messages[-2]["content"]) == ("five", "5")
    bodies = [sent_tools(item.request) for item in route.calls]
    if mode == "call":
        assert len(set(bodies)) == 1
    before, after = bodies[0], bodies[-1]
    assert after.startswith(before.removesuffix(b"]"))
    assert all(b"defer_loading" not in item.request.content for item in route.calls)


async def test_the_limiter_counts_with_litellms_tokenizer():
    question = {"role": "user", "content": "hello world " * 100}
    step = InputStep(messages=[question], model="gpt-4o")
    assert await TokenLimiter(300).process_input_step(step) is step
    with pytest.raises(TokenLimitError, match="current turn 20"):
        await TokenLimiter(150).process_input_step(step)


@pytest.mark.parametrize("model", [None, "gpt-4o", "replicate/llama-3-70b", "command-r"])
def test_the_default_counter_asks_no_network(model, monkeypatch):
    asked = []
    monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **_: asked.append(args))
    monkeypatch.delenv("LITELLM_OFFLINE_MODE")
    assert default_counter(model)("hello world") == 2
    assert asked == []
