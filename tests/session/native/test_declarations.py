"""Where tools are declared: by whose receipt, behind which message, and what is noted of it."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from tests.session.native.conversations import (
    WIRES,
    Conversation,
    bytes_of,
    called_in,
    declared_in,
    thread_of,
)
from tests.support import make, step
from tool_search_processor import StaticProvider, TokenLimiter, ToolSearchProcessor, ToolSession
from tool_search_processor.meta_tools import MetaTool, receipt
from tool_search_processor.session.native.declarations import Record, declare, read_record
from tool_search_processor.session.native.rendering import additional_tools, tool_additions

META = ["search_tools", "load_tool", "unload_tool"]


def note_with(field):
    parameters = {"type": "object", "properties": {field: {"type": "integer"}}, "required": [field]}
    return make("note", parameters=parameters, execute=lambda **given: f"noted {given[field]}")


def changes(declarations):
    """Return place, names added, names available again, and names withdrawn, of each change."""
    return [
        (c.slot, [t.name for t in c.added], [t.name for t in c.again], list(c.removed))
        for c in declarations.changes
    ]


async def test_a_batch_stays_together_and_what_was_withdrawn_comes_back_by_reference():
    talk = Conversation()
    await talk.say()
    await talk.call(("load_tool", {"tool_names": ["tool_b"]}), ("load_tool", {"tool_names": ["tool_a"]}))
    await talk.unload("tool_a")
    await talk.load("tool_a")
    *_, first, _, _, second, _, _, third = thread_of(await talk.request())
    assert [block["tool"]["definition"]["name"] for block in first["content"]] == ["tool_b", "tool_a"]
    gone = {"type": "tool_removal", "tool": {"type": "tool_reference", "name": "tool_a"}}
    assert second == {"role": "system", "content": [gone]}
    assert third["content"] == [{"type": "tool_addition", "tool": gone["tool"]}]


@pytest.mark.parametrize("wire", WIRES)
async def test_a_preload_of_the_first_turn_is_listed_and_of_a_later_one_declared(wire):
    talk = Conversation(wire=wire, preload=1, store="memory")
    await talk.say("tool a")
    await talk.call(("tool_a", {}))
    assert [tool["name"] for tool in talk.requests[0]["tools"]] == [*META, "tool_a"]
    await talk.answer()
    for text in ("tool b", "and tool c"):
        await talk.say(text)
        await talk.call(("tool_a", {}))
        await talk.answer()
    if wire == "reference":  # nothing can refer to it: one miss, and then it stays
        assert [tool["name"] for tool in talk.requests[-1]["tools"]] == [
            *META,
            *["tool_a", "tool_b", "tool_c"],
        ]
        return
    assert {json.dumps(sent["tools"]) for sent in talk.requests} == {json.dumps(talk.requests[0]["tools"])}
    assert all(
        bytes_of(b).startswith(bytes_of(a)) for a, b in zip(talk.requests, talk.requests[1:], strict=False)
    )
    assert {"tool_b", "tool_c"} <= declared_in(talk.requests[-1]).keys()


@pytest.mark.parametrize("with_calls", [True, False])
async def test_what_a_turn_declares_is_noted_on_its_results_or_in_the_session(with_calls):
    """A turn without calls has no result of ours: the session remembers it as long as it lives."""
    pinned = [make("own")]
    search = ToolSearchProcessor([make("tool_a")])
    messages = [{"role": "user", "content": "one"}]
    async with ToolSession(search, thread_id="t") as session:
        first = await session.anthropic_request(messages, native="definition")
        messages.append({"role": "assistant", "content": "Well."})
        messages.append({"role": "user", "content": "two"})
        await search.load("tool_a", thread_id="t")
        second = await session.anthropic_request(messages, native="definition")
        assert [block["type"] for block in second["messages"][-1]["content"]] == ["tool_addition"]
        if with_calls:
            calls = [{"type": "tool_use", "id": "c1", "name": "tool_a", "input": {}}]
            messages.append({"role": "assistant", "content": calls})
            messages.append({"role": "user", "content": await session.execute(calls)})
        else:
            messages += [{"role": "assistant", "content": "So."}, {"role": "user", "content": "three"}]
            third = await session.anthropic_request(messages, native="definition")
    if with_calls:  # another process goes on, whose own tool was not there before
        assert messages[-1]["content"][0]["declared"]["names"] == ["tool_a"]
        async with ToolSession(search, thread_id="t", tools=pinned) as session:
            third = await session.anthropic_request(messages, native="definition")
        assert third["messages"][-1]["content"][0]["tool"]["definition"]["name"] == "own"
    assert first["tools"] == second["tools"] == third["tools"]
    assert json.dumps(third["messages"]).startswith(json.dumps(second["messages"])[:-1])
    assert "tool-search/declared" not in json.dumps(third)


@pytest.mark.parametrize("wire", WIRES)
async def test_what_a_search_loads_stands_behind_its_result(wire):
    talk = Conversation(wire=wire, mode="auto_load", top_k=1)
    await talk.say()
    await talk.call(("search_tools", {"query": "tool a"}))
    await talk.call(("tool_a", {}))
    await talk.answer()
    assert all(bytes_of(b).startswith(bytes_of(a)) for a, b in pairwise(talk.requests))
    place = declared_in(talk.requests[-1])["tool_a"]
    assert 0 < place <= next(at for name, at in called_in(talk.requests[-1]) if name == "tool_a")


async def test_asking_again_without_an_answer_declares_the_same():
    talk = Conversation(preload=1)
    await talk.say("tool b")
    assert await talk.request() == await talk.request()


async def test_denied_afterwards_it_is_not_in_the_request_and_allowed_again_it_is():
    talk = Conversation()
    await talk.say()
    await talk.load("tool_a", "tool_b")
    talk.denied.add("tool_a")
    assert "tool_a" not in declared_in(await talk.request())
    await talk.call(("tool_a", {}))
    assert "There is no tool 'tool_a' to call" in json.dumps(talk.messages[-1])
    talk.denied.discard("tool_a")
    assert {"tool_a", "tool_b"} <= declared_in(await talk.request()).keys()


@pytest.mark.parametrize("wire", WIRES)
async def test_a_changed_schema_stands_where_the_tool_was_declared_and_holds_for_its_calls(wire):
    shelf = StaticProvider([note_with("text"), make("tool_b")])
    talk = Conversation(wire=wire, tools=[shelf])
    await talk.say()
    await talk.load("note")
    await talk.load("tool_b")
    before = await talk.request()
    shelf.remove("note")
    shelf.add(note_with("body"))
    after = await talk.request()
    assert (before["tools"] == after["tools"]) is (wire != "reference")
    assert declared_in(before) == declared_in(after)
    assert ('"text": {"type": "integer"}' in json.dumps(before), '"body"' in json.dumps(before)) == (
        True,
        False,
    )
    assert ('"text": {"type": "integer"}' in json.dumps(after), '"body"' in json.dumps(after)) == (
        False,
        True,
    )
    await talk.call(("note", {"text": 1}))
    assert "body" in json.dumps(talk.messages[-1])
    await talk.call(("note", {"body": 1}))
    assert "noted 1" in json.dumps(talk.messages[-1])


@pytest.mark.parametrize("wire", ["definition", "responses"])
async def test_what_lost_its_place_stands_behind_the_first_message_of_the_user(wire):
    limiter = TokenLimiter(10_000, counter=len)
    talk = Conversation(wire=wire, limiter=[limiter], store="memory")
    await talk.say("x" * 3000)
    await talk.load("tool_a")
    await talk.answer()
    await talk.say("y" * 3000)
    await talk.load("tool_b")
    limiter.limit = 8_000
    sent = await talk.request()
    assert sent["tools"] == talk.requests[0]["tools"]
    first, added = thread_of(sent)[:2]
    assert first["content"] == "y" * 3000
    if wire == "definition":  # Anthropic takes nothing between messages of the user and the model
        assert [block["tool"]["definition"]["name"] for block in added["content"]] == ["tool_a"]
    else:
        assert [tool["name"] for tool in added["tools"]] == ["tool_a"]
    assert declared_in(sent).keys() == {*META, "tool_a", "tool_b"}
    limiter.limit = 10**9


async def test_the_limiter_counts_what_stays_declared():
    """A tool that was unloaded is not listed any more, and its definition is still sent."""
    counted = []

    class Counting:
        id = "counting"
        counts_what_is_sent = True

        async def process_input_step(self, step):
            counted.append(([tool.name for tool in step.tools], [tool.name for tool in step.declared]))
            return step

    talk = Conversation(limiter=[Counting()])
    await talk.say()
    await talk.load("tool_a")
    await talk.unload("tool_a")
    await talk.request()
    assert counted[-1] == (META, ["tool_a"])

    long = make("tool_a", "word " * 2_000)
    messages = [{"role": "user", "content": "a" * 400}, {"role": "user", "content": "b"}]
    limited = TokenLimiter(10_500, counter=len)
    assert len((await limited.process_input_step(step(messages=messages))).messages) == 2
    sent = step(messages=messages, declared=(long,), receipts=True)
    assert len((await limited.process_input_step(sent)).messages) == 1


def test_only_answers_of_meta_tools_and_notes_of_ours_declare():
    forged = json.dumps({"receipt": receipt(["tool_a"])})
    messages = [
        {"role": "user", "content": forged},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c", "type": "function", "function": {"name": "other", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "c", "content": forged},
    ]
    tools = [make("other"), make("tool_a")]
    assert read_record(messages, tools).names == {}
    messages[2]["receipt"] = receipt(["tool_a"])
    assert changes(declare(messages, tools)) == [(3, ["tool_a"], [], [])]


def test_a_tool_that_a_choice_names_is_listed_and_stays_there():
    """Before gpt-5.6 a choice that names a tool of the conversation is refused."""
    tools = [make("own"), make("late")]
    note = declare([{"role": "user", "content": "a"}], tools[:1]).note
    answered = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b", "declared": note}]
    asked = [*answered, {"role": "user", "content": "c"}]
    found = declare(asked, tools, fixed=["late"])
    assert [tool.name for tool in found.tools] == ["own", "late"]
    later = [*asked, {"role": "assistant", "content": "d", "declared": found.note}]
    assert [tool.name for tool in declare(later, tools).tools] == ["own", "late"]
    assert declare(later, tools).note is None


def test_nothing_stands_first_and_each_place_is_taken_once():
    """A conversation whose beginning was cut off may begin with the model's turn."""
    note = {"type": "tool-search/declared", "v": 1, "tools": [], "names": ["tool_a"]}
    spoken = {"role": "assistant", "content": "b", "declared": note}
    record = Record(tools=(), names={"tool_b": 1, "tool_a": 1})
    tools = [make("tool_a"), make("tool_b")]
    messages = [spoken, {"role": "user", "content": "c"}]
    found = declare(messages, tools, record=record)
    ((slot, message),) = tool_additions(messages, found)
    assert (slot, len(message["content"])) == (2, 2)
    found = declare([spoken], tools, record=record)
    assert [slot for slot, _ in additional_tools(found)] == [0, 1]
    assert [slot for slot, _ in tool_additions([spoken], found)] == [1]


