"""The scripted model answers as a completion does, and says so when its script ends."""

from __future__ import annotations

import pytest

from tool_search_processor.errors import ConfigurationError, ToolSearchError
from tool_search_processor.testing import ManualClock, ScriptedModel, call, say

MESSAGES = [{"role": "system", "content": "sys"}, {"role": "user", "content": "q"}]
TOOLS = [{"type": "function", "function": {"name": "add", "parameters": {}}}]


async def ask(model, **options):
    return await model(model="m", messages=MESSAGES, **options)


async def test_text_and_calls_in_litellms_shape():
    model = ScriptedModel(["hello", [call("add", {"a": 1}), call("sub", "{broken", id="x")], say("b")])
    first, second, third = [await ask(model, tools=TOOLS) for _ in range(3)]
    assert first.choices[0].message.content == first["choices"][0]["message"]["content"] == "hello"
    assert first.choices[0].finish_reason == "stop"
    assert second.choices[0].message == {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "call_1", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}},
            {"id": "x", "type": "function", "function": {"name": "sub", "arguments": "{broken"}},
        ],
    }
    assert second.choices[0].finish_reason == "tool_calls"
    assert third.usage.total_tokens == third.usage.prompt_tokens + third.usage.completion_tokens
    with pytest.raises(AttributeError):
        _ = third.usage.nonsense


async def test_requests_are_kept_as_they_were():
    model = ScriptedModel(["a"])
    messages = [dict(message) for message in MESSAGES]
    await model(model="m", messages=messages, tools=TOOLS, temperature=0.5)
    messages[1]["content"] = "changed"
    (request,) = model.requests
    assert (request.model, request.messages, request.tools) == ("m", MESSAGES, TOOLS)
    assert (request.stream, request.settings) == (False, {"temperature": 0.5})
    assert (request.tool_names, request.system) == (["add"], "sys")
    assert request.tools_bytes.startswith(b'[{"type": "function"')


async def test_a_request_without_system_text_or_tools():
    model = ScriptedModel(["a", "b"])
    await model(model="m", messages=MESSAGES[1:])
    await model(model="m", messages=[])
    assert [(request.system, request.tools) for request in model.requests] == [("", []), ("", [])]


async def test_streamed_in_pieces():
    model = ScriptedModel([call("add", {"a": 1}, text="let me see")])
    chunks = [chunk async for chunk in await ask(model, stream=True)]
    deltas = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
    assert "".join(delta.get("content", "") for delta in deltas) == "let me see"
    pieces = [item.function for delta in deltas for item in delta.get("tool_calls", ())]
    assert pieces[0] == {"name": "add", "arguments": ""}
    assert len(pieces) > 2
    assert "".join(piece.arguments for piece in pieces) == '{"a": 1}'
    assert chunks[-2].choices[0].finish_reason == "tool_calls"
    assert chunks[-1].usage.prompt_tokens > 0


async def test_functions_answer_by_the_request():
    async def later(request):
        return say(f"{len(request.messages)} messages")

    model = ScriptedModel([lambda request: request.tool_names[0], later, lambda request: later])
    answers = [(await ask(model, tools=TOOLS)).choices[0].message.content for _ in range(3)]
    assert answers == ["add", "2 messages", "2 messages"]


@pytest.mark.parametrize("error", [OSError("down"), OSError])
async def test_errors_are_raised(error):
    model = ScriptedModel([error])
    with pytest.raises(OSError, match=r"^(down)?$"):
        await ask(model)


async def test_the_end_of_the_script_is_told():
    model = ScriptedModel(["only"])
    await ask(model)
    with pytest.raises(ToolSearchError, match=r"no reply to request 2; its last message is .*'q'"):
        await ask(model)


@pytest.mark.parametrize("script", ["text", say("x"), lambda request: "x"])
def test_a_script_is_a_list(script):
    with pytest.raises(ConfigurationError, match="a script is a list of replies"):
        ScriptedModel(script)


@pytest.mark.parametrize("reply", [3, [], ["a", "b"]])
async def test_what_is_no_reply(reply):
    with pytest.raises(ConfigurationError, match="a reply is a string"):
        await ask(ScriptedModel([reply]))


def test_the_clock_moves_by_hand():
    clock = ManualClock(10)
    assert clock() == 10
    clock.advance(2.5)
    assert clock() == 12.5
    with pytest.raises(ConfigurationError, match="does not go back"):
        clock.advance(-1)
