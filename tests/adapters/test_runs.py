"""A run of a framework: what it is listed, what a call comes to, and what its context is."""

import json
from dataclasses import dataclass

import pytest
from pydantic import BaseModel

from tool_search_processor import ConfigurationError, Experience, MemoryStore, Tool, ToolSearchProcessor
from tool_search_processor.adapters.framework_tools import FrameworkTools
from tool_search_processor.adapters.runs import SearchRun, instructions_of, read_context, warn_of_proxy
from tool_search_processor.session.foreign_tools import ForeignTool

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


class TheirTool:
    def __init__(self, name):
        self.name = name


def converted(original):
    return ForeignTool(original.name, f"Does {original.name}.", SCHEMA, original=original)


def weather():
    return Tool("weather_forecast", "Tells the weather of a city.", SCHEMA, lambda city: f"sunny in {city}")


def searcher(**options):
    return ToolSearchProcessor([weather()], **options)


def called(call_id, name, answer):
    call = {"id": call_id, "type": "function", "function": {"name": name, "arguments": "{}"}}
    return [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": call_id, "content": answer},
    ]


def names(model_call):
    return [tool.name for tool in model_call.tools]


async def test_loads_are_read_from_the_frameworks_messages():
    search = searcher().for_framework()
    run = SearchRun(search, context={})
    await run.begin([{"role": "user", "content": "hi"}])
    load = await run.model_call.resolve("load_tool", {"tool_names": ["weather_forecast"]}, call_id="c")
    answer = (await run.model_call.run(load)).text
    await run.end()

    later = SearchRun(searcher().for_framework(), context={})
    model_call = await later.begin([{"role": "user", "content": "hi"}, *called("c", "load_tool", answer)])

    assert names(model_call) == ["search_tools", "load_tool", "weather_forecast"]


async def test_a_given_store_is_kept():
    search = searcher(store=MemoryStore())
    await search.load("weather_forecast", thread_id="t")
    model_call = await SearchRun(search.for_framework(), context={}, thread_id="t").begin([])
    assert "weather_forecast" in names(model_call)


async def test_runs_share_nothing():
    search = searcher().for_framework()
    one, other = SearchRun(search, context={}), SearchRun(search, context={})
    await one.begin([])
    call = await one.model_call.resolve("weather_forecast", {"city": "Rome"}, call_id="c")
    assert (await one.model_call.run(call)).text == "sunny in Rome"
    assert "weather_forecast" in names(await one.begin([]))
    assert "weather_forecast" not in names(await other.begin([]))


async def test_own_tools_can_be_withheld():
    own = FrameworkTools(converted)
    objects = [TheirTool("whoami")]
    search = searcher().for_framework(include_step_tools=True)
    run = SearchRun(search, context={})
    assert names(await run.begin([], own.of(objects))) == ["search_tools", "load_tool"]
    call = await run.model_call.resolve("whoami", {"city": "Rome"}, call_id="c")
    assert call.is_foreign
    assert call.tool.original is objects[0]


async def test_a_call_before_any_step_is_looked_up_under_policy():
    run = SearchRun(searcher(filter=lambda request: False).for_framework(), context={})
    call = await run.model_call.resolve("weather_forecast", {"city": "Rome"}, call_id="c")
    assert call.tool is None


async def test_each_model_call_may_bring_the_context_of_its_moment():
    search = searcher(filter=lambda request: request.context.get("plan") == "pro").for_framework()
    run = SearchRun(search, context={"plan": "free"})
    await run.begin([])
    assert (await run.model_call.resolve("weather_forecast", {"city": "Rome"}, call_id="c")).tool is None
    for context in ({"plan": "pro"}, None):
        await run.begin([], context=context)
        call = await run.model_call.resolve("weather_forecast", {"city": "Rome"}, call_id="c")
        assert call.tool is not None


async def test_what_cant_run_unlisted_is_loaded_and_shown():
    run = SearchRun(searcher().for_framework(), context={})
    await run.begin([])
    answer = json.loads(await run.unlisted_text("weather_forecast"))
    assert answer["parameters"] == SCHEMA
    assert answer["message"].startswith("weather_forecast was not run. The tool is loaded now.")
    assert "weather_forecast" in names(await run.begin([]))


