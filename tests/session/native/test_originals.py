"""What comes in a provider's own shape goes back as it came, unless a processor has changed it."""

from __future__ import annotations

import re

import pytest

from tool_search_processor import ConfigurationError, TokenLimiter, ToolSession
from tool_search_processor.session.native.originals import restored
from tool_search_processor.wire.anthropic_messages import anthropic_messages, as_anthropic
from tool_search_processor.wire.messages import chat_messages, read_conversation

SEARCHED = {
    "role": "assistant",
    "content": [
        {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"query": "x"}},
        {"type": "web_search_tool_result", "tool_use_id": "srv_1", "content": [{"encrypted_content": "e"}]},
        {"type": "text", "text": "found", "citations": [{"type": "web_search_result_location", "url": "u"}]},
    ],
}
ITEMS = [
    {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "e"},
    {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search"}},
    {
        "type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": "found", "annotations": [{"type": "url_citation"}]}],
    },
]  # fmt: skip
COMPACTED = {"type": "compaction", "id": "cmp_1", "encrypted_content": "c"}
FIT = r"[A-Za-z0-9_-]{1,64}"
USER, MORE = {"role": "user", "content": "x"}, {"role": "user", "content": "and y?"}


@pytest.mark.parametrize("native", [None, "definition", "reference"])
async def test_anthropic_messages(native):
    async with ToolSession() as session:
        sent = await session.anthropic_request([USER, SEARCHED, MORE], native=native)
    assert sent["messages"] == [USER, SEARCHED, MORE]


def test_a_message_with_its_fields_in_another_order_is_not_changed():
    given = read_conversation([SEARCHED])
    messages = [dict(reversed(message.items())) for message in chat_messages(given)]
    assert restored(messages, given, take=as_anthropic, write=anthropic_messages) == [SEARCHED]


@pytest.mark.parametrize("native", [True, False])
async def test_responses_items(native):
    async with ToolSession() as session:
        sent = await session.responses_request([COMPACTED, USER, *ITEMS, MORE], native=native)
    assert sent == {"instructions": "", "tools": [], "input": [COMPACTED, USER, *ITEMS, MORE]}


LAST = [
    [
        {"type": "shell_call", "call_id": "s1", "action": {"commands": ["ls"]}},
        {"type": "shell_call_output", "call_id": "s1", "output": [{"stdout": "a"}]},
    ],
    [
        {"type": "mcp_approval_request", "id": "m1", "name": "n", "arguments": "{}", "server_label": "s"},
        {"type": "mcp_approval_response", "approval_request_id": "m1", "approve": True},
    ],
    [
        {"type": "custom_tool_call", "call_id": "c1", "name": "shell", "input": "ls"},
        {"type": "custom_tool_call_output", "call_id": "c1", "output": "a"},
    ],
]


@pytest.mark.parametrize("native", [True, False])
@pytest.mark.parametrize("last", LAST)
async def test_the_last_items_are_sent_even_if_chat_has_no_counterpart(last, native):
    async with ToolSession() as session:
        for items in ([USER, *last], [USER, *ITEMS, MORE, *last], last):
            assert (await session.responses_request(items, native=native))["input"] == items
        changed = ToolSession(Shouting())
        assert (await changed.responses_request([USER, *LAST[0]]))["input"][1:] == LAST[0]


async def test_an_open_custom_call_is_answered_in_its_kind():
    called = LAST[2][0]
    async with ToolSession() as session:
        sent = (await session.responses_request([USER, called]))["input"]
    assert sent[:2] == [USER, called]
    assert (sent[2]["type"], sent[2]["call_id"]) == ("custom_tool_call_output", "c1")


