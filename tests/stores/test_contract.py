"""What every store of loaded tools promises: one suite, run over each implementation.

To add a store, give it a place in `STORES`: what makes it, `(clock, ttl_seconds, max_threads)`, and a
clock that moves its time on, both from the fixtures of a test.
"""

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from unicodedata import normalize

import pytest

from tests.stores.servers import NEEDED, ServerClock
from tests.support import counts
from tool_search_processor.errors import ConfigurationError
from tool_search_processor.stores import AddResult, LoadedToolStore, LoadScope, MemoryStore, RedisStore
from tool_search_processor.testing import ManualClock

TTL = 60.0


def memory(_):
    def make(clock, *, ttl_seconds=TTL):
        return MemoryStore(ttl_seconds, clock=clock)

    return make, ManualClock(1_000_000.0)


def redis(request):
    server = request.getfixturevalue("redis_server")

    def make(_, *, ttl_seconds=TTL):
        return RedisStore(server.url, ttl_seconds=ttl_seconds, on_error="raise", timeout_seconds=30)

    return make, ServerClock(server)


STORES = {"memory": memory, "redis": pytest.param(redis, marks=NEEDED)}


@pytest.fixture(params=STORES.values(), ids=STORES.keys())
def kind(request):
    return request.param(request)


@pytest.fixture
def make_store(kind):
    return kind[0]


@pytest.fixture
def clock(kind):
    return kind[1]


@pytest.fixture
async def store(make_store, clock):
    store = make_store(clock)
    yield store
    await store.aclose()


def scope(thread_id="t-1", processor_id="tool-search"):
    return LoadScope(processor_id=processor_id, thread_id=thread_id)


SCOPE = scope()
EVERY_THREAD = scope(None)


async def loaded(store, of=SCOPE):
    return list(await store.loaded(of))


# -- adding and removing


def test_it_is_a_store(make_store, clock):
    assert isinstance(make_store(clock), LoadedToolStore)


async def test_an_unknown_thread_has_nothing_loaded(store):
    assert await loaded(store) == []


async def test_names_are_kept_in_load_order(store):
    assert await store.add(SCOPE, ["c", "a"]) == AddResult(added=("c", "a"))
    assert await store.add(SCOPE, ["b"]) == AddResult(added=("b",))
    assert await loaded(store) == ["c", "a", "b"]


async def test_adding_again_changes_nothing(store):
    await store.add(SCOPE, ["a", "b"])
    assert await store.add(SCOPE, ["b", "c", "a"]) == AddResult(added=("c",))
    assert await store.add(SCOPE, ["a", "b", "c"]) == AddResult()
    assert await loaded(store) == ["a", "b", "c"]


async def test_a_name_given_twice_is_added_once(store):
    assert await store.add(SCOPE, ["a", "b", "a"]) == AddResult(added=("a", "b"))
    assert await loaded(store) == ["a", "b"]


async def test_adding_nothing_adds_nothing(store):
    assert await store.add(SCOPE, []) == AddResult()
    assert await loaded(store) == []
    assert await counts(store) == {"threads": 0, "loaded": 0}


async def test_removing_tells_what_was_there(store):
    await store.add(SCOPE, ["a", "b", "c"])
    assert list(await store.remove(SCOPE, ["c", "x", "a", "a"])) == ["c", "a"]
    assert list(await store.remove(SCOPE, ["a"])) == []
    assert await loaded(store) == ["b"]


async def test_removing_from_an_unknown_thread_changes_nothing(store):
    assert list(await store.remove(SCOPE, ["a"])) == []
    assert await counts(store) == {"threads": 0, "loaded": 0}


async def test_what_was_removed_and_comes_back_stands_last(store):
    await store.add(SCOPE, ["a", "b"])
    await store.remove(SCOPE, ["a"])
    assert (await store.add(SCOPE, ["a"])).added == ("a",)
    assert await loaded(store) == ["b", "a"]