async def test_in_mode_call_what_cant_run_unlisted_is_sent_through_the_proxy():
    run = SearchRun(searcher(mode="call").for_framework(), context={})
    await run.begin([])
    answer = json.loads(await run.unlisted_text("weather_forecast"))
    assert answer["error"].endswith("Call it through call_tool.")
    assert "loaded" not in answer["message"]


@pytest.mark.parametrize("denied_in", ["load", "active"])
async def test_what_is_unlisted_and_denied_is_answered_as_what_does_not_exist(denied_in):
    run = SearchRun(searcher(filter=lambda request: request.phase != denied_in).for_framework(), context={})
    await run.begin([])
    assert "There is no tool 'weather_forecast'" in await run.unlisted_text("weather_forecast")
    assert "weather_forecast" not in names(await run.begin([]))


@pytest.mark.parametrize("name", ["load_tool", ""])
async def test_what_names_no_tool_of_the_catalog_is_answered_with_a_sentence(name):
    run = SearchRun(searcher().for_framework(), context={})
    await run.begin([])
    assert "There is no tool" in await run.unlisted_text(name)


@pytest.mark.parametrize("mode", ["load", "auto_load", "call"])
async def test_what_calls_teach_is_found_by_later_runs(mode):
    asked, turn = "is an umbrella needed", "shall I go by bike?"
    search = searcher(experience=Experience(), mode=mode).for_framework(include_step_tools=True)
    own = FrameworkTools(converted).of([TheirTool("whoami"), TheirTool("book_room")])

    async def found(name=None):
        run = SearchRun(search, context={})
        await run.begin([{"role": "user", "content": turn}], own)
        call = await run.model_call.resolve("search_tools", {"query": asked}, call_id="s")
        answer = json.loads((await run.model_call.run(call)).text)
        if name is not None:
            called = await run.model_call.resolve(name, {"city": "Rome"}, call_id="c")
            if called.is_foreign:
                assert await run.model_call.hand_over(called, lambda _: "ran") == "ran"
            else:
                await run.model_call.run(called)
        await run.end()
        return [result["name"] for result in answer["results"]]

    assert await found("weather_forecast") == []
    assert await found("whoami") == ["weather_forecast"]
    assert sorted(await found()) == ["weather_forecast", "whoami"]


async def test_a_call_that_fails_or_that_policy_stops_teaches_nothing():
    experience = Experience()
    search = searcher(experience=experience, filter=lambda request: request.phase != "active")
    own = FrameworkTools(converted).of([TheirTool("whoami")])
    run = SearchRun(search.for_framework(include_step_tools=True), context={})
    await run.begin([{"role": "user", "content": "shall I go by bike?"}], own)

    def fail(_):
        raise LookupError

    call = await run.model_call.resolve("weather_forecast", {"city": "Rome"}, call_id="c")
    await run.model_call.run(call)
    own_search = searcher(experience=experience).for_framework(include_step_tools=True)
    run = SearchRun(own_search, context={})
    await run.begin([{"role": "user", "content": "shall I go by bike?"}], own)
    call = await run.model_call.resolve("whoami", {"city": "Rome"}, call_id="c")
    with pytest.raises(LookupError):
        await run.model_call.hand_over(call, fail)
    assert await experience.export() == []


async def test_instructions_are_one_string():
    model_call = await SearchRun(searcher().for_framework(), context={}).begin([])
    assert "search_tools" in instructions_of(model_call)


@dataclass
class Who:
    user: str = "ada"


class Model(BaseModel):
    user: str = "ada"


class Plain:
    def __init__(self):
        self.user = "ada"
        self._secret = 1


@pytest.mark.parametrize("value", [{"user": "ada"}, Who(), Model(), Plain()])
def test_a_context_is_read_by_name(value):
    assert dict(read_context(value)) == {"user": "ada"}


def test_no_context_is_empty():
    assert read_context(None) == {}


@pytest.mark.parametrize("value", ["ada", 3, ("a",), Who])
def test_a_context_without_names_is_refused(value):
    with pytest.raises(ConfigurationError, match="context="):
        read_context(value)


def test_a_gate_by_names_is_warned_of_in_mode_call_alone(caplog):
    warn_of_proxy(searcher(), gate="Gate")
    assert caplog.records == []
    warn_of_proxy(searcher(mode="call"), gate="Gate")
    assert "Gate sees only the name of the call tool" in caplog.text
