"""One provider of a catalog: what is kept of it, and how a failing one is served."""

import asyncio
import logging

import pytest

from tests.support import names
from tool_search_processor.catalog import Catalog
from tool_search_processor.catalog.backoff import ProviderLimits
from tool_search_processor.catalog.provider_cache import Source
from tool_search_processor.errors import ConfigurationError, ProviderError
from tool_search_processor.providers import CallableProvider, TransformedProvider
from tool_search_processor.providers.provider import adapt
from tool_search_processor.tools import Tool


def a_function(x: int) -> int:
    """Return it."""
    return x


class Flaky:
    """A provider whose list, version and health are set by the test."""

    name = "flaky"

    def __init__(self, *tools, version="v1"):
        self.tools = [*tools]
        self.mark = version
        self.error = None
        self.version_error = None
        self.reads = 0

    def version(self):
        if self.version_error is not None:
            raise self.version_error
        return self.mark

    async def list_tools(self, context):
        self.reads += 1
        if self.error is not None:
            raise self.error
        return self.tools


# -- reading


async def test_a_plain_list_tools_needs_no_async():
    class Plain:
        def list_tools(self, context):
            return [Tool(context["name"])]

    assert names(await Catalog([Plain()]).list_tools({"name": "a"})) == ["a"]


async def test_a_list_with_a_version_is_kept_for_all_requests():
    provider = Flaky(Tool("a"))
    source = Source(adapt(provider), kind=Tool)
    assert not source.is_current()
    assert not source.is_shared
    assert names(await source.read({})) == ["a"]
    assert source.is_current()
    assert source.is_shared
    assert names(source.listed) == ["a"]
    provider.mark = "v2"
    assert not source.is_current()


async def test_a_list_without_a_version_is_kept_for_nobody():
    source = Source(CallableProvider(lambda context: [Tool("a")]), kind=Tool)
    assert names(await source.read({})) == ["a"]
    assert not source.is_current()
    assert not source.is_shared
    assert source.listed == ()


async def test_a_provider_may_lose_its_version_and_get_it_back():
    provider = Flaky(Tool("a"))
    source = Source(adapt(provider), kind=Tool)
    for mark, shared in (("v1", True), (None, False), ("v2", True)):
        provider.mark = mark
        await source.read({})
        assert source.is_shared is shared


@pytest.mark.parametrize(("level", "traced"), [(logging.INFO, False), (logging.DEBUG, True)])
async def test_what_a_provider_says_of_itself_is_told_without_a_traceback(level, traced, caplog):
    provider = Flaky(Tool("a"))
    provider.error = ProviderError("the server 'x' could not be started")
    with caplog.at_level(level, logger="tool_search_processor"):
        await Source(adapt(provider), kind=Tool).read({})
    assert "failed to list its tools: ProviderError: the server 'x' could not be started" in caplog.text
    assert ("Traceback" in caplog.text) is traced


@pytest.mark.parametrize("given", [None, 3, "ab", [Tool("a"), "b"], iter([Tool("a")]), {"a": Tool("a")}])
async def test_a_list_of_something_else_is_reported_and_raised_where_asked(given, caplog):
    provider = Flaky()
    provider.tools = given
    source = Source(adapt(provider), kind=Tool)
    assert await source.read({}) == ()
    assert "the provider 'flaky' must list Tools, found" in source.status().error
    with pytest.raises(ConfigurationError, match="return a list of Tool objects"):
        await source.read({}, strict=True)


@pytest.mark.parametrize("fails", [False, True])
async def test_warming_up_counts_against_no_limit_and_happens_once(fails):
    class Slow(Flaky):
        warmed = 0

        async def warm_up(self):
            self.warmed += 1
            end = asyncio.get_running_loop().time() + 0.05
            while asyncio.get_running_loop().time() < end:  # noqa: ASYNC110 - it takes its time
                await asyncio.sleep(0)
            if fails:
                raise ImportError("no SDK")

    provider = Slow(Tool("a"))
    transformed = TransformedProvider(provider, ())
    source = Source(adapt(transformed), kind=Tool, limits=ProviderLimits(timeout_seconds=0.02))
    assert [tool.name for tool in await source.read({})] == ["a"]
    source.expire()
    await source.read({})
    assert (provider.warmed, source.status().up) == (1, True)


async def test_status_before_and_after_reading():
    source = Source(adapt(Flaky(Tool("a"), Tool("b"))), kind=Tool)
    before = source.status()
    assert (before.name, before.up, before.tools, before.last_read) == ("flaky", None, 0, None)
    assert before.state == "not asked yet"
    await source.read({})
    after = source.status()
    assert (after.up, after.state, after.tools, after.error) == (True, "up", 2, None)
    assert after.last_read > 1_600_000_000


