"""A set of tools: fingerprint, near names, likeness, namespaces, pinned ones, selections."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.support import names
from tool_search_processor.catalog.toolsets import ToolSet, has_any_label
from tool_search_processor.search.protocol import Document
from tool_search_processor.tools import Tool


def test_order_length_and_names():
    tools = ToolSet(iter([Tool("b"), Tool("a")]))
    assert names(tools) == ["b", "a"]
    assert len(tools) == 2
    assert tools.by_name["a"] is tools.tools[1]
    assert not ToolSet()


def test_later_sets_have_a_greater_generation():
    assert ToolSet().generation < ToolSet().generation


@pytest.mark.parametrize(
    ("other", "equal"),
    [
        ([Tool("a", description="A", tags={"x", "y"}), Tool("b")], True),
        ([Tool("a", description="A", tags={"y", "x"}, execute=print), Tool("b")], True),
        ([Tool("b"), Tool("a", description="A", tags={"x", "y"})], False),
        ([Tool("a", description="A", tags={"x"}), Tool("b")], False),
        ([Tool("a", description="B", tags={"x", "y"}), Tool("b")], False),
        ([Tool("a", description="A", tags={"x", "y"})], False),
        (
            [
                Tool("a", description="A", tags={"x", "y"}),
                Tool("b", parameters={"type": "object", "properties": {"q": {"type": "string"}}}),
            ],
            False,
        ),
        ([Tool("a", description="A", tags={"x", "y"}), Tool("b", namespace="n")], False),
        ([Tool("a", description="A", tags={"x", "y"}), Tool("b", keywords=("k",))], False),
    ],
)
def test_equal_content_in_equal_order_makes_an_equal_fingerprint(other, equal):
    tools = ToolSet([Tool("a", description="A", tags={"x", "y"}), Tool("b")])
    assert (tools.fingerprint == ToolSet(other).fingerprint) is equal


def test_documents_stand_in_order():
    tools = ToolSet([Tool("b", description="B"), Tool("a")])
    assert tools.documents == (Document(name="b", description="B"), Document(name="a"))


def test_namespaces_are_counted_in_order_of_appearance():
    tools = ToolSet(
        [
            Tool("a", namespace="z"),
            Tool("b"),
            Tool("c", namespace="k"),
            Tool("d", namespace="z"),
            Tool("e", namespace=""),
        ]
    )
    assert list(tools.namespaces.items()) == [("z", 2), ("k", 1)]


def test_pinned_tools_in_order():
    assert names(ToolSet([Tool("b", pinned=True), Tool("a"), Tool("c", pinned=True)]).pinned) == ["b", "c"]


# -- near names

NEAR = ToolSet(
    [
        Tool("create_issue", namespace="github"),
        Tool("gitlab_create_issue", namespace="gitlab"),
        Tool("api_v2_users", metadata={"original_name": "api/v2.users!"}),
        Tool("Straße".replace("ß", "ss")),
        Tool("same", namespace="same"),
    ]
)


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("create_issue", ["create_issue", "gitlab_create_issue"]),
        ("gitlab_create_issue", ["gitlab_create_issue"]),
        ("createIssue", ["create_issue", "gitlab_create_issue"]),
        ("CREATE-ISSUE", ["create_issue", "gitlab_create_issue"]),
        ("github_create_issue", ["create_issue"]),
        ("github.create_issue", ["create_issue"]),
        ("GitHub: create issue", ["create_issue"]),
        ("gitlab/createIssue", ["gitlab_create_issue"]),
        ("gitlab.gitlab_create_issue", ["gitlab_create_issue"]),
        ("api.v2.users", ["api_v2_users"]),
        ("APIv2 users", ["api_v2_users"]),
        ("straße", ["Strasse"]),
        ("same", ["same"]),
        ("same_same", ["same"]),
        ("create_issues", []),
        ("", []),
        ("___", []),
        ("issue", []),
        ("create_issue" + " " * 500, ["create_issue", "gitlab_create_issue"]),
    ],
)
def test_near_names_differ_by_case_separators_and_namespace(asked, found):
    assert names(NEAR.near(asked)) == found


def test_a_tool_without_letters_in_its_name_is_near_to_nothing_else():
    assert names(ToolSet([Tool("___"), Tool("a")]).near("a")) == ["a"]


# -- likeness

ALIKE = ToolSet(
    [Tool("send_email"), Tool("send_emails"), Tool("read_email"), Tool("mail"), Tool("list_users"), Tool("x")]
)


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("send_email", ["send_email", "send_emails", "mail", "read_email"]),
        ("sendEmial", ["send_email", "send_emails", "read_email"]),
        ("SEND-EMAIL", ["send_email", "send_emails", "mail", "read_email"]),
        ("lst_users", ["list_users"]),
        ("users", ["list_users"]),
        ("please_list_users", ["list_users"]),
        ("weather", []),
        ("", []),
        ("!?", []),
        ("y" * 100_000, []),
    ],
)
def test_names_alike_come_the_likest_first(asked, found):
    assert names(ALIKE.alike(asked)) == found


def test_equally_alike_names_keep_their_order():
    assert names(ToolSet([Tool("tool_b"), Tool("tool_a")]).alike("tool_c")) == ["tool_b", "tool_a"]


# -- selections

TAGGED = ToolSet([Tool("a", tags={"x"}), Tool("b", tags={"x", "y"}), Tool("c", tags={"y"}), Tool("d")])


@pytest.mark.parametrize(
    ("tags", "without", "selected"),
    [
        ((), (), None),
        ((), ("unknown",), None),
        (("x",), (), "ab"),
        (("x", "y"), (), "abc"),
        (("unknown",), (), ""),
        ((), ("a",), "bcd"),
        (("x",), ("a", "c"), "b"),
    ],
)
def test_selections_hold_any_of_the_tags_less_those_left_out(tags, without, selected):
    found = TAGGED.select(tags=frozenset(tags), without=frozenset(without))
    assert found == (None if selected is None else frozenset(selected))


def test_equal_selections_are_one_object():
    one = TAGGED.select(tags=frozenset({"x"}), without=frozenset({"a"}))
    assert TAGGED.select(tags=frozenset({"x"}), without=frozenset({"a"})) is one


def test_selections_are_bounded_and_hold_in_many_threads():
    tools = ToolSet([Tool("a", tags={"x"}), Tool("b")])
    ready = threading.Barrier(4)

    def select(_):
        ready.wait(30)
        for i in range(2000):
            chosen = tools.select(tags=frozenset(), without=frozenset({"a", f"other_{i}"}))
            assert chosen == {"b"}

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(select, range(4)))
    assert len(tools._selections) <= 70


@pytest.mark.parametrize(
    ("tags", "expected"), [((), True), ({"x"}, True), (["z", "x"], True), ({"z"}, False)]
)
def test_bearing_any_of_the_tags(tags, expected):
    assert has_any_label(Tool("a", tags={"x", "y"}), tags) is expected
