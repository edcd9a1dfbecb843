"""Servers that send anything at any place: a run ends and its history can be sent, or an error says why."""

from __future__ import annotations

import contextlib
import copy
import json

import pytest

from tests.garbage import GARBAGE, places, with_garbage
from tool_search_processor import Agent, Tool, ToolSearchProcessor
from tool_search_processor.agent import RunResult, TextDelta
from tool_search_processor.errors import ToolSearchError
from tool_search_processor.stores import HistoryStore
from tool_search_processor.testing import ScriptedModel, call

FUNCTION = {"name": "search_tools", "arguments": '{"query": "issue"}'}
CALL = {"id": "a", "type": "function", "function": FUNCTION, "provider_specific_fields": {"a": 1}}
WHOLE = {
    "choices": [
        {
            "index": 0,
            "finish_reason": "tool_calls",
            "message": {
                "role": "assistant",
                "content": "hi",
                "tool_calls": [CALL],
                "reasoning_content": "r",
                "thinking_blocks": [{"type": "thinking", "thinking": "x"}],
            },
        }
    ],
    "usage": {"prompt_tokens": 1, "prompt_tokens_details": {"cached_tokens": 1}},
}
DELTAS = [
    {"role": "assistant", "content": "hi", "reasoning_content": "r", "refusal": None},
    {"thinking_blocks": [{"type": "thinking", "thinking": "x"}], "provider_specific_fields": {"a": 1}},
    {"tool_calls": [{**CALL, "index": 0, "function": {"name": "search_tools", "arguments": ""}}]},
    {"tool_calls": [{"index": 0, "function": {"arguments": FUNCTION["arguments"]}}]},
]
CHUNKS = [
    *({"choices": [{"index": 0, "delta": delta}]} for delta in DELTAS),
    {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]},
    {"choices": [], "usage": {"prompt_tokens": 1}},
]
END = {"choices": [{"message": {"content": "end"}}]}


async def ran(answer, *, stream=False, **options):
    """Return the result of a run whose first answer is `answer`, after looking at what was sent and kept."""
    answers = [answer, END, END]

    async def completion(**request):
        json.dumps(request["messages"], ensure_ascii=False, allow_nan=False).encode()
        first = answers.pop(0)
        return in_pieces(first) if stream and isinstance(first, list) else first

    tools = [Tool(f"tool_{i}", "does things with an issue", execute=lambda **_: 1) for i in range(3)]
    processor = ToolSearchProcessor(tools=tools)
    agent = Agent("a", "m", completion=completion, input_processors=[processor], **options)
    events = [event async for event in agent.stream("hi")] if stream else []
    result = events[-1].result if stream else await agent.run("hi")
    text = json.dumps(result.to_dict(), ensure_ascii=False, allow_nan=False)
    text.encode()
    assert RunResult.from_json(text) == result
    return result


async def in_pieces(chunks):
    for chunk in chunks:
        yield chunk


@pytest.mark.parametrize("path", list(places(WHOLE)), ids=repr)
async def test_garbage_in_an_answer(path):
    for garbage in GARBAGE:
        try:
            result = await ran(with_garbage(WHOLE, path, garbage))
        except ToolSearchError as exc:
            assert "has no choices" in str(exc) and path[1:] == ()  # noqa: PT018, PT017 - not at every garbage
        else:
            assert result.finish_reason in ("stop", "empty")


@pytest.mark.parametrize("path", [path for path in places(CHUNKS) if path], ids=repr)
async def test_garbage_in_a_stream(path):
    for garbage in GARBAGE:
        result = await ran(with_garbage(CHUNKS, path, garbage), stream=True)
        assert result.finish_reason == "stop"


@pytest.mark.parametrize("order", ["reversed", "twice", "no index", "huge index", "interleaved"])
async def test_chunks_out_of_order(order):
    other = {"tool_calls": [{**CALL, "id": "b", "index": 1, "function": FUNCTION}]}
    chunks = [
        *CHUNKS[:3],
        {"choices": [{"index": 0, "delta": other}]},
        *CHUNKS[3:],
    ]
    if order == "reversed":
        chunks.reverse()
    elif order == "twice":
        chunks = [chunk for chunk in chunks for _ in range(2)]
    elif order != "interleaved":
        chunks = copy.deepcopy(chunks)
        for chunk in chunks:
            for choice in chunk["choices"]:
                for piece in choice["delta"].get("tool_calls", ()):
                    piece["index"] = None if order == "no index" else 10**20
    result = await ran(chunks, stream=True)
    assert result.finish_reason == "stop"
    asked = [call["id"] for message in result.messages for call in message.get("tool_calls", ())]
    assert asked == [message["tool_call_id"] for message in result.messages if message["role"] == "tool"]