@pytest.mark.parametrize("strict", [False, True])
async def test_a_failing_provider_is_served_from_its_last_good_list(strict, caplog):
    provider = Flaky(Tool("a"))
    source = Source(adapt(provider), kind=Tool)
    await source.read({})
    read_at = source.status().last_read
    provider.error, provider.mark = ConnectionError("gone"), "v2"
    for _ in range(3):
        assert names(await source.read({}, strict=strict)) == ["a"]
    status = source.status()
    assert (status.up, status.tools, status.error) == (False, 1, "ConnectionError: gone")
    assert status.last_read == read_at
    assert source.is_shared
    assert not source.is_current()
    assert [r.levelno for r in caplog.records] == [logging.WARNING]
    assert caplog.records[0].exc_info[1] is provider.error
    provider.error, provider.tools = None, [Tool("b")]
    assert names(await source.read({})) == ["b"]
    assert source.status().up


async def test_another_failure_is_another_warning(caplog):
    provider = Flaky()
    source = Source(adapt(provider), kind=Tool)
    for error in (OSError("one"), OSError("one"), OSError("two"), None, OSError("two")):
        provider.error = error
        await source.read({})
    assert len(caplog.records) == 3


async def test_a_request_of_a_failing_provider_gets_nothing(caplog):
    provider = Flaky(Tool("a"), version=None)
    source = Source(adapt(provider), kind=Tool)
    await source.read({})
    provider.error = ConnectionError("gone")
    assert await source.read({}) == ()
    assert not source.status().up


async def test_a_version_that_fails_is_a_failing_provider(caplog):
    provider = Flaky(Tool("a"))
    source = Source(adapt(provider), kind=Tool)
    await source.read({})
    provider.version_error = ConnectionError("gone")
    assert source.version() is None
    assert not source.is_current()
    await source.read({})
    assert source.is_shared
    assert names(source.listed) == ["a"]
    assert source.status().error == "ConnectionError: gone"


async def test_what_expired_is_served_until_it_was_read_again(caplog):
    provider = Flaky(Tool("a"))
    source = Source(adapt(provider), kind=Tool)
    await source.read({})
    source.expire()
    assert not source.is_current()
    assert source.is_shared
    provider.error = ConnectionError("gone")
    await source.read({})
    assert names(source.listed) == ["a"]
    assert not source.is_current()
    provider.error = None
    await source.read({})
    assert source.is_current()


class Panic(BaseException):
    """What a library of another language raises when it breaks down."""


class UnspeakableError(Exception):
    def __str__(self):
        raise RuntimeError


@pytest.mark.parametrize(
    "error",
    [SystemExit(2), Panic("broken"), asyncio.CancelledError(), UnspeakableError()],
    ids=lambda e: type(e).__name__,
)
@pytest.mark.parametrize("where", ["list", "version"])
async def test_whatever_a_provider_raises_is_its_failure_alone(error, where, caplog):
    provider = Flaky(Tool("a"))
    catalog = Catalog([provider, Tool("b")])
    assert names(await catalog.list_tools()) == ["a", "b"]
    provider.error, provider.version_error = (error, None) if where == "list" else (None, error)
    provider.mark = "v2"
    assert names(await catalog.list_tools()) == ["a", "b"]
    assert catalog.status().providers[0].error.startswith(type(error).__name__)


async def test_cancelling_a_request_is_no_failure_of_the_provider():
    under_way = asyncio.Event()

    class Slow:
        async def list_tools(self, context):
            under_way.set()
            await asyncio.Event().wait()

    source = Source(adapt(Slow()), kind=Tool)
    task = asyncio.create_task(source.read({}))
    await under_way.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert source.status().up is None


async def test_a_late_reading_never_passes_for_a_newer_one():
    """A reading of its own begins first and ends last."""
    gate, provider = asyncio.Event(), Flaky(Tool("v1"))
    listing = provider.list_tools

    async def slow(context):
        tools = [*await listing(context)]
        await gate.wait()
        return tools

    provider.list_tools = slow
    source = Source(adapt(provider), kind=Tool)
    early = asyncio.create_task(source.read({}, strict=True))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    provider.list_tools, provider.tools, provider.mark = listing, [Tool("v2")], "v2"
    assert names(await source.read({})) == ["v2"]
    gate.set()
    assert names(await early) == ["v1"]
    assert names(source.listed) == ["v2"]
    assert source.is_current()
