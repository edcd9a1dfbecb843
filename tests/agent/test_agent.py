"""The loop: what is sent at each step, what comes back, and how a run ends."""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
from dataclasses import dataclass, replace

import pytest

from tests.agent.answers import chunk
from tests.processors import Resolver, Spy
from tool_search_processor.agent import Agent
from tool_search_processor.agent.runs import ToolResultEvent, Usage
from tool_search_processor.concurrency.blocking import close_private_loop
from tool_search_processor.errors import (
    AbortRun,
    ConfigurationError,
    DuplicateToolError,
    ReservedToolNameError,
    RunningLoopError,
    ToolSearchError,
)
from tool_search_processor.testing import ScriptedModel, call, say
from tool_search_processor.tools import Tool

USER = {"role": "user", "content": "q"}


def add(a: int, b: int = 1) -> int:
    """Add two numbers."""
    return a + b


def secret(word: str) -> str:
    """Return a word, loudly."""
    return word.upper()


def agent_of(script, **options):
    model = script if callable(script) else ScriptedModel(script)
    return Agent(**{"name": "a", "model": "m", "completion": model, **options}), model


async def test_an_answer_without_tools():
    agent, model = agent_of(["hello"], instructions="Be kind.")
    result = await agent.run("q")
    assert result.output == "hello"
    assert result.messages == [USER, {"role": "assistant", "content": "hello"}]
    assert (result.steps, result.finish_reason, result.pending, result.thread_id) == (1, "stop", [], None)
    (request,) = model.requests
    assert request.messages == [{"role": "system", "content": "Be kind."}, USER]
    assert (request.tools, request.settings, request.stream) == ([], {}, False)


async def test_calls_are_run_and_answered_in_order():
    agent, model = agent_of(
        [[call("add", {"a": 1}), call("secret", {"word": "x"}), call("nothing")], "done"], tools=[add, secret]
    )
    result = await agent.run("q")
    assert [message["role"] for message in result.messages] == [
        "user",
        "assistant",
        *["tool"] * 3,
        "assistant",
    ]
    assert result.messages[2:5] == [
        {"role": "tool", "tool_call_id": "call_1", "name": "add", "content": "2"},
        {"role": "tool", "tool_call_id": "call_2", "name": "secret", "content": "X"},
        {
            "role": "tool",
            "tool_call_id": "call_3",
            "name": "nothing",
            "content": "Error: there is no tool named 'nothing'.",
        },
    ]
    assert model.requests[1].messages == result.messages[:5]
    assert model.requests[0].tools == [tool.to_openai() for tool in agent.tools]


async def test_the_next_turn_takes_the_messages_of_the_last():
    agent, model = agent_of(["one", "two"], instructions="Be kind.")
    first = await agent.run("q", thread_id="t")
    second = await agent.run("r", messages=first.messages, thread_id="t")
    assert second.messages == [
        *first.messages,
        {"role": "user", "content": "r"},
        {"role": "assistant", "content": "two"},
    ]
    assert [m["role"] for m in model.requests[1].messages] == ["system", "user", "assistant", "user"]
    assert first.run_id != second.run_id
    assert second.thread_id == "t"


@pytest.mark.parametrize(
    ("given", "messages"),
    [("q", ()), ([USER], ()), (None, [USER]), ("", [USER]), ([{"role": "user", "content": "q"}], [])],
)
async def test_ways_to_give_the_input(given, messages):
    agent, model = agent_of(["ok"])
    await agent.run(given, messages=messages)
    assert model.requests[0].messages == [USER]


@pytest.mark.parametrize("given", [None, "", []])
async def test_nothing_to_send(given):
    agent, _ = agent_of(["ok"])
    with pytest.raises(ConfigurationError, match="nothing to send"):
        await agent.run(given)


async def test_the_callers_messages_are_not_changed():
    messages = [dict(USER)]
    agent, _ = agent_of(["ok"], input_processors=[Spy(_spoil)])
    result = await agent.run(None, messages=messages)
    assert messages == [USER]
    assert result.messages[0] == USER


def _spoil(step):
    step.messages[-1]["content"] = "spoiled"
    return step


async def test_system_texts_become_one_message():
    agent, model = agent_of(
        ["ok"],
        instructions="Agent's.",
        input_processors=[Spy(lambda step: step.replace(instructions=["Step's.", "More."]))],
    )
    result = await agent.run("q", messages=[{"role": "system", "content": "Caller's."}])
    assert model.requests[0].messages[0]["content"] == "Agent's.\n\nCaller's.\n\nStep's.\n\nMore."
    assert result.messages[0] == {"role": "system", "content": "Caller's."}