async def test_what_loaded_returned_does_not_change_afterwards(store):
    await store.add(SCOPE, ["a"])
    before = await store.loaded(SCOPE)
    await store.add(SCOPE, ["b"])
    assert list(before) == ["a"]


ODD_NAMES = [
    "",
    " ",
    "#",
    "+",
    "+a",
    "a",
    "a b",
    "\x00",
    "{a}",
    "\u65e5\u672c\u8a9e",
    "e\u0301",
    "\u00e9",
    "\ud800",
]


async def test_odd_names_are_told_apart(store):
    assert (await store.add(SCOPE, ODD_NAMES)).added == tuple(ODD_NAMES)
    await store.touch(SCOPE, ODD_NAMES)
    assert await loaded(store) == ODD_NAMES
    result = await store.add(SCOPE, ["b"], max_loaded=len(ODD_NAMES), keep=ODD_NAMES[1:])
    assert result == AddResult(added=("b",), evicted=("",))
    assert list(await store.remove(SCOPE, ODD_NAMES)) == ODD_NAMES[1:]
    assert await loaded(store) == ["b"]


async def test_ten_thousand_names(store):
    many = [f"tool_{i}" for i in range(10_000)]
    assert (await store.add(SCOPE, many)).added == tuple(many)
    await store.touch(SCOPE, many)
    assert await loaded(store) == many
    assert len(await store.remove(SCOPE, many[::2])) == 5000
    assert await loaded(store) == many[1::2]


# -- whose names


@pytest.mark.parametrize(
    "other", [scope("t-2"), scope(processor_id="other"), scope("t-2", "other")], ids=["thread", "id", "both"]
)
async def test_threads_and_processors_do_not_mix(store, other):
    await store.add(SCOPE, ["a", "b"])
    await store.add(other, ["b", "c"])
    assert await loaded(store) == ["a", "b"]
    assert await loaded(store, other) == ["b", "c"]
    await store.remove(other, ["b"])
    assert await loaded(store) == ["a", "b"]
    await store.clear(SCOPE)
    assert await loaded(store, other) == ["c"]


ODD = [
    "t",
    "t ",
    "t:1",
    "t:1:2",
    ":",
    "{t}",
    "{t}1",
    "}{",
    "t\n1",
    "t/1",
    "*",
    "?",
    "[a-z]",
    "%s",
    "\\",
    '"',
    "T",
    "e\u0301",
    "\u00e9",
    "\U0001f9f0",
    "\u65e5\u672c\u8a9e",
    "x" * 10_000,
    "x" * 9_999,
    "t\x00",
]


async def test_odd_thread_ids_are_told_apart(store):
    assert normalize("NFC", ODD[17]) == ODD[18]
    for place, thread_id in enumerate(ODD):
        await store.add(scope(thread_id), [f"tool_{place}"])
    for place, thread_id in enumerate(ODD):
        assert await loaded(store, scope(thread_id)) == [f"tool_{place}"], thread_id[:20]
    await store.clear(scope("*"))
    assert (await store.stats())["threads"] == len(ODD) - 1


async def test_a_separator_in_an_id_does_not_shift_the_boundary(store):
    await store.add(scope("b:c", "a"), ["one"])
    await store.add(scope("c", "a:b"), ["two"])
    await store.add(scope("c}", "{a:b"), ["three"])
    assert await loaded(store, scope("b:c", "a")) == ["one"]
    assert await loaded(store, scope("c", "a:b")) == ["two"]
    assert await loaded(store, scope("c}", "{a:b")) == ["three"]


async def test_clearing_one_thread(store):
    await store.add(SCOPE, ["a"])
    await store.add(scope("t-2"), ["b"])
    await store.clear(SCOPE)
    await store.clear(scope("never seen"))
    assert await loaded(store) == []
    assert await loaded(store, scope("t-2")) == ["b"]


