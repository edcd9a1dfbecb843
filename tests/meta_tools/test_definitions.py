"""The meta-tools as a model is sent them, whole: a changed word changes what models do and what is cached."""

from __future__ import annotations

import pytest

from tool_search_processor.meta_tools.definitions import call_tool, load_tool, search_tool, unload_tool
from tool_search_processor.meta_tools.meta_tool_names import MetaToolNames
from tool_search_processor.tools import ToolContext


def names_of(mode="load", **fields):
    given = {"search": "find", "load": "get", "call": "run", "unload": "drop", "allow_unload": True}
    return MetaToolNames(mode=mode, **{**given, **fields})


def sent(tool):
    definition = tool.to_openai()
    assert definition["type"] == "function"
    assert definition["function"]["parameters"] == tool.parameters, "nothing had to be mended"
    return definition["function"]


QUERY = "What you need to do, in a few words, such as 'create github issue'; or a tool's name."
PATTERN = (
    "A case-insensitive regular expression over names, descriptions and parameters (RE2 syntax, at most 200 "
    "characters), such as 'issue|ticket'."
)


@pytest.mark.parametrize(
    ("mode", "inventory", "takes_pattern", "description", "query"),
    [
        (
            "load",
            "",
            False,
            "Find tools that are available but not listed. Then make tools callable with get.",
            QUERY,
        ),
        (
            "auto_load",
            "There are 3 of them.",
            False,
            "Find tools that are available but not listed. There are 3 of them. The tools it returns become "
            "callable in your next step.",
            QUERY,
        ),
        (
            "call",
            "",
            True,
            "Find tools that are available but not listed. Then run a tool with run.",
            PATTERN,
        ),
    ],
    ids=["load", "auto_load", "call, pattern"],
)
def test_the_search_tool(mode, inventory, takes_pattern, description, query):
    tool = search_tool(names_of(mode), inventory=inventory, takes_pattern=takes_pattern, default_limit=7)
    assert sent(tool) == {
        "name": "find",
        "description": description,
        "parameters": {
            "type": "object",
            "properties": {
                "query": {
                    "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}],
                    "description": f"{query} A list asks several things at once.",
                },
                "limit": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": 20,
                    "description": "Results for each query, 7 by default or more.",
                },
            },
            "required": ["query"],
        },
    }
    assert (tool.annotations, tool.pinned) == ({"readOnlyHint": True}, True)


@pytest.mark.parametrize(
    ("make", "name", "description", "what"),
    [
        (
            load_tool,
            "get",
            "Load tools that find found, by name. They become callable in your next step.",
            "Names of the tools to load, as the search gave them.",
        ),
        (
            unload_tool,
            "drop",
            "Unload tools that you no longer need. They stay findable and can be loaded again.",
            "Names of the tools to unload.",
        ),
    ],
)
def test_the_tools_that_take_names(make, name, description, what):
    tool = make(names_of())
    assert sent(tool) == {
        "name": name,
        "description": description,
        "parameters": {
            "type": "object",
            "properties": {"tool_names": {"type": "array", "items": {"type": "string"}, "description": what}},
            "required": ["tool_names"],
        },
    }
    assert tool.pinned


def test_the_call_tool():
    tool = call_tool(names_of("call"))
    assert sent(tool) == {
        "name": "run",
        "description": "Run a tool that find found, with arguments that fit its parameters.",
        "parameters": {
            "type": "object",
            "properties": {
                "name": {"type": "string", "description": "The tool's name, as the search gave it."},
                "arguments": {
                    "type": "object",
                    "description": "The tool's arguments, as its parameters describe them.",
                    "additionalProperties": True,
                },
            },
            "required": ["name"],
        },
    }
    assert tool.pinned


@pytest.mark.parametrize("context", [None, ToolContext(thread_id="t")])
async def test_a_handler_gets_an_object_and_a_context_whatever_was_written(context):
    got = []

    async def handler(arguments, given):
        got.append((arguments, given))

    tool = load_tool(names_of()).answered_by(handler)
    for written in ({"a": 1}, '{"a": 1}', None, "x", [1]):
        await tool.call(written, context)
    assert [arguments for arguments, _ in got] == [{"a": 1}, {"a": 1}, {}, {}, {}]
    assert all(given == (context or ToolContext()) for _, given in got)
    assert await tool.target('{"a": 1}', context) == (tool, {"a": 1})


async def test_a_proxy_finds_what_runs_or_leaves_it_to_the_handler():
    got = []

    async def proxy(arguments, context):
        got.append((arguments, context))
        return ("target", {"x": 1}) if arguments else None

    tool = call_tool(names_of("call")).answered_by(None, proxy=proxy)
    context = ToolContext(thread_id="t")
    assert await tool.target('{"name": "a"}', context) == ("target", {"x": 1})
    assert await tool.target(None) == (tool, {})
    assert got == [({"name": "a"}, context), ({}, ToolContext())]


@pytest.mark.parametrize(
    ("mode", "present", "loading"),
    [
        ("load", ("find", "get"), {"get"}),
        ("auto_load", ("find",), {"find"}),
        ("call", ("find", "run"), set()),
    ],
)
def test_which_names_are_present_and_which_load(mode, present, loading):
    assert names_of(mode, allow_unload=False).present == present
    assert names_of(mode).present == (*present, "drop")
    assert names_of(mode).loading == loading