@pytest.mark.parametrize("in_input", [False, True])
async def test_open_calls_of_a_stopped_run_are_answered(in_input):
    history = [
        USER,
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "x", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
        },
    ]
    agent, model = agent_of(["ok"])
    question = {"role": "user", "content": "go on"}
    await (agent.run([*history, question]) if in_input else agent.run("go on", messages=history))
    sent = model.requests[0].messages
    assert [message["role"] for message in sent] == ["user", "assistant", "tool", "user"]
    assert "Whether it took effect is not known" in sent[2]["content"]


async def test_a_history_that_was_cut_from_the_front_can_be_sent():
    agent, model = agent_of([call("add", {"a": 1}), "ok", "ok"], tools=[add])
    first = await agent.run("q")
    result = await agent.run("go on", messages=first.messages[2:])
    sent = [message["role"] for message in model.requests[-1].messages]
    assert sent == ["assistant", "user"], "a result without its call is refused by every provider"
    assert result.messages[:-1] == model.requests[-1].messages


async def test_each_step_of_a_run_shares_its_state():
    spy = Spy(lambda step: step.state.setdefault("spy", []).append(step.step_number) or step)
    agent, _ = agent_of([call("add", {"a": 1}), "ok"], tools=[add], input_processors=[spy])
    result = await agent.run("q", context={"plan": "pro"}, thread_id=" ")
    first, second = spy.steps
    assert first.state is second.state
    assert first.state["spy"] == [0, 1]
    assert first.run_id == second.run_id == result.run_id
    assert (first.thread_id, first.context["plan"], first.model) == (None, "pro", "m")
    assert [tool.name for tool in first.tools] == ["add"]


async def test_what_a_processor_changes_holds_for_one_step():
    def change(step):
        if step.step_number:
            return step
        return step.replace(
            messages=[{"role": "user", "content": "other"}],
            tools=[Tool.from_function(secret)],
            model="m2",
            tool_choice="required",
            model_settings={"temperature": 0},
        )

    agent, model = agent_of(
        [call("secret", {"word": "x"}), "ok"],
        tools=[add],
        input_processors=[Spy(change)],
        model_settings={"temperature": 1, "seed": 7},
    )
    result = await agent.run("q")
    first, second = model.requests
    assert (first.model, first.tool_names, first.messages[0]["content"]) == ("m2", ["secret"], "other")
    assert first.settings == {"temperature": 0, "tool_choice": "required"}
    assert (second.model, second.tool_names, second.settings) == ("m", ["add"], {"temperature": 1, "seed": 7})
    assert second.messages[0] == USER
    assert result.messages[2]["content"] == "X"


async def test_processors_run_in_order():
    one = Spy(lambda step: step.replace(instructions=[*step.instructions, "one"]), name="one")
    two = Spy(lambda step: step.replace(instructions=[*step.instructions, "two"]), name="two")
    agent, model = agent_of(["ok"], input_processors=[one, two])
    await agent.run("q")
    assert model.requests[0].system == "one\n\ntwo"


@pytest.mark.parametrize(
    ("options", "settings"),
    [
        ({}, {}),
        ({"parallel_tool_calls": False}, {"parallel_tool_calls": False}),
        ({"parallel_tool_calls": False, "tools": ()}, {}),
        ({"model_settings": {"tool_choice": "auto", "top_p": 1}}, {"tool_choice": "auto", "top_p": 1}),
        ({"model_settings": {"tool_choice": "auto"}, "tools": ()}, {}),
    ],
)
async def test_settings_sent(options, settings):
    agent, model = agent_of(["ok"], **{"tools": [add], **options})
    await agent.run("q")
    assert model.requests[0].settings == settings


async def test_settings_may_be_any_objects_and_those_of_a_request_are_its_own():
    client, settings = threading.Lock(), {"extra_headers": {"a": "b"}, "stop": ["x"]}

    def spoil(step):
        return step.replace(model_settings={**step.model_settings, "client": client})

    async def completion(**request):
        request["extra_headers"]["a"] = request["stop"][0] = "changed"
        return await model(**request)

    model = ScriptedModel(["ok"])
    agent, _ = agent_of(completion, model_settings=settings, input_processors=[Spy(spoil)])
    await agent.run("q")
    assert model.requests[0].settings["client"] is client
    assert settings == {"extra_headers": {"a": "b"}, "stop": ["x"]}


