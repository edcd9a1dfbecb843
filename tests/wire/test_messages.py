"""Conversations of any style become OpenAI chat messages."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tool_search_processor.errors import ConfigurationError
from tool_search_processor.wire.call_results import answer_open_calls, open_calls, tool_message
from tool_search_processor.wire.messages import call_ids, last_user_text, merge_system, to_openai_messages

USER = {"role": "user", "content": "q"}


def assistant(*ids, content=None):
    calls = [{"id": i, "type": "function", "function": {"name": f"f_{i}", "arguments": "{}"}} for i in ids]
    return {"role": "assistant", "content": content, "tool_calls": calls}


def result(call_id, text="r"):
    return tool_message(call_id, f"f_{call_id}", text)


def test_openai_messages_come_back_as_copies():
    messages = [
        USER,
        assistant("a"),
        result("a"),
        {"role": "user", "content": [{"type": "text", "text": "x"}]},
    ]
    converted = to_openai_messages(messages)
    assert converted == messages
    assert converted[1]["tool_calls"][0] is not messages[1]["tool_calls"][0]


def test_sdk_objects():
    message = SimpleNamespace(role="assistant", content="hi")
    assert to_openai_messages([message]) == [{"role": "assistant", "content": "hi"}]


def test_anthropic_conversation():
    messages = [
        {"role": "user", "content": [{"type": "text", "text": "q"}]},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "s"},
                {"type": "text", "text": "let me see"},
                {"type": "tool_use", "id": "t1", "name": "add", "input": {"a": 1}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "2"}]},
                {"type": "text", "text": "go on"},
                {"type": "image", "source": {"type": "base64", "media_type": "image/gif", "data": "AA"}},
                {"type": "image", "source": {"type": "url", "url": "http://x/y.png"}},
            ],
        },
    ]
    assert to_openai_messages(messages) == [
        messages[0],
        {
            "role": "assistant",
            "content": "let me see",
            "thinking_blocks": [{"type": "thinking", "thinking": "hm", "signature": "s"}],
            "tool_calls": [
                {"id": "t1", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "t1", "content": "2"},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "go on"},
                {"type": "image_url", "image_url": {"url": "data:image/gif;base64,AA"}},
                {"type": "image_url", "image_url": {"url": "http://x/y.png"}},
            ],
        },
    ]


def test_anthropic_assistant_without_text_or_calls():
    blocks = [{"type": "redacted_thinking", "data": "d"}]
    assert to_openai_messages([{"role": "assistant", "content": blocks}]) == [
        {"role": "assistant", "content": None, "thinking_blocks": blocks}
    ]


def test_anthropic_parts_of_other_kinds():
    content = [{"type": "tool_result", "tool_use_id": "t"}, {"type": "input_audio", "input_audio": {}}]
    assert to_openai_messages([{"role": "user", "content": content}]) == [
        {"role": "tool", "tool_call_id": "t", "content": ""},
        {"role": "user", "content": [{"type": "input_audio", "input_audio": {}}]},
    ]


@pytest.mark.parametrize("thinking", ["hm", [{"type": "text", "text": "hm"}]])
def test_calls_beside_blocks_of_thinking_stay(thinking):
    call = {"id": "c", "type": "function", "function": {"name": "add", "arguments": "{}"}}
    blocks = [{"type": "thinking", "thinking": thinking}, {"type": "text", "text": "a"}]
    (message,) = to_openai_messages([{"role": "assistant", "content": blocks, "tool_calls": [call, None]}])
    assert (message["content"], message["tool_calls"]) == ("a", [call])
    (message,) = to_openai_messages([{"role": "assistant", "content": blocks, "tool_calls": None}])
    assert "tool_calls" not in message


def test_an_image_of_anthropics_in_a_result_of_openais_keeps_its_call():
    image = {"type": "image", "source": {"type": "url", "url": "http://x"}}
    assert to_openai_messages([{"role": "tool", "tool_call_id": "c", "content": [image]}]) == [
        {
            "role": "tool",
            "tool_call_id": "c",
            "content": [{"type": "image_url", "image_url": {"url": "http://x"}}],
        }
    ]


PDF = {"type": "base64", "media_type": "application/pdf", "data": "AA"}
MARK = {"type": "ephemeral"}


@pytest.mark.parametrize(
    ("block", "part"),
    [
        (
            {"type": "document", "source": PDF, "title": "a"},
            {"type": "file", "file": {"file_data": "data:application/pdf;base64,AA", "filename": "a"}},
        ),
        (
            {"type": "document", "source": {"type": "file", "file_id": "f"}, "title": "a"},
            {"type": "file", "file": {"file_id": "f", "format": "application/pdf", "filename": "a"}},
        ),
        (
            {"type": "document", "source": {"type": "url", "url": "http://x/a.pdf"}},
            {"type": "file", "file": {"file_id": "http://x/a.pdf"}},
        ),
        (
            {"type": "document", "source": {"type": "file", "file_id": "f"}},
            {"type": "file", "file": {"file_id": "f", "format": "application/pdf"}},
        ),
        (
            {"type": "image", "source": {"type": "file", "file_id": "f"}},
            {"type": "file", "file": {"file_id": "f", "format": "image/png"}},
        ),
        (
            {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "t"}},
            {"type": "text", "text": "t"},
        ),
        (
            {"type": "document", "source": {"type": "content", "content": [{"type": "text", "text": "t"}]}},
            {"type": "text", "text": "t"},
        ),
        (
            {"type": "text", "text": "t", "cache_control": MARK},
            {"type": "text", "text": "t", "cache_control": MARK},
        ),
        (
            {"type": "image", "source": {"type": "url", "url": "http://x"}, "cache_control": MARK},
            {"type": "image_url", "image_url": {"url": "http://x"}, "cache_control": MARK},
        ),
        ({"type": "document"}, None),
        ({"type": "image", "source": {}}, None),
    ],
)
def test_anthropic_media_and_cache_marks(block, part):
    result = {"type": "tool_result", "tool_use_id": "t", "content": ["r", block]}
    (answer, *rest) = to_openai_messages([{"role": "user", "content": [result, block]}])
    assert rest == ([] if part is None else [{"role": "user", "content": [part]}])
    is_text = part is None or part["type"] == "text"
    words = f"r\n[{block['type']}]" if part is None else "r\nt"
    assert answer["content"] == (words if is_text else [{"type": "text", "text": "r"}, part])


@pytest.mark.parametrize(
    ("block", "text"),
    [
        (
            {
                "type": "search_result",
                "title": "Doors",
                "source": "https://x",
                "content": [{"type": "text", "text": "six"}],
            },
            "Doors\nhttps://x\nsix",
        ),
        (
            {"type": "resource", "resource": {"uri": "file:///a", "mimeType": "text/plain", "text": "six"}},
            "file:///a\nsix",
        ),
        (
            {"type": "resource", "resource": {"uri": "file:///a", "mimeType": "audio/wav", "blob": "AA"}},
            "file:///a\n[audio/wav, not shown]",
        ),
        ({"type": "resource_link", "uri": "file:///a", "name": "a"}, "a\nfile:///a"),
        ({"type": "json", "json": {"a": [1]}}, '{"a": [1]}'),
        ({"json": {"a": 1}}, '{"a": 1}'),
        ({"text": "six"}, "six"),
        ({"type": "audio", "data": "AA", "mimeType": "audio/wav"}, "[audio/wav, not shown]"),
        ({"type": "tool_reference", "tool_name": "open_door"}, "open_door"),
        (
            {
                "type": "document",
                "title": "Doors",
                "context": "plan",
                "source": {"type": "text", "media_type": "text/plain", "data": "six"},
            },
            "Doors\nsix\nplan",
        ),
        ({"type": "thinking", "thinking": "hm"}, '{"thinking": "hm"}'),
        ({"type": "of_tomorrow", "answer": 6, "cache_control": {"type": "ephemeral"}}, '{"answer": 6}'),
        ({"type": "of_tomorrow"}, "[of_tomorrow]"),
        (6, "6"),
    ],
)
def test_every_block_of_a_result_leaves_its_text(block, text):
    for content in ([block], block):
        result = {"type": "tool_result", "tool_use_id": "t", "content": content}
        (message,) = to_openai_messages([{"role": "user", "content": [result]}])
        assert message["content"] == text
        (message,) = to_openai_messages([{"role": "tool", "tool_call_id": "t", "content": content}])
        assert message == {"role": "tool", "tool_call_id": "t", "content": text}


def test_a_picture_of_an_mcp_server_stays_a_picture():
    block = {"type": "image", "data": "AA", "mimeType": "image/gif"}
    (message,) = to_openai_messages([{"role": "tool", "tool_call_id": "t", "content": [block]}])
    assert message["content"] == [{"type": "image_url", "image_url": {"url": "data:image/gif;base64,AA"}}]


def test_a_failure_without_words_is_told_as_one():
    block = {"type": "tool_result", "tool_use_id": "t", "is_error": True, "content": []}
    (message,) = to_openai_messages([{"role": "user", "content": [block]}])
    assert message["content"] == "Error: the tool failed without saying why."


def test_a_block_that_is_nested_too_deeply_is_named():
    block = {}
    for _ in range(200):
        block = {"content": [block]}
    (message,) = to_openai_messages([{"role": "tool", "tool_call_id": "t", "content": [block]}])
    assert message["content"]


def test_what_a_provider_ran_itself_leaves_its_results():
    blocks = [
        {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "doors"}},
        {
            "type": "web_search_tool_result",
            "tool_use_id": "s",
            "content": [
                {"type": "web_search_result", "title": "Doors", "url": "https://x", "encrypted_content": "E"}
            ],
        },
        {"type": "text", "text": "At six."},
    ]
    (message,) = to_openai_messages([{"role": "assistant", "content": blocks}])
    assert message == {"role": "assistant", "content": "Doors\nhttps://x\nAt six."}


def test_a_reply_of_anthropics_client_is_its_message_alone():
    reply = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude",
        "content": [{"type": "text", "text": "Hello"}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 1},
    }
    assert to_openai_messages([reply]) == [{"role": "assistant", "content": "Hello"}]


def test_a_cache_mark_on_an_anthropic_result_stays():
    result = {"type": "tool_result", "tool_use_id": "t", "content": "r", "cache_control": MARK}
    assert to_openai_messages([{"role": "user", "content": [result]}]) == [
        {"role": "tool", "tool_call_id": "t", "content": "r", "cache_control": MARK}
    ]


@pytest.mark.parametrize("given", ["hello", USER])
def test_a_single_message_is_no_list(given):
    with pytest.raises(ConfigurationError, match="put it in a list"):
        to_openai_messages(given)


def test_a_result_is_not_its_messages():
    with pytest.raises(ConfigurationError, match=r"found SimpleNamespace: pass its \.messages"):
        to_openai_messages(SimpleNamespace(messages=[USER]))


@pytest.mark.parametrize("item", ["hello", {"content": "x"}, {"role": 3}])
def test_what_has_no_role_is_no_message(item):
    with pytest.raises(ConfigurationError, match=r"messages\[1\] has no role"):
        to_openai_messages([USER, item])


def test_last_user_text():
    parts = {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}
    assert last_user_text([USER, parts, assistant("a")]) == "a\nb"
    assert last_user_text([]) == ""


def test_call_ids_are_those_of_assistants():
    assert call_ids([USER, assistant("a", "b"), result("a"), {**assistant("c"), "role": "user"}]) == {
        "a",
        "b",
    }


SYSTEM = {"role": "system", "content": "own"}


@pytest.mark.parametrize(
    ("messages", "before", "after", "expected"),
    [
        ([USER], ["a"], ["b"], [{"role": "system", "content": "a\n\nb"}, USER]),
        ([SYSTEM, USER], ["a"], ["b"], [{"role": "system", "content": "a\n\nown\n\nb"}, USER]),
        ([SYSTEM, USER], [""], [], [SYSTEM, USER]),
        ([], ["a"], [], [{"role": "system", "content": "a"}]),
        (
            [{"role": "developer", "content": [{"type": "text", "text": "x", "cache_control": {}}]}],
            ["a"],
            ["b"],
            [
                {
                    "role": "developer",
                    "content": [
                        {"type": "text", "text": "a"},
                        {"type": "text", "text": "x", "cache_control": {}},
                        {"type": "text", "text": "b"},
                    ],
                }
            ],
        ),
    ],
)
def test_merge_system(messages, before, after, expected):
    assert merge_system(messages, before=before, after=after) == expected


def test_merge_system_leaves_the_callers_message_alone():
    messages = [dict(SYSTEM)]
    merge_system(messages, before=["a"])
    assert messages == [SYSTEM]


@pytest.mark.parametrize("calls", [None, 5, "abc", {}, {"a": 1}, [], ["x"], [None], [[]]])
def test_what_is_no_tool_call_is_left_out(calls):
    messages = to_openai_messages([{"role": "assistant", "content": "a", "tool_calls": calls}])
    assert messages == [{"role": "assistant", "content": "a"}]
    assert (call_ids(messages), open_calls(messages)) == (set(), (-1, []))


@pytest.mark.parametrize("function", [None, 5, "f", [], {}])
def test_a_call_without_a_function_is_answered_too(function):
    message = {"role": "assistant", "content": None, "tool_calls": [{"id": "a", "function": function}]}
    answered = answer_open_calls(to_openai_messages([message]), text="not run")
    assert answered[1]["tool_call_id"] == "a"


@pytest.mark.parametrize("odd", [None, 5, "text", [], {"type": "image", "source": "x"}, {"type": None}])
@pytest.mark.parametrize("role", ["user", "assistant"])
def test_odd_blocks_among_those_of_anthropic(odd, role):
    block = {"type": "tool_use", "id": "t", "name": "f", "input": {}}
    known = block if role == "assistant" else {"type": "tool_result", "tool_use_id": "t", "content": "r"}
    (first, *_) = to_openai_messages([{"role": role, "content": [known, odd]}])
    assert first["role"] == ("tool" if role == "user" else "assistant")


def test_texts_that_no_wire_can_carry_are_mended():
    (message,) = to_openai_messages([{"role": "user", "content": "a\ud800", "\udfff": float("nan")}])
    assert message == {"role": "user", "content": "a\ufffd", "\ufffd": None}


def test_a_message_that_is_too_deep_is_refused():
    deep = []
    for _ in range(50_000):
        deep = [deep]
    with pytest.raises(ConfigurationError, match="has no role"):
        to_openai_messages([{"role": "user", "content": deep}])
