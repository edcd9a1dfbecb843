"""Rows of transforms in a catalog: whatever the row, what is listed can be called as it is listed."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.transforms.own import Lenient, Prefix, RequiredTags
from tool_search_processor.catalog import Catalog
from tool_search_processor.errors import DuplicateToolError
from tool_search_processor.providers.static import StaticProvider
from tool_search_processor.tools import Tool
from tool_search_processor.transforms import (
    ArgTransform,
    Namespace,
    TagFilter,
    ToolTransform,
    ToolTransformConfig,
    Visibility,
)
from tool_search_processor.transforms.rows import (
    apply_transforms,
    compose_get,
    index_components,
    transform_stages,
)

ARGUMENTS = "abc"
TAGS = ("x", "y")
DEFAULT = "default"


def make_tool(name, *, tags=frozenset(), required=(), namespace=None, metadata=None):
    async def run(arguments):
        return name, dict(arguments)

    return Tool(
        name,
        parameters={
            "type": "object",
            # the title tells which of the tool's own arguments this is, whatever it is called later
            "properties": {argument: {"type": "string", "title": argument} for argument in ARGUMENTS},
            "required": list(required),
            "additionalProperties": False,
        },
        execute=run,
        tags=tags,
        namespace=namespace,
        metadata=metadata or {},
    )


names = st.sampled_from(["get", "set_item", "n_get", "m_n_get", "g" * 64, "g" * 62])
tags = st.frozensets(st.sampled_from(TAGS))
tools = st.lists(
    st.builds(
        make_tool,
        names,
        tags=tags,
        required=st.lists(st.sampled_from(ARGUMENTS), unique=True),
        namespace=st.sampled_from([None, "", "server"]),
        metadata=st.sampled_from([{}, {"original_name": "own"}]),
    ),
    max_size=4,
    unique_by=lambda tool: tool.name,
)
argument_overlays = st.one_of(
    st.builds(ArgTransform, name=st.sampled_from([*ARGUMENTS, "d", "e"]), description=st.just("D")),
    st.builds(ArgTransform, default=st.just(DEFAULT), hide=st.booleans()),
    st.builds(ArgTransform, default_factory=st.just(lambda: DEFAULT), hide=st.just(True)),
    st.builds(ArgTransform, required=st.booleans()),
    st.just(ArgTransform(hide=True)),
)


def overlays(configs):
    targets = [config.name or name for name, config in configs.items() if config.enabled]
    return len(set(targets)) == len(targets)


def distinct(arguments):
    seen = [overlay.name or name for name, overlay in arguments.items() if not overlay.hide]
    return len(set(seen)) == len(seen)


configs = st.builds(
    ToolTransformConfig,
    name=st.sampled_from([None, None, "get", "set_item", "renamed"]),
    tags=st.one_of(st.none(), tags),
    enabled=st.sampled_from([True, True, True, False]),
    arguments=st.dictionaries(st.sampled_from([*ARGUMENTS, "d", "e"]), argument_overlays, max_size=3).filter(
        distinct
    ),
)
transforms = st.one_of(
    st.sampled_from(["n", "m", "x" * 32]).map(Namespace),
    st.dictionaries(st.one_of(names, st.sampled_from(["n_set_item", "renamed"])), configs, max_size=3)
    .filter(overlays)
    .map(ToolTransform),
    st.builds(
        Visibility,
        st.booleans(),
        names=st.sampled_from([None, {"get", "n_*"}, {"*_item"}]),
        tags=st.one_of(st.none(), tags),
    ),
    st.builds(Visibility, st.just(True), names=st.just({"*get*"}), only=st.just(True)),
    st.builds(TagFilter, tags, mode=st.sampled_from(["any", "all"]), exclude=tags),
)
rows = st.lists(transforms, max_size=4)


async def assert_callable_as_listed(tool):
    """Call with every visible argument, and with the required ones only; each arrives under its own name."""
    properties = tool.parameters["properties"]
    for chosen in (list(properties), tool.parameters.get("required", [])):
        given_values = {name: properties[name]["title"] for name in chosen}
        _, received = await tool.call(given_values)
        assert set(given_values.values()) <= set(received)
        assert all(value in (name, DEFAULT) for name, value in received.items())


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(tools=tools, row=rows)
async def test_any_row_leaves_tools_that_are_callable_as_listed(tools, row):
    before = [tool.fingerprint for tool in tools]
    listed = await apply_transforms(row, tools)
    for tool in listed:
        await assert_callable_as_listed(tool)
    assert [tool.fingerprint for tool in tools] == before
    again = await apply_transforms(row, [tool.replace() for tool in tools])
    assert [tool.fingerprint for tool in again] == [tool.fingerprint for tool in listed]


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(tools=tools, row=rows)
async def test_the_get_methods_of_the_shipped_ones_agree_with_their_lists(tools, row):
    stages = [index_components(stage) for stage in await transform_stages(row, tools)]
    listed = [tool.name for tool in (await apply_transforms(row, tools))]
    for name in {*listed, "get", "n_get", "renamed", "none"}:
        if listed.count(name) > 1:
            continue  # the catalog refuses one of them
        found = await compose_get(row, stages, name)
        expected = stages[-1].get(name)
        if expected is None and found is not None:
            # two tools had this name on the way, and the list kept the other one
            assert any(
                len({t.name for t in stage}) < len(stage) for stage in await transform_stages(row, tools)
            )
        elif expected is not None and found is not None:
            assert found.fingerprint == expected.fingerprint


@settings(max_examples=60, deadline=None)
@given(tools=tools, inner=rows, outer=rows)
async def test_a_catalog_lists_unique_names_and_gives_each_by_its_name(tools, inner, outer):
    try:
        catalog = Catalog(
            [StaticProvider(tools).with_transforms(Lenient(inner))], transforms=[Lenient(outer)]
        )
    except DuplicateToolError:
        return
    listed = await catalog.list_tools()
    assert len({tool.name for tool in listed}) == len(listed)
    for tool in listed:
        assert await catalog.get_tool(tool.name) is tool
        await assert_callable_as_listed(tool)


@settings(max_examples=60, deadline=None)
@given(tools=tools, inner=rows, outer=rows)
async def test_whatever_the_row_a_changed_tool_is_served_only_when_it_is_accepted(tools, inner, outer):
    provider = StaticProvider(tools)
    provider.foreign, provider.static = True, False
    inner_catalog = Catalog(
        [provider.with_transforms(Lenient(inner))], transforms=[Lenient(outer)], on_change="block"
    )
    catalog = Catalog([inner_catalog.with_transforms(Namespace("o"))])
    before = [tool.name for tool in await catalog.list_tools()]
    provider.remove(*(tool.name for tool in tools))
    provider.add(*(tool.replace(output_schema={"title": "changed"}) for tool in tools))
    assert await catalog.list_tools() == []
    waiting = [change.name for change in catalog.status().changed]
    assert waiting == before
    for name in waiting:
        catalog.accept(name)
    assert [tool.name for tool in await catalog.list_tools()] == before


async def test_calling_the_outer_name_reaches_the_inner_tool():
    provider = StaticProvider([make_tool("verbose_name")]).with_transforms(Namespace("api"))
    catalog = Catalog([provider], transforms=[ToolTransform({"api_verbose_name": {"name": "short"}})])
    tool = await catalog.get_tool("short")
    assert await tool.call({"a": "1"}) == ("verbose_name", {"a": "1"})
    assert await catalog.get_tool("api_verbose_name") is None
    assert await catalog.get_tool("verbose_name") is None


async def test_two_providers_of_one_name_live_in_their_namespaces():
    one, two = (StaticProvider([make_tool("get")]).with_transforms(Namespace(prefix)) for prefix in "ab")
    catalog = Catalog([one, two])
    assert [(tool.name, tool.namespace) for tool in await catalog.list_tools()] == [
        ("a_get", "a"),
        ("b_get", "b"),
    ]


async def test_prefixes_that_meet_lose_no_tool():
    one = StaticProvider([make_tool("b_c")]).with_transforms(Namespace("a"))
    two = StaticProvider([make_tool("c")]).with_transforms(Namespace("a_b"))
    catalog = Catalog([one, two])
    listed = await catalog.list_tools()
    assert [(await tool.call({}))[0] for tool in listed] == ["b_c", "c"]
    assert len({tool.name for tool in listed}) == 2


@pytest.mark.parametrize("row", [[RequiredTags({"x"}), Prefix("p")], [Prefix("p"), RequiredTags({"x"})]])
@pytest.mark.parametrize("place", ["provider", "catalog"])
async def test_a_users_own_transforms(row, place):
    provider = StaticProvider([make_tool("kept", tags={"x"}), make_tool("dropped", tags={"y"})])
    if place == "provider":
        catalog = Catalog([provider.with_transforms(*row)])
    else:
        catalog = Catalog([provider], transforms=row)
    assert [tool.name for tool in await catalog.list_tools()] == ["p_kept"]
    assert await (await catalog.get_tool("p_kept")).call({"a": "1"}) == ("kept", {"a": "1"})
    for name in ("kept", "p_dropped", "dropped", "p_"):
        assert await catalog.get_tool(name) is None