async def test_of_two_tools_with_one_name_the_first_is_sent(caplog):
    spy = Spy(lambda step: step.replace(tools=[*step.tools, Tool(name="add", description="other")]))
    agent, model = agent_of(["ok"], tools=[add], input_processors=[spy])
    await agent.run("q")
    assert [tool["function"]["description"] for tool in model.requests[0].tools] == ["Add two numbers."]
    assert "two tools of one step are named 'add'" in caplog.text


async def test_max_steps_ends_the_run_with_the_last_text():
    script = [call("add", {"a": n}, text=text) for n, text in enumerate(["first", "", "never"])]
    agent, model = agent_of(script, tools=[add], max_steps=2)
    result = await agent.run("q")
    assert (result.finish_reason, result.output, result.steps) == ("max_steps", "first", 2)
    assert result.messages[-1]["role"] == "tool"
    assert len(model.requests) == 2


@pytest.mark.parametrize(
    ("reply", "finish_reason", "roles"),
    [
        (say("cut", finish_reason="length"), "length", ["user", "assistant"]),
        (say("", finish_reason="length"), "length", ["user"]),
        (say("un", finish_reason="content_filter"), "content_filter", ["user", "assistant"]),
        (call("add", {"a": 1}, finish_reason="content_filter"), "content_filter", ["user"]),
        (say("eos", finish_reason="eos"), "stop", ["user", "assistant"]),
        (say(""), "empty", ["user"]),
    ],
)
async def test_how_the_model_ends(reply, finish_reason, roles):
    agent, _ = agent_of([reply], tools=[add])
    result = await agent.run("q")
    assert result.finish_reason == finish_reason
    assert [message["role"] for message in result.messages] == roles
    assert result.output == reply.text
    assert not any("tool_calls" in message for message in result.messages)


CUT = (
    "Error: {} was not run, since your answer was cut off at its length limit: what is left of a call may "
    "say something else than was meant. Make the call again in a shorter answer, or in smaller parts."
)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("reason", ["length", "max_tokens", "MAX_TOKENS"])
@pytest.mark.parametrize(
    "calls",
    [
        [call("add", {}), call("add", {"a": 1})],  # Anthropic: what it had until then
        [call("add", {"a": 1})],
        [call("add", "")],
        [call("add", '{"a": ')],
        [call("unheard_of", {"a": 1})],
    ],
)
async def test_a_reply_that_was_cut_runs_none_of_its_calls_and_the_run_goes_on(calls, reason, stream):
    ran = []

    def add(a: int = 0) -> str:
        ran.append(a)
        return "added"

    cut = [*calls[:-1], replace(calls[-1], finish_reason=reason)]
    agent, _ = agent_of([cut, call("add", {"a": 2}), "ok"], tools=[add])
    if stream:
        events = [event async for event in agent.stream("q")]
        result = events[-1].result
        told = [event for event in events if isinstance(event, ToolResultEvent)]
        assert [event.is_error for event in told] == [True] * len(calls) + [False]
    else:
        result = await agent.run("q")
    assert (result.finish_reason, result.output, ran) == ("stop", "ok", [2])
    texts = [message["content"] for message in result.messages if message["role"] == "tool"]
    name = "unheard_of" if calls[0].calls[0].name == "unheard_of" else "add"
    assert texts == [CUT.format(name)] * len(calls) + ["added"]


BROKEN_OFF = (
    "Error: add was not run, since your answer broke off before its end: what is left of a call may say "
    "something else than was meant. Make the call again."
)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("reason", ["error", "insufficient_system_resource", "abort", "network_error"])
async def test_a_reply_that_broke_off_runs_none_of_its_calls(reason, stream):
    agent, _ = agent_of([call("add", {"a": 1}, finish_reason=reason), "ok"], tools=[add])
    result = [event async for event in agent.stream("q")][-1].result if stream else await agent.run("q")
    assert (result.finish_reason, result.messages[2]["content"]) == ("stop", BROKEN_OFF)


@pytest.mark.parametrize("reason", ["SAFETY", "refusal", "RECITATION", "guardrail_intervened"])
async def test_a_reply_that_was_filtered_in_a_providers_own_words_runs_nothing(reason):
    agent, _ = agent_of([call("add", {"a": 1}, finish_reason=reason)], tools=[add])
    result = await agent.run("q")
    assert (result.finish_reason, result.steps) == ("content_filter", 1)


