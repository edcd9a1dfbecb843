"""What counts as a transform, and what one remembers of its last list."""

import pytest

from tool_search_processor.errors import ConfigurationError
from tool_search_processor.tools import Tool
from tool_search_processor.transforms import Namespace
from tool_search_processor.transforms.transform import ToolMemo, as_transforms


def test_as_transforms_takes_instances():
    one = Namespace("a")
    assert as_transforms([one]) == (one,)
    with pytest.raises(ConfigurationError, match="put it in a list"):
        as_transforms(one)
    with pytest.raises(ConfigurationError, match=r"create it, as in Namespace\('api'\)"):
        as_transforms([Namespace])


TOOLS = (Tool("read"), Tool("write"), Tool("both"))


def test_the_memo_changes_each_tool_once_and_forgets_what_is_gone():
    calls = []
    memo = ToolMemo()

    def change(tool):
        calls.append(tool.name)
        return None if tool.name == "write" else tool.replace(description="x")

    first = memo.map(TOOLS, change)
    assert [tool.name for tool in first] == ["read", "both"]
    again = memo.map([*TOOLS, Tool("new")], change)
    assert again[0] is first[0]
    assert calls == ["read", "write", "both", "new"]
    memo.map([], change)
    memo.map(TOOLS[:1], change)
    assert calls[-1] == "read"
