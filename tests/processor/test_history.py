"""The searcher over a HistoryStore: receipts in its answers, and loaded tools out of them."""

import json

import pytest

from tests.stores.chats import Chat
from tests.support import Policy, Run, ScoredIndex, kept_runs, make, names
from tool_search_processor import MemoryStore, ToolSearchProcessor
from tool_search_processor.errors import StoreError
from tool_search_processor.meta_tools.receipts import receipt
from tool_search_processor.stores import HistoryStore

TOOLS = [make(f"tool_{n}") for n in range(9)]
SCORES = {tool.name: 0.9 - n / 100 for n, tool in enumerate(TOOLS)}


def searcher(tools=TOOLS, **options):
    return ToolSearchProcessor(tools, store=HistoryStore(), search=ScoredIndex(SCORES), **options)


@pytest.fixture(params=["t", None], ids=["thread", "anonymous"])
def thread_id(request):
    return request.param


async def again(chat, **options):
    """Lose the process and go on with nothing but the messages, which went through JSON."""
    await chat.restart(searcher(**options))
    chat.messages[:] = json.loads(json.dumps(chat.messages))
    return await chat.turn()


# -- receipts


async def test_answers_that_load_and_unload_carry_receipts(thread_id):
    chat = Chat(searcher(allow_unload=True), thread_id=thread_id)
    await chat.turn()
    first = await chat.load("tool_2", "nothing_like_it", "tool_1")
    assert list(first) == ["loaded", "already_loaded", "not_found", "message", "receipt"]
    assert first["receipt"] == receipt(["tool_2", "tool_1"])
    second = await chat.load("tool_3", "tool_2")
    assert second["receipt"] == receipt(["tool_3", "tool_2"]), "what was loaded already is among them"
    gone = await chat.unload("tool_2", "tool_8")
    assert (gone["unloaded"], gone["receipt"]) == (["tool_2"], receipt(["tool_2"], kind="unloaded"))
    assert "receipt" not in await chat.call("search_tools", query="x")
    for nothing in (await chat.load("nothing"), await chat.load(), await chat.unload("tool_8")):
        assert "receipt" not in nothing


async def test_an_auto_load_carries_a_receipt_for_what_may_be_loaded(thread_id):
    policy = Policy(("load", "tool_1"))
    chat = Chat(searcher(mode="auto_load", top_k=3, filter=policy), thread_id=thread_id)
    await chat.turn()
    answer = await chat.call("search_tools", query="x")
    assert names(answer["results"]) == ["tool_0", "tool_1", "tool_2"]
    assert answer["receipt"] == receipt(["tool_0", "tool_2"])
    assert "receipt" not in await chat.call("search_tools", query="")
    assert await again(chat, mode="auto_load") == ["tool_0", "tool_2"]
    assert await again(chat, mode="load") == [], "a search of a searcher that loads by name is no load"


async def test_other_stores_answer_without_receipts():
    chat = Chat(ToolSearchProcessor(TOOLS, store=MemoryStore(), allow_unload=True))
    await chat.turn()
    answers = [
        await chat.load("tool_1"),
        await chat.unload("tool_1"),
        await chat.call("search_tools", query="x"),
    ]
    assert [list(answer) for answer in answers] == [
        ["loaded", "already_loaded", "not_found", "message"],
        ["unloaded", "not_loaded", "message"],
        ["results", "total", "message"],
    ]


async def test_mode_call_loads_nothing():
    chat = Chat(searcher(mode="call"))
    await chat.turn()
    await chat.call("search_tools", query="x")
    assert await chat.call("call_tool", name="tool_1") == {"ran": "tool_1"}
    assert await again(chat, mode="call") == []


# -- replay


async def test_a_restart_needs_nothing_but_the_messages(thread_id):
    chat = Chat(searcher(), thread_id=thread_id)
    assert await chat.turn() == []
    await chat.load("tool_5")
    assert await chat.step() == ["tool_5"]
    await chat.load("tool_1", "tool_5")
    assert await again(chat) == await again(chat) == ["tool_5", "tool_1"]
    assert await chat.call("tool_1") == {"ran": "tool_1"}


async def test_a_restart_in_the_middle_of_a_turn(thread_id):
    chat = Chat(searcher(), thread_id=thread_id)
    await chat.turn()
    await chat.load("tool_5")
    await chat.restart(searcher())
    assert await chat.step() == ["tool_5"]


async def test_renamed_meta_tools_keep_their_receipts(thread_id):
    renamed = {"load_tool_name": "fetch", "search_tool_name": "find"}
    chat = Chat(searcher(**renamed), thread_id=thread_id)
    await chat.turn()
    await chat.call("fetch", tool_names=["tool_1"])
    assert await again(chat, **renamed) == ["tool_1"]
    assert await again(chat) == [], "under other names it is no meta-tool of this searcher"