@pytest.mark.parametrize(("arguments", "ran"), [(None, 0), ("", 0), ('{"scope": "tmp"}', 1)])
async def test_a_stream_that_ends_inside_a_call_does_not_run_it_with_its_defaults(arguments, ran):
    scopes = []

    def wipe(scope: str = "all") -> None:
        """Wipe a folder."""
        scopes.append(scope)

    streams = [
        [chunk(tool_calls=[{"id": "c1", "function": {"name": "wipe", "arguments": arguments}}])],
        [chunk(content="ok")],
    ]

    async def completion(**request):
        for piece in streams.pop(0):
            yield piece

    agent = Agent("a", "m", tools=[wipe], completion=completion)
    result = [event async for event in agent.stream("q")][-1].result
    assert (result.output, len(scopes)) == ("ok", ran)


async def test_the_second_cut_in_a_row_ends_the_run():
    cut = call("add", {"a": 1}, text="well", finish_reason="length")
    agent, model = agent_of([cut, call("add", {"a": 1}), cut, cut, "never"], tools=[add])
    result = await agent.run("q")
    assert (result.finish_reason, result.output, result.steps) == ("length", "well", 4)
    assert [m["role"] for m in result.messages] == ["user", *["assistant", "tool"] * 4]
    assert len(model.requests) == 4


async def test_nobody_is_asked_to_approve_a_call_of_a_reply_that_was_cut():
    erase = Tool.from_function(add, requires_approval=True)
    agent, _ = agent_of([call("add", {"a": 1}, finish_reason="length"), "ok"], tools=[erase])
    assert (await agent.run("q")).finish_reason == "stop"


@pytest.mark.parametrize("finish_reason", ["stop", None, "function_call"])
async def test_whole_calls_run_whatever_the_finish_reason(finish_reason):
    agent, _ = agent_of([call("add", {"a": 1}, finish_reason=finish_reason), "ok"], tools=[add])
    assert (await agent.run("q")).output == "ok"


@pytest.mark.parametrize(
    ("name", "arguments", "stored_name", "stored"),
    [
        ("add", '{"a": ', "add", "{}"),
        ("add", "[1]", "add", "{}"),
        ("add", "", "add", "{}"),
        ("add", '"{\\"a\\": 1}"', "add", '{"a": 1}'),
        ("add", '{"a":1}', "add", '{"a":1}'),
        ("add", '{"a": "line\nbreak"}', "add", '{"a": "line\\nbreak"}'),
        ("", "{}", "unnamed_tool", "{}"),
        ("no such.tool", "{}", "no_such_tool", "{}"),
    ],
)
async def test_what_a_model_gets_wrong_never_poisons_the_history(name, arguments, stored_name, stored):
    agent, model = agent_of([call(name, arguments), "ok"], tools=[add])
    result = await agent.run("q")
    assert result.messages[1]["tool_calls"][0]["function"] == {"name": stored_name, "arguments": stored}
    assert model.requests[1].messages == result.messages[:3]


async def test_call_ids_are_unique_in_the_conversation():
    script = [
        [
            call("add", {"a": 1}, id="call_0"),
            call("add", {"a": 2}, id="call_0"),
            call("add", {"a": 3}, id=""),
        ],
        call("add", {"a": 4}, id="call_0"),
        "ok",
    ]
    agent, _ = agent_of(script, tools=[add])
    result = await agent.run("q")
    called = [item["id"] for message in result.messages for item in message.get("tool_calls", ())]
    answered = [message["tool_call_id"] for message in result.messages if message["role"] == "tool"]
    assert called == answered
    assert len(set(called)) == 4
    assert called[0] == "call_0"
    contents = [message["content"] for message in result.messages if message["role"] == "tool"]
    assert contents == ["2", "3", "4", "5"]


