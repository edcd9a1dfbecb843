"""The catalog: sources in, one consistent set of tools out, whatever they do meanwhile."""

import asyncio
import logging
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.support import names
from tool_search_processor import Catalog, ToolSearchProcessor
from tool_search_processor.errors import ConfigurationError, DuplicateToolError, ReservedToolNameError
from tool_search_processor.providers import (
    CallableProvider,
    StaticProvider,
    ToolProvider,
    TransformedProvider,
)
from tool_search_processor.providers.refusals import RefusedTool
from tool_search_processor.search.bm25 import BM25Index
from tool_search_processor.search.regex import RegexIndex
from tool_search_processor.testing import ManualClock
from tool_search_processor.tools import Tool, tool
from tool_search_processor.tools.tool_names import hashed_tool_name
from tool_search_processor.transforms import (
    Namespace,
    ToolTransform,
    ToolTransformConfig,
    Transform,
    Visibility,
)


@tool
def read_file(path: str) -> str:
    """Read a file."""
    return path


def send_mail(to: str) -> str:
    """Send a mail."""
    return to


def by_user(context):
    return [Tool(f"for_{name}", description=f"Greets {name}") for name in [context.get("user")] if name]


async def by_user_later(context):
    await asyncio.sleep(0)
    return by_user(context)


class Remote:
    """A provider with a version, whose list has to be waited for."""

    static = False

    def __init__(self, *tools, name="remote", version=1):
        self.tools, self.name, self.mark = [*tools], name, version
        self.error = self.version_error = self.close_error = None
        self.reads = self.closed = 0

    def version(self):
        if self.version_error:
            raise self.version_error
        return self.mark

    async def list_tools(self, context):
        self.reads += 1
        await asyncio.sleep(0)
        if self.error:
            raise self.error
        return self.tools

    async def aclose(self):
        self.closed += 1
        if self.close_error:
            raise self.close_error

    def change(self, *tools):
        self.tools, self.mark = [*tools], self.mark + 1


class CountingBM25(BM25Index):
    """The real index, which counts its updates."""

    def __init__(self):
        super().__init__()
        self.updates = []

    def update(self, documents):
        self.updates.append(len(documents))
        super().update(documents)


class Suffix(Transform):
    """Renames by the list alone; waits, as a transform may."""

    def __init__(self, suffix="_x"):
        self.suffix = suffix

    async def list_tools(self, tools):
        await asyncio.sleep(0)
        return [tool.replace(name=tool.name + self.suffix) for tool in tools]


class Gate(Transform):
    """Its get method knows better than its list about `denied` and `changed`, and fails at `broken`."""

    async def get_tool(self, name, call_next):
        found = await call_next(name)
        if name == "broken":
            raise RuntimeError("lookup failed")
        if found is None or name == "denied":
            return None
        return found.replace(description="another") if name == "changed" else found


async def listed(catalog, **context):
    return names(await catalog.list_tools(context))


async def found(catalog, query, **context):
    return names(await catalog.search(query, context=context))


# -- sources


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ([], []),
        ([Tool("b"), send_mail, read_file, Tool("a")], ["b", "send_mail", "read_file", "a"]),
        ({"b": Tool("x"), "mail": send_mail}, ["x", "mail"]),
        ([Tool("b"), StaticProvider([Tool("x"), send_mail]), Tool("a")], ["b", "x", "send_mail", "a"]),
        (StaticProvider([Tool("a")]), ["a"]),
        ((item for item in (Tool("b"), Tool("a"))), ["b", "a"]),
    ],
    ids=["empty", "list", "mapping", "mixed", "provider", "generator"],
)
async def test_sources_of_every_kind_keep_their_order(source, expected):
    catalog = Catalog(source)
    assert catalog.static
    assert await listed(catalog) == expected
    assert names(await catalog.list_tools()) == expected


