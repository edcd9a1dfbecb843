"""Visibility: criteria, and rules of which the last wins."""

import pytest

from tool_search_processor.components import Prompt, Resource, ResourceTemplate
from tool_search_processor.errors import ConfigurationError
from tool_search_processor.tools import Tool
from tool_search_processor.transforms import Namespace, Visibility
from tool_search_processor.transforms.rows import apply_transforms

TOOLS = (
    Tool("create_issue", tags={"write"}, namespace="github"),
    Tool("delete_repo", tags={"write", "admin"}, namespace="github"),
    Tool("admin_status", tags={"read", "admin"}, namespace="ops"),
    Tool("list_files", tags={"read"}),
)
ALL = [tool.name for tool in TOOLS]


def names(tools):
    return [tool.name for tool in tools]


@pytest.mark.parametrize(
    ("rules", "visible"),
    [
        ([], ALL),
        ([Visibility(True)], ALL),
        ([Visibility(False)], []),
        ([Visibility(False, tags={"admin"})], ["create_issue", "list_files"]),
        ([Visibility(False, tags={"admin", "read"})], ["create_issue"]),
        ([Visibility(False, names={"list_files"})], ALL[:3]),
        ([Visibility(False, names={"*_repo", "create_*"})], ["admin_status", "list_files"]),
        ([Visibility(False, names={"?ist_files"})], ALL[:3]),
        ([Visibility(False, names={"[cd]*"})], ["admin_status", "list_files"]),
        ([Visibility(False, names={"CREATE_*"})], ALL),
        ([Visibility(False, namespaces={"github"})], ["admin_status", "list_files"]),
        ([Visibility(False, namespaces={"git*"})], ALL),
        # of different kinds all must be met
        ([Visibility(False, namespaces={"github"}, tags={"admin"})], ["create_issue", *ALL[2:]]),
        ([Visibility(False, names={"*"}, tags={"none"})], ALL),
        # an empty criterion is met by nothing
        ([Visibility(False, names=set())], ALL),
        ([Visibility(False, tags=[])], ALL),
        ([Visibility(False, namespaces=())], ALL),
        ([Visibility(True, names=set(), only=True)], []),
        # only
        ([Visibility(True, names=["list_files"], only=True)], ["list_files"]),
        ([Visibility(True, namespaces={"github"}, only=True)], ALL[:2]),
        # the last rule that matches wins
        ([Visibility(False, tags={"admin"}), Visibility(True, names={"admin_status"})], [ALL[0], *ALL[2:]]),
        ([Visibility(True, names={"admin_status"}), Visibility(False, tags={"admin"})], [ALL[0], ALL[3]]),
        ([Visibility(False), Visibility(True, tags={"read"})], ALL[2:]),
        ([Visibility(False, names={"list_files"}), Visibility(True, tags={"read"}, only=True)], ALL[2:]),
        ([Visibility(True, tags={"read"}, only=True), Visibility(False, tags={"admin"})], ["list_files"]),
        (
            [Visibility(True, tags={"read"}, only=True), Visibility(True, tags={"write"}, only=True)],
            ["create_issue", "delete_repo"],
        ),
        ([Visibility(False), Visibility(True), Visibility(False, names={"list_files"})], ALL[:3]),
        ([Visibility(False, components=["resource", "prompt"])], ALL),
    ],
)
async def test_rules(rules, visible):
    assert names(await apply_transforms(rules, TOOLS)) == visible


async def test_criteria_may_come_from_any_iterable():
    given = {"names": iter(["list_*"]), "tags": iter(["read"]), "components": iter(["tool"])}
    assert names(await Visibility(False, **given).list_tools(TOOLS)) == ALL[:3]


async def test_one_alone_hides_at_once():
    assert names(await Visibility(False, tags={"admin"}).list_tools(TOOLS)) == ["create_issue", "list_files"]


async def test_what_is_hidden_stays_hidden_for_what_follows():
    row = [Visibility(False, tags={"admin"}), Namespace("x"), Visibility(True)]
    assert names(await apply_transforms(row, TOOLS)) == ["x_create_issue", "x_list_files"]


async def test_names_are_those_of_its_place():
    row = [Namespace("x"), Visibility(False, names={"x_create_issue", "list_files"})]
    assert names(await apply_transforms(row, TOOLS)) == ["x_delete_repo", "x_admin_status", "x_list_files"]


async def test_nothing_is_marked_or_changed():
    before = [tool.fingerprint for tool in TOOLS]
    shown = await apply_transforms([Visibility(False, tags={"admin"}), Visibility(True)], TOOLS)
    assert all(one is other for one, other in zip(shown, TOOLS, strict=True))
    assert [tool.fingerprint for tool in TOOLS] == before


async def test_merging_leaves_the_rules_as_they_were():
    hide, show = Visibility(False), Visibility(True)
    assert names(await apply_transforms([hide, show], TOOLS)) == ALL
    assert names(await hide.list_tools(TOOLS)) == []
    assert len(hide.rules) == len(show.rules) == 1


async def test_a_subclass_keeps_its_own_list_method():
    class Louder(Visibility):
        async def list_tools(self, tools):
            return [tool.replace(description="!") for tool in await super().list_tools(tools)]

    shown = await apply_transforms([Visibility(False, tags={"admin"}), Louder(True)], TOOLS)
    assert [(tool.name, tool.description) for tool in shown] == [("create_issue", "!"), ("list_files", "!")]


@pytest.mark.parametrize(
    ("kind", "shown", "hidden"),
    [
        ("tool", Tool("a"), Tool("b")),
        ("resource", Resource(uri="d://a", name="a"), Resource(uri="d://b", name="b")),
        (
            "resource_template",
            ResourceTemplate(uri_template="d://{a}", name="a"),
            ResourceTemplate(uri_template="d://{b}", name="b"),
        ),
        ("prompt", Prompt(name="a"), Prompt(name="b")),
    ],
)
async def test_every_kind_is_hidden_in_lists_and_lookups(kind, shown, hidden):
    visibility = Visibility(False, names={"b"})
    assert await getattr(visibility, f"list_{kind}s")([shown, hidden]) == [shown]
    for component, expected in ((shown, shown), (hidden, None), (None, None)):

        async def call_next(_, component=component):
            return component

        assert await getattr(visibility, f"get_{kind}")("key", call_next) is expected


async def test_resources_match_by_uri_too():
    resources = [Resource(uri="file:///secret/x", name="x"), Resource(uri="file:///open/y", name="y")]
    assert await Visibility(False, names={"file:///secret/*"}).list_resources(resources) == resources[1:]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"enabled": 1}, "enabled must be True or False, found 1"),
        ({"enabled": False, "names": "admin"}, "names must be a collection of strings, found 'admin'"),
        ({"enabled": False, "tags": "admin"}, "tags must be a collection of strings"),
        ({"enabled": False, "namespaces": [None]}, "namespaces must be a collection of strings"),
        ({"enabled": False, "components": ["tools"]}, r"components are of .*found \['tools'\]"),
        ({"enabled": True, "only": True}, "it needs enabled=True, and names, tags or namespaces"),
        ({"enabled": False, "only": True, "names": {"a"}}, "it needs enabled=True"),
    ],
)
def test_rules_that_cannot_be_meant_raise(arguments, message):
    with pytest.raises(ConfigurationError, match=message):
        Visibility(**arguments)


def test_the_rules_can_be_read():
    assert "admin" in repr(Visibility(False, tags={"admin"}))
