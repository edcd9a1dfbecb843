"""Which result answers which call, and what stands for those that are missing."""

from __future__ import annotations

import pytest

from tool_search_processor.wire.call_results import answer_open_calls, open_calls, tool_message
from tool_search_processor.wire.messages import to_openai_messages

USER = {"role": "user", "content": "q"}


def assistant(*ids, content=None):
    calls = [{"id": i, "type": "function", "function": {"name": f"f_{i}", "arguments": "{}"}} for i in ids]
    return {"role": "assistant", "content": content, "tool_calls": calls}


def result(call_id, text="r"):
    return tool_message(call_id, f"f_{call_id}", text)


def test_results_of_calls_that_share_an_id_are_told_apart_by_their_order():
    calls = assistant("x", "x")
    messages = [calls, result("x", "1"), result("x", "2"), assistant("x"), result("x", "3")]
    first, one, two, later, three = to_openai_messages(messages)
    ids = [call["id"] for call in first["tool_calls"]]
    assert len(set(ids)) == 2
    assert [(m["tool_call_id"], m["content"]) for m in (one, two, three)] == [
        (ids[0], "1"),
        (ids[1], "2"),
        ("x", "3"),
    ]
    assert later == messages[3]


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([USER, assistant("a", "b"), result("a")], (1, ["b"])),
        ([USER, assistant("a")], (1, ["a"])),
        ([USER, assistant("a"), result("a")], (1, [])),
        ([USER, assistant("a"), USER], (-1, [])),
        ([USER], (-1, [])),
        ([result("a")], (-1, [])),
        ([], (-1, [])),
        ([{"role": "assistant", "content": "x"}], (-1, [])),
    ],
)
def test_open_calls(messages, expected):
    assert open_calls(messages) == expected


def test_open_calls_are_answered_where_they_stand():
    messages = [USER, assistant("a", "b"), result("b"), USER, assistant("c")]
    assert answer_open_calls(messages, text="not run") == [
        USER,
        assistant("a", "b"),
        result("b"),
        result("a", "not run"),
        USER,
        assistant("c"),
        result("c", "not run"),
    ]


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([result("a"), result("b"), USER], [USER]),
        ([USER, result("a"), assistant("a"), result("a")], [USER, assistant("a"), result("a")]),
        ([assistant("a"), result("b"), result("a")], [assistant("a"), result("a")]),
        ([assistant("a"), result("a"), result("a", "again")], [assistant("a"), result("a")]),
        (
            [assistant("a"), result("a"), assistant("b"), result("a")],
            [assistant("a"), result("a"), assistant("b"), result("b", "not run")],
        ),
    ],
    ids=["cut from the front", "before its call", "of another", "twice", "of a step before"],
)
def test_results_without_their_call_are_left_out(messages, expected):
    assert answer_open_calls(messages, text="not run") == expected


def test_results_stand_right_behind_their_call():
    messages = [assistant("a", "b"), result("a"), USER, result("b"), USER]
    assert answer_open_calls(messages, text="not run") == [
        assistant("a", "b"),
        result("a"),
        result("b"),
        USER,
        USER,
    ]


def test_a_result_is_found_behind_later_messages_too():
    """Some write the calls of one reply as a message each, with the results behind all of them."""
    messages = [
        assistant("a"),
        assistant("b"),
        result("a"),
        USER,
        result("b"),
        assistant("a"),
        result("a", "2"),
    ]
    assert answer_open_calls(messages, text="not run") == [
        assistant("a"),
        result("a"),
        assistant("b"),
        result("b"),
        USER,
        assistant("a"),
        result("a", "2"),
    ]


def test_calls_and_results_without_ids_are_left_in_their_order():
    calls = {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "f"}}] * 2}
    messages = [calls, {"role": "tool", "content": "1"}, {"role": "tool", "content": "2"}, USER]
    assert answer_open_calls(messages, text="not run") == messages


def test_a_tool_message_without_a_name_has_none():
    assert tool_message("a", "", "r") == {"role": "tool", "tool_call_id": "a", "content": "r"}
