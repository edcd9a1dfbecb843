"""Calls are looked up, run at the same time, and answered in words whatever happens."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from dataclasses import replace

import pytest

from tests.processors import Resolver
from tool_search_processor import ToolSearchProcessor, ToolSession
from tool_search_processor.errors import ConfigurationError, ToolUnavailableError
from tool_search_processor.session.foreign_tools import ForeignTool
from tool_search_processor.session.model_call import MAX_CALLS, CallOptions, ModelCall
from tool_search_processor.session.prepared_calls import PendingCall, arguments_hash
from tool_search_processor.session.running_calls import finish
from tool_search_processor.steps import InputStep
from tool_search_processor.stores import HistoryStore
from tool_search_processor.tools import Tool, ToolContext
from tool_search_processor.wire.calls import CallRequest


def request(name, arguments=None, *, call_id="c1"):
    return CallRequest(id=call_id, name=name, arguments=arguments)


def add(a: int, b: int = 1) -> int:
    """Add two numbers."""
    return a + b


def context_of(context: ToolContext) -> dict:
    """Say what is known."""
    return {
        "thread": context.thread_id,
        "run": context.run_id,
        "call": context.tool_call_id,
        "plan": context.context["plan"],
    }


async def boom() -> None:
    """Fail."""
    raise OSError("no disk")


async def cancelled_inside() -> None:
    """Fail as a cancelled part of a tool does."""
    raise asyncio.CancelledError


class Proxy(Tool):
    """Runs another tool, as a call_tool does."""

    async def target(self, arguments, context=None):
        if arguments["name"] == "denied":
            raise ToolUnavailableError("there is no such tool")
        return Tool.from_function(add, requires_approval=arguments["name"] == "guarded"), {"a": 5}


def step_of(*tools):
    listed = [tool if isinstance(tool, Tool) else Tool.from_function(tool) for tool in tools]
    return InputStep(messages=(), tools=listed, context={"plan": "pro"}, thread_id="t", run_id="r")


async def outcomes(step, *requests, processors=(), **options):
    model_call = ModelCall(processors, step, options=CallOptions(**options))
    return await finish(model_call.start(await model_call.prepare(requests)))


async def outcome(step, *requests, **options):
    (only,) = await outcomes(step, *requests, **options)
    return only


@pytest.mark.parametrize(
    ("name", "arguments", "text"),
    [
        ("add", '{"a": 1, "b": 2}', "3"),
        ("add", {"a": 1}, "2"),
        (" add ", {"a": 1}, "2"),
        ("functions.add", {"a": 1}, "2"),
        ("add", '"{\\"a\\": 1}"', "2"),
    ],
)
async def test_listed_tools_run(name, arguments, text):
    result = await outcome(step_of(add), request(name, arguments))
    assert (result.text, result.is_error) == (text, False)


async def test_results_come_in_the_order_of_the_calls():
    started, release = asyncio.Event(), asyncio.Event()

    async def first() -> str:
        """Wait for the second."""
        started.set()
        await release.wait()
        return "first"

    async def second() -> str:
        """Release the first."""
        await started.wait()
        release.set()
        return "second"

    step = step_of(first, second)
    results = await outcomes(step, request("first", call_id="a"), request("second", call_id="b"))
    assert [(item.call_id, item.text) for item in results] == [("a", "first"), ("b", "second")]


async def test_one_at_a_time_when_asked():
    running, most = 0, 0

    async def count() -> int:
        """Count how many run."""
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1
        return most

    calls = [request("count", call_id=str(n)) for n in range(3)]
    await outcomes(step_of(count), *calls, concurrent=False)
    assert most == 1
    await outcomes(step_of(count), *calls)
    assert most == 3


async def test_a_tool_knows_its_run():
    result = await outcome(step_of(context_of), request("context_of", call_id="c7"))
    assert result.text == '{"thread":"t","run":"r","call":"c7","plan":"pro"}'


@pytest.mark.parametrize(
    ("name", "arguments", "text"),
    [
        ("add", '{"a": ', "not valid JSON"),
        ("add", "[1]", "one JSON object; found a list"),
        ("add", "3", "found a number"),
        ("add", "true", "found true or false"),
        ("add", '"\\"x\\""', "found a string"),
        ("add", '{"a": "x"}', "a"),
        ("add", None, "a"),
        ("boom", "", "Error: OSError: no disk"),
        ("cancelled_inside", "[]", "Error: cancelled_inside was cancelled before it answered."),
        ("ad", "{}", "Error: there is no tool named 'ad'. Did you mean add?"),
        ("", "{}", "Error: there is no tool named ''."),
        ("x" * 100, "{}", f"there is no tool named '{'x' * 64}'"),
    ],
)
async def test_what_goes_wrong_is_a_sentence(name, arguments, text):
    result = await outcome(step_of(add, boom, cancelled_inside), request(name, arguments))
    assert text in result.text
    assert result.text.startswith("Error: ")
    assert result.is_error


@pytest.mark.parametrize(("name", "ran"), [("boom", True), ("cancelled_inside", True), ("ad", False)])
async def test_it_is_known_whether_a_tool_that_failed_had_begun(name, ran):
    assert (await outcome(step_of(boom, cancelled_inside), request(name))).ran is ran


async def wrongly_set_up() -> None:
    """Do what its program got wrong."""
    raise ConfigurationError("an index gives Hits")


async def test_a_failure_is_logged_and_a_mistake_is_not(caplog):
    step = step_of(add, boom, wrongly_set_up)
    with caplog.at_level(logging.INFO):
        await outcomes(step, request("boom"), request("add", '{"a": "x"}'), request("wrongly_set_up"))
    assert [(record.levelname, record.message, record.exc_info is not None) for record in caplog.records] == [
        ("WARNING", "the tool 'boom' failed: OSError", True),
        ("WARNING", "the tool 'wrongly_set_up' failed: ConfigurationError", True),
    ]


async def test_a_tool_that_takes_too_long_is_stopped():
    stopped = []

    async def forever() -> None:
        """Never answer."""
        try:
            await asyncio.Event().wait()
        finally:
            stopped.append(True)

    result = await outcome(step_of(forever), request("forever"), tool_timeout_seconds=0.01)
    assert result.text == "Error: forever took longer than 0.01 seconds and was stopped."
    assert stopped == [True]


async def test_a_tools_own_timeout_is_its_failure():
    async def slow() -> None:
        """Fail as a client's timeout does."""
        raise TimeoutError("connect")

    result = await outcome(step_of(slow), request("slow"), tool_timeout_seconds=10)
    assert result.text == "Error: TimeoutError: connect"