@pytest.mark.parametrize("function", [by_user, by_user_later])
async def test_a_function_is_resolved_for_each_request_and_nothing_leaks(function):
    for catalog in (Catalog(function), Catalog([CallableProvider(function)])):
        assert await listed(catalog, user="ada") == ["for_ada"]
        assert await listed(catalog, user="bob") == ["for_bob"]
        assert await listed(catalog) == []
        assert (await catalog.get_tool("for_ada", {"user": "ada"})).name == "for_ada"
        assert await catalog.get_tool("for_ada", {"user": "bob"}) is None
        assert await found(catalog, "for_ada greets", user="ada") == ["for_ada"]
        assert await found(catalog, "for_ada greets ada", user="bob") == ["for_bob"]
        assert await found(catalog, "for_ada greets") == []


async def test_requests_at_once_see_each_their_own():
    catalog = Catalog([Tool("shared"), CallableProvider(by_user_later)])
    users = [f"user{i}" for i in range(50)]
    seen = await asyncio.gather(*(listed(catalog, user=user) for user in users))
    assert seen == [["shared", f"for_{user}"] for user in users]


async def test_tools_of_a_request_come_after_those_that_all_share():
    catalog = Catalog([CallableProvider(by_user), Tool("b"), Remote(Tool("r")), Tool("a")])
    for _ in range(2):
        assert await listed(catalog, user="ada") == ["b", "r", "a", "for_ada"]


async def test_get_tool_takes_the_exact_name():
    catalog = Catalog([read_file])
    assert await catalog.get_tool("read_file") is read_file
    assert await catalog.get_tool("Read_File") is None
    assert await catalog.get_tool("") is None


async def test_the_list_is_the_callers_own():
    catalog = Catalog([Tool("a")])
    (await catalog.list_tools()).clear()
    assert await listed(catalog) == ["a"]


@pytest.mark.parametrize("source", ["tools", 3, None, Tool("a"), [Tool("a"), "b"], [Tool]])
def test_what_gives_no_tools_is_refused_at_construction(source):
    with pytest.raises(ConfigurationError):
        Catalog(source)


@pytest.mark.parametrize("options", [{"search": "bm52"}, {"transforms": [Namespace]}, {"transforms": ["x"]}])
def test_options_that_cannot_work_are_refused_at_construction(options):
    with pytest.raises(ConfigurationError):
        Catalog([Tool("a")], **options)


# -- names


@pytest.mark.parametrize(
    "between", [[], [CallableProvider(by_user)], [Remote(Tool("r"))]], ids=["static", "callable", "remote"]
)
def test_static_names_that_clash_raise_at_construction_with_both_origins(between):
    one, two = StaticProvider([Tool("a")], name="one"), StaticProvider([Tool("b"), Tool("a")], name="two")
    with pytest.raises(DuplicateToolError, match="one from one, one from two") as caught:
        Catalog([one, *between, two])
    assert caught.value.origins == ("one", "two")
    with pytest.raises(DuplicateToolError):
        Catalog([one, *between, two], transforms=[Suffix()])


@pytest.mark.parametrize("between", [[], [CallableProvider(by_user)]], ids=["static", "callable"])
def test_a_reserved_name_raises_at_construction(between):
    with pytest.raises(ReservedToolNameError, match="'search_tools' from tools"):
        Catalog([*between, Tool("search_tools")], reserved_names={"search_tools"})
    with pytest.raises(ReservedToolNameError, match="search_tool_name="):
        ToolSearchProcessor([*between, Tool("search_tools")])


async def test_a_namespace_solves_a_clash():
    one, two = StaticProvider([Tool("a")]), StaticProvider([Tool("a")])
    catalog = Catalog([one.with_transforms(Namespace("x")), two.with_transforms(Namespace("y"))])
    assert await listed(catalog) == ["x_a", "y_a"]
    reserved = Catalog(
        [StaticProvider([Tool("search_tools")]).with_transforms(Namespace("x"))],
        reserved_names={"search_tools"},
    )
    assert await listed(reserved) == ["x_search_tools"]