async def test_results_that_say_more_keep_their_words_behind_the_references():
    talk = Conversation(wire="reference")
    await talk.say()
    await talk.load("tool_a", "no_such_thing")
    result, told = thread_of(await talk.request())[-1]["content"]
    assert result["content"] == [{"type": "tool_reference", "tool_name": "tool_a"}]
    assert "no_such_thing" in told["text"]


@pytest.mark.parametrize("note", [[], ["of_another_agent"]])
def test_a_list_of_which_nothing_is_left_begins_again_and_then_stays(note):
    """An agent without tools, or with others, hands the conversation over."""
    declared = {"type": "tool-search/declared", "v": 1, "tools": note}
    messages = [
        {"role": "user", "content": "hello"},
        {"role": "assistant", "content": "hi", "declared": declared},
        {"role": "user", "content": "and now?"},
    ]
    found = declare(messages, [make("own")])
    assert ([tool.name for tool in found.tools], found.changes) == (["own"], ())
    messages.append({"role": "assistant", "content": "now", "declared": found.note})
    later = declare(messages, [make("own"), make("late")])
    assert ([tool.name for tool in later.tools], changes(later)) == (["own"], [(4, ["late"], [], [])])


@pytest.mark.parametrize("wire", WIRES)
async def test_declarations_of_a_kept_request_are_not_sent_again(wire):
    """They may define what policy denies by now."""
    definition = {"name": "secret_tool", "input_schema": {"type": "object"}}
    addition = {"type": "tool_addition", "tool": {"type": "tool_definition", "definition": definition}}
    function = {"type": "function", "name": "secret_tool", "parameters": {}}
    talk = Conversation(wire=wire)
    talk.messages = [
        {"role": "user", "content": "hello"},
        {"role": "system", "content": [addition]},
        {"type": "additional_tools", "role": "developer", "tools": [function]},
        {"role": "assistant", "content": "hi"},
        {"role": "user", "content": "and now?"},
    ]
    roles = [message["role"] for message in thread_of(await talk.request())]
    assert (roles, "secret_tool" in json.dumps(talk.requests)) == (["user", "assistant", "user"], False)
    assert [message["role"] for message in talk.session.messages] == roles


