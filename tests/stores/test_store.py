"""Stores that others wrote: on the base, or with the methods of the protocol and no base."""

import pytest

from tests.support import make, step
from tool_search_processor import StoreError, ToolSearchProcessor
from tool_search_processor.stores import AddResult, HistoryStore, LoadScope, MemoryStore, Store
from tool_search_processor.stores.protocol import Replay
from tool_search_processor.stores.store import adapt_store

SCOPE = LoadScope("search", "t")
CATALOG = [make("send_mail", "Send a mail."), make("get_weather", "Tell the weather.")]


class Smallest(Store):
    """The five methods that the base leaves open."""

    def __init__(self):
        self.names = []

    async def loaded(self, scope):
        return tuple(self.names)

    async def add(self, scope, names, *, max_loaded=None, keep=frozenset()):
        added = tuple(name for name in names if name not in self.names)
        self.names += added
        return AddResult(added=added)

    async def touch(self, scope, names=()):
        pass

    async def remove(self, scope, names):
        return tuple(name for name in names if name in self.names)

    async def clear(self, scope):
        self.names = []


def own(*extra, base=MemoryStore):
    """An object with a store's methods and no base class."""
    inner = base()
    methods = ("loaded", "add", "touch", "remove", "clear", "stats", "aclose", *extra)
    return type("Own", (), {name: staticmethod(getattr(inner, name)) for name in methods})()


async def test_the_base_answers_all_that_a_store_leaves_open():
    store = Smallest()
    assert adapt_store(store) is store
    assert await store.add(SCOPE, ["a"]) == AddResult(added=("a",))
    assert await store.renew(SCOPE) == ("a",)
    assert store.replay(SCOPE) == Replay()
    assert [await store.claim(SCOPE, "1"), await store.claim(SCOPE, "1")] == [True, True]
    await store.release(SCOPE, "1")
    assert await store.stats() == {"threads": None, "loaded": None, "oldest_access": None}
    await store.aclose()


@pytest.mark.parametrize("make", [Smallest, own])
async def test_a_processor_works_on_a_store_of_the_users(make):
    search = ToolSearchProcessor(CATALOG, store=make())
    await search.load("send_mail", thread_id="t")
    listed = await search.process_input_step(step(thread="t"))
    assert "send_mail" in [tool.name for tool in listed.tools]
    assert await search.loaded("t") == ["send_mail"]
    assert (await search.stats())["tools"] == len(CATALOG)
    await search.clear("t")
    assert await search.loaded("t") == []
    await search.aclose()


async def test_what_an_object_offers_beyond_the_protocol_is_used():
    class Offers(MemoryStore):
        async def renew(self, scope):
            return ("renewed",)

        async def claim(self, scope, call_id):
            return call_id == "first"

    store = adapt_store(own("renew", "claim", "release", base=Offers))
    assert await store.renew(SCOPE) == ("renewed",)
    assert [await store.claim(SCOPE, "first"), await store.claim(SCOPE, "second")] == [True, False]
    await store.release(SCOPE, "first")
    # a claim that can't be given back would keep a call from ever being run
    assert await adapt_store(own("claim", base=Offers)).claim(SCOPE, "second")


async def test_an_object_that_replays_reads_the_conversation():
    assert not adapt_store(own()).reads_conversation
    store = own("replay", base=HistoryStore)
    search = ToolSearchProcessor(CATALOG, store=store)
    with pytest.raises(StoreError, match="a Own keeps nothing outside a run"):
        await search.load("send_mail", thread_id="t")
    assert adapt_store(store).replay(SCOPE) == Replay()
