"""Calls as values: their hashes, their names and arguments, and what came of them."""

from __future__ import annotations

import dataclasses
import re

import pytest

from tool_search_processor.session.prepared_calls import (
    PendingCall,
    PreparedCall,
    ToolOutcome,
    answers_without_running,
    arguments_hash,
    cut_off,
    read_arguments,
    refusal_text,
    wire_name,
)
from tool_search_processor.tools import Tool
from tool_search_processor.wire.calls import CallRequest


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
        ("", "Error: a person refused the call of f; it was not run."),
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
    assert good.to_item() == {"type": "function_call_output", "call_id": "c", "output": "r"}


def test_equal_calls_have_one_hash_whatever_process_made_it():
    assert arguments_hash("f", {"b": [1, "é"], "a": None}) == (
        "1a444eff3771a6589eaa8d8f02f9ac35a47a9a177b9b9c2b6ece9461dadfab68"
    )
    assert arguments_hash("f", {"a": {1}}) == arguments_hash("f", {"a": "{1}"})


PENDING = PendingCall(call_id="c", name="f", arguments={"a": 1}, arguments_hash="h")


@pytest.mark.parametrize("optional", [{}, {"problem": "p"}, {"source": "s"}, {"problem": "p", "source": "s"}])
def test_a_pending_call_is_plain_json_and_comes_back_from_it(optional):
    pending = dataclasses.replace(PENDING, **optional)
    data = pending.to_dict()
    assert data == {"call_id": "c", "name": "f", "arguments": {"a": 1}, "arguments_hash": "h", **optional}
    assert PendingCall.from_dict(data) == pending


@pytest.mark.parametrize("field", ["call_id", "name", "arguments", "arguments_hash"])
def test_a_pending_call_without_one_of_its_fields_is_refused(field):
    data = PENDING.to_dict()
    del data[field]
    with pytest.raises(KeyError, match=field):
        PendingCall.from_dict(data)


@pytest.mark.parametrize("field", ["call_id", "name", "arguments", "arguments_hash", "problem", "source"])
def test_a_pending_call_with_a_field_of_another_type_is_refused(field):
    data = {**PENDING.to_dict(), field: 5}
    with pytest.raises(TypeError, match=re.escape(f"a pending call is {data!r}")):
        PendingCall.from_dict(data)


@pytest.mark.parametrize(
    ("raw", "error"),
    [
        ("[1]", "Error: f takes its arguments as one JSON object; found a list."),
        ('"\\"x\\""', "Error: f takes its arguments as one JSON object; found a string."),
        ("true", "Error: f takes its arguments as one JSON object; found true or false."),
        ("1.5", "Error: f takes its arguments as one JSON object; found a number."),
    ],
)
def test_arguments_are_an_object(raw, error):
    assert read_arguments(raw, name="f") == ({}, error)


def test_of_arguments_that_cannot_be_read_the_beginning_is_quoted():
    arguments, error = read_arguments("{" + "x" * 300, name="f")
    assert arguments == {}
    assert error.startswith("Error: ")
    assert error.endswith(" f takes one JSON object; this was sent: {" + "x" * 199)


def prepared(name="f", *, tool=None, call_id="c", **fields):
    request = CallRequest(id=call_id, name=name, arguments={"a": 1})
    return PreparedCall(request=request, name=name, tool=tool, arguments={"a": 1}, **fields)


GUARDED = Tool("guarded", requires_approval=True)


def test_what_would_run_is_shown_to_a_person():
    call = prepared("call_tool", tool=GUARDED, asked={"name": "guarded"})
    assert (call.target_name, call.needs_approval) == ("guarded", True)
    assert call.pending() == PendingCall(
        call_id="c", name="guarded", arguments={"a": 1}, arguments_hash=arguments_hash("guarded", {"a": 1})
    )
    asked = call.as_asked()
    assert asked.as_asked() == asked
    assert (asked.target_name, asked.needs_approval, asked.pending().arguments) == (
        "call_tool",
        False,
        {"name": "guarded"},
    )


def test_an_answer_says_by_default_that_nothing_ran():
    call = prepared(problem="no verdict")
    told = ToolOutcome(call_id="c", name="f", text="x", is_error=True, ran=False, problem="no verdict")
    assert call.answer("x") == told
    assert call.answer("x", problem="other").problem == "other"
    assert call.answer("x", is_error=False, ran=True).to_block() == {
        "type": "tool_result",
        "tool_use_id": "c",
        "content": "x",
    }


def test_what_a_person_refused_or_has_yet_to_approve_does_not_run():
    calls = [prepared(tool=GUARDED, call_id=name) for name in ("yes", "no", "why", "open")]
    calls += [prepared(tool=Tool("free"), call_id=name) for name in ("free", "free no")]
    approvals = {"yes": True, "no": False, "why": "too late", "free no": False}
    stopped = answers_without_running(calls, approvals, shown={})
    assert {call_id: outcome.text.removeprefix("Error: ") for call_id, outcome in stopped.items()} == {
        "no": "a person refused the call of f; it was not run.",
        "why": "a person refused the call of f; it was not run. Reason: too late",
        "open": "f needs the approval of a person, which was not given; it was not run.",
        "free no": "a person refused the call of f; it was not run.",
    }
    assert not any(outcome.ran for outcome in stopped.values())


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (None, None),
        ("another", "Error: the call of f has changed since approval was asked for; it was not run."),
    ],
)
def test_a_tool_that_another_provider_has_replaced_since_it_was_shown_does_not_run(source, text):
    call = prepared(tool=GUARDED)
    shown = {"c": dataclasses.replace(call.pending(), source=source)}
    stopped = answers_without_running([call], {"c": True}, shown=shown)
    assert [outcome.text for outcome in stopped.values()] == ([text] if text else [])


@pytest.mark.parametrize(
    ("reason", "text"),
    [
        (
            "length",
            "Error: a_b was not run, since your answer was cut off at its length limit: what is left of a "
            "call may say something else than was meant. Make the call again in a shorter answer, or in "
            "smaller parts.",
        ),
        (
            "aborted",
            "Error: a_b was not run, since your answer broke off before its end: what is left of a call may "
            "say something else than was meant. Make the call again.",
        ),
    ],
)
def test_a_call_of_an_answer_that_broke_off_never_runs(reason, text):
    call = cut_off(CallRequest(id="c", name="a b", arguments="{}"), reason=reason)
    assert (call.request.id, call.name, call.tool, call.arguments, call.error) == ("c", "a_b", None, {}, text)
