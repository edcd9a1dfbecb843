"""Tools called by name: the table of names, and reading a query for them."""

import pytest

from tool_search_processor.search.bm25.name_match import EXACT, MENTIONED, SUFFIX, named
from tool_search_processor.search.bm25.name_table import NameTable

NAMES = [
    "create_issue",
    "github_create_issue",
    "mcp__browser__browser_open",
    "search",
    "createIssue",
    "docs.read-page",
]
TABLE = NameTable(NAMES)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("create_issue", {"create_issue": EXACT, "createIssue": EXACT}),
        ("Create Issue", {"create_issue": EXACT, "createIssue": EXACT}),
        ("search", {"search": EXACT}),
        ("browser_open", {"mcp__browser__browser_open": SUFFIX}),
        ("open", {}),
        ("read page", {"docs.read-page": SUFFIX}),
        ("select: search, docs.read-page", {"search": EXACT, "docs.read-page": EXACT}),
        ("select:search,missing_tool", {}),
        ("search, docs.read-page", {"search": EXACT, "docs.read-page": EXACT}),
        ("search for a page", {}),
        ("use `search` for it", {"search": MENTIONED}),
        ("use 'search' for it", {}),
        ('use "docs.read-page" for it', {"docs.read-page": MENTIONED}),
        ("call docs.read_page now", {"docs.read-page": MENTIONED}),
        ("call createIssue now", {"create_issue": MENTIONED, "createIssue": MENTIONED}),
        ("call browser_open now", {}),
        ("issue", {}),
        ("", {}),
        ("...", {}),
        ("x" * 500, {}),
    ],
)
def test_named(query, found):
    numbers = named(query, exact=TABLE.exact, suffix=TABLE.suffix)
    assert {NAMES[number]: score for number, score in numbers.items()} == found


def test_an_empty_table_holds_nothing():
    assert NameTable([]).exact("anything") == []
    assert NameTable([]).suffix("anything") == []


def test_a_suffix_begins_at_the_edge_of_a_part():
    assert TABLE.suffix("issue") == [0, 1, 4]
    assert TABLE.suffix("sue") == []
    assert TABLE.suffix("createissue") == [1]
