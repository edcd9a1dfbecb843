"""What one request sees of a catalog."""

import pytest

from tests.support import ScoredIndex, names
from tool_search_processor.catalog.indexes import IndexPool
from tool_search_processor.catalog.request_view import CatalogView
from tool_search_processor.catalog.toolsets import ToolSet
from tool_search_processor.tools import Tool

SHARED = ToolSet(
    [
        Tool("read_file", namespace="fs", pinned=True),
        Tool("send_mail", namespace="mail"),
        Tool("write_file", namespace="fs"),
    ]
)


def view(*own, **options):
    return CatalogView(SHARED, ToolSet(own), indexes=IndexPool("bm25"), **options)


def test_shared_tools_come_first_and_an_own_one_hides_its_namesake():
    hiding = Tool("send_mail", description="own")
    seen = view(Tool("b"), hiding, Tool("a"))
    assert names(seen) == ["read_file", "write_file", "b", "send_mail", "a"]
    assert len(seen) == 5
    assert seen.get("send_mail") is hiding
    assert seen.get("read_file") is SHARED.by_name["read_file"]
    assert seen.get("unknown") is None
    assert names(view()) == names(SHARED)
    assert len(view()) == 3


def test_fingerprints():
    assert view().fingerprint == SHARED.fingerprint
    assert view(Tool("a")).fingerprint == view(Tool("a")).fingerprint
    assert (
        len({view(*own).fingerprint for own in ((), (Tool("a"),), (Tool("b"),), (Tool("a"), Tool("b")))}) == 4
    )


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        ([], [("fs", 2), ("mail", 1)]),
        (
            [Tool("a", namespace="x"), Tool("b", namespace="fs"), Tool("c")],
            [("fs", 3), ("mail", 1), ("x", 1)],
        ),
        ([Tool("send_mail", namespace="x")], [("fs", 2), ("x", 1)]),
        ([Tool("read_file")], [("fs", 1), ("mail", 1)]),
        ([Tool("send_mail", namespace="mail")], [("fs", 2), ("mail", 1)]),
    ],
)
def test_namespaces_are_counted_over_what_is_seen(own, expected):
    assert list(view(*own).namespaces().items()) == expected


def test_pinned_tools_are_those_that_say_so_then_those_named():
    seen = view(Tool("a", pinned=True), Tool("b"))
    assert names(seen.pinned()) == ["read_file", "a"]
    assert names(seen.pinned(["b", "write_file", "unknown", "read_file"])) == [
        "read_file",
        "a",
        "b",
        "write_file",
    ]
    assert names(view(Tool("read_file")).pinned()) == []


def test_near_and_alike_names_leave_out_what_is_hidden():
    seen = view(Tool("sendMail2"), Tool("send_mail", description="own"))
    assert [tool.description for tool in seen.near("SendMail")] == ["own"]
    assert [(tool.name, tool.description) for tool in seen.alike("send_mail")] == [
        ("send_mail", "own"),
        ("sendMail2", ""),
    ]
    assert names(seen.near("WriteFile")) == ["write_file"]


def test_more_own_tools_hide_those_before():
    first = view(Tool("a", description="first"), Tool("b"))
    assert first.with_own([]) is first
    second = first.with_own([Tool("a", description="second"), Tool("send_mail")])
    assert [(tool.name, tool.description) for tool in second.own] == [
        ("b", ""),
        ("a", "second"),
        ("send_mail", ""),
    ]
    assert first.get("a").description == "first"
    assert second.shared is SHARED


async def test_fetching_asks_only_for_what_is_listed_and_not_added():
    asked = []

    async def fetch(name):
        asked.append(name)

    seen = view(Tool("a"), lookup=fetch).with_own([Tool("b")]).with_own([Tool("c")])
    assert await seen.fetch("unknown") is None
    assert (await seen.fetch("b")).name == "b"
    assert (await seen.fetch("c")).name == "c"
    assert asked == []
    assert await seen.fetch("a") is None
    assert await seen.fetch("read_file") is None
    assert asked == ["a", "read_file"]
    assert (await view().fetch("read_file")).name == "read_file"


async def test_search_and_count_cover_both_parts():
    seen = view(Tool("read_mail", tags={"own"}))
    assert set(names(await seen.search("mail"))) == {"send_mail", "read_mail"}
    assert names(await seen.search("mail", tags=frozenset({"own"}))) == ["read_mail"]
    assert names(await seen.search("mail", without=frozenset({"read_mail"}))) == ["send_mail"]
    assert len(await seen.search("mail", limit=1)) == 1
    assert await seen.count("mail") == 2
    assert await seen.count("mail", tags=frozenset({"own"})) == 1


async def test_the_same_view_is_searched_by_other_indexes():
    index = ScoredIndex({"read_file": 0.5, "own": 0.4})
    other = view(Tool("own")).with_own([Tool("more")]).searched_by(IndexPool(index))
    assert [hit.name for hit in await other.search("anything")] == ["read_file", "own"]
    assert names(other) == ["read_file", "send_mail", "write_file", "own", "more"]
