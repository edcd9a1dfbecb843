"""The parts of a request: what is listed, what is declared, what is sent, and what is to be noted."""

import pytest

from tests.support import make, names, step
from tool_search_processor.session.native.declarations import Record
from tool_search_processor.session.native.rendering import INLINE_TOOLS_BETA
from tool_search_processor.session.native.requests import (
    anthropic_parts,
    distinct,
    reference_parts,
    responses_parts,
)

OLD, NEW, MORE = (make(name) for name in ("old", "new", "more"))
USER = {"role": "user", "content": "x"}
SAID = {"role": "assistant", "content": "y"}
RECORD = Record(tools=("old",))
ADDED = {
    "type": "tool_addition",
    "tool": {"type": "tool_definition", "definition": NEW.to_anthropic()},
}


def step_of(*messages, tools=(OLD, NEW), **fields):
    return step(*tools, messages=messages, **fields)


def defined(parts):
    return [tool.get("name") or tool["function"]["name"] for tool in parts.parts["tools"]]


async def test_where_nothing_is_native_every_tool_is_listed_and_nothing_is_noted():
    given = step_of(USER, instructions=("Be brief.",), tool_choice={"type": "tool", "name": "new"})
    found = anthropic_parts(given, native=None, record=RECORD)
    assert found.parts == {
        "system": "Be brief.",
        "tools": [OLD.to_anthropic(), NEW.to_anthropic()],
        "messages": [USER],
        "betas": [],
    }
    assert (names(found.sent), found.note) == (["old", "new"], None)
    found = responses_parts(given, native=False, record=RECORD)
    assert found.parts["instructions"] == "Be brief."
    assert found.parts["tools"] == [
        {"type": "function", "strict": False, **tool.to_openai()["function"]} for tool in (OLD, NEW)
    ]
    assert [item["content"] for item in found.parts["input"]] == ["x"]
    assert (names(found.sent), found.note) == (["old", "new"], None)


async def test_a_definition_stands_in_the_conversation_and_the_list_stays_the_same():
    found = anthropic_parts(step_of(USER), native="definition", record=RECORD)
    assert found.parts == {
        "system": "",
        "tools": [OLD.to_anthropic()],
        "messages": [USER, {"role": "system", "content": [ADDED]}],
        "betas": [INLINE_TOOLS_BETA],
    }
    assert names(found.sent) == ["old", "new"]
    assert (found.note["tools"], found.note["names"]) == ([], ["new"])


async def test_responses_gets_additional_tools():
    found = responses_parts(step_of(USER), native=True, record=RECORD)
    assert defined(found) == ["old"]
    said, added = found.parts["input"]
    assert said["content"] == "x"
    assert (added["type"], [tool["name"] for tool in added["tools"]]) == ("additional_tools", ["new"])
    assert names(found.sent) == ["old", "new"]
    assert found.note["names"] == ["new"]


RECEIPT = {"type": "tool-search/loaded", "v": 1, "names": ["new"]}
CALL = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": "{}"}}
CHAT_LOADED = [
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "ok", "receipt": RECEIPT},
]


async def test_notes_of_ours_are_never_sent():
    for found in (
        anthropic_parts(step_of(USER, *CHAT_LOADED), native="definition", record=RECORD),
        anthropic_parts(step_of(USER, *CHAT_LOADED), native="reference", record=RECORD),
        responses_parts(step_of(USER, *CHAT_LOADED), native=True, record=RECORD),
        reference_parts(step_of(USER, *CHAT_LOADED), record=RECORD),
    ):
        assert "receipt" not in str(found.parts)
        assert names(found.sent) == ["old", "new"]


async def test_references_need_what_they_name_to_be_listed():
    found = anthropic_parts(step_of(USER), native="reference", record=RECORD)
    assert found.parts["tools"] == [OLD.to_anthropic(), NEW.to_anthropic()]
    assert (found.parts["messages"], found.parts["betas"]) == ([USER], [])


@pytest.mark.parametrize("native", ["definition", "reference", "chat", "responses"])
async def test_declared_earlier_and_admitted_it_stays_declared(native):
    record = Record(tools=("old", "more"))
    given = step_of(USER, tools=(OLD,)).replace(declared=(MORE,))
    found = {
        "chat": lambda: reference_parts(given, record=record),
        "responses": lambda: responses_parts(given, native=True, record=record),
    }.get(native, lambda: anthropic_parts(given, native=native, record=record))()
    assert defined(found) == ["old", "more"]
    assert found.note is None


@pytest.mark.parametrize("native", ["definition", "responses"])
async def test_what_a_choice_names_is_in_the_list(native):
    given = step_of(USER, tools=(OLD, NEW, MORE), tool_choice={"type": "tool", "name": "more"})
    if native == "responses":
        found = responses_parts(given, native=True, record=RECORD)
    else:
        found = anthropic_parts(given, native="definition", record=RECORD)
    assert defined(found) == ["old", "more"]
    assert (found.note["tools"], found.note["names"]) == (["more"], ["new"])


async def test_of_two_tools_of_one_name_the_first_is_sent():
    twin = make("old", "Another one.")
    assert distinct([OLD, NEW, twin]) == [OLD, NEW]
    for native in (None, "definition", "reference"):
        found = anthropic_parts(step_of(USER, tools=(OLD, twin)), native=native)
        assert found.parts["tools"] == [OLD.to_anthropic()]


async def test_chat_gets_references_with_the_instructions_in_the_system_message():
    found = reference_parts(
        step_of({"role": "system", "content": "s"}, USER, instructions=("i",)), record=RECORD
    )
    assert found.parts == {
        "messages": [{"role": "system", "content": "s\n\ni"}, USER],
        "tools": [OLD.to_openai(), NEW.to_openai()],
    }
    assert (names(found.sent), found.note["names"]) == (["old", "new"], ["new"])


# -- the system prompt


def system_of(*messages, **fields):
    return anthropic_parts(step_of(*messages, **fields), native=None).parts["system"]


@pytest.mark.parametrize("role", ["system", "developer"])
async def test_system_messages_join_the_prompt_wherever_they_stand(role):
    first, later = ({"role": role, "content": text} for text in ("first", "later"))
    found = anthropic_parts(step_of(first, USER, later, SAID, instructions=("told",)), native=None).parts
    assert found["system"] == "first\n\ntold\n\nlater"
    assert [message["role"] for message in found["messages"]] == ["user", "assistant"]
    assert system_of(USER, later) == "later"
    assert system_of(USER) == ""


async def test_marks_of_the_cache_stay_on_the_prompt():
    mark = {"type": "ephemeral"}
    parts = [{"type": "text", "text": "first", "cache_control": mark}]
    assert system_of({"role": "system", "content": parts}, USER) == parts
    assert system_of({"role": "system", "content": "first", "cache_control": mark}, USER) == parts
    later = {"role": "system", "content": "later"}
    assert system_of({"role": "system", "content": parts}, USER, later) == [
        *parts,
        {"type": "text", "text": "later"},
    ]


async def test_in_responses_later_system_messages_keep_their_place():
    first, later = ({"role": "system", "content": text} for text in ("first", "later"))
    found = responses_parts(step_of(first, USER, later, instructions=("told",)), native=False).parts
    assert found["instructions"] == "first\n\ntold"
    assert [item["content"] for item in found["input"]] == ["x", "later"]
