"""Answers of every server's fashion are read into the same plain values."""

from __future__ import annotations

import pytest

from tests.agent.answers import attributes, response
from tool_search_processor.agent.replies import Reply, parse_reply
from tool_search_processor.errors import ToolSearchError

CALL = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}


FULL = response(
    {"role": "assistant", "content": "hi", "tool_calls": [CALL], "reasoning_content": "because"},
    "tool_calls",
    usage={
        "prompt_tokens": 10,
        "completion_tokens": 2,
        "total_tokens": 12,
        "prompt_tokens_details": {"cached_tokens": 8},
    },
)


@pytest.mark.parametrize("shape", [dict, attributes])
def test_objects_and_dicts(shape):
    reply = parse_reply(shape(FULL))
    (call,) = reply.calls
    assert (call.id, call.name, call.arguments) == ("c1", "add", '{"a": 1}')
    assert (reply.text, reply.finish_reason, reply.extra) == (
        "hi",
        "tool_calls",
        {"reasoning_content": "because"},
    )
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens) == (10, 2)
    assert (reply.usage.total_tokens, reply.usage.cached_tokens) == (12, 8)


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"content": None}, ""),
        ({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "a\nb"),
        ({"content": None, "refusal": "I can't"}, "I can't"),
        ({"content": "a\ud83d"}, "a\ufffd"),
    ],
)
def test_text(message, text):
    assert parse_reply(response(message)).text == text


def test_usage_may_be_missing_or_partial():
    assert parse_reply(response({})) == Reply(finish_reason="stop")
    partial = parse_reply(response({}, usage={"prompt_tokens": 3, "completion_tokens": None})).usage
    assert (partial.prompt_tokens, partial.completion_tokens, partial.total_tokens) == (3, 0, 3)


@pytest.mark.parametrize("broken", [{}, {"choices": []}, None])
def test_a_response_without_choices(broken):
    with pytest.raises(ToolSearchError, match="has no choices"):
        parse_reply(broken)
