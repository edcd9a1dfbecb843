"""Histories that every provider accepts, whatever was left broken in them."""

import json

import pytest

from tool_search_processor.session.histories import LEFT_OPEN, repaired_history, sendable_calls, stored_call
from tool_search_processor.wire.calls import CallRequest


def openai(name="f", arguments="{}", *, call_id="c1", **extra):
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}, **extra}


def calling(*calls):
    return {"role": "assistant", "content": None, "tool_calls": list(calls)}


@pytest.mark.parametrize(
    ("arguments", "stored"),
    [
        ('{"a":  1}', '{"a":  1}'),  # strict JSON stays to the byte
        ('{"a": "\\u00e9"}', '{"a": "\\u00e9"}'),
        ('{"a": NaN}', None),
        ("[1]", "{}"),
        ('{"a": ', "{}"),
        ("", "{}"),
        (None, "{}"),
        ({"a": 1}, '{"a": 1}'),
        ('"{\\"a\\": 1}"', '{"a": 1}'),
        ("[" * 100_000, "{}"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_the_arguments_of_a_stored_call_are_an_object(arguments, stored):
    call = stored_call(CallRequest(id="c1", name="a b", arguments=arguments))
    text = call["function"]["arguments"]
    assert call == openai("a_b", text)
    assert isinstance(json.loads(text, parse_constant=pytest.fail), dict)
    assert stored in (None, text)


def test_what_a_provider_added_to_a_call_stays():
    call = {**openai("a b"), "provider_specific_fields": {"signature": "s"}, "index": 0}
    (sent,) = sendable_calls(calling(call))["tool_calls"]
    assert sent == {**call, "function": {"name": "a_b", "arguments": "{}"}}


def test_a_call_that_only_its_provider_knows_stays_as_it_is():
    odd = {"id": "c1", "type": "odd", "odd": {"name": "a b"}}
    assert sendable_calls(calling(odd))["tool_calls"] == [odd]


@pytest.mark.parametrize(("given", "sent"), [("ls", "ls"), ("\ud83d", "\ufffd"), (None, "")])
def test_a_custom_call_keeps_its_text(given, sent):
    call = {"id": "c1", "type": "custom", "custom": {"name": "a b", "input": given}}
    assert sendable_calls(calling(call))["tool_calls"] == [{**call, "custom": {"name": "a_b", "input": sent}}]


@pytest.mark.parametrize(
    "message", [{"role": "user", "content": "x"}, {"role": "assistant", "tool_calls": []}]
)
def test_a_message_without_calls_is_the_same(message):
    assert sendable_calls(message) is message


def test_each_call_gets_one_result_right_behind_it():
    asked = {"role": "user", "content": "x"}
    stray = {"role": "tool", "tool_call_id": "c9", "content": "of nothing"}
    result = {"role": "tool", "tool_call_id": "c1", "content": "r"}
    repaired = repaired_history([asked, calling(openai(), openai(call_id="c2")), stray, asked, result])
    assert [(message["role"], message.get("tool_call_id"), message["content"]) for message in repaired] == [
        ("user", None, "x"),
        ("assistant", None, None),
        ("tool", "c1", "r"),
        ("tool", "c2", LEFT_OPEN),
        ("user", None, "x"),
    ]
