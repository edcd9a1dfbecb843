"""Whatever a program passes where something else belongs: a clear error of ours, or it works."""

from __future__ import annotations

import contextlib
import inspect

import pytest

from tests.garbage import GARBAGE, places, with_garbage
from tool_search_processor import Agent, MemoryStore, TokenLimiter, Tool, ToolSearchProcessor, ToolSession
from tool_search_processor.errors import ToolSearchError
from tool_search_processor.policy.cached_filters import cached_filter
from tool_search_processor.testing import ScriptedModel

ANYTHING = [*GARBAGE, object(), lambda: 1, int, b"x", {1, 2}, (1,), -5, 10**9]
CALLS = [{"id": "1", "function": {"name": "x"}}]

BUILT = {
    ToolSearchProcessor: {},
    Agent: {"name": "a", "model": "m"},
    TokenLimiter: {"limit": 1},
    MemoryStore: {},
    ToolSession: {},
    Tool: {"name": "a"},
    cached_filter: {"filter": lambda request: True, "key": lambda request: 1},
}
OPTIONS = [
    (build, option.name)
    for build in BUILT
    for option in inspect.signature(build).parameters.values()
    if option.kind is not option.VAR_POSITIONAL
]


@pytest.mark.parametrize(
    ("build", "option"), OPTIONS, ids=[f"{build.__name__}.{option}" for build, option in OPTIONS]
)
def test_an_option_of_any_kind(build, option):
    for value in ANYTHING:
        with contextlib.suppress(ToolSearchError, ImportError):  # an extra may be missing for a strategy
            build(**{**BUILT[build], option: value})


def test_processors_of_any_kind():
    for value in ANYTHING:
        with contextlib.suppress(ToolSearchError):
            ToolSession(value)


def agent():
    return Agent("a", "m", completion=ScriptedModel(["done"] * 3))


def processor():
    return ToolSearchProcessor([Tool("a")])


ASKED = {
    "search": lambda value: processor().search(value),
    "search.limit": lambda value: processor().search("a", limit=value),
    "search.tags": lambda value: processor().search("a", tags=value),
    "search.context": lambda value: processor().search("a", context=value),
    "load": lambda value: processor().load(value, thread_id="t"),
    "load.thread_id": lambda value: processor().load("a", thread_id=value),
    "unload": lambda value: processor().unload(value, thread_id="t"),
    "loaded": lambda value: processor().loaded(value),
    "clear": lambda value: processor().clear(value),
    "run": lambda value: agent().run(value),
    "run.context": lambda value: agent().run("x", context=value),
    "run.thread_id": lambda value: agent().run("x", thread_id=value),
    "run.messages": lambda value: agent().run("x", messages=value),
    "resume": lambda value: agent().resume(value, {}),
    "resume.approvals": lambda value: agent().resume([{"role": "assistant", "tool_calls": CALLS}], value),
    "session.tools": lambda value: processor().session().tools(value),
    "session.execute": lambda value: processor().session().execute(value),
    "session.approvals": lambda value: processor().session().execute(CALLS, approvals=value),
}


@pytest.mark.parametrize("what", ASKED)
async def test_an_argument_of_any_kind(what):
    for value in ANYTHING:
        with contextlib.suppress(ToolSearchError):
            await ASKED[what](value)


SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
DEFINITIONS = {
    "openai": {"type": "function", "function": {"name": "a", "description": "d", "parameters": SCHEMA}},
    "anthropic": {"name": "a", "description": "d", "input_schema": SCHEMA},
    "mcp": {
        "name": "a",
        "title": "t",
        "inputSchema": SCHEMA,
        "annotations": {"title": "x"},
        "_meta": {"a": 1},
    },
}


@pytest.mark.parametrize("kind", DEFINITIONS)
def test_a_definition_with_anything_in_any_place(kind):
    definition = DEFINITIONS[kind]
    for path in places(definition):
        for value in GARBAGE:
            with contextlib.suppress(ToolSearchError):
                getattr(Tool, f"from_{kind}")(with_garbage(definition, path, value)).to_openai()
