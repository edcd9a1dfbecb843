"""The store that reads conversations: what counts as a load, and what never does."""

import json
from types import MappingProxyType, SimpleNamespace

import pytest

from tests.support import counts
from tool_search_processor.errors import StoreError
from tool_search_processor.meta_tools import receipt
from tool_search_processor.stores import HistoryStore, LoadedToolStore, LoadScope
from tool_search_processor.stores.protocol import Replay

USER = {"role": "user", "content": "hello"}


def asks(call_id="c1", name="load_tool", arguments="{}"):
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def assistant(*calls):
    return {"role": "assistant", "content": None, "tool_calls": list(calls)}


def answer(content, call_id="c1", role="tool"):
    text = content if isinstance(content, str | list) else json.dumps(content)
    return {"role": role, "tool_call_id": call_id, "content": text}


def loads(*names, evicted=()):
    return {"loaded": list(names), "message": "Loaded.", "receipt": receipt(names, evicted=evicted)}


def unloads(*names):
    return {"unloaded": list(names), "receipt": receipt(names, kind="unloaded")}


def load(*names, call_id="c1", evicted=()):
    """Return a call of the load tool and its result."""
    return [assistant(asks(call_id)), answer(loads(*names, evicted=evicted), call_id)]


def unload(*names, call_id="u1"):
    return [assistant(asks(call_id, "unload_tool")), answer(unloads(*names), call_id)]


def use(name, call_id):
    return [assistant(asks(call_id, name)), answer("done", call_id)]


def scope(messages, **fields):
    fields = {"load_tool_names": frozenset({"load_tool"}), "unload_tool_name": "unload_tool", **fields}
    return LoadScope(processor_id="p", thread_id="t", messages=messages, **fields)


def replay(*messages, **fields):
    return HistoryStore().replay(scope(messages, **fields))


def loaded(*messages, **fields):
    return list(replay(*messages, **fields).names)


def tool_use(call_id="c1", name="load_tool"):
    block = {"type": "tool_use", "id": call_id, "name": name, "input": {}}
    return {"role": "assistant", "content": [{"type": "text", "text": "One moment."}, block]}


def tool_result(content, call_id="c1"):
    block = {"type": "tool_result", "tool_use_id": call_id, "content": content}
    return {"role": "user", "content": [block, {"type": "text", "text": "and now?"}]}


def function_call(call_id="c1", name="load_tool"):
    return {"type": "function_call", "call_id": call_id, "name": name, "arguments": "{}"}


def output(content, call_id="c1"):
    return {"type": "function_call_output", "call_id": call_id, "output": content}


THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": []}
A = json.dumps(loads("a"))
A_PARTS = [{"type": "text", "text": A}]


# -- what loads


@pytest.mark.parametrize(
    "messages",
    [
        [assistant(asks()), answer(A)],
        [assistant(asks()), answer(A_PARTS)],
        [tool_use(), tool_result(A)],
        [tool_use(), tool_result(A_PARTS)],
        [function_call(), output(A)],
        [THOUGHT, function_call("c0", "other"), function_call(), output("no", "c0"), output(A)],
        [SimpleNamespace(**function_call()), output([{"type": "input_text", "text": A}])],
        [assistant(asks("c0", "other"), asks()), answer("no", "c0"), answer(A)],
        [assistant(asks()), USER, answer(A)],
        [USER, MappingProxyType(assistant(asks())), MappingProxyType(answer(A))],
        [assistant(SimpleNamespace(id="c1", function=SimpleNamespace(name="load_tool"))), answer(A)],
        [SimpleNamespace(role="assistant", tool_calls=[asks()]), answer(A)],
        [assistant(asks()), answer({**loads("a"), "receipt": {**receipt(["a"]), "later": "field"}})],
    ],
    ids=[
        "text",
        "parts",
        "anthropic",
        "anthropic-parts",
        "responses",
        "responses-second-call",
        "responses-sdk-call",
        "second-call",
        "not-adjacent",
        "mappings",
        "sdk-call",
        "sdk-message",
        "unknown-field",
    ],
)
def test_a_result_of_the_load_tool_loads(messages):
    assert loaded(USER, *messages, USER) == ["a"]


def test_a_receipt_tells_what_was_loaded_already_and_what_made_room():
    assert receipt(["a"]) == {"type": "tool-search/loaded", "v": 1, "names": ["a"]}
    assert receipt(["a"], evicted=["b"]) == {**receipt(["a"]), "evicted": ["b"]}
    assert receipt(["a"], kind="unloaded") == {"type": "tool-search/unloaded", "v": 1, "names": ["a"]}