async def test_a_transform_of_the_catalog_may_free_a_reserved_name_and_may_take_one():
    catalog = Catalog([Tool("search_tools")], transforms=[Namespace("x")], reserved_names={"search_tools"})
    assert await listed(catalog) == ["x_search_tools"]
    taking = ToolTransform({"a": ToolTransformConfig(name="search_tools")})
    with pytest.raises(ReservedToolNameError):
        Catalog([Tool("a")], transforms=[taking], reserved_names={"search_tools"})


def test_transforms_that_make_two_tools_one_raise_at_construction():
    same = ToolTransform({"a": ToolTransformConfig(name="b")})
    with pytest.raises(DuplicateToolError):
        Catalog([Tool("a"), Tool("b")], transforms=[same])


async def test_names_that_are_known_later_raise_at_refresh_and_not_before():
    catalog = Catalog([Remote(Tool("a"), name="one"), Remote(Tool("a"), name="two")])
    with pytest.raises(DuplicateToolError) as caught:
        await catalog.refresh()
    assert caught.value.origins == ("one", "two")
    reserved = Catalog([Remote(Tool("search_tools"))], reserved_names={"search_tools"})
    with pytest.raises(ReservedToolNameError):
        await reserved.refresh()
    requested = Catalog([Tool("for_ada"), CallableProvider(by_user)])
    await requested.refresh()
    with pytest.raises(DuplicateToolError, match="one from by_user"):
        await requested.refresh({"user": "ada"})


async def test_during_a_run_the_earlier_tool_keeps_the_name(caplog):
    first, second = Remote(Tool("a", description="first"), name="one"), Remote(Tool("b"), name="two")
    catalog = Catalog([first, second], reserved_names={"search_tools"})
    await catalog.refresh()
    second.change(Tool("b"), Tool("a", description="second"), Tool("search_tools"), Tool("c"))
    for _ in range(3):
        assert await listed(catalog) == ["a", "b", "c"]
    assert (await catalog.get_tool("a")).description == "first"
    assert [record.levelno for record in caplog.records] == [logging.WARNING] * 2
    assert "the tool 'a' of two is not served" in caplog.text
    assert [(tool.name, tool.provider) for tool in catalog.status().refused] == [
        ("a", "two"),
        ("search_tools", "two"),
    ]
    assert "one from one, one from two" in catalog.status().refused[0].reason
    second.change(Tool("b"))
    assert await listed(catalog) == ["a", "b"]
    assert catalog.status().refused == ()


async def test_a_static_newcomer_is_refused_during_a_run(caplog):
    one, two = StaticProvider([Tool("a", description="first")], name="one"), StaticProvider(name="two")
    catalog = Catalog([one, two])
    two.add(Tool("a", description="second"), Tool("b"))
    assert await listed(catalog) == ["a", "b"]
    assert (await catalog.get_tool("a")).description == "first"
    assert len(caplog.records) == len(catalog.status().refused) == 1


async def test_a_tool_of_a_request_takes_no_name_from_the_shared_ones(caplog):
    catalog = Catalog([CallableProvider(by_user), Tool("for_ada", description="shared")])
    for _ in range(2):
        assert await listed(catalog, user="ada") == ["for_ada"]
        assert (await catalog.get_tool("for_ada", {"user": "ada"})).description == "shared"
    assert len(caplog.records) == 1
    assert names(catalog.status().refused) == ["for_ada"]
    assert await listed(catalog, user="bob") == ["for_ada", "for_bob"]


async def test_two_tools_of_one_request_clash_among_themselves(caplog):
    catalog = Catalog([CallableProvider(by_user), CallableProvider(by_user, name="again")])
    assert await listed(catalog, user="ada") == ["for_ada"]
    assert [(tool.name, tool.provider) for tool in catalog.status().refused] == [("for_ada", "again")]


async def test_originals_that_meet_are_told_apart_and_equal_ones_clash():
    dot, slash = (Tool("a_b", metadata={"original_name": name}) for name in ("a.b", "a/b"))
    both = [hashed_tool_name("a_b", "a.b"), hashed_tool_name("a_b", "a/b")]
    assert await listed(Catalog([StaticProvider([dot]), StaticProvider([slash])])) == both
    assert await listed(Catalog([StaticProvider([slash]), StaticProvider([dot])])) == both[::-1]
    with pytest.raises(DuplicateToolError):
        Catalog([StaticProvider([dot]), StaticProvider([dot])])
    of_request = Catalog([dot, CallableProvider(lambda context: [slash])])
    assert await listed(of_request) == ["a_b", hashed_tool_name("a_b", "a/b")]


