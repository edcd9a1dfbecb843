"""Providers that fail or hang: reported, passed over, served from their last good list, asked again later."""

import asyncio
import logging
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tool_search_processor import Catalog, ToolSearchProcessor
from tool_search_processor.catalog import provider_cache
from tool_search_processor.errors import ConfigurationError
from tool_search_processor.search.regex import RegexIndex
from tool_search_processor.testing import ManualClock
from tool_search_processor.tools import Tool
from tool_search_processor.transforms import Namespace

INDEX = RegexIndex()


class Server:
    """A provider that hangs, fails or answers, as the test says."""

    def __init__(self, *tools, name="server", version=1):
        self.tools, self.name, self.mark = [*tools], name, version
        self.error, self.hangs = None, False
        self.reads = self.cancelled = 0
        self.asked, self.answered = asyncio.Event(), asyncio.Event()

    def version(self):
        return self.mark

    async def list_tools(self, context):
        self.reads += 1
        self.asked.set()
        tools, error = self.tools, self.error
        if self.hangs:
            try:
                await self.answered.wait()
            except asyncio.CancelledError:
                self.cancelled += 1
                raise
            tools = self.tools
        if error:
            raise error
        return tools

    def change(self, *tools, hangs=False, error=None):
        self.tools, self.mark, self.hangs, self.error = [*tools], self.mark + 1, hangs, error
        self.answered.clear()


def with_outages(*given, **options):
    clock = ManualClock(1000)
    return Catalog([*given], clock=clock, **{"provider_timeout_seconds": 0.02} | options), clock


async def listed(catalog, **context):
    return [tool.name for tool in await catalog.list_tools(context)]


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(provider_cache, "PATIENCE_SECONDS", 0.001)


# -- hanging


async def test_a_provider_that_hangs_is_reported_and_passed_over(caplog):
    server = Server(Tool("s"))
    server.hangs = True
    catalog, clock = with_outages(server, Tool("a"))
    for _ in range(5):
        assert await listed(catalog) == ["a"]
    assert server.reads == server.cancelled == 1
    status = catalog.status().providers[0]
    assert (status.up, status.tools, status.last_read, status.age_seconds) == (False, 0, None, None)
    assert "TimeoutError: no answer within 0.02 seconds" in status.error
    assert status.retry_in_seconds == 1
    assert len(caplog.records) == 1
    server.hangs = False
    clock.advance(1)
    assert await listed(catalog) == ["s", "a"]
    assert catalog.status().providers[0].retry_in_seconds is None


@pytest.mark.usefixtures("impatient")
async def test_a_second_wait_for_a_dead_server_is_a_short_one(caplog):
    server = Server(Tool("s"))
    server.hangs = True
    catalog, clock = with_outages(server, Tool("a"), provider_timeout_seconds=0.01)
    assert await listed(catalog) == ["a"]
    clock.advance(1)
    catalog._sources[0]._timeout = 30  # what a request would have to wait for, if it did
    assert await listed(catalog) == ["a"]
    assert server.reads == 2
    server.answered.set()
    assert await catalog._sources[0]._flight.wait(None)
    assert await listed(catalog) == ["s", "a"]


@pytest.mark.usefixtures("impatient")
async def test_while_one_is_slow_its_last_list_is_served_and_it_is_read_in_the_background():
    server = Server(Tool("old"))
    catalog, _ = with_outages(server, Tool("a"), provider_timeout_seconds=30)
    assert await listed(catalog) == ["old", "a"]
    server.change(Tool("new"), hangs=True)
    for _ in range(3):
        assert await listed(catalog) == ["old", "a"]
    assert server.reads == 2
    assert catalog.status().providers[0].up
    server.answered.set()
    assert await catalog._sources[0]._flight.wait(None)
    assert await listed(catalog) == ["new", "a"]
    assert server.reads == 2


@pytest.mark.usefixtures("impatient")
async def test_what_changes_while_it_is_read_is_read_again():
    server = Server(Tool("one"))
    catalog, _ = with_outages(server, provider_timeout_seconds=30)
    await listed(catalog)
    server.change(Tool("two"), hangs=True)
    assert await listed(catalog) == ["one"]
    server.answered.set()
    server.change(Tool("three"))
    server.answered.set()
    assert await catalog._sources[0]._flight.wait(None)
    assert await listed(catalog) == ["three"]