async def test_cancelling_cancels_every_call():
    both, ended = asyncio.Barrier(3), []

    async def wait(n: int) -> None:
        """Wait for ever."""
        try:
            await both.wait()
            await asyncio.Event().wait()
        finally:
            ended.append(n)

    step = step_of(wait)
    task = asyncio.create_task(outcomes(step, request("wait", {"n": 1}), request("wait", {"n": 2})))
    await both.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert sorted(ended) == [1, 2]


async def test_resolvers_are_asked_in_order():
    first = Resolver(name="first")
    second = Resolver([Tool.from_function(add)], name="second")
    third = Resolver([Tool(name="add")], name="third")
    result = await outcome(step_of(), request("add", {"a": 1}), processors=[first, second, third])
    assert result.text == "2"


async def test_a_listed_tool_goes_before_a_resolvers():
    resolver = Resolver([Tool(name="add")])
    result = await outcome(step_of(add), request("add", {"a": 1}), processors=[resolver])
    assert result.text == "2"


def _plain_text(step, name):
    return f"no {name}: call search_tools"


async def _async_text(step, name):
    return _plain_text(step, name)


@pytest.mark.parametrize("text", [_plain_text, _async_text])
async def test_the_resolver_words_what_is_missing(text):
    silent = Resolver(text=lambda step, name: None, name="silent")
    result = await outcome(step_of(), request("zip"), processors=[silent, Resolver(text=text)])
    assert result.text == "no zip: call search_tools"


async def test_a_resolver_that_fails_is_an_answer():
    result = await outcome(
        step_of(), request("zip"), processors=[Resolver(failing={"resolve_call": OSError("down")})]
    )
    assert result.text == "Error: OSError: down"


async def test_a_proxys_target_is_what_runs():
    result = await outcome(step_of(Proxy(name="call_tool")), request("call_tool", {"name": "add"}))
    assert (result.name, result.text) == ("call_tool", "6")


async def test_a_target_that_is_refused_is_an_answer():
    result = await outcome(step_of(Proxy(name="call_tool")), request("call_tool", {"name": "denied"}))
    assert result.text == "Error: there is no such tool"


async def test_approval_is_the_targets():
    step = step_of(Proxy(name="call_tool"))
    (call,) = await ModelCall((), step).prepare([request("call_tool", {"name": "guarded"})])
    assert call.needs_approval
    pending = call.pending()
    assert pending == PendingCall(
        call_id="c1", name="add", arguments={"a": 5}, arguments_hash=arguments_hash("add", {"a": 5})
    )
    assert PendingCall.from_dict(pending.to_dict()) == pending