# -- change


async def test_tools_added_and_removed_are_seen_at_once():
    provider = StaticProvider([Tool("a")])
    catalog = Catalog([provider, Tool("z")])
    provider.add(Tool("zebra_crossing"))
    assert await listed(catalog) == ["a", "zebra_crossing", "z"]
    assert await found(catalog, "zebra") == ["zebra_crossing"]
    assert (await catalog.get_tool("zebra_crossing")).name == "zebra_crossing"
    provider.remove("zebra_crossing")
    assert await listed(catalog) == ["a", "z"]
    assert await found(catalog, "zebra") == []
    assert await catalog.get_tool("zebra_crossing") is None


async def test_a_changed_tool_is_served_at_once():
    remote = Remote(Tool("a", description="horses"))
    catalog = Catalog([remote])
    assert await found(catalog, "horses") == ["a"]
    changed = Tool(
        "a",
        description="zebras",
        parameters={"type": "object", "properties": {"stripes": {"type": "integer"}}},
    )
    remote.change(changed)
    assert await found(catalog, "zebras") == ["a"]
    assert await found(catalog, "stripes") == ["a"]
    assert await found(catalog, "horses") == []
    assert await catalog.get_tool("a") is changed


async def test_a_provider_with_a_version_is_read_once_a_version():
    remote = Remote(Tool("a"))
    catalog = Catalog([remote])
    for user in ("ada", "bob", "ada"):
        await listed(catalog, user=user)
    assert remote.reads == 1
    remote.change(Tool("b"))
    assert await listed(catalog) == ["b"]
    assert await listed(catalog) == ["b"]
    assert remote.reads == 2
    await catalog.refresh()
    assert remote.reads > 2


async def test_the_shared_part_is_the_same_object_until_it_changes():
    provider = StaticProvider([Tool("a")])
    catalog = Catalog([provider, CallableProvider(by_user)])
    shared = (await catalog.view({"user": "ada"})).shared
    assert (await catalog.view({"user": "bob"})).shared is shared
    provider.add(Tool("b"))
    assert (await catalog.view({})).shared is not shared


async def test_fingerprint_and_version_follow_the_content():
    provider = StaticProvider([Tool("a"), Tool("b")])
    catalog = Catalog([provider])
    first, mark = catalog.fingerprint, catalog.version()
    assert Catalog([Tool("a"), Tool("b")]).fingerprint == first
    assert Catalog([Tool("b"), Tool("a")]).fingerprint != first
    provider.remove("b")
    assert catalog.version() != mark
    await catalog.list_tools()
    assert catalog.fingerprint == Catalog([Tool("a")]).fingerprint
    provider.add(Tool("b"))
    await catalog.list_tools()
    assert catalog.fingerprint == first
    assert Catalog([Tool("a"), CallableProvider(by_user)]).version() is None
    assert Catalog([Remote(version=None)]).version() is None


async def test_providers_that_wait_are_read_at_once():
    barrier = asyncio.Barrier(3)

    class Meeting(Remote):
        async def list_tools(self, context):
            await barrier.wait()
            return await super().list_tools(context)

    catalog = Catalog([Meeting(Tool(name), name=name) for name in "cab"])
    async with asyncio.timeout(30):
        assert await listed(catalog) == ["c", "a", "b"]


# -- searching


async def test_search_takes_tags_and_a_limit():
    catalog = Catalog([Tool("read_file", tags={"fs"}), Tool("read_mail", tags={"mail"}), Tool("read_news")])
    assert await found(catalog, "read") == ["read_file", "read_mail", "read_news"]
    assert names(await catalog.search("read", limit=2)) == ["read_file", "read_mail"]
    assert names(await catalog.search("read", tags={"mail", "x"})) == ["read_mail"]
    assert names(await catalog.search("read", tags="mail")) == ["read_mail"]
    assert names(await catalog.search("read", tags=["x"])) == []


