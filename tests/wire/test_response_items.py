"""Items of OpenAI's Responses API as chat messages, and back."""

from __future__ import annotations

import pytest
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseReasoningItem

from tool_search_processor.errors import ConfigurationError
from tool_search_processor.steps import InputStep
from tool_search_processor.wire.anthropic_messages import anthropic_messages
from tool_search_processor.wire.messages import to_openai_messages
from tool_search_processor.wire.responses_input import as_responses_input, responses_input

THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "e"}
SAID = {
    "type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
    "content": [{"type": "output_text", "text": "One moment.", "annotations": []}],
}  # fmt: skip
CALLED = {
    "type": "function_call",
    "id": "fc_1",
    "call_id": "c1",
    "name": "add",
    "arguments": '{"a": 1}',
    "status": "completed",
}
ANSWERED = {"type": "function_call_output", "call_id": "c1", "output": "2"}
PICTURE = {"type": "input_image", "image_url": "https://x.test/a.png", "detail": "auto"}
ASKED = {"role": "user", "content": [{"type": "input_text", "text": "what is it?"}, PICTURE]}
CALL = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}
CHAT = [
    {
        "role": "user",
        "content": [
            {"type": "text", "text": "what is it?"},
            {"type": "image_url", "image_url": {"url": "https://x.test/a.png"}},
        ],
    },
    {"role": "assistant", "content": "One moment.", "reasoning_items": [THOUGHT], "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "2"},
]


def test_the_items_of_a_turn_make_one_message():
    assert to_openai_messages([ASKED, THOUGHT, SAID, CALLED, ANSWERED]) == CHAT
    assert list(InputStep(messages=[ASKED, THOUGHT, SAID, CALLED, ANSWERED]).messages) == CHAT
    thought, said = ResponseReasoningItem(**THOUGHT), ResponseOutputMessage(**SAID)
    called = ResponseFunctionToolCall(**CALLED)
    assert to_openai_messages([ASKED, thought, said, called, ANSWERED]) == CHAT


def test_chat_messages_make_items_again():
    said, called = {"role": "assistant", "content": "One moment."}, {**CALLED}
    del called["id"], called["status"]
    assert responses_input(CHAT) == [ASKED, THOUGHT, said, called, ANSWERED]


def test_calls_of_custom_tools_keep_their_names_and_texts():
    called = {"type": "custom_tool_call", "call_id": "c1", "name": "shell", "input": "ls -l"}
    items = [called, {"type": "custom_tool_call_output", "call_id": "c1", "output": "a.txt"}]
    call = {"id": "c1", "type": "custom", "custom": {"name": "shell", "input": "ls -l"}}
    result = {"role": "tool", "tool_call_id": "c1", "content": "a.txt"}
    chat = [{"role": "assistant", "content": None, "tool_calls": [call]}, result]
    assert to_openai_messages(items) == chat
    assert responses_input(chat) == items
    (block,) = anthropic_messages(chat)[0]["content"]
    assert block == {"type": "tool_use", "id": "c1", "name": "shell", "input": {"input": "ls -l"}}


def test_a_call_of_a_kind_that_nobody_knows_has_a_name_that_can_be_sent():
    chat = [{"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "type": "dance"}]}]
    assert (
        responses_input(chat)[0]["name"]
        == anthropic_messages(chat)[0]["content"][0]["name"]
        == "unnamed_tool"
    )


def test_a_refusal_is_what_the_assistant_said():
    refused = {"role": "assistant", "content": [{"type": "refusal", "refusal": "I can't."}]}
    assert responses_input([refused]) == [{"role": "assistant", "content": "I can't."}]


def test_text_before_a_call_and_items_that_chat_does_not_have():
    spoken = {"role": "assistant", "content": "One moment."}
    hosted = {"type": "web_search_call", "id": "ws_1", "status": "completed"}
    read = to_openai_messages([{"role": "user", "content": "x"}, spoken, hosted, CALLED, ANSWERED])
    assert read == [
        {"role": "user", "content": "x"},
        {"role": "assistant", "content": "One moment.", "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "c1", "content": "2"},
    ]
    assert to_openai_messages([spoken, spoken]) == [spoken, spoken]


def test_instructions_in_the_middle_are_the_developers():
    chat = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "x"}]
    assert responses_input(chat) == [{"role": "developer", "content": "Be brief."}, chat[1]]


def test_ids_that_a_provider_refuses_are_made_again_for_call_and_result():
    long = "call_1__thought__" + "x+/=" * 40
    call, result = {**CALL, "id": long}, {"role": "tool", "tool_call_id": long, "content": "2"}
    asked, answered = responses_input([{"role": "assistant", "content": None, "tool_calls": [call]}, result])
    assert asked["call_id"] == answered["call_id"]
    assert len(asked["call_id"]) <= 64


@pytest.mark.parametrize(
    ("item", "sent"),
    [
        ({**SAID, "parsed": {"a": 1}}, SAID),
        (CALLED, CALLED),
        ({"role": "user", "content": "x", "name": "ada"}, {"role": "user", "content": "x"}),
        ({"role": "tool", "tool_call_id": "c1", "content": "2"}, None),
        ({"role": "user", "content": [{"type": "text", "text": "x"}]}, None),
    ],
)
def test_items_that_can_be_sent_as_they_are(item, sent):
    assert as_responses_input(item) == sent


@pytest.mark.parametrize("call", [{"name": "a", "args": {}, "type": "tool_call"}, {"type": "function"}])
def test_what_is_not_an_item_is_no_message(call):
    with pytest.raises(ConfigurationError, match=r"messages\[0\] has no role"):
        to_openai_messages([call])