@pytest.mark.parametrize(
    "call",
    [
        {"type": "tool_use", "id": "a b/c", "name": "add", "input": {}},
        {"type": "tool_use", "id": 5, "name": "add", "input": {}},
        {"type": "tool_use", "id": "t1", "name": "add!", "input": {}},
        {"type": "tool_use", "id": "t1", "name": "x" * 70, "input": {}},
        {"type": "tool_use", "id": "t1", "name": "add", "input": None},
    ],
)
async def test_a_call_that_anthropic_would_refuse_is_repaired_with_its_result(call):
    result = {"type": "tool_result", "tool_use_id": call["id"], "content": "2"}
    messages = [USER, {"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    async with ToolSession() as session:
        _, asked, answered = (await session.anthropic_request(messages))["messages"]
    (use,), (answer,) = asked["content"], answered["content"]
    assert (use["id"], use["input"]) == (answer["tool_use_id"], {})
    assert re.fullmatch(FIT, use["id"])
    assert re.fullmatch(FIT, use["name"])


@pytest.mark.parametrize("change", [{"call_id": "a b/c"}, {"call_id": 5}, {"name": None}, {"name": "x" * 70}])
@pytest.mark.parametrize("call", [LAST[2][0], {"type": "function_call", "arguments": "{}"}])
async def test_a_call_that_openai_would_refuse_is_repaired_with_its_result(call, change):
    called = {"call_id": "c1", "name": "add", **call, **change}
    result = {"type": f"{call['type']}_output", "call_id": called["call_id"], "output": "a"}
    async with ToolSession() as session:
        _, asked, answered, _ = (await session.responses_request([USER, called, result, USER]))["input"]
    assert (asked["type"], asked["call_id"]) == (call["type"], answered["call_id"])
    assert answered["output"] == "a"
    assert re.fullmatch(FIT, asked["call_id"])
    assert re.fullmatch(FIT, asked["name"])


@pytest.mark.parametrize("content", ["", None, [], [{"type": "text", "text": " "}]])
async def test_blank_messages_reach_no_provider_as_null_or_as_empty_blocks(content):
    messages = [USER, {"role": "assistant", "content": [{"type": "text", "text": "hi"}]}]
    messages += [{"role": "system", "content": content}, {"role": "user", "content": content}, MORE]
    async with ToolSession() as session:
        sent = await session.anthropic_request(messages)
        assert sent["messages"] == [USER, messages[1], MORE]
        assert None not in [message["content"] for message in session.messages]


async def test_another_rendering_is_refused():
    async with ToolSession() as session:
        with pytest.raises(ConfigurationError, match="native must be 'definition' or 'reference'"):
            await session.anthropic_request([USER], native="auto")


class Shouting:
    id = "shouting"

    async def process_input_step(self, step):
        last = {**step.messages[-1], "content": step.messages[-1]["content"].upper()}
        return step.replace(messages=[*step.messages[:-1], last], instructions=["Shout."])


async def test_what_a_processor_changed_is_sent_as_changed_and_the_rest_as_it_came():
    system = {"role": "system", "content": "Be kind."}
    async with ToolSession(Shouting()) as session:
        sent = await session.responses_request([system, USER, *ITEMS, MORE])
    assert sent["instructions"] == "Be kind.\n\nShout."
    assert sent["input"] == [USER, *ITEMS, {"role": "user", "content": "AND Y?"}]


async def test_what_a_limiter_dropped_is_not_sent():
    async with ToolSession(TokenLimiter(40, counter=len)) as session:
        sent = await session.anthropic_request([USER, SEARCHED, {"role": "user", "content": "y" * 20}])
    assert sent["messages"] == [{"role": "user", "content": "y" * 20}]


async def test_a_conversation_of_another_provider_is_written_anew():
    async with ToolSession() as session:
        sent = await session.anthropic_request([USER, *ITEMS, MORE])
        assert sent["messages"] == [USER, {"role": "assistant", "content": "found"}, MORE]
        sent = await session.responses_request([USER, SEARCHED, MORE])
    assert [item["role"] for item in sent["input"]] == ["user", "assistant", "user"]
