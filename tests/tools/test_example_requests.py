"""Example requests of tools: what is taken, what is refused, and who reads them."""

import pytest

from tool_search_processor import ConfigurationError, Tool, tool
from tool_search_processor.errors import InvalidToolError
from tool_search_processor.transforms import ToolTransform, ToolTransformConfig

ASKED = ("file a bug", "report that the login is broken")


def test_they_are_kept_in_order_each_once_and_cleaned():
    made = Tool("a", example_requests=["b", "a", "b", "\ud800c"])
    assert made.example_requests == ("b", "a", "\N{REPLACEMENT CHARACTER}c")
    assert Tool("a", example_requests={"b", "a"}).example_requests == ("a", "b")


def test_a_decorator_and_replace_take_them():
    @tool(example_requests=list(ASKED))
    def create_issue(title: str) -> str:
        return title

    assert create_issue.example_requests == ASKED
    assert create_issue.replace(example_requests=("x",)).example_requests == ("x",)
    assert create_issue.replace(name="b").example_requests == ASKED


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ("file a bug", "example_requests of the tool 'a' is a collection of strings.*found 'file a bug'"),
        ([1], "example_requests of the tool 'a' is a collection of strings only"),
        ([" "], "an example request of the tool 'a' is one to 500 characters, found 1"),
        (["x" * 501], "an example request of the tool 'a' is one to 500 characters, found 501"),
        ([f"request {n}" for n in range(101)], "the tool 'a' has 101 example_requests: the most is 100"),
    ],
)
def test_what_cannot_work_is_refused_at_once(given, match):
    with pytest.raises(InvalidToolError, match=match):
        Tool("a", example_requests=given)
    with pytest.raises(ConfigurationError, match="request"):
        ToolTransformConfig(example_requests=given)


def test_they_change_the_fingerprint_and_nothing_that_a_model_is_sent():
    bare, asked = Tool("a", "Does a."), Tool("a", "Does a.", example_requests=ASKED)
    assert bare.fingerprint != asked.fingerprint
    assert bare.replace(example_requests=()).fingerprint == bare.fingerprint
    assert (bare.to_openai(), bare.to_anthropic(), bare.to_mcp()) == (
        asked.to_openai(),
        asked.to_anthropic(),
        asked.to_mcp(),
    )


@pytest.mark.parametrize("key", ["example_requests", "x-example-requests"])
def test_importers_read_them(key):
    function = {"name": "a", "parameters": {"type": "object"}, key: list(ASKED)}
    flat = {"type": "function", **function}
    nested = {"type": "function", "function": function}
    anthropic = {"name": "a", "input_schema": {"type": "object"}, key: list(ASKED)}
    mcp = {"name": "a", "inputSchema": {"type": "object"}, "_meta": {key: list(ASKED)}}
    made = [
        Tool.from_openai(flat),
        Tool.from_openai(nested),
        Tool.from_anthropic(anthropic),
        Tool.from_mcp(mcp),
    ]
    assert [one.example_requests for one in made] == [ASKED] * 4
    assert Tool.from_mcp(mcp, example_requests=["x"]).example_requests == ("x",)


@pytest.mark.parametrize("given", ["text", 3, {"a": 1}, [1, None, "", "x" * 501], None])
def test_what_a_server_writes_there_never_costs_its_tool(given):
    made = Tool.from_mcp({"name": "a", "inputSchema": {}, "_meta": {"example_requests": given}})
    assert made.example_requests == ()


def test_what_a_server_writes_there_is_cut_to_a_hundred_lines_that_hide_nothing():
    given = ["two\nlines", "in\u200bvisible", *map(str, range(200))]
    made = Tool.from_mcp({"name": "a", "inputSchema": {}, "_meta": {"example_requests": given}})
    assert made.example_requests[:3] == ("two lines", "invisible", "0")
    assert len(made.example_requests) == 100


async def test_a_transform_sets_them():
    [changed] = await ToolTransform({"a": {"example_requests": ["x"]}}).list_tools(
        [Tool("a", example_requests=ASKED)]
    )
    assert changed.example_requests == ("x",)
    [kept] = await ToolTransform({"a": {"description": "d"}}).list_tools([Tool("a", example_requests=ASKED)])
    assert kept.example_requests == ASKED