async def test_fields_that_a_provider_wants_back():
    thinking = [{"type": "thinking", "thinking": "hm", "signature": "s"}]
    message = {
        "content": None,
        "thinking_blocks": thinking,
        "tool_calls": [
            {
                "id": "c",
                "function": {"name": "add", "arguments": {"a": 1}},
                "provider_specific_fields": {"thought_signature": "t"},
            }
        ],
    }
    replies = iter([{"choices": [{"message": message}]}, {"choices": [{"message": {"content": "ok"}}]}])
    requests = []

    async def completion(**request):
        requests.append(request)
        return next(replies)

    agent, _ = agent_of(completion, tools=[add])
    await agent.run("q")
    assert requests[1]["messages"][1] == {
        "role": "assistant",
        "content": "",
        "thinking_blocks": thinking,
        "tool_calls": [
            {
                "id": "c",
                "type": "function",
                "function": {"name": "add", "arguments": '{"a": 1}'},
                "provider_specific_fields": {"thought_signature": "t"},
            }
        ],
    }


async def test_resolvers_answer_calls_that_no_step_lists():
    resolver = Resolver([Tool.from_function(secret)])
    agent, _ = agent_of([call("secret", {"word": "x"}), "ok"], input_processors=[resolver])
    result = await agent.run("q")
    assert result.messages[2]["content"] == "X"
    assert resolver.ended == [result.run_id]