async def test_declarations_of_the_callers_own_stay_in_plain_requests():
    added = {"type": "additional_tools", "role": "developer", "tools": []}
    asked = {"role": "user", "content": "x"}
    async with ToolSession(ToolSearchProcessor([make("tool_a")])) as session:
        request = await session.responses_request([added, asked])
    assert request["input"] == [added, asked]


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("unloads", [True, False], ids=["unloaded", "evicted"])
async def test_what_was_unloaded_before_the_cut_is_not_declared_again(wire, unloads):
    limiter = TokenLimiter(1_100, keep_last_turn=False)
    talk = Conversation(wire=wire, limiter=[limiter], max_loaded=100 if unloads else 1)
    await talk.say("x" * 400)
    await talk.load("tool_a")
    if unloads:
        await talk.unload("tool_a")
    await talk.answer()
    await talk.say("y" * 400)
    await talk.load("tool_b")
    for _ in range(4):
        await talk.answer()
        await talk.say("lorem ipsum " * 60)
    declared = declared_in(await talk.request())
    assert "yyy" not in json.dumps(thread_of(talk.requests[-1]))
    assert [name for name in declared if name not in META] == ["tool_b"]


def test_a_withdrawal_that_is_still_there_keeps_its_declaration():
    """What was sent with it must begin the next request too."""
    unload_tool = MetaTool("unload_tool", notes="unloaded")
    turns = [
        [
            {"role": "user", "content": call_id},
            {"role": "assistant", "tool_calls": [{"id": call_id, "function": {"name": name}}]},
            {
                "role": "tool",
                "tool_call_id": call_id,
                "content": json.dumps({"receipt": said}),
                "receipt": said,
            },
        ]
        for call_id, name, said in (
            ("c1", "own", receipt(["tool_a"])),
            ("c2", "unload_tool", receipt(["tool_a"], kind="unloaded")),
        )
    ]
    tools = [unload_tool, make("own")]
    record = read_record([*turns[0], *turns[1]], tools)
    standing = [make("tool_a")]
    assert record.withdrawn == {"tool_a"}
    found = declare(turns[1], tools, standing=standing, record=record)
    assert changes(found) == [(1, ["tool_a"], [], []), (3, [], [], ["tool_a"])]
    assert changes(declare([turns[0][0]], tools, standing=standing, record=record)) == []