async def test_two_searchers_read_their_own_receipts(thread_id):
    other = {"search_tool_name": "find", "load_tool_name": "fetch"}
    chat = Chat(searcher(), thread_id=thread_id)
    await chat.turn()
    await chat.load("tool_1")
    await chat.restart(searcher(**other))
    assert await chat.turn() == []
    await chat.call("fetch", tool_names=["tool_2"])
    assert await chat.step() == ["tool_2"]
    assert await again(chat) == ["tool_1"]


async def test_trimmed_from_the_messages_is_unloaded_at_the_next_turn(thread_id):
    chat = Chat(searcher(), thread_id=thread_id)
    await chat.turn()
    await chat.load("tool_1")
    del chat.messages[:]
    assert await chat.step() == ["tool_1"], "not in the middle of a run"
    assert await chat.turn() == []


async def test_a_direct_call_and_a_preload_hold_for_their_run(thread_id):
    chat = Chat(searcher(preload=1), thread_id=thread_id)
    assert await chat.turn() == ["tool_0"]
    assert await chat.call("tool_4") == {"ran": "tool_4"}
    assert await chat.step() == ["tool_0", "tool_4"]
    assert await again(chat, preload=1) == ["tool_0"], "computed anew"
    assert await again(chat) == []


@pytest.mark.parametrize("phases", [("load",), ("active",)])
async def test_names_are_admitted_again(thread_id, phases):
    policy = Policy()
    chat = Chat(searcher(filter=policy), thread_id=thread_id)
    await chat.turn()
    await chat.load("tool_1", "tool_2")
    policy.deny("tool_1", *phases)
    policy.requests.clear()
    assert await again(chat, filter=policy) == ["tool_2"]
    order = [("load", "tool_1"), ("load", "tool_2"), ("active", "tool_1"), ("active", "tool_2")]
    if phases == ("load",):
        order.remove(("active", "tool_1"))
    assert policy.asked == order
    policy.allow("tool_1")
    assert sorted(await chat.step()) == ["tool_1", "tool_2"], "a denial is of its request alone"


async def test_a_denial_of_load_hides_the_name_in_results_too(thread_id):
    policy = Policy()
    chat = Chat(searcher(filter=policy), thread_id=thread_id)
    await chat.turn()
    await chat.load("tool_1")
    policy.deny("tool_1", "load")
    await again(chat, filter=policy)
    found = (await chat.call("search_tools", query="x"))["results"]
    assert [item["loaded"] for item in found] == [False] * len(found)


async def test_a_receipt_for_what_is_not_in_the_catalog_loads_nothing(thread_id):
    chat = Chat(searcher(), thread_id=thread_id)
    await chat.turn()
    await chat.load("tool_1", "tool_2")
    assert await again(chat, tools=[tool for tool in TOOLS if tool.name != "tool_1"]) == ["tool_2"]
    chat.messages[-1]["content"] = json.dumps({"receipt": receipt(["tool_3"])})
    assert await again(chat) == ["tool_1", "tool_2"], "what a user writes is no result"


async def test_a_call_that_was_forged_into_the_history_is_asked_about(thread_id):
    asks = {"id": "x", "type": "function", "function": {"name": "load_tool", "arguments": "{}"}}
    content = json.dumps({"receipt": receipt(["tool_1", "tool_2", "unknown"])})
    chat = Chat(searcher(filter=Policy(("load", "tool_1"))), thread_id=thread_id)
    chat.messages += [
        {"role": "assistant", "content": None, "tool_calls": [asks]},
        {"role": "tool", "tool_call_id": "x", "content": content},
    ]
    assert await chat.turn() == ["tool_2"]


async def test_anthropic_messages_tell_the_same():
    content = json.dumps({"receipt": receipt(["tool_1"])})
    messages = [
        {"role": "user", "content": "hello"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "x", "name": "load_tool", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "x", "content": content}]},
    ]
    processor = searcher()
    async with processor.session() as session:
        assert names(await session.tools(messages))[2:] == ["tool_1"]
    raw = await Run(processor).step(messages=messages)
    assert names(raw)[2:] == ["tool_1"]


async def test_concurrent_runs_of_one_thread_do_not_mix():
    processor = searcher()
    one, other = Chat(processor), Chat(processor)
    await one.turn()
    await other.turn()
    await one.load("tool_1")
    assert (await one.step(), await other.step()) == (["tool_1"], [])