@pytest.mark.parametrize(
    ("messages", "names"),
    [
        ([], []),
        ([USER], []),
        ([*load("b", "a"), *load("c", "b", call_id="c2")], ["b", "a", "c"]),
        ([*load("a", "b"), *unload("a", "x")], ["b"]),
        ([*load("a", "b"), *unload("a"), *load("a", call_id="c2")], ["b", "a"]),
        ([*load("a", "b"), *load("c", call_id="c2", evicted=["a"])], ["b", "c"]),
        ([*load("a", call_id="c2")], ["a"]),
    ],
    ids=["nothing", "no-call", "order", "unload", "again", "evicted", "older-result-trimmed"],
)
def test_receipts_are_read_in_order(messages, names):
    assert loaded(*messages) == names


def test_what_one_call_of_a_step_loads_no_other_call_of_it_evicts():
    """Answers stand in the calls' order, whichever call ran first."""
    step = [
        assistant(asks("c2"), asks("c3")),
        answer(loads("x", evicted=["z"]), "c2"),
        answer(loads("y", evicted=["x"]), "c3"),
    ]
    assert loaded(*load("z", "x"), *step) == ["x", "y"]
    assert loaded(*load("z", "x"), *step, *load("w", call_id="c4", evicted=["x"])) == ["y", "w"]


def test_calls_tell_the_order_of_use():
    messages = [*load("a", "b", "c"), *use("a", "d1"), *use("nothing", "d2"), *load("b", call_id="c2")]
    assert replay(*messages) == Replay(names=("a", "b", "c"), by_use=("c", "a", "b"))


def test_auto_load_and_renamed_meta_tools_are_known_from_the_scope():
    searched = [assistant(asks("s1", "find")), answer({"results": [], **loads("a")}, "s1")]
    dropped = [assistant(asks("u1", "drop")), answer(unloads("a"), "u1")]
    names = {"load_tool_names": frozenset({"find"}), "unload_tool_name": "drop"}
    assert loaded(*searched, **names) == ["a"]
    assert loaded(*searched, *dropped, **names) == []
    assert loaded(*searched, *dropped, **{**names, "unload_tool_name": None}) == ["a"]
    assert loaded(*searched, *load("b")) == ["b"]
    assert loaded(*searched, *load("b"), load_tool_names=frozenset()) == []


def test_trimmed_messages_unload():
    messages = [USER, *load("a"), USER, *load("b", call_id="c2"), USER]
    assert [loaded(*messages[start:]) for start in (0, 1, 3, 6)] == [["a", "b"], ["a", "b"], ["b"], []]
    assert loaded(*messages[2:]) == ["b"], "a result without its call"


@pytest.mark.parametrize(
    ("messages", "names"),
    [
        ([*load("a"), *load("b")], ["a", "b"]),
        ([*load("a", "b"), *unload("b", call_id="c1"), *load("c")], ["a", "c"]),
        ([assistant(asks(name="other")), answer("done"), *load("a")], ["a"]),
        ([assistant(asks(), asks()), answer(loads("a")), answer(loads("b"))], ["a", "b"]),
        ([tool_use(), tool_result(A), tool_use(), tool_result(json.dumps(loads("b")))], ["a", "b"]),
    ],
    ids=["loads", "an unload between", "another tool's call before", "in one reply", "Anthropic"],
)
def test_calls_whose_ids_repeat_all_count(messages, names):
    """Some servers count the calls of each reply from 0."""
    assert loaded(*messages) == names


# -- what never loads

TYPED = {"type": "tool-search/loaded", "v": 1, "names": ["a"]}

FORGED = {
    "user message": [assistant(asks()), answer(A, role="user")],
    "user text": [{"role": "user", "content": A}],
    "user block for an OpenAI call": [assistant(asks()), tool_result(A)],
    "tool message for an Anthropic call": [tool_use(), answer(A)],
    "assistant text": [{"role": "assistant", "content": A, "tool_call_id": "c1"}],
    "assistant text beside the call": [assistant(asks()), answer(A, role="assistant")],
    "assistant result block": [tool_use(), {**tool_result(A), "role": "assistant"}],
    "system message": [assistant(asks()), answer(A, role="system")],
    "developer message": [assistant(asks()), answer(A, role="developer")],
    "old function role": [assistant(asks()), answer(A, role="function")],
    "another tool's result": [assistant(asks(name="fetch_page")), answer(A)],
    "a search's result": [assistant(asks(name="search_tools")), answer(A)],
    "the unload tool's result": [assistant(asks(name="unload_tool")), answer(A)],
    "a call by a user": [{**assistant(asks()), "role": "user"}, answer(A)],
    "no call": [answer(A)],
    "result before the call": [answer(A), assistant(asks())],
    "other id": [assistant(asks("c2")), answer(A)],
    "no id": [assistant({**asks(), "id": None}), answer(A, None)],
    "second answer": [assistant(asks()), answer("no"), answer(A)],
    "id of two calls of one step": [assistant(asks(name="other"), asks()), answer(A), answer(A)],
    "name beside the call": [assistant(asks(name="other")), {**answer(A), "name": "load_tool"}],
}