async def test_nobody_approves_arguments_that_cannot_run():
    tool = Tool.from_function(add, requires_approval=True)
    listed = await outcome(step_of(tool), request("add", {"a": "x"}))
    assert listed.is_error
    assert "parameters of add" not in listed.text
    unlisted = await outcome(step_of(), request("add", {}), processors=[Resolver([tool])])
    assert 'The parameters of add: {"' in unlisted.text


async def test_a_misspelled_listed_tool_is_suggested_beside_what_the_searchers_say():
    searchers = [
        ToolSearchProcessor([Tool("send_mail")]),
        ToolSearchProcessor([Tool("fetch_page")], search_tool_name="find", load_tool_name="get"),
    ]
    async with ToolSession(*searchers, tools=[Tool("current_user")]) as session:
        call = {"id": "1", "type": "function", "function": {"name": "curent_user", "arguments": "{}"}}
        (answer,) = await session.execute([call])
    assert answer["content"] == (
        "Error: There is no tool 'curent_user' to call. Find tools with search_tools.\n"
        "Error: There is no tool 'curent_user' to call. Find tools with find. Did you mean current_user?"
    )


async def test_a_step_that_lists_everything_names_no_search():
    async with ToolSearchProcessor([Tool("send_mail")], passthrough_tokens=1000).session() as session:
        call = {"id": "1", "type": "function", "function": {"name": "send_male", "arguments": "{}"}}
        (answer,) = await session.execute([call])
    assert answer["content"] == "Error: There is no tool 'send_male' to call. Did you mean send_mail?"


class Unwritable(str):
    __slots__ = ()

    def isascii(self):
        raise RuntimeError("no")


def broken_iterator():
    yield 1
    raise ValueError("half way")


@pytest.mark.parametrize(
    ("result", "text"),
    [
        (lambda: Unwritable("x"), "Error: RuntimeError: no"),
        (broken_iterator, "Error: ValueError: half way"),
    ],
    ids=["text", "iterator"],
)
async def test_a_result_that_cannot_be_written_is_an_error(result, text):
    tool = Tool("odd", execute=result)
    (outcome,) = await run_calls(tool)
    assert (outcome.text, outcome.is_error) == (text, True)


async def later_items():
    yield 1
    yield 2


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (later_items, "[1,2]"),
        (lambda: map(str, (1, 2)), '["1","2"]'),
        (lambda: {"a": iter("bc")}, '{"a":["b","c"]}'),
    ],
    ids=["async", "sync", "inside"],
)
async def test_iterators_are_read_to_their_end(make, text):
    (outcome,) = await run_calls(Tool("rows", execute=make))
    assert (outcome.text, outcome.is_error) == (text, False)


@pytest.mark.parametrize("wrap", [lambda rows: rows, lambda rows: [rows], lambda rows: {"rows": rows}])
async def test_what_makes_an_iterators_items_runs_in_a_thread_and_within_the_time_limit(wrap):
    threads, released = [], threading.Event()

    def row(number):
        threads.append(threading.current_thread())
        released.wait(10)
        return number

    rows = Tool("rows", execute=lambda: wrap(map(row, range(2))))
    result = await outcome(step_of(rows), request("rows"), tool_timeout_seconds=0.01)
    released.set()
    assert result.text == "Error: rows took longer than 0.01 seconds and was stopped."
    assert threading.main_thread() not in threads


@pytest.mark.parametrize("error", [SystemExit, GeneratorExit, asyncio.CancelledError])
@pytest.mark.parametrize("kind", ["sync", "async"])
async def test_whatever_a_tool_raises_is_an_answer(error, kind):
    def fail():
        raise error

    async def fail_later():
        raise error

    tool = Tool("odd", execute=fail if kind == "sync" else fail_later)
    (outcome,) = await run_calls(tool)
    assert outcome.is_error


async def run_calls(*tools):
    model_call = ModelCall((), InputStep(messages=(), tools=tools))
    requests = [CallRequest(id=f"c{n}", name=tool.name, arguments="{}") for n, tool in enumerate(tools)]
    return await finish(model_call.start(await model_call.prepare(requests)))