async def test_requests_at_once_wait_for_one_reading():
    server = Server(Tool("s"))
    server.hangs = True
    catalog, _ = with_outages(server, provider_timeout_seconds=30)
    requests = [asyncio.create_task(listed(catalog)) for _ in range(20)]
    leaving = asyncio.create_task(listed(catalog))
    await server.asked.wait()
    leaving.cancel()
    server.answered.set()
    assert await asyncio.gather(*requests) == [["s"]] * 20
    assert server.reads == 1
    assert server.cancelled == 0


async def test_providers_are_read_side_by_side_and_one_that_hangs_costs_its_time_once():
    asked, at_an_end = [], []

    class Recorded(Server):
        async def list_tools(self, context):
            asked.append(self)
            try:
                return await super().list_tools(context)
            except asyncio.CancelledError:
                at_an_end.append(len(asked))
                raise

    servers = [Recorded(Tool(f"s{i}"), name=f"server {i}") for i in range(40)]
    for server in servers[::2]:
        server.hangs = True
    catalog, _ = with_outages(*servers)
    assert len(await listed(catalog)) == 20
    assert at_an_end == [40] * 20, "all were asked before the first was given up"
    assert sum(provider.up for provider in catalog.status().providers) == 20


async def test_one_that_goes_on_in_spite_of_being_cancelled_holds_nobody(caplog):
    ended = asyncio.Event()

    class Stubborn(Server):
        async def list_tools(self, context):
            while not ended.is_set():
                try:
                    await ended.wait()
                except asyncio.CancelledError:
                    continue
            return []

    catalog, _ = with_outages(Stubborn(), Tool("a"), provider_timeout_seconds=0.01)
    assert await listed(catalog) == ["a"]
    ended.set()


async def test_no_limit_waits_for_ever():
    server = Server(Tool("s"))
    server.hangs = True
    catalog, _ = with_outages(server, provider_timeout_seconds=None)
    request = asyncio.create_task(listed(catalog))
    await server.asked.wait()
    server.answered.set()
    assert await request == ["s"]


async def test_a_refresh_waits_no_longer_either(caplog):
    server = Server(Tool("s"))
    catalog, _ = with_outages(server, Tool("a"))
    await catalog.refresh()
    server.hangs = True
    await catalog.refresh()
    assert not catalog.status().providers[0].up
    assert await listed(catalog) == ["s", "a"]


# -- lists of one request


async def test_a_request_that_hangs_is_held_off_for_all(caplog):
    server = Server(Tool("s"), version=None)
    server.hangs = True
    catalog, clock = with_outages(server, Tool("a"))
    for user in ("ada", "bob"):
        assert await listed(catalog, user=user) == ["a"]
    assert server.reads == 1
    server.hangs = False
    clock.advance(1)
    assert await listed(catalog) == ["a", "s"]
    assert catalog.status().providers[0].up


async def test_a_request_that_fails_at_once_fails_alone(caplog):
    server = Server(Tool("s"), version=None)
    server.error = PermissionError("not you")
    catalog, _ = with_outages(server, Tool("a"), max_stale_seconds=1)
    assert await listed(catalog, user="eve") == ["a"]
    server.error = None
    assert await listed(catalog, user="ada") == ["a", "s"]
    assert catalog.status().providers[0].tools == 1


# -- failing


async def test_a_provider_that_fails_is_asked_again_ever_more_rarely(caplog):
    server = Server(error := Tool("s"))
    server.error = ConnectionError("gone")
    catalog, clock = with_outages(server)
    asked = []
    for second in range(200):
        await listed(catalog)
        if server.reads > len(asked):
            asked.append(second)
        clock.advance(1)
    assert asked == [0, 1, 3, 7, 15, 31, 63, 123, 183]
    assert error not in await catalog.list_tools()


async def test_a_moved_mark_is_a_sign_of_life(caplog):
    server = Server(Tool("s"))
    server.error = ConnectionError("gone")
    catalog, _ = with_outages(server)
    assert await listed(catalog) == []
    server.change(Tool("s"))
    assert await listed(catalog) == ["s"]


