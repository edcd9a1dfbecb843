"""How callables are called: what they take, where the context goes, on which thread."""

import asyncio
import contextvars
import functools
import threading
from typing import Annotated, Optional

import pytest

from tool_search_processor.errors import ToolArgumentsError
from tool_search_processor.tools.execution import (
    ToolContext,
    is_context_annotation,
    plan_call,
    run_callable,
)

CONTEXT = ToolContext(thread_id="t", run_id="r", tool_call_id="c", context={"plan": "pro"})
PROPERTIES = ("a", "b")


def by_keywords(a, b=2):
    return a, b


def with_context(a, *, run: ToolContext):
    return a, run


def with_string_context(run: "ToolContext | None", a):
    return a, run


def with_optional_context(a, run: Optional[ToolContext] = None):  # noqa: UP045
    return a, run


def with_everything(**kwargs):
    return kwargs


def positional_only(a, b=2, /):
    return a, b


def whole(arguments):
    return arguments


def whole_with_default(arguments=None):
    return arguments


def whole_and_context(args, context):
    return args, context


def whole_and_named_context(params, ctx=None):
    return params, ctx


def whole_and_keyword_context(request, *, run: ToolContext):
    return request, run


def context_and_whole(run: ToolContext, payload):
    return payload, run


def whole_and_bound_default(args, tool="bound"):
    return args, tool


@pytest.mark.parametrize(
    ("execute", "result"),
    [
        (by_keywords, (1, 2)),
        (with_context, (1, CONTEXT)),
        (with_string_context, (1, CONTEXT)),
        (with_optional_context, (1, CONTEXT)),
        (with_everything, {"a": 1}),
        (positional_only, (1, 2)),
        (functools.partial(by_keywords, b=3), (1, 3)),
        (whole, {"a": 1}),
        (whole_with_default, {"a": 1}),
        (whole_and_context, ({"a": 1}, CONTEXT)),
        (whole_and_named_context, ({"a": 1}, CONTEXT)),
        (whole_and_keyword_context, ({"a": 1}, CONTEXT)),
        (whole_and_bound_default, ({"a": 1}, "bound")),
        (lambda anything: anything, {"a": 1}),
        (dict, {"a": 1}),
    ],
)
async def test_callables_get_arguments_and_context_as_they_take_them(execute, result):
    args, kwargs = plan_call(execute, PROPERTIES).bind({"a": 1}, CONTEXT)
    assert await run_callable(execute, args, kwargs) == result


def test_the_context_before_the_whole():
    args, kwargs = plan_call(context_and_whole, PROPERTIES).bind({"a": 1}, CONTEXT)
    assert context_and_whole(*args, **kwargs) == ({"a": 1}, CONTEXT)


def test_a_parameter_named_for_the_whole_that_is_a_property_is_that_property():
    assert plan_call(whole, ["arguments"]).bind({"arguments": 1}, CONTEXT) == ([], {"arguments": 1})


def test_a_value_that_is_no_object_is_the_one_argument():
    assert plan_call(by_keywords, PROPERTIES).bind([1], CONTEXT) == (([1],), {})


def test_the_model_cannot_write_the_context():
    _, kwargs = plan_call(with_optional_context, PROPERTIES).bind({"a": 1}, CONTEXT)
    assert kwargs["run"] is CONTEXT
    with pytest.raises(ToolArgumentsError, match="`run` is not a known field"):
        plan_call(with_optional_context, PROPERTIES).bind({"a": 1, "run": "forged"}, CONTEXT)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({}, "`a` is required but missing."),
        ({"a": 1, "bb": 1}, "`bb` is not a known field (did you mean `b`?)."),
        ({"aa": 1}, "`a` is required but missing. `aa` is not a known field (did you mean `a`?)."),
    ],
)
def test_what_the_callable_cannot_take_is_told_like_any_other_problem(arguments, text):
    with pytest.raises(ToolArgumentsError) as caught:
        plan_call(by_keywords, PROPERTIES).bind(arguments, CONTEXT)
    assert str(caught.value) == text


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        (ToolContext, True),
        (Optional[ToolContext], True),  # noqa: UP045
        (ToolContext | None, True),
        (Annotated[ToolContext, "x"], True),
        (Annotated[ToolContext | None, "x"], True),
        ("ToolContext", True),
        ("tool_search_processor.ToolContext | None", True),
        ("MyToolContext", False),
        (str, False),
        (str | None, False),
        (None, False),
    ],
)
def test_context_annotations(annotation, expected):
    assert is_context_annotation(annotation) is expected


async def test_sync_callables_run_in_named_threads_and_async_ones_in_the_loop():
    async def here():
        return threading.current_thread()

    class Callable:
        async def __call__(self):
            return threading.current_thread()

    assert (await run_callable(threading.current_thread, (), {})).name.startswith("tool-search-tool")
    assert await run_callable(here, (), {}) is threading.current_thread()
    assert await run_callable(Callable(), (), {}) is threading.current_thread()


async def test_what_a_sync_callable_returns_is_awaited():
    async def later():
        return "done"

    def call(function):
        return function()

    assert await run_callable(functools.partial(call, later), (), {}) == "done"


async def test_context_variables_reach_the_thread():
    variable = contextvars.ContextVar("variable", default="unset")
    variable.set("set")
    assert await run_callable(variable.get, (), {}) == "set"


async def test_exceptions_come_through_and_stop_iteration_does_not_hang():
    with pytest.raises(ZeroDivisionError):
        await run_callable(lambda: 1 / 0, (), {})
    with pytest.raises(RuntimeError, match="StopIteration"):
        await asyncio.wait_for(run_callable(lambda: next(iter(())), (), {}), 10)


async def test_cancelling_frees_the_caller_while_the_thread_goes_on():
    started, release, finished = threading.Event(), threading.Event(), threading.Event()

    def work():
        started.set()
        release.wait(10)
        finished.set()

    task = asyncio.create_task(run_callable(work, (), {}))
    await asyncio.to_thread(started.wait, 10)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not finished.is_set()
    release.set()
    assert await asyncio.to_thread(finished.wait, 10)


async def test_many_sync_tools_run_at_one_time():
    barrier = threading.Barrier(20)
    await asyncio.gather(*(run_callable(barrier.wait, (10,), {}) for _ in range(20)))


def test_a_callable_without_signature_gets_keywords():
    class Odd:
        __signature__ = "none"

        def __call__(self, **kwargs):
            return kwargs

    assert plan_call(Odd(), PROPERTIES).bind({"a": 1}, CONTEXT) == ([], {"a": 1})
