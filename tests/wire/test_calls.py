"""Tool calls are read out of every shape that SDKs and models give."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from pydantic import BaseModel

from tool_search_processor.wire.calls import CallRequest, openai_call, tool_calls_of, unique_ids

OPENAI = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}
ANTHROPIC = {"type": "tool_use", "id": "t1", "name": "add", "input": {"a": 1}}


class Block(BaseModel):
    """As Anthropic's SDK has them: models that iterate over their fields."""

    type: str
    id: str
    name: str
    input: dict[str, int]


class SdkMessage(BaseModel):
    role: str
    content: list[Block]


def namespace(value):
    if isinstance(value, dict):
        return SimpleNamespace(**{key: namespace(item) for key, item in value.items()})
    return value


@pytest.mark.parametrize(
    "value",
    [
        [OPENAI],
        (OPENAI,),
        OPENAI,
        {"role": "assistant", "content": None, "tool_calls": [OPENAI]},
        [namespace(OPENAI)],
        SimpleNamespace(content=None, tool_calls=[namespace(OPENAI)]),
    ],
)
def test_openai_shapes(value):
    assert tool_calls_of(value) == [CallRequest(id="c1", name="add", arguments='{"a": 1}')]


@pytest.mark.parametrize(
    "value",
    [
        [{"type": "text", "text": "x"}, ANTHROPIC],
        {"role": "assistant", "content": [ANTHROPIC]},
        Block(**ANTHROPIC),
        SdkMessage(role="assistant", content=[Block(**ANTHROPIC)]),
    ],
)
def test_anthropic_shapes(value):
    assert tool_calls_of(value) == [CallRequest(id="t1", name="add", arguments={"a": 1}, style="anthropic")]


@pytest.mark.parametrize(
    "value", [None, [], "text", {"role": "assistant", "content": "text"}, {"role": "user"}, [{"x": 1}]]
)
def test_no_calls(value):
    assert tool_calls_of(value) == []


def test_missing_and_repeated_ids_are_replaced():
    calls = [CallRequest(id=one, name="a", arguments=None) for one in ("", "x", "x", "y")]
    ids = [call.id for call in unique_ids(calls, taken=["y"])]
    assert ids[1] == "x"
    assert len(set(ids)) == 4
    assert "y" not in ids
    assert all(ids)


@pytest.mark.parametrize("given", [None, "", "x"])
def test_who_reads_a_reply_again_gets_the_same_ids(given):
    function = {"name": "add", "arguments": {"a": 1}}  # as clients of local servers give it, without an id
    calls = [{"id": given, "function": function}, {"id": given, "function": {**function, "arguments": None}}]
    calls += [*calls, {"id": given, "function": {"name": "\ud800", "arguments": {"b": {1, 2}}}}]
    first, again = tool_calls_of(calls), tool_calls_of({"role": "assistant", "tool_calls": calls})
    assert first == again
    assert len({call.id for call in first}) == len(calls)


def test_a_providers_own_fields_go_back_with_the_call():
    call = {**OPENAI, "provider_specific_fields": {"thought_signature": "s"}}
    (request,) = tool_calls_of([call])
    assert openai_call(request) == call


@pytest.mark.parametrize(("arguments", "text"), [({"a": 1}, '{"a": 1}'), (None, "{}"), ('{"b"', '{"b"')])
def test_openai_call_has_text_arguments(arguments, text):
    request = CallRequest(id="c", name="n", arguments=arguments)
    assert openai_call(request)["function"] == {"name": "n", "arguments": text}