@pytest.mark.parametrize(
    "fails", [{"error": ConnectionError("gone")}, {"hangs": True}], ids=["fails", "hangs"]
)
async def test_a_last_good_list_is_served_as_long_as_the_option_says(fails, caplog):
    server = Server(Tool("s"))
    catalog, clock = with_outages(server, Tool("a"), max_stale_seconds=3600)
    assert await listed(catalog) == ["s", "a"]
    clock.advance(100_000)
    assert await listed(catalog) == ["s", "a"]  # its mark says that the list holds, however old
    server.change(Tool("t"), **fails)
    assert await listed(catalog) == ["s", "a"]
    clock.advance(3600)
    assert await listed(catalog) == ["s", "a"]
    assert catalog.status().providers[0].age_seconds == 3600
    clock.advance(1)
    for _ in range(2):
        assert await listed(catalog) == ["a"]
    status = catalog.status().providers[0]
    assert (status.up, status.tools, status.age_seconds) == (False, 0, 3601)
    server.change(Tool("t"))
    assert await listed(catalog) == ["t", "a"]


@pytest.mark.parametrize("option", ["provider_timeout_seconds", "max_stale_seconds"])
def test_options_that_cannot_work_are_refused(option):
    with pytest.raises(ConfigurationError, match=option):
        Catalog([], **{option: 0})


@pytest.mark.parametrize(
    ("failure", "error"),
    [
        (lambda: None, None),
        (lambda: "the connection\nis lost", "the connection is lost"),
        (lambda: 1 / 0, "ZeroDivisionError: division by zero"),
    ],
)
async def test_a_provider_may_say_that_it_is_down(failure, error):
    server = Server(Tool("s"))
    server.failure = failure
    catalog, _ = with_outages(server)
    assert await listed(catalog) == ["s"]
    status = catalog.status().providers[0]
    assert (status.up, status.error, status.tools) == (error is None, error, 1)


# -- loops and threads


def test_a_reading_that_ended_with_its_loop_is_waited_for_by_the_next(monkeypatch):
    monkeypatch.setattr(provider_cache, "PATIENCE_SECONDS", 0.001)

    class Slow:
        mark, delays = 1, iter([0.0, 30.0, 0.02])

        def version(self):
            return self.mark

        async def list_tools(self, context):
            await asyncio.wait([asyncio.ensure_future(asyncio.Event().wait())], timeout=next(self.delays))
            return [Tool(f"v{self.mark}")]

    provider = Slow()
    catalog = Catalog([provider])
    assert asyncio.run(listed(catalog)) == ["v1"]
    provider.mark = 2
    assert asyncio.run(listed(catalog)) == ["v1"]
    assert asyncio.run(listed(catalog)) == ["v2"]


def test_requests_of_several_loops_wait_for_one_reading():
    reads, go = [], threading.Event()

    class Slow:
        def version(self):
            return 1

        async def list_tools(self, context):
            reads.append(1)
            await asyncio.to_thread(go.wait)
            return [Tool("s")]

    catalog, seen = Catalog([Slow()]), []
    threads = [threading.Thread(target=lambda: seen.append(asyncio.run(listed(catalog)))) for _ in range(4)]
    for thread in threads:
        thread.start()
    go.set()
    for thread in threads:
        thread.join(30)
    assert seen == [["s"]] * 4


async def test_closing_ends_what_is_under_way():
    server = Server(Tool("s"))
    server.hangs = True
    catalog, _ = with_outages(server, Tool("a"), provider_timeout_seconds=30)
    request = asyncio.create_task(listed(catalog))
    await server.asked.wait()
    await catalog.aclose()
    assert await request == ["a"]
    assert server.cancelled == 1
    assert catalog.status().providers[0].up is None


# -- whatever happens

happenings = st.lists(
    st.one_of(
        st.sampled_from(["fails", "hangs", "answers", "ask", "refresh", "search"]),
        st.integers(1, 90),  # seconds
        st.lists(st.sampled_from("abc"), unique=True),  # what it lists from now on
    ),
    max_size=12,
)