async def test_clearing_all_threads_of_one_processor(store):
    for thread_id in ("t-1", "t-2", "t-3"):
        await store.add(scope(thread_id), ["a"])
        await store.add(scope(thread_id, "tool-search-2"), ["b"])
    await store.clear(EVERY_THREAD)
    for thread_id in ("t-1", "t-2", "t-3"):
        assert await loaded(store, scope(thread_id)) == []
        assert await loaded(store, scope(thread_id, "tool-search-2")) == ["b"]
    assert await counts(store) == {"threads": 3, "loaded": 3}


async def test_stats_count_what_is_there(store):
    assert await counts(store) == {"threads": 0, "loaded": 0}
    await store.add(SCOPE, ["a", "b"])
    await store.add(scope("t-2"), ["a"])
    await store.add(scope(processor_id="other"), ["c"])
    assert await counts(store) == {"threads": 3, "loaded": 4}
    await store.remove(SCOPE, ["a"])
    assert await counts(store) == {"threads": 3, "loaded": 3}
    await store.remove(SCOPE, ["b"])
    assert await counts(store) == {"threads": 2, "loaded": 2}


async def test_stats_tell_which_access_is_the_oldest(store, clock):
    assert (await store.stats())["oldest_access"] is None

    async def age():
        now = clock() if isinstance(store, MemoryStore) else time.time()
        return pytest.approx(now - (await store.stats())["oldest_access"], abs=2)

    await store.add(SCOPE, ["a"])
    clock.advance(20)
    await store.add(scope("t-2"), ["a"])
    clock.advance(10)
    await store.loaded(SCOPE)
    assert await age() == 30
    await store.touch(SCOPE)
    assert await age() == 10
    await store.clear(EVERY_THREAD)
    assert (await store.stats())["oldest_access"] is None


# -- time to live


async def test_an_idle_thread_expires_whenever_it_is_asked_for(store, clock):
    await store.add(SCOPE, ["a"])
    clock.advance(TTL - 1)
    assert await loaded(store) == ["a"]
    clock.advance(1)
    assert await loaded(store) == []
    assert await counts(store) == {"threads": 0, "loaded": 0}


async def test_reading_does_not_renew(store, clock):
    await store.add(SCOPE, ["a"])
    clock.advance(TTL - 1)
    await store.loaded(SCOPE)
    await store.stats()
    clock.advance(1)
    assert await loaded(store) == []


@pytest.mark.parametrize(
    "renew",
    [
        lambda store: store.touch(SCOPE),
        lambda store: store.touch(SCOPE, ["a"]),
        lambda store: store.touch(SCOPE, ["unknown"]),
        lambda store: store.add(SCOPE, ["b"]),
        lambda store: store.add(SCOPE, ["a"]),
    ],
    ids=["step", "call", "unknown-call", "load", "load-again"],
)
async def test_steps_and_loads_renew_the_whole_thread(store, clock, renew):
    await store.add(SCOPE, ["a"])
    for _ in range(3):
        clock.advance(TTL - 1)
        await renew(store)
    clock.advance(TTL - 1)
    assert "a" in await loaded(store)
    clock.advance(1)
    assert await loaded(store) == []


async def test_threads_expire_each_for_itself(store, clock):
    await store.add(SCOPE, ["a"])
    clock.advance(TTL / 2)
    await store.add(scope("t-2"), ["b"])
    await store.add(scope(processor_id="other"), ["c"])
    clock.advance(TTL / 2)
    assert await loaded(store) == []
    assert await loaded(store, scope("t-2")) == ["b"]
    assert await loaded(store, scope(processor_id="other")) == ["c"]


@pytest.mark.parametrize(
    "act",
    [
        lambda store: store.touch(SCOPE, ["a"]),
        lambda store: store.remove(SCOPE, ["a"]),
        lambda store: store.clear(SCOPE),
        lambda store: store.clear(EVERY_THREAD),
    ],
    ids=["touch", "remove", "clear", "clear-all"],
)
async def test_what_expired_is_not_brought_back(store, clock, act):
    await store.add(SCOPE, ["a"])
    clock.advance(TTL)
    assert not await act(store)
    assert await loaded(store) == []
    assert await counts(store) == {"threads": 0, "loaded": 0}


