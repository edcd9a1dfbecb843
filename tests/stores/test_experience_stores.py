"""Every store of experience: what is kept, and that a change is one atomic step."""

import asyncio
import gc
import multiprocessing
import os
import sqlite3
import threading
from functools import partial

import pytest

from tool_search_processor.errors import ConfigurationError
from tool_search_processor.stores.experience import (
    ExperienceStore,
    MemoryExperienceStore,
    RedisExperienceStore,
    SQLiteExperienceStore,
)


@pytest.fixture
def store(experience_store):
    return experience_store


async def test_it_keeps_a_text_for_each_tool_of_each_scope(store):
    assert isinstance(store, ExperienceStore)
    assert await store.read("a") == {}
    assert await store.swap("a", "one", None, "x\u00e9 '\"")
    assert await store.swap("a", "two", None, "y")
    assert await store.swap("b", "one", None, "z")
    assert await store.read("a") == {"one": "x\u00e9 '\"", "two": "y"}
    assert await store.read("b") == {"one": "z"}
    assert sorted(await store.scopes()) == ["a", "b"]


async def test_a_change_happens_only_to_what_was_seen(store):
    assert not await store.swap("a", "one", "old", "new")
    assert await store.swap("a", "one", None, "old")
    assert not await store.swap("a", "one", None, "new")
    assert not await store.swap("a", "one", "other", None)
    assert await store.swap("a", "one", "old", "new")
    assert await store.read("a") == {"one": "new"}
    assert await store.swap("a", "one", "new", None)
    assert await store.read("a") == {}


async def test_each_change_of_a_scope_moves_its_version_and_no_other(store):
    await store.swap("b", "one", None, "x")
    seen = [await store.version("a")]
    for old, new in ((None, "1"), ("1", "2"), ("2", None)):
        other = await store.version("b")
        await store.swap("a", "one", old, new)
        seen.append(await store.version("a"))
        assert await store.version("b") == other
    assert await store.scopes() in (["b"], ("b",), ["a", "b"], ["b", "a"])
    assert len({str(version) for version in seen}) == 4


async def test_of_many_that_change_one_tool_at_once_each_is_told(store):
    await store.swap("a", "one", None, "0")
    answers = await asyncio.gather(*(store.swap("a", "one", "0", str(n)) for n in range(1, 9)))
    assert answers.count(True) == 1


async def test_it_can_be_used_after_it_was_closed(store):
    await store.swap("a", "one", None, "x")
    await store.aclose()
    assert await store.read("a") == {"one": "x"}


@pytest.mark.parametrize("fixed", ["the file", "its folder"])
async def test_a_file_that_can_not_be_written_is_read(tmp_path, monkeypatch, caplog, fixed):
    path = tmp_path / "learned # 1.db"
    writable = SQLiteExperienceStore(path)
    await writable.swap("a", "one", None, "x")
    await writable.aclose()
    locked = path if fixed == "the file" else tmp_path
    access = os.access
    monkeypatch.setattr(os, "access", lambda given, mode: given != locked and access(given, mode))
    store = SQLiteExperienceStore(path)
    assert await store.read("a") == {"one": "x"}
    assert store.read_only
    assert "can't be written" in caplog.text
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        await store.swap("a", "one", "x", "y")
    await store.aclose()
    assert [file.name for file in tmp_path.iterdir() if fixed == "its folder"] in ([], [path.name])


def count_up(path, times):
    async def work():
        store = SQLiteExperienceStore(path, timeout_seconds=10)
        for _ in range(times):
            while True:
                old = (await store.read("a")).get("n")
                if await store.swap("a", "n", old, str(int(old or 0) + 1)):
                    break
        await store.aclose()

    asyncio.run(work())


async def test_processes_share_a_file(tmp_path):
    path = tmp_path / "learned.db"
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=count_up, args=(path, 20)) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    store = SQLiteExperienceStore(path)
    assert await store.read("a") == {"n": "40"}
    await store.aclose()


async def test_a_memory_store_keeps_the_scopes_used_last():
    store = MemoryExperienceStore(max_scopes=2)
    for scope in "abc":
        await store.swap(scope, "one", None, "x")
    assert sorted(await store.scopes()) == ["b", "c"]


@pytest.mark.parametrize(
    "make",
    [
        lambda: MemoryExperienceStore(max_scopes=0),
        lambda: SQLiteExperienceStore("x.db", timeout_seconds=0),
        lambda: RedisExperienceStore("http://localhost"),
        lambda: RedisExperienceStore("redis://localhost", prefix=" "),
    ],
)
def test_options_that_cannot_work_are_refused(make):
    with pytest.raises(ConfigurationError):
        make()


@pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")
async def test_a_file_that_nobody_closes_is_closed_with_its_store(tmp_path, monkeypatch):
    """It only watches the connection: a statement that runs while another thread closes it may crash."""
    closed = threading.Event()

    class Watched(sqlite3.Connection):
        def close(self):
            super().close()
            closed.set()

    monkeypatch.setattr(sqlite3, "connect", partial(sqlite3.connect, factory=Watched))
    store = SQLiteExperienceStore(tmp_path / "learned.db")
    await store.scopes()
    del store
    gc.collect()
    assert await asyncio.to_thread(closed.wait, 10)  # the thread that asked last may be the last to hold it
