"""TagFilter."""

import pytest

from tool_search_processor.errors import ConfigurationError
from tool_search_processor.tools import Tool
from tool_search_processor.transforms import TagFilter

TOOLS = (Tool("a", tags={"x"}), Tool("b", tags={"x", "y"}), Tool("c", tags={"z"}), Tool("d"))


@pytest.mark.parametrize(
    ("transform", "kept"),
    [
        (TagFilter({"x"}), "ab"),
        (TagFilter(["y", "z"]), "bc"),
        (TagFilter({"x", "y"}, mode="all"), "b"),
        (TagFilter({"x"}, exclude={"y"}), "a"),
        (TagFilter({"x", "y"}, mode="all", exclude={"x"}), ""),
        (TagFilter(exclude={"x", "z"}), "d"),
        (TagFilter(None, exclude=["none"]), "abcd"),
        (TagFilter(set()), ""),
        (TagFilter(set(), mode="all"), ""),
        (TagFilter((), exclude={"x"}), ""),
    ],
)
async def test_list_and_get_keep_the_same(transform, kept):
    assert "".join(tool.name for tool in await transform.list_tools(TOOLS)) == kept
    by_name = {tool.name: tool for tool in TOOLS}

    async def call_next(name):
        return by_name.get(name)

    found = [await transform.get_tool(name, call_next) for name in "abcde"]
    assert "".join(tool.name for tool in found if tool) == kept


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "it would filter nothing"),
        ({"tags": "admin"}, "tags must be a collection of strings, found 'admin'"),
        ({"tags": {"a"}, "exclude": "admin"}, "exclude must be a collection of strings"),
        ({"tags": [1]}, "tags must be a collection of strings"),
        ({"tags": {"a"}, "mode": "some"}, "mode must be 'any' or 'all', found 'some'"),
    ],
)
def test_what_cannot_be_meant_raises(arguments, message):
    with pytest.raises(ConfigurationError, match=message):
        TagFilter(**arguments)


def test_repr():
    assert repr(TagFilter({"b", "a"}, exclude={"c"})) == "TagFilter(['a', 'b'], mode='any', exclude=['c'])"
    assert repr(TagFilter(exclude={"c"})) == "TagFilter(None, mode='any', exclude=['c'])"
