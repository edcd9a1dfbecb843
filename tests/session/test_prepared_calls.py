"""Calls as values: their hashes, their names and arguments, and what came of them."""

from __future__ import annotations

import pytest

from tool_search_processor.session.prepared_calls import (
    ToolOutcome,
    arguments_hash,
    read_arguments,
    refusal_text,
    wire_name,
)


def test_hash_ignores_the_order_of_keys():
    assert arguments_hash("f", {"a": 1, "b": 2}) == arguments_hash("f", {"b": 2, "a": 1})
    assert arguments_hash("f", {"a": 1}) != arguments_hash("g", {"a": 1})
    assert arguments_hash("f", {"a": 1}) != arguments_hash("f", {"a": "1"})


@pytest.mark.parametrize(
    ("name", "wire"), [("a-b_C1", "a-b_C1"), ("a b.c", "a_b_c"), ("", "unnamed_tool"), ("x" * 99, "x" * 64)]
)
def test_wire_name(name, wire):
    assert wire_name(name) == wire


@pytest.mark.parametrize("raw", [None, "", "  ", "null", "[]", "{}", {}])
def test_no_arguments(raw):
    assert read_arguments(raw, name="f") == ({}, None)


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (None, "Error: f needs the approval of a person, which was not given; it was not run."),
        (False, "Error: a person refused the call of f; it was not run."),
        ("too risky", "Error: a person refused the call of f; it was not run. Reason: too risky"),
    ],
)
def test_refusal_text(answer, text):
    assert refusal_text("f", answer) == text


def test_an_outcome_in_both_styles():
    good = ToolOutcome(call_id="c", name="f", text="r")
    bad = ToolOutcome(call_id="c", name="f", text="r", is_error=True)
    assert good.to_message() == {"role": "tool", "tool_call_id": "c", "name": "f", "content": "r"}
    assert good.to_block() == {"type": "tool_result", "tool_use_id": "c", "content": "r"}
    assert bad.to_block() == {**good.to_block(), "is_error": True}
