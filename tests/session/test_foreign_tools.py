"""Another framework's tools are found, listed and admitted like ours; the framework runs them itself."""

from __future__ import annotations

import contextvars
import threading

import pytest

from tests.support import make
from tool_search_processor import InputStep, ToolSearchProcessor
from tool_search_processor.errors import (
    InvalidToolError,
    ToolArgumentsError,
    ToolNotCallableError,
    ToolUnavailableError,
)
from tool_search_processor.session import ForeignTool, ModelCall, ToolOutcome
from tool_search_processor.session.foreign_tools import Handover, original_of, run_by_framework
from tool_search_processor.stores import HistoryStore

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
THEIRS = ForeignTool("weather", "Tells the weather of a city.", SCHEMA, original=object())


class Interrupt(BaseException):
    """What a framework raises to stop its run."""


def step_of(*tools, **fields):
    return InputStep(messages=(), tools=tools, context={"plan": "pro"}, thread_id="t", **fields)


async def begun(*tools, processors=(), **fields):
    return await ModelCall.begin(processors, step_of(*tools, **fields))


async def handed(model_call, run, name="weather", arguments='{"city": "Rome"}'):
    call = await model_call.resolve(name, arguments, call_id="c1")
    return await model_call.hand_over(call, run)


def searched(**options):
    return ToolSearchProcessor([make("ours")], include_step_tools=True, **options)


async def test_ours_and_theirs_are_told_apart():
    model_call = await begun(make("ours"), THEIRS)
    assert [tool.name for tool in model_call.tools] == ["ours", "weather"]
    ours, theirs = [await model_call.resolve(name, {"city": "Rome"}) for name in ("ours", "weather")]
    assert (ours.is_foreign, theirs.is_foreign) == (False, True)
    assert theirs.tool.original is THEIRS.original


@pytest.mark.parametrize("kind", ["sync", "async"])
async def test_the_framework_gets_the_arguments_and_its_result_comes_back_unchanged(kind):
    result, seen = object(), []

    def run(arguments):
        seen.append(arguments)
        return result

    async def run_later(arguments):
        return run(arguments)

    assert await handed(await begun(THEIRS), run if kind == "sync" else run_later) is result
    assert seen == [{"city": "Rome"}]


@pytest.mark.parametrize(
    "error", [Interrupt, ValueError, ToolArgumentsError, ToolUnavailableError, SystemExit]
)
@pytest.mark.parametrize("processors", [(), (searched(),)], ids=["bare", "behind a gate"])
async def test_what_the_framework_raises_passes_through(error, processors):
    raised = error("stop")

    async def run(arguments):
        raise raised

    with pytest.raises(error) as caught:
        await handed(await begun(THEIRS, processors=processors), run)
    assert caught.value is raised


async def test_the_framework_runs_in_the_callers_context():
    variable = contextvars.ContextVar("request")
    variable.set("ada's")

    def run(arguments):
        return variable.get(), threading.current_thread() is threading.main_thread()

    assert await handed(await begun(THEIRS), run) == ("ada's", False)


async def test_hidden_until_loaded_and_handed_over_like_a_listed_tool():
    processor = searched(store=HistoryStore())
    model_call = await begun(THEIRS, processors=[processor])
    assert [tool.name for tool in model_call.tools] == ["search_tools", "load_tool"]
    load = await model_call.resolve("load_tool", {"tool_names": ["weather"]}, call_id="c0")
    assert '"loaded":["weather"]' in (await model_call.run(load)).text
    following = step_of(THEIRS, run_id=model_call.step.run_id, state=model_call.step.state)
    model_call = await ModelCall.begin([processor], following)
    assert [tool.name for tool in model_call.tools][-1] == "weather"
    assert (await model_call.resolve("weather", {"city": "Rome"})).is_foreign
    assert await handed(model_call, lambda arguments: arguments["city"]) == "Rome"


async def test_the_policy_of_the_moment_is_asked_and_a_refusal_is_a_sentence():
    allowed, ran = {"weather": True}, []
    processor = searched(filter=lambda request: allowed.get(request.tool_name, True))
    model_call = await begun(THEIRS, processors=[processor])
    call = await model_call.resolve("weather", {"city": "Rome"}, call_id="c1")
    allowed["weather"] = False
    refused = await model_call.hand_over(call, ran.append)
    assert isinstance(refused, ToolOutcome)
    assert (refused.call_id, refused.is_error, refused.ran, ran) == ("c1", True, False, [])
    assert refused.text == "Error: There is no tool 'weather' to call. Find tools with search_tools."


@pytest.mark.parametrize("is_listed", [True, False])
async def test_arguments_that_do_not_fit_never_reach_the_framework(is_listed):
    ran, processors = [], () if is_listed else (searched(),)
    refused = await handed(await begun(THEIRS, processors=processors), ran.append, arguments={"city": 5})
    assert isinstance(refused, ToolOutcome)
    assert (ran, refused.is_error, refused.ran) == ([], True, False)
    assert "city" in refused.text
    assert ('"required":["city"]' in refused.text) is not is_listed, "shown where the model hasn't seen them"


async def test_an_unknown_tool_is_answered_by_both_doors():
    model_call = await begun(THEIRS)
    call = await model_call.resolve("wether", call_id="c1")
    text = "Error: there is no tool named 'wether'. Did you mean weather?"
    assert (await model_call.hand_over(call, print)).text == text
    assert (await model_call.run(call)).text == text


