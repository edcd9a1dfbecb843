"""Declarations in the shapes of the providers, each at its place."""

import json

import pytest

from tool_search_processor.session.native.declarations import Change, Declarations
from tool_search_processor.session.native.rendering import (
    additional_tools,
    inserted,
    listed_beside_references,
    responses_definition,
    tool_additions,
    with_tool_references,
)
from tool_search_processor.tools import Tool

A, B, C, OLD = (Tool(name, description=f"Does {name}.") for name in "abco")
USER, MODEL, RESULT = ({"role": role, "content": role} for role in ("user", "assistant", "tool"))


def declared(*changes, tools=(OLD,)):
    return Declarations(tools=tools, changes=changes)


def reference(name):
    return {"type": "tool_reference", "name": name}


def addition(tool):
    definition = {"type": "tool_definition", "definition": tool.to_anthropic()}
    return {"type": "tool_addition", "tool": definition}


def test_of_one_place_withdrawals_come_first_then_definitions_then_references():
    change = Change(slot=1, added=(A, B), again=(C,), removed=("x", "y"))
    (place, message) = tool_additions([USER], declared(change))[0]
    assert place == 1
    assert message == {
        "role": "system",
        "content": [
            {"type": "tool_removal", "tool": reference("x")},
            {"type": "tool_removal", "tool": reference("y")},
            addition(A),
            addition(B),
            {"type": "tool_addition", "tool": reference("c")},
        ],
    }


@pytest.mark.parametrize(
    ("slot", "place"),
    [(0, 2), (1, 2), (2, 2), (3, 5), (4, 5), (5, 5), (6, 7), (7, 7)],
)
def test_anthropic_takes_additions_before_a_turn_of_the_model_or_at_the_end(slot, place):
    messages = [USER, USER, MODEL, RESULT, USER, MODEL, USER]
    found = tool_additions(messages, declared(Change(slot=slot, added=(A,))))
    assert [at for at, _ in found] == [place]


def test_nothing_stands_before_the_first_message():
    assert [at for at, _ in tool_additions([MODEL, MODEL], declared(Change(slot=0, added=(A,))))] == [1]


def test_changes_that_come_to_one_place_are_one_message():
    found = tool_additions([USER, USER], declared(Change(slot=1, added=(A,)), Change(slot=2, added=(B,))))
    assert found == [(2, {"role": "system", "content": [addition(A), addition(B)]})]


def test_responses_takes_what_is_added_for_the_first_time():
    found = additional_tools(
        declared(
            Change(slot=1, added=(A,), removed=("x",)),
            Change(slot=1, added=(B,), again=(OLD,)),
            Change(slot=2, removed=("a",)),
            Change(slot=3, again=(A,)),
            Change(slot=4, added=(C,)),
        )
    )
    item = {"type": "additional_tools", "role": "developer"}
    assert found == [
        (1, {**item, "tools": [responses_definition(A), responses_definition(B)]}),
        (4, {**item, "tools": [responses_definition(C)]}),
    ]


def test_a_definition_of_responses_says_whether_it_is_strict():
    assert responses_definition(A) == {
        "type": "function",
        "strict": False,
        "name": "a",
        "description": "Does a.",
        "parameters": A.to_openai()["function"]["parameters"],
    }


def test_insertions_stand_before_their_messages_or_at_the_end():
    assert inserted("abc", [(3, "z"), (0, "x"), (2, "y")]) == ["x", "a", "b", "y", "c", "z"]
    assert inserted([], [(0, "x")]) == ["x"]


def test_what_no_result_loaded_is_listed_as_it_is():
    declarations = declared(
        Change(slot=1, added=(A,)), Change(slot=2, added=(B,), result=(1, "c1")), Change(slot=3, again=(C,))
    )
    assert listed_beside_references(declarations) == ([OLD, A], [B])


def loaded(index=1, call_id="c1", *, added=(A,), again=()):
    return declared(Change(slot=index + 1, added=added, again=again, result=(index, call_id)))


