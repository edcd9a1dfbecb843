"""A forced tool_choice: it holds until the first call, and what it names is there at the first step."""

import pytest

from tests.support import Policy, make
from tool_search_processor.agent import Agent
from tool_search_processor.agent.runs import StepStart
from tool_search_processor.errors import ConfigurationError
from tool_search_processor.processor import ToolSearchProcessor
from tool_search_processor.stores import HistoryStore
from tool_search_processor.testing import ScriptedModel, call, say
from tool_search_processor.tools import Tool

SHELVES = make("list_shelves", "Lists the shelves.")
BOOKS = make("list_books", "Lists the books.")
CHAT = {"type": "function", "function": {"name": "list_shelves"}}
SHAPES = [
    CHAT,
    {"type": "function", "name": "list_shelves"},
    {"type": "tool", "name": "list_shelves"},
    {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [CHAT]}},
]
META = ["search_tools", "load_tool"]


def forcing(choice, *script, tools=(), own=(), **options):
    search = ToolSearchProcessor([SHELVES, BOOKS, *tools], **options)
    return forced(choice, script, own, search)


def forced(choice, script, own, *processors):
    """Return an agent whose model is forced, and the model."""
    model = ScriptedModel(script)
    agent = Agent(
        "a",
        "m",
        completion=model,
        tools=own,
        input_processors=processors,
        model_settings={"tool_choice": choice},
    )
    return agent, model


def choices(model):
    return [request.settings.get("tool_choice") for request in model.requests]


def sent(model):
    return [request.tool_names for request in model.requests]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("choice", SHAPES)
async def test_a_forced_catalog_tool_is_loaded_first_and_forced_until_the_first_call(choice, stream):
    agent, model = forcing(choice, call("list_shelves"), call("list_shelves"), "Two.")
    if stream:
        events = [event async for event in agent.stream("how many?")]
        result = events[-1].result
        assert next(event for event in events if isinstance(event, StepStart)).tools == sent(model)[0]
    else:
        result = await agent.run("how many?")
    assert (result.finish_reason, result.output) == ("stop", "Two.")
    assert choices(model) == [choice, None, None]
    assert sent(model) == [[*META, "list_shelves"]] * 3


@pytest.mark.parametrize("choice", ["required", "any", {"type": "any"}])
async def test_so_is_a_call_of_any_tool(choice):
    agent, model = forcing(choice, call("search_tools", {"query": "shelves"}), "Two.")
    assert (await agent.run("how many?")).output == "Two."
    assert choices(model) == [choice, None]


@pytest.mark.parametrize("choice", ["auto", "none", {"type": "auto"}])
async def test_what_forces_nothing_stays(choice):
    agent, model = forcing(choice, call("list_shelves"), "Two.")
    await agent.run("how many?")
    assert choices(model) == [choice, choice]


async def test_allowed_tools_are_there_at_every_step():
    choice = {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [CHAT]}}
    agent, model = forcing(choice, call("list_shelves"), "Two.")
    await agent.run("how many?")
    assert choices(model) == [choice, choice]
    assert sent(model) == [[*META, "list_shelves"]] * 2


async def test_what_is_not_among_the_allowed_tools_does_not_run():
    """Anthropic can be told of one tool only, and weak models keep to no choice."""
    chosen = [CHAT, {"type": "function", "function": {"name": "own"}}]
    for choice in (
        {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": chosen[:1]}},
        {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": chosen}},
        {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["list_shelves", "own"]}},
    ):
        agent, _ = forcing(choice, [call("list_books"), call("list_shelves")], "Two.", own=[make("own")])
        books, shelves = (m for m in (await agent.run("how many?")).messages if m["role"] == "tool")
        assert books["content"].startswith(
            "Error: list_books was not run: only these tools may be called now: "
        )
        assert not shelves["content"].startswith("Error")


@pytest.mark.parametrize(
    ("options", "listed"),
    [
        ({"mode": "auto_load"}, ["search_tools", "list_shelves"]),
        ({"mode": "call"}, ["search_tools", "call_tool", "list_shelves"]),
        ({"store": HistoryStore()}, [*META, "list_shelves"]),
        ({"pinned": ["list_shelves"]}, [*META, "list_shelves"]),
        ({"passthrough_tokens": 10**6}, ["list_shelves", "list_books"]),
        ({"preload": 1, "max_loaded": 1}, [*META, "list_shelves"]),
    ],
)
async def test_whatever_the_mode(options, listed):
    agent, model = forcing(CHAT, call("list_shelves"), "Two.", **options)
    assert (await agent.run("how many books?")).output == "Two."
    assert sent(model)[0] == listed


async def test_a_tool_of_the_step_that_is_withheld_is_loaded_too():
    own = make("list_shelves")
    search = ToolSearchProcessor([BOOKS], include_step_tools=True)
    agent, model = forced(CHAT, [call("list_shelves"), "Two."], [own], search)
    assert (await agent.run("how many?")).output == "Two."
    assert sent(model)[0] == [*META, "list_shelves"]


async def test_a_meta_tool_and_an_own_tool_can_be_forced_too():
    for name in ("search_tools", "always_on"):
        choice = {"type": "function", "function": {"name": name}}
        agent, model = forcing(choice, call(name, {"query": "x"}), "Two.", own=[make("always_on")])
        assert (await agent.run("how many?")).output == "Two."
        assert choices(model) == [choice, None]


@pytest.mark.parametrize("phase", ["load", "active"])
async def test_one_that_policy_denies_is_as_an_unknown_one(phase):
    for options, choice in (
        ({"filter": Policy((phase, "list_shelves"))}, CHAT),
        ({}, {"type": "tool", "name": "no_such_tool"}),
    ):
        agent, model = forcing(choice, "never", **options)
        with pytest.raises(ConfigurationError, match=r"tool_choice names '\w+', and there is no such tool"):
            await agent.run("how many?")
        assert sent(model) == []


async def test_an_unknown_one_is_refused_without_a_searcher_and_in_a_stream():
    agent, _ = forced(CHAT, ["never"], [make("a")])
    with pytest.raises(ConfigurationError, match=r"a tool that is listed \(a\)"):
        [event async for event in agent.stream("how many?")]


async def test_a_call_that_was_cut_is_no_first_call():
    agent, model = forcing(CHAT, call("list_shelves", finish_reason="length"), call("list_shelves"), "Two.")
    assert (await agent.run("how many?")).output == "Two."
    assert choices(model) == [CHAT, CHAT, None]


async def test_a_new_turn_forces_again_and_a_resumed_run_does_not():
    erase = Tool.from_function(lambda: "erased", name="erase", requires_approval=True)
    choice = {"type": "function", "function": {"name": "erase"}}
    agent, model = forcing(choice, call("erase"), "Done.", say("What?"), tools=[erase])
    paused = await agent.run("erase it", thread_id="t")
    done = await agent.resume(paused, {paused.pending[0].call_id: True})
    await agent.run("again", messages=done.messages, thread_id="t")
    assert choices(model) == [choice, None, choice]