async def test_usage_sums_up_and_tells_what_everything_would_have_cost():
    resolver = Resolver(tokens=1000)
    listing = Spy(lambda step: step.replace(tools=[*step.tools, Tool(name="more")]), name="listing")
    agent, model = agent_of([call("add", {"a": 1}), "ok"], tools=[add], input_processors=[resolver, listing])
    result = await agent.run("q")
    own = -(-len(agent.tools[0].definition_json) // 4)
    more = -(-len(Tool(name="more").definition_json) // 4)
    assert result.usage.definition_tokens_sent == 2 * (own + more)
    assert result.usage.definition_tokens_full == 2 * (own + 1000)
    assert result.usage.prompt_tokens > 0
    assert result.usage.total_tokens == result.usage.prompt_tokens + result.usage.completion_tokens
    assert len(model.requests) == 2


async def test_a_resolver_that_fails_at_the_figures_or_at_the_end(caplog):
    failing = {"definition_tokens": OSError("no catalog"), "end_run": OSError("no store")}
    agent, _ = agent_of(["ok"], input_processors=[Resolver(failing=failing)])
    result = await agent.run("q")
    assert result.usage.definition_tokens_full == 0
    assert [record.message for record in caplog.records] == [
        "definition_tokens of agent 'a' failed",
        "end_run of 'resolver' failed",
    ]


def _abort(step):
    raise AbortRun("too expensive")


async def test_a_processor_may_end_the_run():
    resolver = Resolver()
    agent, model = agent_of(["ok"], input_processors=[resolver, Spy(_abort, name="limit")])
    result = await agent.run("q")
    assert (result.finish_reason, result.output, result.steps) == ("aborted", "too expensive", 0)
    assert result.messages == [USER]
    assert model.requests == []
    assert len(resolver.ended) == 1


def _break(step):
    raise LookupError("broken")


async def test_a_processors_error_is_its_own():
    resolver = Resolver()
    agent, _ = agent_of(["ok"], input_processors=[resolver, Spy(_break, name="breaker")])
    with pytest.raises(LookupError) as caught:
        await agent.run("q")
    assert caught.value.processor_id == "breaker"
    assert len(resolver.ended) == 1


async def test_a_models_error_names_the_step():
    resolver = Resolver()
    agent, _ = agent_of(
        [call("add", {"a": 1}), OSError("no route")], tools=[add], input_processors=[resolver]
    )
    with pytest.raises(OSError, match="no route") as caught:
        await agent.run("q")
    assert caught.value.__notes__ == ["raised by the model call of step 1 of agent 'a'"]
    assert len(resolver.ended) == 1


async def test_a_run_that_failed_goes_on_with_what_was_done_until_then():
    ran = []

    def pay(amount: int) -> str:
        """Pay."""
        ran.append(amount)
        return "paid"

    tool = Tool.from_function(pay, requires_approval=True)
    agent, model = agent_of([call("pay", {"amount": 5}), OSError("no route"), "done"], tools=[tool])
    paused = await agent.run("q")
    with pytest.raises(OSError, match="no route") as caught:
        await agent.resume(paused, {paused.pending[0].call_id: True})
    assert caught.value.run_messages == [*paused.messages, model.requests[1].messages[-1]]
    assert (await agent.run(messages=caught.value.run_messages)).output == "done"
    assert model.requests[2].messages[-1]["content"] == "paid"
    assert ran == [5]


@dataclass(frozen=True)
class QuotaError(Exception):
    """An error that takes no notes, since nothing of it can be set."""

    left: int = 0


async def test_an_error_that_cannot_be_changed_stays_what_it_is():
    def refuse(step):
        raise QuotaError

    of_a_processor, _ = agent_of(["ok"], input_processors=[Spy(refuse)])
    of_a_model, _ = agent_of([QuotaError()])
    for agent in (of_a_processor, of_a_model):
        with pytest.raises(QuotaError):
            await agent.run("q")


async def test_a_response_without_choices_is_an_error():
    async def completion(**request):
        return {}

    agent, _ = agent_of(completion)
    with pytest.raises(ToolSearchError, match="has no choices"):
        await agent.run("q")


async def test_cancelling_a_run_cancels_its_tools_and_ends_it():
    started, ended = asyncio.Event(), []

    async def wait() -> None:
        """Wait for ever."""
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("tool")

    resolver = Resolver()
    agent, _ = agent_of([call("wait")], tools=[wait], input_processors=[resolver])
    task = asyncio.create_task(agent.run("q"))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended == ["tool"]
    assert len(resolver.ended) == 1


def slow_and_quick(started):
    async def pay() -> str:
        """Pay."""
        return "paid"

    async def wait() -> None:
        """Wait for ever."""
        started.set()
        await asyncio.Event().wait()

    return [pay, wait]


async def stopped(how, agent, started):
    """Run until the slow tool waits, stop the run, and return what carries its messages."""
    scope = asyncio.timeout(None)

    async def run():
        async with scope:
            await agent.run("q")

    task = asyncio.create_task(run())
    await started.wait()
    await asyncio.sleep(0)
    scope.reschedule(0) if how == "timeout" else task.cancel()
    with pytest.raises((TimeoutError, asyncio.CancelledError)) as caught:
        await task
    return caught.value.__cause__ if how == "timeout" else caught.value


@pytest.mark.parametrize("how", ["cancel", "timeout"])
@pytest.mark.parametrize("order", [(0, 1), (1, 0)], ids=["quick first", "slow first"])
async def test_what_had_run_when_a_run_is_cancelled_is_kept(how, order):
    started = asyncio.Event()
    tools = slow_and_quick(started)
    agent, model = agent_of([[call(tools[n].__name__) for n in order], "ok"], tools=tools)
    kept = (await stopped(how, agent, started)).run_messages
    told = {message["name"]: message["content"] for message in kept if message["role"] == "tool"}
    assert told == {
        "pay": "paid",
        "wait": "Error: wait was stopped before it answered, because the run was cancelled. "
        "It may have taken effect.",
    }
    assert (await agent.run("go on", messages=kept)).output == "ok"
    assert [m["role"] for m in model.requests[1].messages] == ["user", "assistant", "tool", "tool", "user"]


async def test_a_call_that_never_began_is_told_as_not_run():
    started = asyncio.Event()
    tools = slow_and_quick(started)
    agent, _ = agent_of([[call("wait"), call("pay")]], tools=tools, parallel_tool_calls=False)
    kept = (await stopped("cancel", agent, started)).run_messages
    assert kept[-1]["content"] == "Error: pay was not run, because the run was cancelled before."


async def test_tool_failures_and_timeouts_are_results(caplog):
    async def forever() -> None:
        """Never answer."""
        await asyncio.Event().wait()

    async def broken() -> None:
        """Fail."""
        raise ZeroDivisionError("by zero")

    agent, _ = agent_of(
        [[call("forever"), call("broken")], "ok"], tools=[forever, broken], tool_timeout_seconds=0.01
    )
    with caplog.at_level(logging.CRITICAL):
        result = await agent.run("q")
    assert [message["content"] for message in result.messages[2:4]] == [
        "Error: forever took longer than 0.01 seconds and was stopped.",
        "Error: ZeroDivisionError: by zero",
    ]


class Panic(BaseException):
    """What a library of another language raises when it breaks down."""


@pytest.mark.parametrize("error", [SystemExit(2), Panic("broken")], ids=["sys.exit", "panic"])
@pytest.mark.parametrize("kind", ["sync", "async"])
async def test_a_tool_that_would_end_the_program_is_answered(kind, error):
    def leave() -> None:
        """Leave."""
        raise error

    async def leave_later() -> None:
        """Leave."""
        raise error

    resolver = Resolver()
    tool = Tool.from_function(leave if kind == "sync" else leave_later, name="leave")
    agent, _ = agent_of([call("leave"), "done"], tools=[tool], input_processors=[resolver])
    result = await agent.run("q")
    assert result.output == "done"
    assert result.messages[2]["content"].startswith(f"Error: {type(error).__name__}")
    assert len(resolver.ended) == 1


async def test_runs_of_one_agent_at_the_same_time():
    def answer(request):
        return request.messages[-1]["content"] * 2

    agent, _ = agent_of([answer] * 20)
    results = await asyncio.gather(*(agent.run(str(n)) for n in range(20)))
    assert [result.output for result in results] == [str(n) * 2 for n in range(20)]
    assert len({result.run_id for result in results}) == 20


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"name": ""}, "name must be a string"),
        ({"model": None}, "model must be a string"),
        ({"instructions": None}, "instructions must be a string"),
        ({"max_steps": 0}, "max_steps must be a whole number of at least 1, found 0"),
        ({"max_steps": True}, "found True"),
        ({"tool_timeout_seconds": 0}, "tool_timeout_seconds must be a number above 0 or None"),
        ({"model_settings": "fast"}, "model_settings must be a mapping, found 'fast'"),
        ({"completion": "fast"}, "completion must be a function .*, found 'fast'"),
        ({"model_settings": {"stream": True}}, "model_settings holds 'stream'"),
        ({"tools": [3]}, r"tools\[0\] of agent 'a': 3 is neither"),
        ({"tools": add}, "put it in a list"),
        ({"input_processors": [Spy(), Spy()]}, "have the id 'spy'"),
        (
            {"input_processors": [Resolver(reserved=["s"]), Resolver(reserved=["s"], name="two")]},
            "'resolver' and 'two' both offer tools named s",
        ),
    ],
)
def test_options_that_cannot_work(options, match):
    with pytest.raises(ConfigurationError, match=match):
        agent_of([], **options)