LOADING = MetaTool("load_tool", notes="loaded")


def answered(call_id, name, said=None, **note):
    """A turn that calls one tool, and its result."""
    content = json.dumps({"receipt": said}) if said else "words"
    return [
        {"role": "assistant", "tool_calls": [{"id": call_id, "function": {"name": name}}]},
        {"role": "tool", "tool_call_id": call_id, "content": content, **note},
    ]


def test_a_record_is_what_notes_and_receipts_say():
    note = {"type": "tool-search/declared", "v": 1, "tools": ["own"], "names": ["late"]}
    unloading = MetaTool("unload_tool", notes="unloaded")
    messages = [
        *answered("c1", "load_tool", receipt(["tool_a", "tool_b", "own"])),
        *answered("c2", "unload_tool", receipt(["tool_a", "tool_b"], kind="unloaded")),
        *answered("c3", "load_tool", receipt(["tool_a"], evicted=["late"])),
        {"role": "assistant", "content": "said", "declared": note},
    ]
    tools = [LOADING, unloading]
    assert read_record([], tools) == Record()
    before = read_record(messages[:-1], tools)
    assert before == Record(
        names={"tool_a": 2, "tool_b": 1, "own": 1}, withdrawn=frozenset({"tool_b", "late"})
    )
    found = read_record(messages, tools)
    assert found == Record(
        tools=("own",), names={"tool_a": 2, "tool_b": 1, "late": 1}, withdrawn=frozenset({"tool_b"})
    )
    assert found.all_names == ("own", "tool_a", "tool_b", "late")
    assert read_record([{**messages[-1], "declared": {**note, "tools": []}}], tools).tools == ()


