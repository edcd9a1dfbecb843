"""Chat messages in Anthropic's shape."""

from __future__ import annotations

import pytest

from tool_search_processor.wire.anthropic_messages import anthropic_messages, as_anthropic
from tool_search_processor.wire.messages import to_openai_messages
from tool_search_processor.wire.notes import without_notes

THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "s"}
MARKED = {"type": "text", "text": "what is it?", "cache_control": {"type": "ephemeral"}}
BLOCKS = [
    {"role": "user", "content": [MARKED]},
    {
        "role": "assistant",
        "content": [
            THOUGHT,
            {"type": "text", "text": "One moment."},
            {"type": "tool_use", "id": "t1", "name": "add", "input": {"a": 1}},
            {"type": "tool_use", "id": "t2", "name": "look", "input": {}},
        ],
    },
    {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "t1", "content": "2"},
            {
                "type": "tool_result",
                "tool_use_id": "t2",
                "content": [
                    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aa"}}
                ],
            },
        ],
    },
    {"role": "assistant", "content": "Done."},
]


def test_there_and_back():
    assert anthropic_messages(to_openai_messages(BLOCKS)) == BLOCKS


def test_parts_that_only_openai_has():
    parts = [
        {"type": "image_url", "image_url": "https://x.test/a.png"},
        {"type": "file", "file": {"file_data": "data:application/pdf;base64,bb"}},
        {"type": "file", "file": {"file_id": "file_1"}},
        {"type": "input_audio", "input_audio": {"data": "cc", "format": "wav"}},
        {"type": "text", "text": ""},
    ]
    (message,) = anthropic_messages([{"role": "user", "content": parts}])
    kinds = [(block["type"], block.get("source", {}).get("type")) for block in message["content"]]
    assert kinds == [("image", "url"), ("document", "base64"), ("document", "file"), ("text", None)]


@pytest.mark.parametrize(
    "source",
    [
        {"type": "base64", "media_type": "application/pdf", "data": "aa"},
        {"type": "url", "url": "https://x.test/a.pdf"},
        {"type": "file", "file_id": "f"},
    ],
    ids=lambda source: source["type"],
)
def test_a_document_keeps_its_title_there_and_back(source):
    message = {"role": "user", "content": [{"type": "document", "source": source, "title": "Terms.pdf"}]}
    assert anthropic_messages(to_openai_messages([message])) == [message]


def test_what_anthropic_refuses_is_left_out():
    """A thought without a signature, a message without content, arguments that are not an object."""
    thought = {"type": "thinking", "thinking": "x"}
    unsigned = {"role": "assistant", "content": "a", "thinking_blocks": [thought]}
    call = {"id": "t 1", "type": "function", "function": {"name": "add", "arguments": "[1"}}
    empty = {"role": "assistant", "content": None}
    result = {"role": "tool", "tool_call_id": "t 1", "content": ""}
    made, asked, answered = anthropic_messages([unsigned, empty, {**empty, "tool_calls": [call]}, result])
    assert made == {"role": "assistant", "content": "a"}
    assert asked["content"][0]["input"] == {}
    assert asked["content"][0]["id"] == answered["content"][0]["tool_use_id"] != "t 1"


def test_a_refusal_is_what_the_assistant_said():
    refused = {"role": "assistant", "content": [{"type": "refusal", "refusal": "I can't."}]}
    (message,) = anthropic_messages([refused])
    assert message["content"] == [{"type": "text", "text": "I can't."}]


def test_notes_are_kept_until_they_are_taken_off():
    note = {"type": "tool-search/loaded", "v": 1, "names": ["a"]}
    result = {"role": "tool", "tool_call_id": "t1", "content": "2", "receipt": note}
    (message,) = anthropic_messages([result])
    assert message["content"][0]["receipt"] == note
    assert without_notes(message)["content"] == [{"type": "tool_result", "tool_use_id": "t1", "content": "2"}]
    assert to_openai_messages([BLOCKS[1], message])[1] == result
    own = {"role": "user", "content": "x", "receipt": "of the shop"}
    assert without_notes(own) == own


@pytest.mark.parametrize(
    ("message", "sent"),
    [
        (BLOCKS[2], BLOCKS[2]),
        ({**BLOCKS[3], "type": "message", "id": "m"}, BLOCKS[3]),
        ({"role": "user", "content": [{"type": "image_url", "image_url": "x"}]}, None),
        ({"role": "user", "content": [{"type": "input_text", "text": "x"}]}, None),
        ({"role": "system", "content": "x"}, None),
        ({"role": "user", "content": ""}, None),
        ({"role": "user", "content": "x", "cache_control": {"type": "ephemeral"}}, None),
    ],
)
def test_messages_that_can_be_sent_as_they_are(message, sent):
    assert as_anthropic(message) == sent
