"""Applying a row of transforms, the base class among them, and looking through their get methods."""

import logging

import pytest

from tests.transforms.own import Prefix, RequiredTags
from tool_search_processor.components import Prompt, Resource, ResourceTemplate
from tool_search_processor.errors import ConfigurationError
from tool_search_processor.tools import Tool
from tool_search_processor.transforms import Namespace, TagFilter, Transform, Visibility
from tool_search_processor.transforms.rows import (
    apply_transforms,
    check_transforms,
    compose_get,
    find_component,
    get_agreed,
    index_components,
    merge_transforms,
    overrides_get,
    transform_stages,
)
from tool_search_processor.transforms.transform import agrees_with_list

TOOLS = (Tool("read", tags={"read"}), Tool("write", tags={"write"}), Tool("both", tags={"read", "write"}))
ITEMS = {
    "tool": TOOLS,
    "resource": (Resource(uri="data://x"), Resource(uri="data://y")),
    "resource_template": (ResourceTemplate(uri_template="data://{x}"),),
    "prompt": (Prompt(name="greet"),),
}


class Shout(Transform):
    """A user's own: the list only."""

    async def list_tools(self, tools):
        return [tool.replace(description="!") for tool in tools]


class Deny(Transform):
    """Gives by name less than it lists."""

    def __init__(self, *names):
        self.names = names

    async def get_tool(self, name, call_next):
        return None if name in self.names else await call_next(name)


class Opener(Transform):
    """Gives by name more than it lists."""

    async def list_tools(self, tools):
        return tools[:1]

    async def get_tool(self, name, call_next):
        return await call_next(name)


class Rewriter(Transform):
    """Gives by name another definition than it lists."""

    async def get_tool(self, name, call_next):
        tool = await call_next(name)
        return tool and tool.replace(description="other")


class Failing(Transform):
    async def get_tool(self, name, call_next):
        raise RuntimeError("boom")


class FromFastMCP(Transform):
    """Hands on the keyword that FastMCP 3 and 4 have."""

    async def get_tool(self, name, call_next, *, version=None):
        return await call_next(name, version=version)


async def lookup(transforms, name, tools=TOOLS):
    stages = [index_components(stage) for stage in await transform_stages(transforms, tools)]
    return await get_agreed(transforms, stages, name)


@pytest.mark.parametrize("kind", list(ITEMS))
async def test_the_base_passes_everything_through(kind):
    transform, items = Transform(), ITEMS[kind]
    assert await getattr(transform, f"list_{kind}s")(items) is items

    async def call_next(key):
        return items[0], key

    assert await getattr(transform, f"get_{kind}")("key", call_next) == (items[0], "key")
    assert await apply_transforms([transform], items, kind=kind) == items
    transform.check(TOOLS)
    assert transform.merged_with(transform) is None
    assert not overrides_get(transform, kind=kind)


async def test_no_transforms_give_the_list_as_a_tuple():
    assert await apply_transforms([], list(TOOLS)) == TOOLS


async def test_the_first_transform_is_innermost():
    (tool, *_) = await apply_transforms([Prefix("a"), Prefix("b")], TOOLS)
    assert tool.name == "b_a_read"


async def test_stages_hold_the_list_before_and_after_each():
    stages = await transform_stages([RequiredTags({"read"}), Prefix("x")], TOOLS)
    assert [[t.name for t in stage] for stage in stages] == [
        ["read", "write", "both"],
        ["read", "both"],
        ["x_read", "x_both"],
    ]


async def test_a_sync_list_method_is_taken_too():
    class Sync(Transform):
        def list_tools(self, tools):
            return tools[:1]

        def get_tool(self, name, call_next):
            return TOOLS[0] if name == "read" else None

    assert await apply_transforms([Sync()], TOOLS) == TOOLS[:1]
    assert await lookup([Sync()], "read") == TOOLS[0]


@pytest.mark.parametrize(
    ("result", "found"),
    [
        (None, "found NoneType"),
        ("read", "found str"),
        ({"read": TOOLS[0]}, "found dict"),
        ((t for t in TOOLS), "found generator"),
        (["read"], "found 'read' in it"),
        ([Prompt(name="p")], "Prompt"),
    ],
)
async def test_what_a_transform_returns_is_checked(result, found):
    class Odd(Transform):
        async def list_tools(self, tools):
            return result

    with pytest.raises(ConfigurationError, match=rf"Odd\.list_tools must return a sequence.*{found}"):
        await apply_transforms([Odd()], TOOLS)


async def test_a_transform_that_raises_is_named():
    class Broken(Transform):
        async def list_tools(self, tools):
            raise KeyError("x")

    with pytest.raises(KeyError) as caught:
        await apply_transforms([Shout(), Broken()], TOOLS)
    assert caught.value.__notes__ == ["raised by Broken.list_tools"]


def test_only_neighbours_are_merged():
    hide, show = Visibility(False), Visibility(True, names={"a"})
    row = merge_transforms([hide, show, Shout(), hide])
    assert [type(transform) for transform in row] == [Visibility, Shout, Visibility]