async def test_two_callers_with_different_views_do_not_rebuild_the_index():
    index = CountingBM25()
    shared = [Tool(f"tool_{i}", description="something shared") for i in range(20)]
    catalog = Catalog([*shared, CallableProvider(by_user_later)], search=index)
    for _ in range(3):
        for user in ("ada", "bob"):
            assert await found(catalog, f"for_{user}", user=user) == [f"for_{user}"]
    assert index.updates == [20]


async def test_equal_tools_of_two_requests_share_an_index_and_run_each_their_own():
    index = CountingBM25()

    def tools_of(context):
        return [Tool(f"tool_{i}", execute=lambda: context["user"]) for i in range(300)]

    catalog = Catalog(tools_of, search=lambda: index)
    for user in ("ada", "bob", "ada"):
        view = await catalog.view({"user": user})
        (hit, *_) = await view.search("tool_7")
        assert hit.name == "tool_7"
        assert await view.get(hit.name).call() == user
    assert index.updates == [300]


async def test_a_change_costs_one_update_and_refresh_prepares_it():
    index, provider = CountingBM25(), StaticProvider([Tool("a")])
    catalog = Catalog([provider], search=index)
    assert index.updates == []
    await catalog.refresh()
    assert index.updates == [1]
    await found(catalog, "a")
    assert index.updates[1:] == []
    provider.add(Tool("b"))
    for _ in range(2):
        await found(catalog, "b")
    assert index.updates == [1, 2]


@pytest.mark.parametrize("search", ["regex", RegexIndex, RegexIndex()])
async def test_a_strategy_may_be_a_name_a_class_or_an_index(search):
    catalog = Catalog([Tool("read_file"), Tool("write_file")], search=search)
    assert await found(catalog, "^re.*file$") == ["read_file"]


# -- failing providers


async def test_a_failing_provider_takes_nobody_down_and_recovers(caplog):
    remote, other = Remote(Tool("r1")), Remote(Tool("o"), name="other")
    clock = ManualClock()
    catalog = Catalog([remote, Tool("a"), other], clock=clock)
    assert await listed(catalog) == ["r1", "a", "o"]
    remote.change(Tool("r2"))
    remote.error = ConnectionError("gone")
    for _ in range(2):
        assert await listed(catalog) == ["r1", "a", "o"]
    assert await found(catalog, "r1") == ["r1"]
    down = catalog.status().providers[0]
    assert (down.name, down.up, down.error, down.tools) == ("remote", False, "ConnectionError: gone", 1)
    assert [provider.up for provider in catalog.status().providers] == [False, True, True]
    assert len(caplog.records) == 1
    remote.error = None
    clock.advance(1)
    assert await listed(catalog) == ["r2", "a", "o"]
    assert all(provider.up for provider in catalog.status().providers)


async def test_a_provider_that_fails_at_first_is_skipped(caplog):
    remote = Remote(Tool("r"))
    remote.error = ConnectionError("gone")
    clock = ManualClock()
    catalog = Catalog([remote, Tool("a")], clock=clock)
    await catalog.refresh()
    assert await listed(catalog) == ["a"]
    remote.error = None
    clock.advance(1)
    assert await listed(catalog) == ["r", "a"]


async def test_a_refresh_keeps_the_list_and_the_place_of_a_failing_provider(caplog):
    remote = Remote(Tool("r"))
    catalog = Catalog([remote, Tool("a")])
    await catalog.refresh()
    remote.error = ConnectionError("gone")
    for _ in range(2):
        await catalog.refresh()
        assert await listed(catalog) == ["r", "a"]


