"""The search as two plain functions, for any framework that takes functions as tools."""

import asyncio
import contextvars
import inspect
import json
import typing

import pytest

from tool_search_processor import (
    CallableProvider,
    ConfigurationError,
    Tool,
    ToolContext,
    ToolSearchProcessor,
    run_processors,
)
from tool_search_processor.steps import InputStep

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


def forecast(arguments, context: ToolContext):
    return f"sunny in {arguments['city']} for {context.context.get('user')}"


def weather(**fields):
    return Tool("weather_forecast", "Tells the weather of a city.", CITY, forecast, **fields)


def found(answer):
    return [result["name"] for result in json.loads(answer)["results"]]


async def answers(search, *, context=None, sync=False):
    """Return what a search and a call say."""
    find, call = search.functions(context=context, sync=sync)
    said = [find("weather of a city"), call("weather_forecast", {"city": "Rome"})]
    return said if sync else [await answer for answer in said]


@pytest.mark.parametrize("sync", [False, True])
@pytest.mark.parametrize("mode", ["load", "auto_load", "call"])
async def test_a_tool_is_found_with_its_parameters_and_runs_in_any_mode(mode, sync):
    said, ran = await answers(ToolSearchProcessor([weather()], mode=mode), context={"user": "ada"}, sync=sync)
    (result,) = json.loads(said)["results"]
    assert (result["name"], result["parameters"]) == ("weather_forecast", CITY)
    assert ran == "sunny in Rome for ada"


def test_the_sync_ones_work_without_a_loop():
    find, call = ToolSearchProcessor([weather()]).functions(sync=True)
    assert found(find("weather")) == ["weather_forecast"]
    assert call(name="weather_forecast", arguments={"city": "Rome"}) == "sunny in Rome for None"


def test_what_a_framework_reads_of_them():
    for function in ToolSearchProcessor([weather()], top_k=3).functions():
        hints = typing.get_type_hints(function)
        assert hints["return"] is str
        assert inspect.iscoroutinefunction(function)
        assert "Args:" in function.__doc__
    find, call = ToolSearchProcessor([weather()], top_k=3).functions(sync=True)
    assert (find.__name__, call.__name__) == ("search_tools", "call_tool")
    assert str(inspect.signature(find)) == "(query: str | list[str], limit: int = 3) -> str"
    assert str(inspect.signature(call)) == "(name: str, arguments: dict | None = None) -> str"
    schema = Tool.from_function(call).parameters
    assert schema["required"] == ["name"]
    assert "as the search gave it" in schema["properties"]["name"]["description"]


def test_the_functions_have_the_names_that_were_given():
    search = ToolSearchProcessor([weather()], search_tool_name="find", call_tool_name="run")
    find, run = search.functions(sync=True)
    assert (find.__name__, run.__name__) == ("find", "run")
    assert "run a tool with run" in find.__doc__
    assert "Find tools with find" in run("nope")


async def test_several_things_at_once_and_a_limit():
    tools = [weather(), *(Tool(f"bill_{n}", f"Bills {n}.", execute=lambda: "ok") for n in ("ann", "bob"))]
    find, _ = ToolSearchProcessor(tools, top_k=1).functions()
    assert found(await find(["weather", "bill ann"])) == ["weather_forecast", "bill_ann"]
    assert len(found(await find("bill", limit=2))) == 2


async def test_patterns_are_asked_for_where_the_strategy_takes_them():
    find, _ = ToolSearchProcessor([weather()], search="regex").functions()
    assert "regular expression" in find.__doc__
    assert found(await find("^weather")) == ["weather_forecast"]


async def test_policy_is_asked_at_every_call_with_the_context_of_that_call():
    user = contextvars.ContextVar("user", default="bob")
    search = ToolSearchProcessor([weather()], filter=lambda request: request.context["user"] == "ada")

    async def later():
        return {"user": user.get()}

    for context in (lambda: {"user": user.get()}, later):
        for sync in (False, True):
            user.set("bob")
            said, ran = await answers(search, context=context, sync=sync)
            assert found(said) == []
            assert "no tool" in ran
            user.set("ada")
            said, ran = await answers(search, context=context, sync=sync)
            assert found(said) == ["weather_forecast"]
            assert ran == "sunny in Rome for ada"


@pytest.mark.parametrize("phase", ["search", "load", "active"])
async def test_a_denied_tool_is_not_found_or_does_not_run(phase):
    said, ran = await answers(ToolSearchProcessor([weather()], filter=lambda request: request.phase != phase))
    assert (found(said) == []) is (phase == "search")
    assert ("sunny" in ran) is (phase == "search")