async def test_alone_it_says_who_has_to_run_it():
    with pytest.raises(ToolNotCallableError, match=r"use ModelCall\.hand_over"):
        await THEIRS.call({"city": "Rome"})


def test_without_the_frameworks_object_there_is_no_foreign_tool():
    with pytest.raises(InvalidToolError, match="'weather' has no original: pass the framework's object"):
        ForeignTool("weather")
    assert THEIRS.replace(name="forecast").original is THEIRS.original


async def test_a_tool_that_is_called_within_a_handover_is_not_run_by_it():
    other = ForeignTool("other", original=object())

    async def run(arguments):
        return await other.call({})

    with pytest.raises(ToolNotCallableError):
        await handed(await begun(THEIRS), run)


async def test_a_model_call_can_be_made_again_from_its_step():
    processor = searched()
    step = (await begun(THEIRS, processors=[processor])).step
    again = ModelCall([processor], step)
    assert await handed(again, lambda arguments: "sunny") == "sunny"


async def test_two_anonymous_runs_see_nothing_of_one_another():
    processor = ToolSearchProcessor([make("ours")])
    first, second = [await ModelCall.begin([processor], InputStep(messages=())) for _ in range(2)]
    assert first.step.run_id != second.step.run_id
    await first.run(await first.resolve("load_tool", {"tool_names": ["ours"]}, call_id="c"))
    listed = []
    for model_call in (first, second):
        again = await ModelCall.begin([processor], InputStep(messages=(), run_id=model_call.step.run_id))
        listed.append("ours" in [tool.name for tool in again.tools])
        await again.end_run()
    assert listed == [True, False]
    ended = await ModelCall.begin([processor], InputStep(messages=(), run_id=first.step.run_id))
    assert "ours" not in [tool.name for tool in ended.tools]


@pytest.mark.parametrize("name", ["ours", "weather"])
async def test_with_its_receipt_a_call_of_an_unlisted_tool_is_remembered_by_the_conversation(name):
    processor = searched(store=HistoryStore())
    model_call = await begun(THEIRS, processors=[processor])
    call = await model_call.resolve(name, {"city": "Rome"}, call_id="c1")
    assert model_call.receipt(call) is None, "it has not run"
    if call.is_foreign:
        await model_call.hand_over(call, lambda arguments: "sunny")
    else:
        await model_call.run(call)
    made = {"id": "c1", "type": "function", "function": {"name": name, "arguments": "{}"}}
    result = {"role": "tool", "tool_call_id": "c1", "content": "sunny"}
    for receipt, listed in ((model_call.receipt(call), [name]), (None, [])):
        messages = [
            {"role": "assistant", "content": None, "tool_calls": [made]},
            {**result, "receipt": receipt} if receipt else result,
        ]
        later = await ModelCall.begin([processor], InputStep(messages=messages, tools=[THEIRS]))
        assert [tool.name for tool in later.tools][2:] == listed
    again = await later.resolve("search_tools", {"query": "weather"})
    await later.run(again)
    assert later.receipt(again) is None


async def test_a_store_that_remembers_by_itself_needs_no_receipt():
    model_call = await begun(processors=[searched()])
    call = await model_call.resolve("ours", call_id="c1")
    await model_call.run(call)
    assert model_call.receipt(call) is None


@pytest.mark.parametrize("name", ["arguments", "input", "context", "self"])
async def test_a_parameter_may_have_any_name(name):
    schema = {"type": "object", "properties": {name: {"type": "string"}}}
    theirs = ForeignTool("odd", "Takes an odd argument.", schema, original=object())
    model_call = ModelCall([], InputStep(messages=(), tools=(theirs,)))
    call = await model_call.resolve("odd", {name: "x"}, call_id="c")
    assert await model_call.hand_over(call, dict) == {name: "x"}


async def test_outside_of_its_framework_a_tool_runs_as_it_was_told():
    execute = run_by_framework(lambda arguments: f"outside {arguments['city']}")
    theirs = ForeignTool("weather", "Tells the weather.", SCHEMA, execute, original=object())
    model_call = ModelCall([], InputStep(messages=(), tools=(theirs,)))
    call = await model_call.resolve("weather", {"city": "Rome"}, call_id="c")
    assert await theirs.call({"city": "Rome"}) == "outside Rome"
    assert await model_call.hand_over(call, lambda arguments: "inside") == "inside"
    assert await model_call.hand_over(call, lambda _: theirs.call({"city": "Oslo"})) == "outside Oslo"


async def test_outside_of_a_handover_a_foreign_tool_says_how_it_is_run():
    with pytest.raises(ToolNotCallableError) as caught:
        await THEIRS.call({"city": "Rome"})
    assert str(caught.value) == (
        "this tool belongs to another framework, which has to run it: use ModelCall.hand_over(call, run)"
    )


async def test_a_handover_runs_once():
    ran = []
    handover = Handover(ran.append)
    await handover.run({"city": "Rome"})
    with pytest.raises(ToolNotCallableError, match=r"^one call of a foreign tool runs it once$"):
        await handover.run({"city": "Oslo"})
    assert ran == [{"city": "Rome"}]


def test_the_original_is_of_the_frameworks_own_class():
    theirs = Interrupt()
    tool = ForeignTool("weather", original=theirs)
    assert original_of(tool, Interrupt) is original_of(tool, BaseException) is theirs
    assert [original_of(other, Interrupt) for other in (make("ours"), None, THEIRS)] == [None] * 3