async def test_an_error_in_the_middle_of_a_stream_is_raised_and_says_where():
    async def broken():
        yield CHUNKS[0]
        raise ConnectionError("gone")

    async def completion(**_):
        return broken()

    agent = Agent("a", "m", completion=completion)
    with pytest.raises(ConnectionError, match="gone") as caught:
        [event async for event in agent.stream("hi")]
    assert "model call of step 0" in caught.value.__notes__[0]


@pytest.mark.parametrize(
    ("pieces", "deltas", "output"),
    [
        (("a\ud83d", "\ude00b"), ["a", "😀b"], "a😀b"),
        (("\ud83d", "", "\ude00"), ["😀"], "😀"),
        (("a\ud83d", "b"), ["a", "\ufffdb"], "a\ufffdb"),
        (("\ude00é",), ["\ufffdé"], "\ufffdé"),
        (("a", "\ud83d"), ["a"], "a\ufffd"),
    ],
)
async def test_a_character_that_a_stream_cut_in_two_is_one_again(pieces, deltas, output):
    chunks = [{"choices": [{"index": 0, "delta": {"content": piece}}]} for piece in pieces]

    async def completion(**_):
        return in_pieces(chunks)

    events = [event async for event in Agent("a", "m", completion=completion).stream("hi")]
    assert [event.text for event in events if isinstance(event, TextDelta)] == deltas
    assert events[-1].result.output == output


@pytest.mark.parametrize(
    "arguments",
    [
        '{"a": ' * 3_000 + "1" + "}" * 3_000,
        '{"a": NaN}',
        '{"a": "\\ud800"}',
        '{"a": "\ud800"}',
        '{"a": 1e999}',
    ],
    ids=["deep", "NaN", "escaped half", "half", "infinity"],
)
async def test_odd_arguments_of_a_call_that_needs_approval(arguments):
    ran_with = []
    tool = Tool("ask", execute=lambda **given: ran_with.append(given), requires_approval=True)
    calls = [{"id": "a", "type": "function", "function": {"name": "ask", "arguments": arguments}}]
    answers = [{"choices": [{"message": {"content": None, "tool_calls": calls}}]}, END]

    async def completion(**request):
        json.dumps(request["messages"], ensure_ascii=False, allow_nan=False).encode()
        return answers.pop(0)

    agent = Agent("a", "m", completion=completion, tools=[tool])
    result = await agent.run("hi")
    if result.finish_reason == "stop":
        assert "nested too deeply" in result.messages[2]["content"]
        return
    text = json.dumps(result.to_dict(), ensure_ascii=False, allow_nan=False)
    text.encode()
    done = await agent.resume(RunResult.from_json(text), {"a": True})
    assert done.output == "end"
    assert len(ran_with) == 1


# -- what was kept and comes back


def asking(ran):
    return Tool("ask", execute=lambda **given: ran.append(given), requires_approval=True)


def agent_with(script, *tools):
    return Agent("a", "m", completion=ScriptedModel(script), tools=tools)


async def test_garbage_in_a_paused_run_that_was_kept():
    result = await agent_with([call("ask", {"path": "/a"})], asking([])).run("hi", thread_id="t")
    kept = json.loads(result.to_json())
    for path in places(kept):
        for garbage in GARBAGE:
            ran = []
            with contextlib.suppress(ToolSearchError):  # says what was found: anything else is a bug
                changed = with_garbage(kept, path, garbage)
                await agent_with(["done"] * 3, asking(ran)).resume(changed, {"call_1": True})
            assert ran in ([], [{"path": "/a"}]), "nothing runs but what a person was shown"


CONVERSATION = [
    {"role": "user", "content": "hi"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "a", "content": '{"receipt": {"type": "tool-search/loaded", "v": 1}}'},
    {"role": "assistant", "content": [{"type": "tool_use", "id": "2", "name": "load_tool", "input": {}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "2", "content": [{"type": "text"}]}]},
]


@pytest.mark.parametrize("path", list(places(CONVERSATION)), ids=repr)
async def test_garbage_in_a_conversation(path):
    processor = ToolSearchProcessor([Tool("load_me")], store=HistoryStore(), preload=1)
    for garbage in GARBAGE:
        messages = with_garbage(CONVERSATION, path, garbage)
        agent = Agent("a", "m", completion=ScriptedModel(["done"]), input_processors=[processor])
        with contextlib.suppress(ToolSearchError):
            assert (await agent.run("hi", messages=messages)).output == "done"
        with contextlib.suppress(ToolSearchError):
            async with processor.session() as session:
                await session.tools(messages)
