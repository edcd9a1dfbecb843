"""What leaves the loaded tools: never in the middle of its use, and the model is told."""

import pytest

from tests.stores.chats import Chat
from tests.support import Run, ScoredIndex, make
from tool_search_processor import MemoryStore, ToolSearchProcessor
from tool_search_processor.stores import AddResult, HistoryStore
from tool_search_processor.testing import ManualClock

TOOLS = [make(f"tool_{n}") for n in range(4)]
INDEX = ScoredIndex({tool.name: 0.9 - n / 100 for n, tool in enumerate(TOOLS)})
BEFORE = "Loaded before; load again before you call it: "
STORES = [MemoryStore, HistoryStore]


async def told(chat):
    return (await chat.call("search_tools", query="x"))["message"]


async def loaded_then_full(store, **options):
    """Return a conversation whose first tool made room for another one in its second turn."""
    chat = Chat(ToolSearchProcessor(TOOLS, store=store(), search=INDEX, max_loaded=1, **options))
    await chat.turn()
    await chat.load("tool_1")
    await chat.turn()
    return chat, await chat.load("tool_2")


@pytest.mark.parametrize("store", STORES)
async def test_the_load_says_what_made_room(store):
    _, answer = await loaded_then_full(store)
    assert answer["message"] == (
        "Loaded tool_2: callable from your next step. No longer loaded, to make room: tool_1."
    )


@pytest.mark.parametrize("store", STORES)
async def test_an_evicted_tool_is_found_as_one_that_was_loaded_before(store):
    chat, _ = await loaded_then_full(store)
    assert (await told(chat)).endswith(f"{BEFORE}tool_1.")
    await chat.turn()
    assert (await told(chat)).endswith(f"{BEFORE}tool_1."), "also in a later run"
    assert (await chat.load("tool_1"))["loaded"] == ["tool_1"]
    assert (await told(chat)).endswith(f"{BEFORE}tool_2.")


async def test_a_tool_that_was_never_loaded_is_not_said_to_have_been():
    chat = Chat(ToolSearchProcessor(TOOLS, search=INDEX))
    await chat.turn()
    assert BEFORE not in await told(chat)
    await chat.load("tool_1")
    assert BEFORE not in await told(chat), "it still is"


@pytest.mark.parametrize("mode", ["auto_load", "call"])
async def test_other_modes_have_no_load_to_speak_of(mode):
    chat = Chat(ToolSearchProcessor(TOOLS, search=INDEX, mode=mode, max_loaded=1))
    for _ in range(2):
        await chat.turn()
        assert BEFORE not in await told(chat)


async def test_tools_expire_between_user_turns_and_not_within_one():
    clock = ManualClock()
    chat = Chat(ToolSearchProcessor(TOOLS, search=INDEX, ttl_seconds=60, clock=clock))
    await chat.turn()
    await chat.load("tool_1")
    clock.advance(61)
    assert await chat.step() == ["tool_1"]
    assert await chat.call("tool_1") == {"ran": "tool_1"}
    assert await chat.turn() == ["tool_1"], "what a run has used counts as used when it ends"
    clock.advance(61)
    assert await chat.step() == ["tool_1"]
    assert await chat.turn() == [], "and this one has only seen it"
    assert (await told(chat)).endswith(f"{BEFORE}tool_1.")


async def test_a_reused_thread_id_inherits_nothing_after_clear():
    processor = ToolSearchProcessor(TOOLS, search=INDEX)
    first = Chat(processor)
    await first.turn()
    await first.load("tool_1")
    await first.end()
    await processor.clear("t")
    assert await Chat(processor).turn() == []


# -- a store out of reach


class DownStore(MemoryStore):
    """Answers as RedisStore does while its server is down."""

    async def loaded(self, scope):
        return ()

    async def add(self, scope, names, *, max_loaded=None, keep=frozenset()):
        return AddResult(unavailable=True)


async def test_the_model_hears_that_loading_does_not_work():
    chat = Chat(ToolSearchProcessor(TOOLS, store=DownStore(), search=INDEX, max_loaded=None))
    await chat.turn()
    answer = await chat.load("tool_1", "tool_2")
    assert (answer["loaded"], answer["already_loaded"]) == ([], [])
    assert answer["message"] == (
        "Loading does not work right now, so these were not loaded: tool_1, tool_2. Try again later in "
        "this conversation."
    )
    assert await chat.step() == []
    assert await chat.call("tool_1") == {"ran": "tool_1"}, "a direct call needs no loading"


async def test_an_auto_load_says_so_too():
    chat = Chat(ToolSearchProcessor(TOOLS, store=DownStore(), search=INDEX, mode="auto_load"))
    await chat.turn()
    assert await told(chat) == "Found 4 tools, none of which can be loaded right now."


async def test_an_unloaded_tool_is_found_as_one_that_was_loaded_before():
    run = Run(ToolSearchProcessor([make("send_mail"), make("stock_quote")], allow_unload=True))
    await run.load("send_mail")
    assert "Loaded before" not in (await run.search("send mail"))["message"]
    await run.call("unload_tool", tool_names=["send_mail"])
    found = await run.search("send mail stock")
    assert found["message"].endswith("load again before you call it: send_mail.")
    await run.load("send_mail")
    assert "Loaded before" not in (await run.search("mail"))["message"]
