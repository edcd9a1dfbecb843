"""Experience in every store when things go wrong: odd scopes, broken files, full disks, killed writers."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
import uuid
from unittest import mock

import pytest

from tests.catalog.learning import ASKED, names, searcher, use
from tests.support import warnings
from tool_search_processor import Experience
from tool_search_processor.errors import StoreError
from tool_search_processor.stores.experience import RedisExperienceStore, SQLiteExperienceStore

SCOPES = ["a", "", 7, uuid.UUID(int=7), ("a", 7), "x" * 10_000, "\ud800", "a\0b", "\u5186", "*", "@version"]


@pytest.mark.parametrize("scope", SCOPES)
async def test_any_id_is_a_scope_of_its_own(scope, experience_store, caplog):
    search = searcher(experience := Experience(experience_store, scope=lambda context: context["tenant"]))
    await use(search, "op_7", context={"tenant": scope})
    await use(search, "op_3", context={"tenant": "another"})
    assert await names(search, context={"tenant": scope}) == ["op_7"]
    assert await experience.forget(tool="op_7") == 1
    assert await names(search, context={"tenant": scope}) == []
    assert await names(search, context={"tenant": "another"}) == ["op_3"]
    assert warnings(caplog) == []


@pytest.mark.parametrize("what", [{"tool": "op_1"}, {"thread_id": "t1"}, {"user": "u1"}])
async def test_forgetting_reaches_every_scope_and_nothing_else(what, experience_store):
    search = searcher(experience := Experience(experience_store, scope=lambda context: context["tenant"]))
    for tenant in "ab":
        for number in (1, 2):
            context = {"tenant": tenant, "user": f"u{number}"}
            await use(search, f"op_{number}", thread=f"t{number}", context=context, turn="")
    assert await experience.forget(**what) == 2
    assert sorted((record["scope"], record["tool"]) for record in await experience.export()) == [
        ("a", "op_2"),
        ("b", "op_2"),
    ]


async def works_without(search, caplog, *, tool="op_7"):
    """Check that calls and searches go on, with one warning, though the store does not answer."""
    for _ in range(3):
        assert json.loads(await use(search, tool)) == {"ran": tool}
        assert (await names(search, "accounting operation"))[:1] == ["op_0"]
    assert len(warnings(caplog)) == 1
    assert "nothing is learned until the experience store answers again" in warnings(caplog)[0]


def truncated(path):
    path.write_bytes(path.read_bytes()[:5000])


def scribbled(path):
    path.write_bytes(b"SQLite format 3\0" + os.urandom(20_000))


def of_another_version(path):
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()


def of_another_kind(path):
    path.unlink()
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE notes (text)")
    connection.close()


def a_folder(path):
    path.unlink()
    path.mkdir()


BROKEN = {
    "random bytes": lambda path: path.write_bytes(os.urandom(20_000)),
    "scribbled": scribbled,
    "text": lambda path: path.write_text("hello"),
    "another version": of_another_version,
    "another kind": of_another_kind,
    "a folder": a_folder,
}


class TestFiles:
    @pytest.fixture
    async def path(self, tmp_path):
        """Return the path of a file in which something was learned."""
        store = SQLiteExperienceStore(tmp_path / "learned.db")
        await use(searcher(Experience(store)), "op_7")
        await store.aclose()
        return tmp_path / "learned.db"

    @pytest.mark.parametrize("how", BROKEN)
    async def test_a_file_that_can_t_be_used_costs_one_warning(self, how, path, caplog):
        BROKEN[how](path)
        before = path.read_bytes() if path.is_file() else None
        search = searcher(Experience(SQLiteExperienceStore(path)))
        await works_without(search, caplog)
        await search.aclose()
        assert before is None or path.read_bytes() == before

    async def test_a_truncated_file_costs_at_most_a_warning(self, path, caplog):
        truncated(path)
        search = searcher(Experience(SQLiteExperienceStore(path)))
        assert json.loads(await use(search, "op_7")) == {"ran": "op_7"}
        await names(search)
        assert len(warnings(caplog)) <= 1
        await search.aclose()

    @pytest.mark.parametrize("how", ["empty", "absent", "in a new folder"])
    async def test_a_file_without_content_is_begun(self, how, path, caplog):
        path.unlink()
        if how == "empty":
            path.touch()
        elif how == "in a new folder":
            path = path.parent / "a" / "b" / "learned.db"
        search = searcher(Experience(SQLiteExperienceStore(path)))
        await use(search, "op_7")
        assert await names(search) == ["op_7"]
        assert warnings(caplog) == []
        await search.aclose()

    @pytest.mark.parametrize("how", ["another version", "another kind"])
    async def test_forget_and_export_say_what_is_wrong(self, how, path):
        BROKEN[how](path)
        experience = Experience(SQLiteExperienceStore(path))
        with pytest.raises(StoreError, match="another kind" if how == "another kind" else "has format 99"):
            await experience.export()
        with pytest.raises(StoreError, match=r"give (experience a file of its own|it another file)"):
            await experience.forget(user="ann")

    async def test_a_full_disk_costs_one_warning_and_what_is_known_stays(self, path, caplog):
        store = SQLiteExperienceStore(path)
        search = searcher(Experience(store))
        assert await names(search) == ["op_7"]
        [pages] = store._connection.execute("PRAGMA page_count").fetchone()
        store._connection.execute(f"PRAGMA max_page_count = {pages}")
        for number in range(40):
            text = f"{number} " + "long words of a request " * 19
            assert json.loads(await use(search, "op_3", query=text, thread=f"{number}"))
        assert (await names(search))[0] == "op_7"
        [warning] = warnings(caplog)
        assert "nothing is learned" in warning
        await search.aclose()

    async def test_a_process_that_writes_for_too_long_costs_one_warning(self, path, caplog):
        search = searcher(Experience(SQLiteExperienceStore(path, timeout_seconds=0.7)))
        assert await names(search) == ["op_7"]
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        assert json.loads(await use(search, "op_3")) == {"ran": "op_3"}
        other.rollback()
        other.close()
        assert len(warnings(caplog)) == 1
        await search.aclose()

    async def test_a_process_that_writes_is_waited_for_and_holds_up_nobody_else(self, path, caplog):
        asked = asyncio.Event()

        class Watched(SQLiteExperienceStore):
            async def swap(self, *entry):
                asked.set()
                return await super().swap(*entry)

        search = searcher(experience := Experience(Watched(path, timeout_seconds=20)))
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        calling = asyncio.create_task(use(search, "op_3"))
        await asked.wait()
        for _ in range(10):
            await asyncio.sleep(0)
        other.rollback()  # which never came if the loop itself waited
        other.close()
        assert json.loads(await calling) == {"ran": "op_3"}
        await search.aclose()
        assert "op_3" in {record["tool"] for record in await experience.export()}
        assert warnings(caplog) == []

    async def test_scopes_are_bounded(self, tmp_path):
        store = SQLiteExperienceStore(tmp_path / "learned.db", max_scopes=20)
        for number in range(50):
            await store.swap(f"tenant {number}", "op_7", None, "x")
        assert len(await store.scopes()) == 20
        await store.aclose()

    async def test_tools_that_come_and_go_leave_nothing(self, tmp_path):
        store = SQLiteExperienceStore(tmp_path / "learned.db")
        search = searcher(Experience(store, max_tools=3))
        for number in range(12):
            await use(search, f"op_{number}")
        [rows] = store._connection.execute("SELECT COUNT(*) FROM experience").fetchone()
        assert rows == 3
        await store.aclose()

    async def test_a_version_depends_on_no_clock(self, tmp_path, monkeypatch):
        store = SQLiteExperienceStore(tmp_path / "learned.db")
        await store.swap("a", "one", None, "x")
        await store.swap("a", "two", None, "y")
        seen = await store.version("a")
        monkeypatch.setattr(time, "time", lambda: 0.0)
        monkeypatch.setattr(time, "time_ns", lambda: 0)
        await store.swap("a", "one", "x", "z")
        assert await store.version("a") != seen
        await store.aclose()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
async def test_a_forked_process_opens_the_file_itself(tmp_path):
    script = """