async def test_of_one_reply_a_fixed_number_of_calls_is_run():
    ran = []
    tool = Tool(name="count", execute=lambda **given: ran.append(given["number"]))
    requests = [request("count", {"number": n}, call_id=f"c{n}") for n in range(MAX_CALLS + 2)]
    model_call = ModelCall((), step_of(tool))
    outcomes = await finish(model_call.start(await model_call.prepare(requests)))
    assert [outcome.call_id for outcome in outcomes] == [item.id for item in requests]
    assert sorted(ran) == list(range(MAX_CALLS))
    assert [outcome.is_error for outcome in outcomes] == [False] * MAX_CALLS + [True] * 2
    assert outcomes[-1].text == (
        "Error: this call was not run: 128 calls of one reply are the most. Make it again later."
    )


@pytest.mark.parametrize("limit", [10, None])
async def test_a_result_is_cut_to_the_most_characters(limit):
    async def fail() -> None:
        raise ToolUnavailableError("y" * 1_010)

    tools = [Tool(name="long", execute=lambda: "x" * 1_010), Tool.from_function(fail)]
    one, two = await outcomes(step_of(*tools), request("long"), request("fail"), max_result_characters=limit)
    left = "\n… (cut: 1,000 more characters were left out. Ask for less at a time.)"
    assert one.text == ("x" * 1_010 if limit is None else "x" * 10 + left)
    assert two.text.startswith("Error: yyy")
    assert ("left out" in two.text) is (limit is not None)


async def test_what_a_meta_tool_answers_is_never_cut_since_it_may_bear_a_receipt():
    processor = ToolSearchProcessor([Tool(name="a")], store=HistoryStore())
    async with ToolSession(processor, max_result_characters=10) as session:
        await session.tools([])
        call = {"id": "1", "function": {"name": "load_tool", "arguments": '{"tool_names": ["a"]}'}}
        (answer,) = await session.execute([call])
    assert json.loads(answer["content"])["receipt"]["names"] == ["a"]


@pytest.mark.parametrize("order", [1, -1])
async def test_a_look_up_that_is_cancelled_ends_the_others(order):
    never, ended = asyncio.Event(), []

    class Resolving(Resolver):
        async def resolve_call(self, step, name):
            if name == "cancelled":
                await asyncio.sleep(0)
                raise asyncio.CancelledError
            try:
                await never.wait()
            finally:
                ended.append(name)

    requests = [request("waiting", call_id="c1"), request("cancelled", call_id="c2")][::order]
    with pytest.raises(asyncio.CancelledError):
        await ModelCall([Resolving([])], step_of()).prepare(requests)
    assert ended == ["waiting"]
    assert asyncio.all_tasks() == {asyncio.current_task()}


@pytest.mark.parametrize("masked", [False, True])
async def test_details_are_masked_wherever_foreign_code_fails(masked, caplog):
    class Unwritable:
        def __repr__(self):
            raise OSError("hunter2")

    async def wrong_inside() -> str:
        """Call another tool wrongly."""
        return await Tool.from_function(add).call({"a": "hunter2"})

    async def endless() -> object:
        """Give items until one fails."""
        return (1 / 0 for _ in range(2))

    class Failing(Resolver):
        async def resolve_call(self, step, name):
            raise OSError("hunter2")

    step = step_of(wrong_inside, endless)
    names = ["wrong_inside", "endless", "unlisted"]
    found = await outcomes(step, *map(request, names), processors=[Failing()], mask_error_details=masked)
    for name, one in zip(names, found, strict=True):
        assert one.is_error
        assert (one.text == f"Error: {name} failed; the log says why.") is masked
    assert [record.levelname for record in caplog.records if "wrong_inside" in record.getMessage()] == (
        ["WARNING"] if masked else []
    )


@pytest.mark.parametrize("receipts", [False, True])
async def test_the_options_hold_for_a_step_with_receipts_too(receipts):
    step = step_of(boom).replace(receipts=receipts)
    model_call = await ModelCall.begin([], step, options=CallOptions(mask_error_details=True))
    result = await model_call.run(await model_call.resolve("boom"))
    assert result.text == "Error: boom failed; the log says why."


@pytest.mark.parametrize(
    ("name", "arguments", "is_error", "ran"),
    [
        ("add", {"a": 1}, False, True),
        ("says_error", {}, False, True),
        ("boom", {}, True, True),
        ("load_tool", {"tool_names": ["a"]}, False, False),
        ("call_tool", {"name": "nothing"}, True, False),
        ("unknown", {}, True, False),
    ],
)
async def test_an_outcome_says_whether_a_tool_ran_and_whether_it_failed(name, arguments, is_error, ran):
    says_error = Tool("says_error", execute=lambda: "Error: is what I look for")
    processors = [
        ToolSearchProcessor([Tool("a")]),
        ToolSearchProcessor([Tool("b")], mode="call", search_tool_name="find", id="calling"),
    ]
    step = step_of(add, boom, says_error)
    model_call = await ModelCall.begin(processors, step)
    result = await model_call.run(await model_call.resolve(name, arguments))
    assert (result.is_error, result.ran) == (is_error, ran)