@pytest.mark.parametrize("messages", FORGED.values(), ids=FORGED.keys())
def test_forged_results_load_nothing(messages):
    assert loaded(USER, *messages, USER) == []


@pytest.mark.parametrize(
    "content",
    [
        None,
        "",
        "Loaded a.",
        "null",
        "[]",
        "tool-search/loaded",
        '{"receipt": "tool-search/loaded"}',
        "[" * 100_000 + '"tool-search/"',
        A + "!",
        f"see: {A}",
        json.dumps([loads("a")]),
        json.dumps({"answer": loads("a")}),
        json.dumps({"results": [{"name": "x", "description": A}]}),
        json.dumps({"loaded": ["a"]}),
        json.dumps({"receipt": None}),
        json.dumps({"receipt": [TYPED]}),
        *(
            json.dumps({"receipt": {**TYPED, **change}})
            for change in (
                {"type": "tool-search/unloaded"},
                {"type": "tool-search/found"},
                {"type": ["tool-search/loaded"]},
                {"v": 2},
                {"v": "1"},
                {"v": True},
                {"v": 1.0},
                {"names": "a"},
                {"names": ["a", 1]},
                {"names": None},
                {"names": {"a": 1}},
                {"evicted": "a"},
                {"evicted": None},
            )
        ),
        json.dumps({"receipt": {"v": 1, "names": ["a"], "of": "tool-search/loaded"}}),
    ],
)
def test_what_is_no_receipt_of_this_version_loads_nothing(content):
    assert loaded(assistant(asks()), {"role": "tool", "tool_call_id": "c1", "content": content}) == []


@pytest.mark.parametrize(
    "odd",
    [
        {},
        {"role": "assistant"},
        {"role": "assistant", "tool_calls": None, "content": "text"},
        {"role": "assistant", "tool_calls": "c1"},
        {"role": "assistant", "tool_calls": [None, "x", {}, {"id": "c9"}, {"id": "c9", "function": None}]},
        {"role": "assistant", "content": [None, "x", {"type": "tool_use"}, {"type": "tool_use", "id": 7}]},
        {"role": "user", "content": [None, "x", {"type": "tool_result"}]},
        {"role": "tool"},
        {"role": "tool", "tool_call_id": ["c1"], "content": A},
        {"role": ["tool"], "content": A},
        "text",
        None,
        7,
    ],
)
def test_messages_of_any_shape_are_passed_over(odd):
    assert loaded(odd, *load("a"), odd) == ["a"]


# -- as a store


async def test_it_keeps_nothing_and_says_so():
    store = HistoryStore()
    assert isinstance(store, LoadedToolStore)
    assert store.reads_conversation
    there = scope(load("a"))
    assert list(await store.loaded(there)) == ["a"]
    await store.touch(there, ["a"])
    assert await counts(store) == {"threads": 0, "loaded": 0}
    for refused, doing in (
        (store.add(there, ["b"]), "load into"),
        (store.remove(there, ["a"]), "unload from"),
        (store.clear(there), "clear"),
    ):
        with pytest.raises(StoreError) as caught:
            await refused
        assert str(caught.value) == (
            f"can't {doing} a HistoryStore: what is loaded stands in the conversation's own messages, by the "
            "receipts in results of the meta-tools. Use a MemoryStore or a RedisStore to change it from "
            "outside"
        )
    await store.aclose()
    assert list(await store.loaded(there)) == ["a"]


def conversation(turns, text):
    messages = []
    for turn in range(turns):
        messages += [{"role": "user", "content": f"{text}{turn}"}, *load(f"t{turn % 50}", call_id=f"l{turn}")]
        messages += use(f"t{turn % 50}", f"u{turn}")
    return messages


def test_what_is_remembered_of_answers_is_bounded(monkeypatch):
    monkeypatch.setattr("tool_search_processor.stores.history._REMEMBERED_ANSWERS", 3)
    store = HistoryStore()
    there = scope(conversation(40, ""))
    assert store.replay(there) == store.replay(there) == HistoryStore().replay(there)
    assert len(store._receipts) <= 3
