"""What a tool_choice says, in each provider's shape."""

from types import SimpleNamespace

import pytest

from tests.support import step
from tool_search_processor.errors import ConfigurationError
from tool_search_processor.session.tool_choices import ToolChoice, check_tool_choice, read_tool_choice
from tool_search_processor.tools import Tool

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
        ({"required": {}}, ANY),
        ({"none": {}}, NONE),
        ({"type": "custom", "name": 5}, ANY),
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
        ({"functionCallingConfig": {"mode": "any", "allowedFunctionNames": ["a", 5]}}, ONE),
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


@pytest.mark.parametrize(
    ("choice", "forbidden"),
    [
        (ToolChoice(), ""),
        (ANY, ""),
        (ONE, ""),  # the provider sees to it
        (ToolChoice(names=("a",)), "bc"),
        (ToolChoice(names=("a", "b")), "c"),
        (ToolChoice(names=("a", "b"), is_forced=True), "c"),
    ],
    ids=str,
)
def test_of_several_allowed_tools_every_other_is_forbidden(choice, forbidden):
    assert [name for name in "abc" if choice.forbids(name)] == list(forbidden)


@pytest.mark.parametrize("choice", [None, "required", {"type": "tool", "name": "t3"}])
def test_a_choice_of_what_is_listed_is_fine(choice):
    check_tool_choice(step(*(Tool(f"t{n}") for n in range(4)), tool_choice=choice))


@pytest.mark.parametrize(
    ("count", "shown"), [(0, "nothing"), (1, "t0"), (12, ", ".join(f"t{n}" for n in range(10)))]
)
def test_a_choice_of_what_is_not_listed_is_refused_and_ten_names_that_are_listed_are_shown(count, shown):
    with pytest.raises(ConfigurationError) as caught:
        check_tool_choice(
            step(*(Tool(f"t{n}") for n in range(count)), tool_choice={"type": "tool", "name": "x"})
        )
    assert str(caught.value) == (
        "tool_choice names 'x', and there is no such tool for this request: name a tool of the catalog that "
        f"the filter admits, or a tool that is listed ({shown})"
    )