def answer(content, call_id="c1", **fields):
    return {"role": "tool", "tool_call_id": call_id, "content": content, **fields}


def names(*tools):
    return [{"type": "tool_reference", "tool_name": tool.name} for tool in tools]


LOADED = json.dumps({"loaded": ["a"], "message": "Loaded."})


def test_a_result_that_loaded_tools_holds_references_alone():
    messages = [USER, answer(LOADED, name="load_tool"), answer("other", "c2"), MODEL]
    found = with_tool_references(messages, loaded(added=(A, B), again=(C,)))
    assert found == [
        USER,
        {"role": "tool", "tool_call_id": "c1", "name": "load_tool", "content": names(A, B)},
        messages[2],
        MODEL,
    ]


def test_a_tool_that_was_deferred_is_referred_to_again():
    changes = [Change(slot=2, added=(A,), result=(1, "c1")), Change(slot=3, again=(A, OLD), result=(2, "c2"))]
    found = with_tool_references([USER, answer(LOADED), answer(LOADED, "c2")], declared(*changes))
    assert [message["content"] for message in found[1:]] == [names(A), names(A)]


@pytest.mark.parametrize(
    ("index", "call_id"),
    [(0, "c1"), (1, "c2")],
)
def test_only_the_result_that_loaded_them_refers_to_tools(index, call_id):
    messages = [USER, answer(LOADED)]
    assert with_tool_references(messages, loaded(index, call_id)) == messages


SAYS_MORE = [
    "found nothing else",
    json.dumps({"loaded": ["a"], "not_found": [{"name": "x"}]}),
    json.dumps({"results": [{"name": "a"}, {"name": "b"}]}),
    "[" * 100_000,
]


@pytest.mark.parametrize("text", SAYS_MORE, ids=range(len(SAYS_MORE)))
@pytest.mark.parametrize("after", [[], [MODEL]])
def test_what_a_result_says_besides_follows_as_a_text_of_the_user(text, after):
    messages = [USER, answer(text), answer("other", "c2"), *after]
    assert with_tool_references(messages, loaded()) == [
        USER,
        answer(names(A)),
        answer("other", "c2"),
        {"role": "user", "content": text},
        *after,
    ]


@pytest.mark.parametrize("text", ["", LOADED, json.dumps({"results": [{"name": "a"}], "not_found": []}), "5"])
def test_what_a_result_says_of_loaded_tools_alone_is_not_repeated(text):
    assert with_tool_references([USER, answer(text)], loaded()) == [USER, answer(names(A))]


def test_the_words_of_several_results_are_one_text():
    changes = [Change(slot=3, added=(tool,), result=(n, f"c{n}")) for n, tool in ((1, A), (2, B))]
    found = with_tool_references([USER, answer("one"), answer("two", "c2"), MODEL, USER], declared(*changes))
    assert found[3:] == [{"role": "user", "content": "one\ntwo"}, MODEL, USER]


def block(content, call_id="c1"):
    return {"type": "tool_result", "tool_use_id": call_id, "content": content}


@pytest.mark.parametrize("text", [LOADED, "more"])
def test_in_a_message_of_anthropic_the_words_follow_in_the_same_message(text):
    said = [{"type": "text", "text": "and this"}]
    message = {"role": "user", "content": [block(text), block("other", "c2"), *said]}
    (sent,) = with_tool_references([message], loaded(0))
    more = [{"type": "text", "text": "more"}] if text == "more" else []
    assert sent == {"role": "user", "content": [block(names(A)), block("other", "c2"), *said, *more]}
    assert message["content"][0] == block(text)


def test_a_users_own_text_and_a_turn_of_the_model_stay_as_they_are():
    turn = {"role": "assistant", "content": [block(LOADED)]}
    assert with_tool_references([{"role": "user", "content": "hi"}, turn], loaded(1)) == [
        {"role": "user", "content": "hi"},
        turn,
    ]