async def test_a_version_that_fails_takes_nobody_down(caplog):
    remote = Remote(Tool("r"))
    catalog = Catalog([remote, Tool("a")])
    assert await listed(catalog) == ["r", "a"]
    remote.version_error = ConnectionError("gone")
    assert await listed(catalog) == ["r", "a"]
    assert not catalog.status().providers[0].up
    remote.version_error = None
    assert await listed(catalog) == ["r", "a"]
    status = catalog.status().providers[0]
    assert (status.up, status.retry_in_seconds) == (True, None)


async def test_a_function_that_fails_gives_that_request_nothing(caplog):
    def fragile(context):
        if context.get("user") == "eve":
            raise PermissionError("not you")
        return by_user(context)

    catalog = Catalog([Tool("a"), CallableProvider(fragile)])
    assert await listed(catalog, user="ada") == ["a", "for_ada"]
    assert await listed(catalog, user="eve") == ["a"]
    assert catalog.status().providers[1].error == "PermissionError: not you"
    assert await listed(catalog, user="ada") == ["a", "for_ada"]
    assert catalog.status().providers[1].up


async def test_a_list_of_something_else_raises_at_refresh_and_is_skipped_in_a_run(caplog):
    remote = Remote("no tool")
    catalog = Catalog([remote, Tool("a")])
    assert await listed(catalog) == ["a"]
    with pytest.raises(ConfigurationError, match="must list Tools"):
        await catalog.refresh()


async def test_status_before_anything_was_read():
    catalog = Catalog([Remote(Tool("a")), CallableProvider(by_user)])
    status = catalog.status()
    assert [(p.name, p.up, p.tools, p.last_read) for p in status.providers] == [
        ("remote", None, 0, None),
        ("by_user", None, 0, None),
    ]
    assert status.refused == ()
    assert catalog.failure() is None


async def test_what_a_provider_left_out_is_told_in_the_status_through_transforms_and_catalogs(caplog):
    class Picky(Remote):
        def refused_tools(self):
            return [RefusedTool(name="bad", provider="picky", reason="its schema can't be read")]

    class Broken(Remote):
        def refused_tools(self):
            raise OSError("no log")

    picky = TransformedProvider(Picky(Tool("a"), name="picky"), [Namespace("p")])
    inner = Catalog([picky, Broken(Tool("b"))])
    outer = Catalog([inner])
    assert await listed(outer) == ["p_a", "b"]
    (refused,) = outer.status().refused
    assert (refused.name, refused.provider, refused.reason) == ("bad", "picky", "its schema can't be read")
    assert "can't tell which tools it left out" in caplog.text


# -- transforms


async def test_transforms_of_providers_come_before_those_of_the_catalog():
    provider = StaticProvider([Tool("a")]).with_transforms(Suffix("_1"), Suffix("_2"))
    catalog = Catalog([provider, Tool("b")], transforms=[Suffix("_3"), Suffix("_4")])
    assert await listed(catalog) == ["a_1_2_3_4", "b_3_4"]
    assert (await catalog.get_tool("b_3_4")).name == "b_3_4"
    assert await catalog.get_tool("b") is None
    assert (await found(catalog, "b_3_4"))[0] == "b_3_4"


async def test_tools_of_a_request_are_transformed_too():
    catalog = Catalog([Tool("a"), CallableProvider(by_user)], transforms=[Suffix()])
    assert await listed(catalog, user="ada") == ["a_x", "for_ada_x"]
    assert (await catalog.get_tool("for_ada_x", {"user": "ada"})).name == "for_ada_x"


async def test_a_hidden_tool_is_gone_from_list_lookup_and_search():
    catalog = Catalog(
        [Tool("read_file"), Tool("read_mail")], transforms=[Visibility(enabled=False, names={"read_mail"})]
    )
    assert await listed(catalog) == ["read_file"]
    assert await catalog.get_tool("read_mail") is None
    assert await found(catalog, "read mail") == ["read_file"]


def overlay(name="missing"):
    return ToolTransform({name: ToolTransformConfig(description="changed")})


