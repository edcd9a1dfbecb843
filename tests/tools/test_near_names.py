"""What a model certainly means by a name, and where that is not certain."""

import pytest

from tests.tools.written_names import WRITTEN
from tool_search_processor.tools.near_names import meant_name, plain_form, spoken_names


@pytest.mark.parametrize("written", WRITTEN)
def test_what_is_certain(written):
    assert meant_name(written, ["list_issues", "create_issue"]) == "create_issue"


@pytest.mark.parametrize(
    "written", ["", " ", "functions.", "<|x|>", "create_issues", "github.create_issue", "create", "x", "()"]
)
def test_what_is_not(written):
    assert meant_name(written, ["list_issues", "create_issue"]) is None


@pytest.mark.parametrize(
    ("written", "names", "meant"),
    [
        ("tools.x", ["x", "toolsx"], "toolsx"),  # nearer, as it was written
        ("Tool", ["TOOL", "tool"], None),
        ("TOOL", ["TOOL", "tool"], "TOOL"),
        ("functions.tool", ["TOOL", "tool"], "tool"),
        ("\u0438\u043c\u044f", ["x"], None),
        ("--", ["__"], None),
    ],
)
def test_the_nearest_counts_and_two_that_are_as_near_are_none(written, names, meant):
    assert meant_name(written, names) == meant


def test_long_names_cost_little():
    assert len(list(spoken_names("functions." * 100_000))) < 5
    assert len(plain_form("a" * 100_000)) == 200