async def test_a_tool_that_was_stopped_for_its_time_may_have_taken_effect(caplog):
    async def forever() -> None:
        """Never answer."""
        await asyncio.Event().wait()

    result = await outcome(step_of(forever), request("forever"), tool_timeout_seconds=0.01)
    assert (result.is_error, result.ran) == (True, True)
    assert caplog.messages == ["the tool 'forever' took longer than 0.01 s"]


async def test_a_gate_that_answers_itself_is_the_answer_and_the_framework_runs_nothing():
    gate = ForeignTool("gate", execute=lambda: {"closed": True}, original=object())
    model_call = ModelCall((), step_of(gate))
    result = await model_call.hand_over(await model_call.resolve("gate"), pytest.fail)
    assert (result.text, result.ran) == ('{"closed":true}', False)


async def test_the_first_receipt_of_an_unlisted_tool_is_the_receipt_of_its_call():
    class Giving(Resolver):
        def __init__(self, receipt, **options):
            super().__init__([Tool.from_function(add)], **options)
            self.call_receipt = lambda step, name: receipt and {"names": [name, receipt]}

    processors = [Resolver(), Giving(None), Giving("second"), Giving("third")]
    listed, unlisted = ModelCall(processors, step_of(add)), ModelCall(processors, step_of(boom))
    assert listed.receipt(await listed.resolve("add", {"a": 1})) is None
    assert unlisted.receipt(await unlisted.resolve("add", {"a": 1})) == {"names": ["add", "second"]}
    assert unlisted.receipt(await unlisted.resolve("nothing")) is None
    assert ModelCall([], step_of()).receipt(await unlisted.resolve("add", {"a": 1})) is None


async def test_a_processor_that_fails_at_the_end_of_a_run_is_logged_and_the_next_is_told(caplog):
    processors = [Resolver(name="failing", failing={"end_run": OSError("no")}), Resolver()]
    await ModelCall(processors, step_of()).end_run()
    assert [processor.ended for processor in processors] == [["r"]] * 2
    (warning,) = caplog.records
    assert warning.getMessage() == "end_run of 'failing' failed"
    assert warning.exc_info[0] is OSError


async def test_a_call_outside_of_several_allowed_tools_does_not_run():
    allowed = [{"type": "function", "name": name} for name in ("add", "context_of")]
    step = step_of(add, context_of, boom).replace(
        tool_choice={"type": "allowed_tools", "mode": "auto", "tools": allowed}
    )
    result = await outcome(step, request("boom"))
    assert result.text == "Error: boom was not run: only these tools may be called now: add, context_of."
    assert (await outcome(step, request("add", {"a": 1}))).text == "2"


async def test_arguments_that_cannot_be_read_are_told_of_once():
    result = await outcome(step_of(add), request("add", '{"a": '))
    assert result.text == (
        "Error: The arguments are not valid JSON: Expecting value at line 1, column 7. add takes one JSON "
        'object; this was sent: {"a": '
    )


@pytest.mark.parametrize("ran", [False, True])
async def test_what_policy_says_of_a_tool_that_is_not_there_goes_to_the_operator(ran):
    class Late(Tool):
        async def target(self, arguments, context=None):
            raise unavailable

        async def call(self, arguments=None, context=None):
            raise unavailable

    unavailable = ToolUnavailableError("there is no such tool")
    unavailable.problem, unavailable.ran = "no verdict in time", ran
    tool = Late("late")
    late = await ModelCall((), step_of(tool)).resolve("late")
    assert (late.error, late.problem) == ("Error: there is no such tool", "no verdict in time")
    result = await ModelCall((), step_of()).run(replace(late, tool=tool))
    assert (result.text, result.problem, result.ran) == (late.error, late.problem, ran)


async def test_a_proxy_knows_the_call_for_which_it_finds_its_target():
    class Asking(Tool):
        async def target(self, arguments, context=None):
            return Tool("told", execute=lambda: [context.tool_call_id, context.run_id]), {}

    assert (await outcome(step_of(Asking("asking")), request("asking", {"x": 1}))).text == '["c1","r"]'