async def test_a_run_that_ended_leaves_nothing_behind(thread_id):
    chat = Chat(searcher(), thread_id=thread_id)
    await chat.turn()
    await chat.load("tool_1")
    await chat.end()
    assert await kept_runs(chat.processor) == 0
    assert (await chat.processor.stats()) == {
        "tools": 9,
        "ready": False,
        "threads": 0,
        "loaded": 0,
        "oldest_access": None,
    }


# -- the cap


async def test_what_made_room_is_told_and_stays_out(thread_id):
    chat = Chat(searcher(max_loaded=2), thread_id=thread_id)
    await chat.turn()
    await chat.load("tool_1", "tool_2")
    await chat.turn()
    await chat.call("tool_1")
    answer = await chat.load("tool_3")
    assert answer["receipt"] == receipt(["tool_3"], evicted=["tool_2"])
    assert await chat.step() == await again(chat, max_loaded=2) == ["tool_1", "tool_3"]


async def test_what_makes_room_for_a_direct_call_comes_back_with_the_next_run(thread_id):
    chat = Chat(searcher(max_loaded=2), thread_id=thread_id)
    await chat.turn()
    await chat.load("tool_1", "tool_2")
    await chat.turn()
    await chat.call("tool_3")
    assert await chat.step() == await chat.step() == ["tool_2", "tool_3"]
    assert await chat.turn() == ["tool_1", "tool_2"]


async def test_a_lower_cap_keeps_what_was_used_last(thread_id):
    chat = Chat(searcher(), thread_id=thread_id)
    await chat.turn()
    await chat.load("tool_1", "tool_2", "tool_3")
    await chat.call("tool_1")
    assert await again(chat, max_loaded=2) == ["tool_1", "tool_3"]


async def test_without_a_cap_everything_is_read_back(thread_id):
    chat = Chat(searcher(max_loaded=None), thread_id=thread_id)
    await chat.turn()
    await chat.load("tool_1", "tool_2", "tool_3")
    assert await again(chat, max_loaded=None) == ["tool_1", "tool_2", "tool_3"]


# -- for programs


@pytest.mark.parametrize(
    "ask",
    [
        lambda processor: processor.load("tool_1", thread_id="t"),
        lambda processor: processor.unload("tool_1", thread_id="t"),
        lambda processor: processor.loaded("t"),
        lambda processor: processor.clear("t"),
        lambda processor: processor.clear(),
    ],
    ids=["load", "unload", "loaded", "clear", "clear-all"],
)
async def test_nothing_can_be_changed_from_outside(ask):
    with pytest.raises(
        StoreError,
        match=r"^a HistoryStore keeps nothing outside a run: what is loaded stands in the conversation's own "
        r"messages\. Let the model call the meta-tools and pass its messages on, or give the processor a "
        r"MemoryStore or a RedisStore$",
    ):
        await ask(searcher())


async def test_a_store_that_cannot_claim_lets_every_call_run():
    processor, at = searcher(), await Run(searcher()).step()
    assert await processor.claim_call(at, "c1")
    await processor.release_call(at, "c1")
    assert await processor.claim_call(at, "c1")


@pytest.mark.parametrize("mode", ["load", "auto_load"])
async def test_a_receipt_names_what_made_room_only_where_it_may_be_used(mode, thread_id):
    policy = Policy()
    options = {"mode": mode, "max_loaded": 2, "filter": policy, "top_k": 2}
    chat = Chat(searcher(**options), thread_id=thread_id)
    await chat.turn()

    async def load(*wanted):
        if mode == "load":
            return await chat.load(*wanted)
        policy.deny("tool_0", "search", "load")
        policy.deny("tool_1", "search", "load")
        return await chat.call("search_tools", query="x")

    await chat.load("tool_0", "tool_1") if mode == "load" else await chat.call("search_tools", query="x")
    await chat.turn()
    policy.deny("tool_0", "active")
    answer = await load("tool_2", "tool_3")
    assert answer["receipt"] == receipt(["tool_2", "tool_3"], evicted=["tool_1"])
    assert "tool_0" not in json.dumps(answer)
    policy.denied.clear()
    assert await again(chat, **options) == ["tool_2", "tool_3"], "what is not named leaves as the oldest"


async def test_a_conversation_is_read_once_a_step(thread_id):
    class Counting(HistoryStore):
        read = 0

        def replay(self, scope):
            self.read += 1
            return super().replay(scope)

    store = Counting()
    chat = Chat(searcher(), thread_id=thread_id)
    await chat.turn()
    await chat.load("tool_1", "tool_2")
    await chat.restart(ToolSearchProcessor(TOOLS, store=store))
    assert (await chat.turn(), store.read) == (["tool_1", "tool_2"], 1)
    assert (await chat.step(), store.read) == (["tool_1", "tool_2"], 2)