async def test_check_shows_each_transform_the_list_it_gets():
    seen = []

    class Looking(Transform):
        def check(self, tools):
            seen.append([tool.name for tool in tools])

    await check_transforms([Looking(), Prefix("a"), Looking()], TOOLS[:1])
    assert seen == [["read"], ["a_read"]]


@pytest.mark.parametrize(
    ("transform", "overrides"),
    [
        (Shout(), False),
        (Namespace("a"), False),
        (TagFilter({"a"}), False),
        (Visibility(False), False),
        (Prefix("a"), True),
        (Deny(), True),
    ],
)
def test_only_get_methods_of_users_are_asked(transform, overrides):
    assert overrides_get(transform) is overrides


def test_a_shipped_one_with_a_get_method_of_the_users_own_is_asked():
    class Odd(Namespace):
        async def get_tool(self, name, call_next):
            return None

    assert overrides_get(Odd("a"))


def test_a_user_may_mark_a_get_method():
    class Same(Transform):
        @agrees_with_list
        async def get_tool(self, name, call_next):
            return await call_next(name)

    assert not overrides_get(Same())


@pytest.mark.parametrize(
    ("transforms", "name", "expected"),
    [
        ([], "read", "read"),
        ([], "none", None),
        ([Shout()], "read", "read"),
        ([Prefix("x")], "x_read", "x_read"),
        ([Prefix("x")], "read", None),
        ([RequiredTags({"read"})], "both", "both"),
        ([RequiredTags({"read"})], "write", None),
        ([RequiredTags({"read"}), Prefix("x")], "x_both", "x_both"),
        ([RequiredTags({"read"}), Prefix("x")], "x_write", None),
        ([Prefix("x"), Prefix("y")], "y_x_read", "y_x_read"),
        ([Prefix("x"), Namespace("n"), Shout()], "n_x_read", "n_x_read"),
        ([Namespace("n"), Prefix("x")], "x_n_read", "x_n_read"),
        ([FromFastMCP(), Namespace("n")], "n_read", "n_read"),
        ([Deny("write")], "read", "read"),
    ],
)
async def test_lookup_where_list_and_get_agree(transforms, name, expected, caplog):
    found = await lookup(transforms, name)
    assert (found and found.name) == expected
    if found is not None:
        assert found.fingerprint == (await listed(transforms))[expected].fingerprint
    assert not caplog.records


async def listed(transforms):
    return {tool.name: tool for tool in await apply_transforms(transforms, TOOLS)}


@pytest.mark.parametrize(
    ("transforms", "name", "reason"),
    [
        ([Deny("write")], "write", "listed: present, got: absent"),
        ([Deny("write"), Namespace("n")], "n_write", "listed: present, got: absent"),
        ([Deny("write"), Shout()], "write", "listed: present, got: absent"),
        (
            [Deny("write"), Namespace("n"), Visibility(False, names={"z"}), TagFilter({"write"})],
            "n_write",
            "",
        ),
        ([Opener()], "write", "listed: absent, got: present"),
        ([Rewriter()], "read", "listed: present, got: another definition"),
        ([Failing()], "read", "failed"),
    ],
)
async def test_a_tool_about_which_they_disagree_is_not_given(transforms, name, reason, caplog):
    with caplog.at_level(logging.WARNING):
        assert await lookup(transforms, name) is None
    (record,) = caplog.records
    assert repr(name) in record.getMessage()
    assert reason in record.getMessage()


async def test_a_get_method_may_change_what_runs_but_not_the_definition():
    class Audited(Transform):
        async def get_tool(self, name, call_next):
            tool = await call_next(name)
            return tool and tool.replace(execute=lambda: "audited")

    found = await lookup([Audited()], "read")
    assert await found.call({}) == "audited"


async def test_a_list_method_that_renames_over_a_get_method_answers_from_its_list():
    class Renamed(Transform):
        async def list_tools(self, tools):
            return [tool.replace(name=f"{tool.name}2") for tool in tools]

    assert (await lookup([Deny("write"), Renamed()], "read2")).name == "read2"


@pytest.mark.parametrize(
    ("kind", "key", "inner"),
    [
        ("resource", "data://n/x", "data://x"),
        ("resource_template", "data://n/anything", "data://{x}"),
        ("resource_template", "data://n/{x}", "data://{x}"),
        ("prompt", "n_greet", "greet"),
        ("tool", "n_read", "read"),
    ],
)
async def test_every_kind_is_looked_up_through_the_row(kind, key, inner):
    row = [Visibility(True), Namespace("n")]
    stages = [index_components(stage) for stage in await transform_stages(row, ITEMS[kind], kind=kind)]
    assert find_component(stages[0], inner) is not None
    assert await compose_get(row, stages, key, kind=kind) == find_component(stages[-1], key)
    assert await compose_get(row, stages, inner + "z", kind=kind) is None


async def test_compose_get_asks_without_judging():
    stages = [index_components(stage) for stage in await transform_stages([Opener()], TOOLS)]
    assert await compose_get([Opener()], stages, "write") == TOOLS[1]


def test_the_first_of_a_name_stays_in_an_index():
    first, second = Tool("a", description="1"), Tool("a", description="2")
    assert index_components([first, second]) == {"a": first}