import asyncio, os, sys
from tool_search_processor.stores.experience import SQLiteExperienceStore
store = SQLiteExperienceStore(sys.argv[1])
asyncio.run(store.swap("a", "parent", None, "x"))
inherited = store._connection
store._lock.acquire()  # by a thread that a fork does not take along
child = os.fork()
if child == 0:
    assert asyncio.run(store.swap("a", "child", None, "y"))
    assert store._connection is not inherited
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
store._lock.release()
assert asyncio.run(store.read("a")) == {"parent": "x", "child": "y"}
asyncio.run(store.aclose())
"""
    done = subprocess.run(  # noqa: ASYNC221 - it is short
        [sys.executable, "-c", script, str(tmp_path / "learned.db")],
        check=False, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


WRITER = """
import asyncio, sys
from tests.catalog.learning import searcher, use
from tool_search_processor import Experience
from tool_search_processor.stores.experience import SQLiteExperienceStore

async def write():
    search = searcher(Experience(SQLiteExperienceStore(sys.argv[1])))
    for number in range(1_000_000):
        await use(search, f"op_{number % 20}", query=f"request {number}", thread=f"{sys.argv[2]} {number}")
        print(number, flush=True)

asyncio.run(write())
"""


@pytest.mark.slow
async def test_writers_that_are_killed_break_nothing(tmp_path):
    path = tmp_path / "learned.db"
    for kill in range(10):
        writers = [
            subprocess.Popen(  # noqa: ASYNC220 - nothing else runs
                [sys.executable, "-c", WRITER, str(path), f"{kill} {number}"], stdout=subprocess.PIPE
            )
            for number in range(2)
        ]
        for writer in writers:
            for _ in range(1 + 7 * kill):
                assert writer.stdout.readline()
        for writer in writers:
            writer.send_signal(signal.SIGKILL)
            writer.wait()
            writer.stdout.close()
        connection = sqlite3.connect(path)
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        connection.close()
    store = SQLiteExperienceStore(path)
    records = await Experience(store).export()
    assert {record["query"] for record in records} > {"please"}
    await use(searcher(Experience(store)), "op_7")
    assert ASKED in {record["query"] for record in await Experience(store).export()}
    await store.aclose()


class TestRedis:
    async def test_a_server_that_dies_and_comes_back(self, own_server, caplog, monkeypatch):
        search = searcher(experience := Experience(RedisExperienceStore(own_server.url)))
        await use(search, "op_7")
        own_server.kill()
        await works_without(search, caplog, tool="op_3")
        assert (await names(search))[0] == "op_7"  # what this process knows stays
        own_server.start()
        monkeypatch.setattr(experience._scopes, "_down_until", 0.0)
        await use(search, "op_5", query="learned again", turn="")
        assert await names(search, "learned again") == ["op_5"]
        assert {record["tool"] for record in await experience.export()} >= {"op_5"}
        await search.aclose()

    async def test_a_server_that_hangs_holds_up_one_call(self, own_server, caplog, monkeypatch):
        search = searcher(Experience(store := RedisExperienceStore(own_server.url, timeout_seconds=0.5)))
        await use(search, "op_7")
        own_server._process.send_signal(signal.SIGSTOP)
        questions = mock.AsyncMock(wraps=store._clients.ask)
        monkeypatch.setattr(store._clients, "ask", questions)
        await works_without(search, caplog, tool="op_3")
        assert questions.await_count == 1  # of six calls and searches, one has waited half a second
        own_server._process.send_signal(signal.SIGCONT)
        await search.aclose()

    async def test_a_key_of_another_type_costs_one_warning(self, redis_server, caplog):
        with redis_server.client() as client:
            client.set("tool-search:1:experience:", "x")
        search = searcher(Experience(RedisExperienceStore(redis_server.url)))
        await works_without(search, caplog)
        await search.aclose()

    async def test_a_prefix_is_no_pattern(self, redis_server):
        other = RedisExperienceStore(redis_server.url, prefix="app1")
        await other.swap("a", "op_7", None, "x")
        store = RedisExperienceStore(redis_server.url, prefix="app[1]")
        assert await store.scopes() == []
        await store.swap("b", "op_7", None, "x")
        assert await store.scopes() == ["b"]
        for used in (store, other):
            await used.aclose()

    async def test_a_scope_in_which_nothing_happens_expires(self, redis_server):
        for seconds, low, high in ((60.0, 50_000, 60_000), (None, -1, -1)):
            store = RedisExperienceStore(redis_server.url, idle_seconds=seconds)
            await store.swap(str(seconds), "op_7", None, "x")
            with redis_server.client() as client:
                assert low <= client.pttl(f"tool-search:1:experience:{seconds}") <= high
            await store.aclose()

    async def test_calls_at_once_lose_nothing(self, redis_server, caplog):
        """With room for few tools, so that each call also removes one."""
        store = RedisExperienceStore(redis_server.url, timeout_seconds=20)
        search = searcher(experience := Experience(store, max_tools=3))
        await asyncio.gather(*(use(search, f"op_{n % 9}", thread=f"{n}") for n in range(60)))
        assert warnings(caplog) == []
        kept = await experience.store.read("")
        assert 1 <= len(kept) <= 12
        await use(search, "op_1")
        await search.aclose()  # waits for what a slow server still does
        assert len(await store.read("")) <= 3
        await store.aclose()
