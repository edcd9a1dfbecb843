"""The store in memory: its bounds, and what it refuses at construction."""

import inspect
import time

import pytest

from tests.support import counts
from tool_search_processor import stores
from tool_search_processor.errors import ConfigurationError
from tool_search_processor.stores import LoadScope, MemoryStore
from tool_search_processor.testing import ManualClock


def scope(thread_id, processor_id="tool-search"):
    return LoadScope(processor_id=processor_id, thread_id=thread_id)


async def threads(store, *ids):
    return [thread_id for thread_id in ids if await store.loaded(scope(thread_id))]


@pytest.fixture(params=[60.0, None], ids=["ttl", "for-ever"])
def store(request):
    return MemoryStore(request.param, max_threads=2, clock=ManualClock())


@pytest.mark.parametrize("ttl_seconds", [0, -1, 0.0, float("nan"), "60"])
def test_a_time_to_live_that_is_not_positive_is_refused(ttl_seconds):
    with pytest.raises(ConfigurationError, match=r"ttl_seconds must be a number above 0 or None, found"):
        MemoryStore(ttl_seconds)


@pytest.mark.parametrize("max_threads", [0, -1, None, "9"])
def test_a_store_for_no_thread_is_refused(max_threads):
    with pytest.raises(
        ConfigurationError, match=f"max_threads must be a whole number of at least 1, found {max_threads!r}"
    ):
        MemoryStore(max_threads=max_threads)


def test_a_clock_is_a_function():
    with pytest.raises(ConfigurationError, match=r"clock must be a function \(\) -> seconds, found 12"):
        MemoryStore(clock=12)


async def test_the_least_recently_used_thread_goes_first(store):
    for thread_id in ("a", "b", "c"):
        await store.add(scope(thread_id), ["x"])
    assert await counts(store) == {"threads": 2, "loaded": 2}
    assert await threads(store, "a", "b", "c") == ["b", "c"]


@pytest.mark.parametrize(
    "use",
    [
        lambda store: store.touch(scope("a")),
        lambda store: store.add(scope("a"), ["y"]),
        lambda store: store.loaded(scope("a")),
    ],
    ids=["touch", "add", "loaded"],
)
async def test_use_keeps_a_thread(store, use):
    await store.add(scope("a"), ["x"])
    await store.add(scope("b"), ["x"])
    await use(store)
    await store.add(scope("c"), ["x"])
    assert await threads(store, "a", "b", "c") == ["a", "c"]


async def test_counting_is_no_use(store):
    await store.add(scope("a"), ["x"])
    await store.add(scope("b"), ["x"])
    await store.touch(scope("a"))
    await store.loaded(scope("a"))
    await store.stats()
    await store.add(scope("c"), ["x"])
    assert await threads(store, "a", "b", "c") == ["a", "c"]


async def test_processors_share_the_bound(store):
    await store.add(scope("a"), ["x"])
    await store.add(scope("a", "other"), ["x"])
    await store.add(scope("b"), ["x"])
    assert await threads(store, "a", "b") == ["b"]


def test_the_defaults_are_an_hour_and_ten_thousand_threads():
    options = inspect.signature(MemoryStore).parameters
    assert [options[name].default for name in ("ttl_seconds", "max_threads", "clock")] == [
        3600,
        10_000,
        time.time,
    ]


def test_the_package_names_its_stores_and_no_others():
    assert stores.RedisStore is not stores.HistoryStore
    with pytest.raises(AttributeError, match="has no attribute 'PostgresStore'"):
        _ = stores.PostgresStore