async def test_concurrent_calls_dont_mix():
    user = contextvars.ContextVar("user")
    search = ToolSearchProcessor([weather()], filter=lambda request: request.context["user"] == "ada")
    find, _ = search.functions(context=lambda: {"user": user.get()})

    async def ask(name):
        user.set(name)
        return found(await find("weather"))

    asked = await asyncio.gather(*(ask(name) for name in ("ada", "bob") * 20))
    assert asked == [["weather_forecast"], []] * 20


async def broken():
    raise OSError("no disk")


@pytest.mark.parametrize("sync", [False, True])
@pytest.mark.parametrize(
    ("name", "arguments", "text"),
    [
        ("nope", {}, "no tool"),
        ("weather_forecast", {}, "`city` is required but missing."),
        ("weather_forecast", None, "`city` is required but missing."),
        ("weather_forecast", "Rome", "not valid JSON"),
        ("broken", {}, "Error: OSError: no disk"),
        ("", {}, "Error"),
        (None, {}, "Error"),
        ("call_tool", {"name": "weather_forecast"}, "Error"),
    ],
)
async def test_what_goes_wrong_is_an_answer(name, arguments, text, sync):
    _, call = ToolSearchProcessor([weather(), broken_tool()]).functions(sync=sync)
    answer = call(name, arguments)
    assert text in (answer if sync else await answer)


def broken_tool():
    return Tool("broken", "Is broken.", execute=broken)


@pytest.mark.parametrize("query", ["", None, [], 3, "x" * 10_000])
async def test_an_odd_query_is_an_answer(query):
    find, _ = ToolSearchProcessor([weather()]).functions()
    assert found(await find(query)) == []


def no_context():
    raise LookupError("no request")


@pytest.mark.parametrize("context", [no_context, lambda: "ada", lambda: 3])
async def test_a_context_that_fails_is_an_answer_and_runs_nothing(context, caplog):
    said, ran = await answers(ToolSearchProcessor([weather()]), context=context)
    assert said == "Error: search_tools failed; the log says why."
    assert ran == "Error: call_tool failed; the log says why."
    assert "no request" not in said
    assert [record.message for record in caplog.records] == ["search_tools failed", "call_tool failed"]


async def test_no_context_is_an_empty_one():
    _, ran = await answers(ToolSearchProcessor([weather()]), context=lambda: None)
    assert ran == "sunny in Rome for None"


@pytest.mark.parametrize("context", ["ada", 3, [("user", "ada")]])
def test_a_context_that_cant_work_is_refused_at_once(context):
    with pytest.raises(ConfigurationError, match="context must be a mapping"):
        ToolSearchProcessor([weather()]).functions(context=context)


async def test_a_tool_that_needs_approval_does_not_run():
    _, ran = await answers(ToolSearchProcessor([weather(requires_approval=True)]))
    assert ran == (
        "Error: weather_forecast needs the approval of a person, which was not given; it was not run."
    )


@pytest.mark.parametrize("options", [{"pinned": ["weather_forecast"]}, {}])
async def test_pinned_tools_are_found_since_nobody_lists_them(options):
    search = ToolSearchProcessor([weather(pinned=not options)], **options)
    said, ran = await answers(search)
    assert found(said) == ["weather_forecast"]
    assert "sunny" in ran


async def test_tools_made_for_each_request():
    def tools(context):
        return [weather()] if context["user"] == "ada" else []

    search = ToolSearchProcessor([CallableProvider(tools)])
    said, ran = await answers(search, context={"user": "ada"})
    assert (found(said), ran) == (["weather_forecast"], "sunny in Rome for ada")
    said, _ = await answers(search, context={"user": "bob"})
    assert found(said) == []


async def test_options_of_a_list_dont_matter():
    options = {"passthrough_tokens": 9_999, "preload": 2, "catalog_in_prompt": True, "allow_unload": True}
    said, ran = await answers(ToolSearchProcessor([weather()], **options))
    assert found(said) == ["weather_forecast"]
    assert "sunny" in ran


async def test_compact_signatures_stay_where_they_were_chosen():
    said, _ = await answers(ToolSearchProcessor([weather()], result_detail="signature"))
    (result,) = json.loads(said)["results"]
    assert result["signature"] == "weather_forecast(city: string)"


async def test_the_processor_itself_stays_as_it_is():
    search = ToolSearchProcessor([weather()])
    await answers(search)
    step = await run_processors([search], InputStep(messages=()))
    assert [tool.name for tool in step.tools] == ["search_tools", "load_tool"]


async def test_cancelling_cancels_the_tool():
    began = asyncio.Event()

    async def hang():
        began.set()
        await asyncio.Event().wait()

    _, call = ToolSearchProcessor([Tool("hang", "Hangs.", execute=hang)]).functions()
    task = asyncio.create_task(call("hang"))
    await began.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
