"""What a loop passes as a model's calls is read, or refused in words that say what to pass."""

from types import SimpleNamespace

import pytest

from tool_search_processor.errors import ConfigurationError
from tool_search_processor.session.replies import read_reply, whole_reply, why_cut

CHAT = {"id": "c1", "function": {"name": "f", "arguments": "{}"}}
BLOCK = {"type": "tool_use", "id": "c1", "name": "f", "input": {}}
ITEM = {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"}
REPLY = {"object": "response", "output": [ITEM]}
OLD = {"name": "f", "arguments": "{}"}

PASS = (
    "pass reply.choices[0].message of OpenAI's chat shape, or a reply of Anthropic's or of OpenAI's Responses"
)
LOOKS = (
    'a call looks like {"id": "...", "function": {"name": "...", "arguments": "{...}"}}, or is a `tool_use` '
    "block of Anthropic's"
)


@pytest.mark.parametrize("as_objects", [False, True])
@pytest.mark.parametrize(
    "value",
    [
        {"tool_calls": [CHAT]},
        {"role": None, "tool_calls": (CHAT,)},
        {"role": "assistant", "content": [{"type": "text", "text": "now"}, BLOCK]},
        {"content": ({"type": "thinking"}, "now", BLOCK)},
        REPLY,
        CHAT,
        BLOCK,
        ITEM,
        [CHAT],
        (BLOCK,),
        ["now", {"type": "reasoning"}, ITEM],
        [{"type": "message", "role": "assistant", "content": [], "id": "m", "status": "completed"}, ITEM],
    ],
    ids=str,
)
def test_calls_are_found_in_every_shape(value, as_objects):
    if as_objects and isinstance(value, dict):
        value = SimpleNamespace(**value)
    assert [(call.id, call.name) for call in read_reply(value)] == [("c1", "f")]


def test_a_call_of_old_has_no_id_and_gets_one():
    (call,) = read_reply({"role": "assistant", "content": None, "function_call": OLD})
    assert call.name == "f"
    assert call.id


@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        {"role": "assistant"},
        {"content": ""},
        {"tool_calls": None},
        {"role": "assistant", "content": ["done"], "function_call": None},
        {"object": "response", "output": []},
    ],
    ids=str,
)
def test_a_reply_without_calls_has_none(value):
    assert read_reply(value) == []


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (
            "I'll run it.",
            f'tool calls stand in an assistant message, found the string "I\'ll run it.": {PASS}',
        ),
        (b"x", f"tool calls stand in an assistant message, found the string b'x': {PASS}"),
        (5, f"tool calls stand in an assistant message, found int: {PASS}"),
        (
            {"choices": [], "role": "assistant"},
            f"tool calls stand in an assistant message, found dict: {PASS}",
        ),
        ({"message": {}, "content": ""}, f"tool calls stand in an assistant message, found dict: {PASS}"),
        ({"text": "x"}, f"tool calls stand in an assistant message, found dict: {PASS}"),
        (
            {"role": "user"},
            f"tool calls stand in an assistant message, found a message with the role 'user': {PASS}",
        ),
        (
            {"role": "assistant", "function_call": {}},
            f"function_call is not a tool call that can be read, found {{}}: {LOOKS}",
        ),
        (
            {"tool_calls": {"0": 1}},
            "tool_calls must be a list, found {'0': 1}: pass the message as the client gave it",
        ),
        ({"content": 5}, f"content is not a tool call that can be read, found 5: {LOOKS}"),
        ({"content": [CHAT, 5]}, f"content[1] is not a tool call that can be read, found 5: {LOOKS}"),
        ({"tool_calls": ["now"]}, f"tool_calls[0] is not a tool call that can be read, found 'now': {LOOKS}"),
        ([CHAT, None], f"calls[1] is not a tool call that can be read, found None: {LOOKS}"),
        (
            {"object": "response", "output": [ITEM, 5]},
            f"output[1] is not a tool call that can be read, found 5: {LOOKS}",
        ),
        (
            {"id": "c1", "function": "f"},
            "calls[0] is not a tool call that can be read, found {'id': 'c1', 'function': 'f'}: " + LOOKS,
        ),
        ([{"choices": []}], f"tool calls stand in an assistant message, found list: {PASS}"),
        ([{"message": {}}], f"tool calls stand in an assistant message, found list: {PASS}"),
        ([{"role": "user", "content": "x"}], f"tool calls stand in an assistant message, found list: {PASS}"),
        (
            {"content": [{"role": "assistant", "tool_calls": []}]},
            f"tool calls stand in an assistant message, found list: {PASS}",
        ),
    ],
    ids=str,
)
def test_what_cannot_be_read_is_refused_and_it_is_said_what_to_pass(value, says):
    with pytest.raises(ConfigurationError) as caught:
        read_reply(value)
    assert str(caught.value) == says


@pytest.mark.parametrize("kind", ["function", "function_call", "tool_call", "custom", "custom_tool_call", ""])
def test_a_call_of_a_kind_that_cannot_be_read_is_not_taken_for_text(kind):
    with pytest.raises(ConfigurationError, match=r"calls\[0\]"):
        read_reply(
            [{"type": kind, "text": "x"}] if kind != "function_call" else [{"type": kind, "function": "x"}]
        )


@pytest.mark.parametrize(
    "reply", [lambda call: [call], lambda call: {"tool_calls": [call]}, lambda call: call]
)
def test_a_call_in_langchains_form_is_refused_and_it_is_said_how_to_convert_it(reply):
    call = {"name": "f", "args": {}, "id": "c1"}
    with pytest.raises(ConfigurationError, match=r"^this is a call in LangChain's form, found {'name': 'f'"):
        read_reply(reply(call))


def test_the_event_that_ends_a_stream_holds_the_reply():
    assert whole_reply({"type": "response.completed", "response": REPLY}) is REPLY
    for other in (REPLY, {"response": "text"}, None, [CHAT]):
        assert whole_reply(other) is other


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ({"stop_reason": "max_tokens"}, "max_tokens"),
        ({"finish_reason": "Length"}, "Length"),
        ({"status": "incomplete"}, "incomplete"),
        ({"status": "completed", "incomplete_details": {"reason": "content_filter"}}, "content_filter"),
        ({"stop_reason": "tool_use", "finish_reason": "length"}, "length"),
        ({"status": "completed", "output": [{**ITEM, "status": "incomplete"}]}, "incomplete"),
        ([ITEM, {**ITEM, "status": "incomplete"}], "incomplete"),
        (({**ITEM, "status": "incomplete"},), "incomplete"),
        ([{"type": "message", "status": "incomplete"}, ITEM], None),  # the text alone broke off
        ({"stop_reason": "tool_use"}, None),
        ({"finish_reason": "tool_calls", "incomplete_details": None}, None),
        ({"status": "completed", "output": [{**ITEM, "status": "completed"}]}, None),
        (None, None),
        ("length", None),
    ],
    ids=str,
)
def test_a_reply_says_why_it_was_cut(reply, reason):
    assert why_cut(reply) == reason