@settings(max_examples=60, deadline=None)
@given(happenings=happenings, max_stale=st.sampled_from([None, 30]))
async def test_whatever_happens_only_good_lists_are_served_and_in_the_end_the_newest(happenings, max_stale):
    logging.disable(logging.WARNING)
    server, seen = Server(), [[]]
    catalog, clock = with_outages(
        server, Tool("z"), provider_timeout_seconds=0.001, max_stale_seconds=max_stale
    )
    for happening in happenings:
        if isinstance(happening, int):
            clock.advance(happening)
        elif isinstance(happening, list):
            server.change(*map(Tool, happening), hangs=server.hangs, error=server.error)
            seen.append(happening)
        elif happening in ("fails", "hangs", "answers"):
            server.hangs = happening == "hangs"
            server.error = ConnectionError("gone") if happening == "fails" else None
        elif happening == "refresh":
            await catalog.refresh()
        elif happening == "search":
            await catalog.search("a")
        else:
            assert (await listed(catalog))[:-1] in seen
    server.change(Tool("new"))
    assert await listed(catalog) == ["new", "z"]
    assert all(provider.up for provider in catalog.status().providers)
    logging.disable(logging.NOTSET)


# -- catalogs in catalogs, and in a processor


async def test_an_outer_catalog_leaves_the_waiting_to_the_inner_one_and_follows_it(caplog):
    server = Server(Tool("s"))
    server.hangs = True
    inner, clock = with_outages(server, Tool("a"), provider_timeout_seconds=0.05)
    outer = Catalog([inner.with_transforms(Namespace("x"))], provider_timeout_seconds=0.01)
    assert await listed(outer) == ["x_a"]
    status = outer.status().providers[0]
    assert (status.name, status.up, status.tools) == ("catalog", False, 1)
    assert status.error.startswith("server: TimeoutError: no answer within 0.05 seconds")
    server.hangs = False
    clock.advance(1)
    assert await listed(outer) == ["x_s", "x_a"]
    assert outer.status().providers[0].up
    shared = (await outer.view()).shared
    assert (await outer.view()).shared is shared
    server.change(error=ConnectionError("gone"))
    assert await listed(outer) == ["x_s", "x_a"]
    server.change(Tool("t"))
    assert await listed(outer) == ["x_t", "x_a"]


async def test_a_processor_takes_a_catalog_with_its_options(caplog):
    server = Server(Tool("find_server"))
    server.hangs = True
    catalog, clock = with_outages(server, Tool("find_others"))
    processor = ToolSearchProcessor(catalog, transforms=[Namespace("x")])
    assert [hit.name for hit in await processor.search("find")] == ["x_find_others"]
    assert [provider.name for provider in processor.catalog.status().providers] == ["server", "tools"]
    assert not catalog.status().providers[0].up
    server.hangs = False
    clock.advance(1)
    assert [hit.name for hit in await processor.search("find")] == ["x_find_server", "x_find_others"]
    assert await listed(catalog) == ["find_server", "find_others"]
    assert server.reads == 2


async def test_an_adapted_catalog_keeps_its_own_names_apart():
    catalog = Catalog([Tool("a")], transforms=[Namespace("n")], reserved_names={"r"})
    other = catalog.adapted(transforms=[Namespace("m")], reserved_names={"q"})
    assert await listed(other) == ["m_n_a"]
    assert other.reserved_names == {"r", "q"}
    assert catalog.reserved_names == {"r"}
    with pytest.raises(ConfigurationError, match="'n_a' from"):
        catalog.adapted(reserved_names={"n_a"})


@pytest.mark.parametrize(
    ("own", "other", "warned"),
    [
        ("bm25", "regex", False),
        ("regex", "regex", False),
        ("regex", "bm25", True),
        (INDEX, INDEX, False),
        (INDEX, "bm25", True),
    ],
)
async def test_a_catalogs_own_search_is_not_dropped_in_silence(own, other, warned, caplog):
    ToolSearchProcessor(Catalog([Tool("a")], search=own), search=other)
    assert [record.levelno for record in caplog.records] == [logging.WARNING] * warned
    assert ("give search= to what takes it" in caplog.text) is warned