def test_an_overlay_of_nothing_raises_at_construction():
    with pytest.raises(ConfigurationError, match="missing"):
        Catalog([Tool("a")], transforms=[overlay()])
    with pytest.raises(ConfigurationError, match="missing"):
        Catalog([StaticProvider([Tool("a")]).with_transforms(overlay())])
    with pytest.raises(ConfigurationError, match="missing"):
        Catalog([StaticProvider([Tool("a")]).with_transforms(overlay()).with_transforms(Namespace("x"))])


async def test_an_overlay_of_nothing_raises_at_refresh_and_warns_in_a_run(caplog):
    inner = Remote(Tool("a"), Tool("missing"))
    catalog = Catalog([inner], transforms=[overlay()])
    await catalog.refresh()
    inner.change(Tool("a"))
    assert await listed(catalog) == ["a"]
    assert "no tool 'missing'" in caplog.text
    with pytest.raises(ConfigurationError, match="missing"):
        await catalog.refresh()


async def test_an_overlay_may_be_for_a_tool_that_some_requests_lack():
    catalog = Catalog([Tool("a"), CallableProvider(by_user)], transforms=[overlay("a"), overlay("for_ada")])
    await catalog.refresh()
    await catalog.refresh({"user": "ada"})
    await catalog.refresh({"user": "bob"})
    listed_for_ada = await catalog.list_tools({"user": "ada"})
    assert [tool.description for tool in listed_for_ada] == ["changed", "changed"]


@pytest.mark.parametrize("place", ["catalog", "provider"])
async def test_a_get_tool_that_disagrees_is_denied_with_a_warning(place, caplog):
    tools = [Tool(name) for name in ("fine", "denied", "changed", "broken")]
    if place == "catalog":
        catalog = Catalog(tools, transforms=[Gate()])
    else:
        catalog = Catalog([StaticProvider(tools).with_transforms(Gate())])
    caplog.clear()
    for name in ("denied", "changed", "broken"):
        assert await catalog.get_tool(name) is None
        if place == "catalog":
            assert f"'{name}' is not given" in caplog.text
    assert (await catalog.get_tool("fine")).name == "fine"
    assert await catalog.get_tool("unknown") is None


async def test_a_get_tool_of_its_own_is_asked_for_tools_of_a_request_too(caplog):
    catalog = Catalog(
        [Tool("fine"), CallableProvider(lambda context: [Tool("denied"), Tool("own")])], transforms=[Gate()]
    )
    assert (await catalog.get_tool("own")).name == "own"
    assert (await catalog.get_tool("fine")).name == "fine"
    assert await catalog.get_tool("denied") is None


# -- nesting


async def test_a_catalog_is_a_provider():
    provider = StaticProvider([Tool("a")])
    inner = Catalog([provider], name="inner")
    assert isinstance(inner, ToolProvider)
    outer = Catalog([inner.with_transforms(Namespace("api")), Tool("b")])
    assert [(tool.name, tool.namespace) for tool in await outer.list_tools()] == [
        ("api_a", "api"),
        ("b", None),
    ]
    assert outer.static
    provider.add(Tool("zebra"))
    assert await listed(outer) == ["api_a", "api_zebra", "b"]
    assert await found(outer, "zebra") == ["api_zebra"]
    assert outer.status().providers[0].name == "inner"


async def test_what_a_get_tool_disowns_is_gone_in_an_outer_catalog(caplog):
    class Refusing(Transform):
        async def get_tool(self, name, call_next):
            return None if name.startswith("secret") else await call_next(name)

    inner = Catalog([Tool("a"), Tool("secret"), CallableProvider(by_user)], transforms=[Refusing()])
    for outer in (Catalog([inner]), Catalog([inner.with_transforms()]), Catalog(Catalog([inner]))):
        assert await listed(outer, user="ada") == ["a", "for_ada"]
        assert await outer.get_tool("secret") is None
        assert await found(outer, "secret") == []


async def test_a_nested_catalog_resolves_requests():
    outer = Catalog([Catalog(by_user_later), Tool("b")])
    assert await listed(outer, user="ada") == ["b", "for_ada"]
    assert await listed(outer, user="bob") == ["b", "for_bob"]


def test_nested_clashes_raise_at_construction_too():
    with pytest.raises(DuplicateToolError):
        Catalog([Catalog([Tool("a")], name="inner"), Tool("a")])