async def test_an_expired_thread_begins_anew(store, clock):
    await store.add(SCOPE, ["a"])
    clock.advance(TTL)
    assert await store.add(SCOPE, ["b"], max_loaded=1) == AddResult(added=("b",))
    assert await loaded(store) == ["b"]


async def test_without_a_time_to_live_nothing_expires(make_store, clock):
    store = make_store(clock, ttl_seconds=None)
    await store.add(SCOPE, ["a"])
    clock.advance(1e9)
    assert await loaded(store) == ["a"]
    await store.touch(SCOPE, ["a"])
    assert await counts(store) == {"threads": 1, "loaded": 1}


# -- the cap


async def test_the_least_recently_loaded_makes_room(store):
    await store.add(SCOPE, ["a", "b", "c"], max_loaded=3)
    assert await store.add(SCOPE, ["d", "e"], max_loaded=3) == AddResult(added=("d", "e"), evicted=("a", "b"))
    assert await loaded(store) == ["c", "d", "e"]


async def test_a_call_saves_a_name_from_making_room(store):
    await store.add(SCOPE, ["a", "b", "c"])
    await store.touch(SCOPE, ["a"])
    assert (await store.add(SCOPE, ["d"], max_loaded=3)).evicted == ("b",)
    await store.touch(SCOPE, ["c"])
    assert (await store.add(SCOPE, ["e"], max_loaded=3)).evicted == ("a",)
    assert await loaded(store) == ["c", "d", "e"]


async def test_loading_again_counts_as_use(store):
    await store.add(SCOPE, ["a", "b"])
    await store.add(SCOPE, ["a"])
    assert (await store.add(SCOPE, ["c"], max_loaded=2)).evicted == ("b",)
    assert await loaded(store) == ["a", "c"]


async def test_loading_again_counts_as_use_beside_a_refused_name_too(store):
    await store.add(SCOPE, ["a", "b"])
    assert await store.add(SCOPE, ["c", "a"], max_loaded=2, keep=frozenset({"a", "b"})) == AddResult()
    assert (await store.add(SCOPE, ["d"], max_loaded=2)).evicted == ("b",)


async def test_a_step_alone_changes_nothing_about_who_makes_room(store):
    await store.add(SCOPE, ["a", "b"])
    await store.touch(SCOPE)
    await store.loaded(SCOPE)
    assert (await store.add(SCOPE, ["c"], max_loaded=2)).evicted == ("a",)


async def test_kept_names_never_make_room(store):
    await store.add(SCOPE, ["a", "b", "c"])
    result = await store.add(SCOPE, ["d"], max_loaded=3, keep=frozenset({"a", "b"}))
    assert result == AddResult(added=("d",), evicted=("c",))


async def test_when_only_kept_names_are_left_the_rest_is_refused(store):
    await store.add(SCOPE, ["a", "b", "c"])
    result = await store.add(SCOPE, ["d", "e"], max_loaded=3, keep=frozenset({"b", "c"}))
    assert result == AddResult(added=("d",), evicted=("a",))
    assert await loaded(store) == ["b", "c", "d"]
    everything = frozenset({"b", "c", "d"})
    assert await store.add(SCOPE, ["e"], max_loaded=3, keep=everything) == AddResult()
    assert await loaded(store) == ["b", "c", "d"]


async def test_what_is_there_already_needs_no_room(store):
    await store.add(SCOPE, ["a", "b"])
    assert await store.add(SCOPE, ["b", "a"], max_loaded=2) == AddResult()
    assert await loaded(store) == ["a", "b"]


async def test_names_of_one_add_do_not_push_each_other_out(store):
    await store.add(SCOPE, ["old"])
    result = await store.add(SCOPE, ["a", "b", "c", "d"], max_loaded=3)
    assert result == AddResult(added=("a", "b", "c"), evicted=("old",))
    assert await loaded(store) == ["a", "b", "c"]


