"""What a tool_choice says, in each provider's shape."""

from types import SimpleNamespace

import pytest

from tool_search_processor.session.tool_choices import ToolChoice, read_tool_choice

ANY = ToolChoice(is_forced=True)
NONE = ToolChoice(is_none=True)
ONE = ToolChoice(names=("a",), is_forced=True)
TWO = {"tools": [{"type": "function", "function": {"name": "a"}}, {"type": "function", "name": "b"}]}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, ToolChoice()),
        ("auto", ToolChoice()),
        ("none", NONE),
        ("required", ANY),
        ("any", ANY),
        ("ANY", ANY),
        ({"type": "auto"}, ToolChoice()),
        ({"type": "none"}, NONE),
        ({"type": "any"}, ANY),
        ({"type": "any", "disable_parallel_tool_use": True}, ANY),
        ({"type": "function", "function": {"name": "a"}}, ONE),
        ({"function": {"name": "a"}}, ONE),
        ({"type": "function", "name": "a"}, ONE),
        ({"type": "tool", "name": "a"}, ONE),
        ({"type": "custom", "custom": {"name": "a"}}, ONE),
        ({"name": "a"}, ONE),
        (SimpleNamespace(type="function", function=SimpleNamespace(name="a")), ONE),
        ({"tool": {"name": "a"}}, ONE),
        ({"any": {}}, ANY),
        ({"auto": {}}, ToolChoice()),
        (
            {"type": "allowed_tools", "allowed_tools": {"mode": "required", **TWO}},
            ToolChoice(names=("a", "b"), is_forced=True),
        ),
        ({"type": "allowed_tools", "mode": "auto", **TWO}, ToolChoice(names=("a", "b"))),
        (
            {"function_calling_config": {"mode": "ANY", "allowed_function_names": ["a"]}},
            ONE,
        ),
        ({"functionCallingConfig": {"mode": "ANY"}}, ANY),
        ({"functionCallingConfig": {"mode": "AUTO"}}, ToolChoice()),
        ({"functionCallingConfig": {"mode": "NONE"}}, NONE),
        ({"functionCallingConfig": {}}, ToolChoice()),
        ({"type": "file_search"}, ANY),
        ({"type": "mcp", "server_label": "s", "name": "a"}, ANY),
    ],
    ids=str,
)
def test_every_shape(value, expected):
    assert read_tool_choice(value) == expected