async def test_nested_names_that_are_known_later_raise_at_the_outer_refresh(caplog):
    inner = Catalog([Remote(Tool("a"), name="one"), Remote(Tool("a"), name="two")])
    for outer in (Catalog([inner]), Catalog([inner.with_transforms(Namespace("x"))])):
        with pytest.raises(DuplicateToolError, match="one from one, one from two"):
            await outer.refresh()
    assert caplog.records == []


async def test_a_nested_catalog_is_read_once_a_version():
    remote = Remote(Tool("a"))
    outer = Catalog([Catalog([Catalog([remote])])])
    for _ in range(3):
        assert await listed(outer) == ["a"]
    assert remote.reads == 1
    remote.change(Tool("b"))
    assert await listed(outer) == ["b"]


# -- the end


async def test_closing_closes_every_provider_even_where_one_fails():
    remotes = [Remote(), Remote(), Remote()]
    remotes[0].close_error = ValueError("one")
    remotes[1].close_error = OSError("two")
    catalog = Catalog(
        [*(remote for remote in remotes[:2]), Catalog([remotes[2]]), Tool("a"), CallableProvider(by_user)]
    )
    with pytest.raises(ExceptionGroup, match="closing the providers of 'catalog' failed") as caught:
        await catalog.aclose()
    assert caught.value.exceptions == (remotes[0].close_error, remotes[1].close_error)
    assert [remote.closed for remote in remotes] == [1, 1, 1]
    await Catalog([Tool("a"), Remote()]).aclose()


# -- construction without a loop


def test_a_construction_needs_no_event_loop_and_reads_nothing_that_waits():
    remote = Remote(Tool("a"))
    Catalog([Tool("b"), remote])
    assert remote.reads == 0


async def test_a_transform_that_waits_is_left_for_the_first_request():
    catalog = Catalog([StaticProvider([Tool("a")]).with_transforms(Suffix()), Tool("b")])
    assert await listed(catalog) == ["a_x", "b"]


# -- many threads


def test_a_catalog_that_changes_while_it_is_searched():
    fixed = [Tool(f"fixed_{i}", description="always there") for i in range(30)]
    changing = StaticProvider()
    catalog = Catalog([*fixed, changing, CallableProvider(by_user_later)])
    stop, ready = threading.Event(), threading.Barrier(5)

    def change():
        ready.wait(30)
        for i in range(60):
            changing.add(Tool(f"moving_{i}", description="comes and goes"))
            if i % 2:
                changing.remove(f"moving_{i}", f"moving_{i - 1}")
        stop.set()

    def look(worker):
        async def run():
            turns = 0
            while not stop.is_set() or turns < 5:
                turns += 1
                context = {"user": f"u{worker}"}
                assert (await found(catalog, f"fixed_{worker}", **context))[0] == f"fixed_{worker}"
                seen = await listed(catalog, **context)
                assert seen[:30] == names(fixed)
                assert seen[-1] == f"for_u{worker}"
                assert len(set(seen)) == len(seen)
                assert await catalog.get_tool("fixed_3", context) is fixed[3]

        ready.wait(30)
        asyncio.run(run())

    with ThreadPoolExecutor(5) as pool:
        tasks = [pool.submit(change), *(pool.submit(look, worker) for worker in range(4))]
        for task in tasks:
            task.result()
    assert asyncio.run(listed(catalog)) == names(fixed)
    assert asyncio.run(found(catalog, "moving")) == []


async def test_an_overlay_is_not_missed_in_the_lists_of_requests_that_hold_other_tools(caplog):
    transform = ToolTransform({"a": ToolTransformConfig(description="changed")})
    catalog = Catalog([Tool("a"), CallableProvider(lambda context: [Tool("own")])], transforms=[transform])
    for _ in range(2):
        tools = await catalog.list_tools()
        assert [(tool.name, tool.description) for tool in tools] == [("a", "changed"), ("own", "")]
    await catalog.refresh()
    assert caplog.records == []