def test_names_that_clash():
    with pytest.raises(DuplicateToolError):
        agent_of([], tools=[add, add])
    with pytest.raises(ReservedToolNameError):
        agent_of([], tools=[add], input_processors=[Resolver(reserved=["add"])])


def test_two_searchers_with_names_of_their_own():
    processors = [Resolver(reserved=["s1"]), Resolver(reserved=["s2"], name="two")]
    agent, _ = agent_of([], input_processors=processors)
    assert agent.input_processors == tuple(processors)


def test_run_sync_keeps_one_loop_from_call_to_call():
    loops = []

    async def completion(**request):
        loops.append(asyncio.get_running_loop())
        return {"choices": [{"message": {"content": "ok"}}]}

    agent, _ = agent_of(completion)
    try:
        assert agent.run_sync("q").output == "ok"
        assert agent.run_sync("q", context={"a": 1}, thread_id="t", messages=[USER]).thread_id == "t"
    finally:
        close_private_loop()
    assert loops[0] is loops[1]


async def test_run_sync_refuses_a_running_loop():
    agent, _ = agent_of(["ok"])
    with pytest.raises(RunningLoopError, match=r"Agent.run_sync .*use `await agent.run\(...\)`"):
        agent.run_sync("q")


async def test_a_sync_tool_may_run_another_agent():
    inner, _ = agent_of(["inner answer"])

    def ask() -> str:
        """Ask the other agent."""
        return inner.run_sync("q").output

    outer, _ = agent_of([call("ask"), "ok"], tools=[ask])
    try:
        result = await outer.run("q")
    finally:
        close_private_loop()
    assert result.messages[2]["content"] == "inner answer"


async def test_usage_of_a_run_without_tools():
    agent, _ = agent_of(["ok"])
    usage = (await agent.run("q")).usage
    assert (usage.definition_tokens_sent, usage.definition_tokens_full) == (0, 0)
    assert usage != Usage()


async def test_without_litellm_the_install_command_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "litellm", None)
    agent = Agent(name="a", model="openai/x")
    with pytest.raises(ImportError, match=r'pip install "tool-search-processor\[agent\]"'):
        await agent.run("q")