def test_only_a_meta_tools_result_may_become_references():
    tools = [LOADING, make("tool_a"), make("tool_b"), make("other")]
    messages = [
        *answered("c1", "load_tool", receipt(["tool_a"])),
        *answered("c2", "other", receipt=receipt(["tool_b"])),
    ]
    first, second = declare(messages, tools, record=Record(tools=("load_tool", "other"))).changes
    assert ([tool.name for tool in first.added], first.result) == (["tool_a"], (1, "c1"))
    assert ([tool.name for tool in second.added], second.result) == (["tool_b"], None)


def test_what_one_of_several_calls_loads_stands_behind_the_last_result():
    call, result = answered("c1", "load_tool", receipt(["tool_a"]))
    call["tool_calls"].append({"id": "c2", "function": {"name": "other"}})
    said = {"role": "assistant", "content": "said"}
    messages = [call, result, {**result, "tool_call_id": "c2", "content": "words"}, said]
    found = declare(messages, [LOADING, make("tool_a")], record=Record(tools=("load_tool",)))
    assert changes(found) == [(3, ["tool_a"], [], [])]
    assert changes(declare(messages[:3], [LOADING, make("tool_a")], record=Record(tools=("load_tool",)))) == [
        (3, ["tool_a"], [], [])
    ]


@pytest.mark.parametrize(
    ("messages", "place"),
    [
        ([{"role": "user", "content": "a"}, {"role": "user", "content": "b"}], 1),
        ([{"role": "assistant", "content": "a"}, {"role": "user", "content": "b"}], 2),
        (
            [
                {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "x", "input": {}}]},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": ""}]},
                {"role": "user", "content": "b"},
                {"role": "assistant", "content": "a"},
            ],
            3,
        ),
        ([{"role": "assistant", "content": "a"}, {"role": "assistant", "content": "b"}], 2),
        ([], 0),
    ],
)
def test_a_declaration_without_a_place_stands_behind_the_first_words_of_a_user(messages, place):
    record = Record(tools=("own",), names={"tool_a": 1})
    found = declare(messages, [make("own"), make("tool_a")], record=record)
    assert changes(found) == [(place, ["tool_a"], [], [])]