async def test_a_name_asked_for_again_is_not_pushed_out_by_its_neighbour(store):
    await store.add(SCOPE, ["a", "b"])
    result = await store.add(SCOPE, ["c", "a"], max_loaded=2)
    assert result == AddResult(added=("c",), evicted=("b",))
    assert await loaded(store) == ["a", "c"]


async def test_the_cap_counts_each_thread_for_itself(store):
    await store.add(SCOPE, ["a", "b"], max_loaded=2)
    assert await store.add(scope("t-2"), ["c", "d"], max_loaded=2) == AddResult(added=("c", "d"))


async def test_ten_thousand_names_under_a_cap(store):
    many = [f"tool_{i}" for i in range(10_000)]
    assert await store.add(SCOPE, many, max_loaded=100) == AddResult(added=tuple(many[:100]))
    result = await store.add(SCOPE, many[5000:], max_loaded=100)
    assert result == AddResult(added=tuple(many[5000:5100]), evicted=tuple(many[:100]))


async def test_an_evicted_name_may_come_back(store):
    await store.add(SCOPE, ["a"], max_loaded=1)
    await store.add(SCOPE, ["b"], max_loaded=1)
    assert await store.add(SCOPE, ["a"], max_loaded=1) == AddResult(added=("a",), evicted=("b",))


# -- many at once


async def test_adds_of_one_thread_from_many_tasks_lose_nothing(store):
    names = [f"tool_{i}" for i in range(200)]
    results = await asyncio.gather(*(store.add(SCOPE, [name]) for name in names))
    assert [result.added for result in results] == [(name,) for name in names]
    assert sorted(await loaded(store)) == sorted(names)


def test_adds_from_many_threads_are_atomic(make_store, clock):
    store = make_store(clock)

    def work(worker):
        async def run():
            added, evicted = [], []
            for i in range(50):
                result = await store.add(SCOPE, [f"tool_{worker}_{i}", "shared"], max_loaded=20)
                await store.touch(SCOPE, ["shared"])
                added += result.added
                evicted += result.evicted
                assert len(await store.loaded(SCOPE)) <= 20
                await store.stats()
            return added, evicted

        return asyncio.run(run())

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(work, range(8)))
    added = [name for names, _ in results for name in names]
    evicted = [name for _, names in results for name in names]
    left = asyncio.run(loaded(store))
    assert len(left) == 20
    assert sorted([*evicted, *left]) == sorted(added)


async def test_an_add_that_is_cancelled_is_whole_or_not_there(store):
    added = 0
    for turns in range(12):
        task = asyncio.create_task(store.add(scope(f"t-{turns}"), ["a", "b", "c"]))
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        left = await loaded(store, scope(f"t-{turns}"))
        assert left in ([], ["a", "b", "c"])
        added += bool(left)
        await store.add(scope(f"u-{turns}"), ["x"])
        assert await loaded(store, scope(f"u-{turns}")) == ["x"], "no answer is taken for another"
    assert added


@pytest.mark.parametrize(
    "ask",
    [
        lambda store: store.loaded(scope(None)),
        lambda store: store.renew(scope(None)),
        lambda store: store.add(scope(None), ["a"]),
        lambda store: store.touch(scope(None)),
        lambda store: store.remove(scope(None), ["a"]),
    ],
    ids=["loaded", "renew", "add", "touch", "remove"],
)
async def test_anonymous_callers_share_nothing(store, ask):
    with pytest.raises(ConfigurationError, match="names no thread"):
        await ask(store)


async def test_closing_twice_does_no_harm(make_store, clock):
    store = make_store(clock)
    await store.aclose()
    await store.aclose()


def test_a_scope_is_a_key_by_processor_and_thread():
    """As a store of somebody else's will use it: each step's scope has another run and conversation."""
    step = LoadScope(
        "p", "t", "run-2", [{"role": "user", "content": "x"}], frozenset({"load_tool"}), "unload"
    )
    kept = {LoadScope("p", "t", "run-1"): ["a"]}
    assert kept[step] == ["a"]
    assert LoadScope("p", "u") not in kept
    assert LoadScope("q", "t") not in kept