async def test_a_broken_litellm_speaks_for_itself(monkeypatch, tmp_path):
    (tmp_path / "litellm.py").write_text("import a_part_that_is_missing\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "litellm", raising=False)
    with pytest.raises(ImportError, match="a_part_that_is_missing"):
        await Agent(name="a", model="openai/x").run("q")


LOST = {"role": "assistant", "content": None, "tool_calls": []}


def answering(*replies):
    """Return a completion that gives messages with their finish reasons, in order, and what it was sent."""
    left, sent = list(replies), []

    async def completion(**request):
        sent.append(request["messages"])
        message, reason = left.pop(0)
        return {"choices": [{"index": 0, "finish_reason": reason, "message": message}]}

    return completion, sent


@pytest.mark.parametrize("reason", ["tool_calls", "function_call", "malformed_function_call"])
async def test_a_call_that_a_server_lost_is_asked_for_once_more(reason, caplog):
    completion, sent = answering((LOST, reason), ({"role": "assistant", "content": "done"}, "stop"))
    agent, _ = agent_of(completion)
    result = await agent.run("q")
    assert (result.output, result.finish_reason, result.steps) == ("done", "stop", 2)
    assert "no call arrived" in sent[1][0]["content"]
    assert sent[1][1:] == result.messages[:1]
    assert "held no call that can be read" in caplog.text


async def test_a_server_that_loses_calls_again_and_again_ends_the_run_in_words():
    agent, _ = agent_of(answering((LOST, "tool_calls"), (LOST, "tool_calls"))[0])
    result = await agent.run("q")
    assert result.finish_reason == "aborted"
    assert "held no call and no text" in result.output
    assert result.messages == [USER | {"content": "q"}]


async def test_the_old_form_of_a_call_runs():
    call = {"name": "add", "arguments": '{"a": 1, "b": 1}'}
    completion, sent = answering(
        ({"role": "assistant", "content": None, "function_call": call}, "function_call"),
        ({"role": "assistant", "content": "2"}, "stop"),
    )
    agent, _ = agent_of(completion)
    result = await agent.run("q")
    assert (result.output, result.steps) == ("2", 2)
    assert [message["role"] for message in sent[1]] == ["user", "assistant", "tool"]


@pytest.mark.parametrize("content", [None, "", " \n", []])
async def test_an_empty_answer_is_told_and_is_no_success(content, caplog):
    completion, _ = answering(({"role": "assistant", "content": content, "reasoning_content": "hm"}, "stop"))
    result = await agent_of(completion)[0].run("q")
    assert (result.output.strip(), result.finish_reason, result.steps) == ("", "empty", 1)
    assert "the model's answer of step 0 is empty" in caplog.text
    assert type(result).from_json(result.to_json()) == result


async def test_a_stream_that_holds_nothing_is_told(caplog):
    async def completion(**request):
        async def chunks():
            yield {"choices": [{"index": 0, "delta": {"role": "assistant"}, "finish_reason": None}]}
            yield {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}

        return chunks()

    events = [event async for event in agent_of(completion)[0].stream("q")]
    assert events[-1].result.finish_reason == "empty"
    assert "is empty: neither text nor a call came" in caplog.text


CALLING = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "x", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}],
}


@pytest.mark.parametrize(("model", "content"), [("openai/m", ""), ("m", ""), ("gemini/m", None)])
async def test_calls_without_text_are_sent_with_an_empty_text(model, content):
    completion, sent = answering((CALLING, "tool_calls"), ({"content": "done"}, "stop"))
    result = await agent_of(completion, model=model, tools=[add])[0].run("q")
    assert sent[1][1]["content"] == content
    assert result.messages[1]["content"] == ""


@pytest.mark.parametrize("native", ["off", "reference"])
@pytest.mark.parametrize("role", ["user", "system", "assistant"])
async def test_no_message_of_a_history_is_sent_with_null(role, native):
    completion, sent = answering(({"content": "done"}, "stop"))
    agent, _ = agent_of(completion, model="claude-sonnet-4-6", native=native)
    await agent.run("q", messages=[{"role": "user", "content": "hi"}, {"role": role, "content": None}])
    assert [message["content"] for message in sent[0]] == ["hi", "", "q"]


async def test_figures_that_no_provider_gave_are_estimates_and_marked():
    completion, _ = answering((CALLING, "tool_calls"), ({"content": "done"}, "stop"))
    usage = (await agent_of(completion, tools=[add])[0].run("q")).usage
    assert usage.estimated_calls == 2
    assert usage.prompt_tokens > usage.definition_tokens_sent > 0
    assert usage.total_tokens == usage.prompt_tokens + usage.completion_tokens
    assert (await agent_of(["done"])[0].run("q")).usage.estimated_calls == 0
