"""The filter: phases, hooks of every kind, what denies, what passes through, and the cache around it."""

import asyncio
import gc
import logging
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import FrozenInstanceError
from enum import Enum, Flag, auto
from types import MappingProxyType

import numpy as np
import pytest
from pydantic import BaseModel

from tool_search_processor import ToolSearchProcessor
from tool_search_processor.errors import ConfigurationError, ToolSearchError
from tool_search_processor.policy.admission import BATCH, Admission
from tool_search_processor.policy.cached_filters import cached_filter
from tool_search_processor.policy.filters import FilterRequest, require_filter
from tool_search_processor.testing import ManualClock
from tool_search_processor.tools import Tool

TOOLS = [Tool(f"tool_{i}", parameters={"type": "object", "properties": {"a": {}}}) for i in range(10)]
MANY = [Tool(f"tool_{i}") for i in range(500)]


def names(tools):
    return [tool.name for tool in tools]


def admission(hook, **options):
    options.setdefault("context", {})
    return Admission(hook, **options)


async def admitted(hook, tools=TOOLS, *, phase="search", limit=None, **options):
    with admission(hook, **options) as asking:
        return names(await asking.admit(tools, phase, limit=limit))


class Right(Flag):
    LOAD = auto()
    CALL = auto()


class Effect(Enum):
    ALLOW = "allow"
    DENY = "deny"

    def __bool__(self):
        return self is Effect.ALLOW


class Foreign(BaseException):
    """A base exception of somebody else's making."""


class Untrue:
    """Neither true nor false."""

    def __bool__(self):
        raise ValueError("no truth in it")


class Later:
    """An awaitable that is no coroutine."""

    def __init__(self, verdict):
        self.verdict = verdict

    def __await__(self):
        yield from asyncio.sleep(0).__await__()
        return self.verdict


def delivered(hook_answer, *, asynchronously):
    """Return a hook that calls `hook_answer`, at once or when it is awaited."""
    if not asynchronously:
        return hook_answer

    async def later(request):
        await asyncio.sleep(0)
        return hook_answer(request)

    return later


both_ways = pytest.mark.parametrize("asynchronously", [False, True], ids=["sync", "async"])


# -- what can be a filter


@pytest.mark.parametrize(
    ("given", "timeout_seconds", "says"),
    [
        (5, None, "filter must be a function (request) -> bool or None, found 5"),
        (None, 0, "filter_timeout_seconds must be a number above 0 or None, found 0"),
        (
            dict.get,
            None,
            "filter is a function (request) -> bool, and <method 'get' of 'dict' objects> does not take one "
            "argument: a request has `tool_name`, `tool`, `context`, `phase` and `thread_id`",
        ),
    ],
)
def test_what_cannot_be_a_filter_is_refused_and_it_is_said_what_can(given, timeout_seconds, says):
    with pytest.raises(ConfigurationError) as caught:
        require_filter(given, timeout_seconds=timeout_seconds)
    assert str(caught.value) == says


def test_no_filter_and_no_time_limit_are_fine():
    require_filter(None)
    require_filter(lambda request: True, timeout_seconds=0.5)


# -- what a hook is asked


async def test_a_hook_gets_all_of_the_request():
    seen = []
    with admission(seen.append, context={"plan": "pro"}, thread_id="t-1") as asking:
        await asking.admit(TOOLS[:1], "load")
    request = seen[0]
    assert isinstance(request, FilterRequest)
    assert (request.tool_name, request.tool, request.phase, request.thread_id) == (
        "tool_0",
        TOOLS[0],
        "load",
        "t-1",
    )
    assert request.context == {"plan": "pro"}


def test_a_request_without_a_thread_says_none():
    assert FilterRequest("a", Tool("a"), {}, "search").thread_id is None


@pytest.mark.parametrize(
    "change",
    [
        lambda request: setattr(request, "phase", "load"),
        lambda request: request.context.update(plan="pro"),
        lambda request: request.context.__setitem__("plan", "pro"),
        lambda request: setattr(request.tool, "name", "other"),
        lambda request: request.tool.parameters.__setitem__("type", "array"),
        lambda request: request.tool.parameters["properties"].pop("a"),
        lambda request: request.tool.metadata.update(x=1),
    ],
)
async def test_what_a_hook_gets_refuses_changes_and_so_denies(change):
    raised = []

    def hook(request):
        try:
            change(request)
        except (FrozenInstanceError, AttributeError, TypeError) as exc:
            raised.append(exc)
            raise
        return True

    context = {"plan": "free"}
    assert await admitted(hook, TOOLS[:1], context=context) == []
    assert len(raised) == 1
    assert context == {"plan": "free"}
    assert TOOLS[0].parameters == {"type": "object", "properties": {"a": {}}}


async def test_the_context_is_a_shallow_view_kept_for_the_request():
    context = {"plan": "free"}
    asking = admission(lambda request: request.context["plan"] == "free", context=context)
    context["plan"] = "pro"
    assert await asking.admits(TOOLS[0], "search")


async def test_a_read_only_context_is_handed_on_as_it_is():
    context, seen = MappingProxyType({"deep": []}), []
    await admitted(lambda request: seen.append(request.context), TOOLS[:1], context=context)
    assert [one is context for one in seen] == [True]


# -- verdicts


async def test_without_a_filter_everything_is_admitted_up_to_the_limit():
    asking = admission(None)
    assert asking.is_open
    assert names(await asking.admit(TOOLS, "search")) == names(TOOLS)
    assert names(await asking.admit(iter(TOOLS), "search", limit=3)) == names(TOOLS[:3])
    assert await asking.admits(TOOLS[0], "load", "active")


def test_with_a_filter_it_is_not_open():
    assert not admission(lambda request: True).is_open


@both_ways
@pytest.mark.parametrize("wrapped", [lambda hook: hook, lambda hook: cached_filter(hook, key=id)])
@pytest.mark.parametrize("answer", [True, False, np.True_, np.False_, np.array([True])[0]])
async def test_a_bool_is_a_verdict(answer, wrapped, asynchronously, caplog):
    hook = wrapped(delivered(lambda request: answer, asynchronously=asynchronously))
    assert await admitted(hook, TOOLS[:1]) == (["tool_0"] if answer else [])
    assert caplog.records == []


class Verdict(BaseModel):
    allowed: bool


@both_ways
@pytest.mark.parametrize("wrapped", [lambda hook: hook, lambda hook: cached_filter(hook, key=id)])
@pytest.mark.parametrize(
    "answer",
    [
        (False, "not in your plan"),
        (True, "because"),
        "no",
        "pro",  # of request.context.get("plan")
        "",
        {"allowed": False},
        [False],
        [],
        1,
        0,
        1.0,
        np.array([True]),
        np.int64(1),
        Verdict(allowed=True),
        Right.CALL,
        Effect.ALLOW,
    ],
    ids=repr,
)
async def test_any_other_answer_denies_and_a_warning_names_its_type(answer, wrapped, asynchronously, caplog):
    hook = wrapped(delivered(lambda request: answer, asynchronously=asynchronously))
    assert await admitted(hook, TOOLS[:3]) == []
    (warning,) = caplog.records
    assert "3 tool(s) in phase 'search'" in warning.getMessage()
    assert f"it answered with {type(answer).__name__!r}, and only True admits" in warning.getMessage()
    assert warning.exc_info is None
    assert warning.getMessage().endswith("and only True admits")


@both_ways
async def test_of_none_it_is_said_that_a_return_may_be_missing(asynchronously, caplog):
    hook = delivered(lambda request: None, asynchronously=asynchronously)
    assert await admitted(hook, TOOLS[:1]) == []
    assert "answered with None, and only True admits: a `return` may be missing" in caplog.text


@both_ways
async def test_each_phase_is_asked_for_itself(asynchronously):
    hook = delivered(lambda request: request.phase == "search", asynchronously=asynchronously)
    with admission(hook) as asking:
        assert names(await asking.admit(TOOLS, "search")) == names(TOOLS)
        assert await asking.admit(TOOLS, "load") == []
        assert await asking.admit(TOOLS, "active") == []


async def test_several_phases_are_asked_in_order_and_the_first_denial_ends_it():
    asked = []

    def hook(request):
        asked.append(request.phase)
        return request.phase != "load"

    asking = admission(hook)
    assert not await asking.admits(TOOLS[0], "search", "load", "active")
    assert asked == ["search", "load"]
    assert await asking.admits(TOOLS[0], "search", "active")


def mixed(request):
    """Answer every third tool at once, every third by a coroutine, every third by another awaitable."""
    number = int(request.tool_name.removeprefix("tool_"))
    verdict = number % 2 == 0
    if number % 3 == 0:
        return verdict
    return Later(verdict) if number % 3 == 1 else delivered(lambda _: verdict, asynchronously=True)(request)


@pytest.mark.parametrize("limit", [None, 1, 2, 7, 63, 64, 65, 250, 600])
@pytest.mark.parametrize("kind", ["sync", "async", "mixed"])
async def test_the_order_is_kept_whatever_the_hook_and_the_limit(kind, limit):
    def even(request):
        return int(request.tool_name.removeprefix("tool_")) % 2 == 0

    hook = mixed if kind == "mixed" else delivered(even, asynchronously=kind == "async")
    expected = [f"tool_{i}" for i in range(0, 500, 2)]
    assert await admitted(hook, MANY, limit=limit) == expected[:limit]


async def test_later_answers_that_finish_first_keep_their_place():
    turns = [asyncio.Event() for _ in range(4)]
    turns[-1].set()

    async def hook(request):
        number = int(request.tool_name[-1])
        await turns[number].wait()
        turns[number - 1].set()
        return True

    assert await admitted(hook, TOOLS[:4]) == names(TOOLS[:4])


@pytest.mark.parametrize("limit", [0, 1, 5])
async def test_a_sync_hook_is_asked_no_more_than_needed(limit):
    asked = []

    def hook(request):
        asked.append(request.tool_name)
        return int(request.tool_name.removeprefix("tool_")) % 2 == 1

    assert len(await admitted(hook, MANY, limit=limit)) == limit
    assert len(asked) == 2 * limit


@pytest.mark.parametrize("limit", [0, 1, 5, BATCH])
async def test_an_async_hook_that_admits_all_is_asked_no_more_than_the_limit(limit):
    asked = []

    async def hook(request):
        asked.append(request.tool_name)
        return True

    assert await admitted(hook, MANY, limit=limit) == names(MANY[:limit])
    assert asked == names(MANY[:limit])


async def test_after_later_answers_a_hook_that_answers_at_once_is_asked_no_more_than_needed():
    asked = []

    def hook(request):
        asked.append(request.tool_name)
        if request.tool_name in ("tool_0", "tool_1"):
            return Later(verdict=request.tool_name == "tool_0")
        return True

    assert await admitted(hook, TOOLS, limit=2) == ["tool_0", "tool_2"]
    assert asked == ["tool_0", "tool_1", "tool_2"]


async def test_candidates_that_are_not_needed_are_never_looked_at():
    source = iter(MANY)
    assert await admitted(lambda request: True, source, limit=3) == names(MANY[:3])
    assert next(source).name == "tool_3"


async def test_async_hooks_are_asked_at_once_up_to_a_batch():
    barrier = asyncio.Barrier(BATCH)
    running = most = 0

    async def hook(request):
        nonlocal running, most
        running += 1
        most = max(most, running)
        await barrier.wait()
        running -= 1
        return True

    tools = MANY[: 3 * BATCH]
    async with asyncio.timeout(30):
        assert await admitted(hook, tools) == names(tools)
    assert most == BATCH


async def test_a_limit_is_asked_for_at_once_too():
    barrier = asyncio.Barrier(5)

    async def hook(request):
        await barrier.wait()
        return True

    async with asyncio.timeout(30):
        assert await admitted(hook, MANY, limit=5) == names(MANY[:5])


# -- failures


@both_ways
@pytest.mark.parametrize(
    "error",
    [
        ValueError("broken"),
        ToolSearchError("ours"),
        TimeoutError("its own"),
        AssertionError(),
        StopIteration(),
        StopAsyncIteration(),
        SystemExit(3),
        Foreign("base"),
        ExceptionGroup("several", [ValueError()]),
        BaseExceptionGroup("several", [Foreign()]),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_whatever_a_hook_raises_denies_that_tool_alone(error, asynchronously):
    def answer(request):
        if request.tool_name in ("tool_1", "tool_3"):
            raise error
        return True

    hook = delivered(answer, asynchronously=asynchronously)
    assert await admitted(hook, TOOLS[:5]) == ["tool_0", "tool_2", "tool_4"]


@both_ways
async def test_an_answer_without_a_truth_denies(asynchronously, caplog):
    hook = delivered(lambda request: Untrue(), asynchronously=asynchronously)
    assert await admitted(hook, TOOLS[:2]) == []
    assert "'Untrue'" in caplog.text


def never_asked(request):
    yield False


async def never_asked_either(request):
    yield False


async def denies(request):
    return False


class Decision(Enum):
    """As policy engines answer; each member is true."""

    DENY = "deny"


UNASKED = {
    "enum": lambda request: Decision.DENY,
    "generator": never_asked,
    "async generator": never_asked_either,
    "coroutine": denies,
    "function": lambda request: denies,
    "method": lambda request: request.tool_name.startswith,
    "future of a thread": lambda request: Future(),
}


@pytest.mark.parametrize("wrapped", [lambda hook: hook, lambda hook: cached_filter(hook, key=id)])
@pytest.mark.parametrize("kind", UNASKED)
@both_ways
async def test_what_is_true_whatever_it_says_denies(kind, wrapped, asynchronously, caplog):
    hook = wrapped(delivered(UNASKED[kind], asynchronously=asynchronously))
    assert await admitted(hook, TOOLS[:3]) == []
    if asynchronously or kind != "coroutine":  # which is what an async hook is
        assert "only True admits" in caplog.text


async def test_what_was_not_asked_is_let_go():
    future = Future()
    assert await admitted(lambda request: future, TOOLS[:1]) == []
    assert future.cancelled()


async def test_a_cached_verdict_that_a_hook_forgot_to_await_is_let_go():
    began = []

    async def policy(request):
        began.append(request)
        return True

    cached = cached_filter(policy, key=lambda request: "")

    async def forgetful(request):
        return cached(request)

    assert await admitted(forgetful, TOOLS[:2]) == []
    assert began == []
    gc.collect()  # a coroutine that nobody awaits would be told of here


async def test_an_awaitable_that_never_ends_is_a_denial_in_time(caplog):
    never = asyncio.Event()

    async def hook(request):
        if request.tool_name == "tool_1":
            await never.wait()
        return True

    assert await admitted(hook, TOOLS[:3], timeout_seconds=0.01) == ["tool_0", "tool_2"]
    assert len(caplog.records) == 1
    assert "no verdict in time" in caplog.text
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_a_verdict_that_comes_too_late_is_a_denial(caplog):
    never = asyncio.Event()

    async def hook(request):
        try:
            await never.wait()
        except asyncio.CancelledError:
            return True  # clings to life when its time is up
        return True

    assert await admitted(hook, TOOLS[:1], timeout_seconds=0.01) == []
    assert "the first was 'tool_0': no verdict in time" in caplog.text


@pytest.mark.parametrize("limit", [None, 5])
async def test_a_hung_policy_costs_one_time_limit_a_request(limit, caplog):
    asked = []

    async def hook(request):
        asked.append(request.tool_name)
        await asyncio.Event().wait()

    many = [Tool(f"tool_{number}") for number in range(5000)]
    with admission(hook, timeout_seconds=0.01) as asking:
        for phase in ("search", "load", "active"):
            assert await asking.admit(many, phase, limit=limit) == []
        assert not await asking.admits(many[0], "load", "active")
    assert len(asked) == (limit or BATCH)
    assert [record.getMessage() for record in caplog.records] == [
        f"the filter failed for 5000 tool(s) in phase {phase!r}, which were denied; the first was 'tool_0': "
        "no verdict in time; the rest of this request was denied without asking"
        for phase in ("search", "load", "active")
    ]


async def test_a_policy_that_answers_for_some_is_asked_on():
    async def hook(request):
        return request.tool_name != "tool_0" or await asyncio.Event().wait()

    with admission(hook, timeout_seconds=0.01) as asking:
        assert names(await asking.admit(TOOLS[:3], "search")) == ["tool_1", "tool_2"]
        assert names(await asking.admit(TOOLS[:3], "load")) == ["tool_1", "tool_2"]


async def test_why_there_is_no_verdict_can_be_asked():
    def hook(request):
        return request.tool_name == "tool_1" or request.context["plan"]

    with admission(hook) as asking:
        assert await asking.admits(TOOLS[1], "load")
        assert asking.problem is None
        assert not await asking.admits(TOOLS[0], "load")
        assert asking.problem == "KeyError('plan')"


async def test_a_timeout_counts_for_awaitables_only():
    assert await admitted(lambda request: True, TOOLS[:1], timeout_seconds=1e-9) == ["tool_0"]


async def test_one_warning_a_phase_and_request_with_count_and_first_traceback(caplog):
    def hook(request):
        raise ValueError(f"no policy for {request.tool_name}")

    with admission(hook) as asking:
        await asking.admit(TOOLS[:4], "search")
        await asking.admit(TOOLS[4:6], "search")
        await asking.admit(TOOLS[2:5], "active")
        assert caplog.records == []
    searched, active = caplog.records
    assert searched.name == active.name == "tool_search_processor.policy.admission"
    assert searched.levelno == logging.WARNING
    assert searched.getMessage() == (
        "the filter failed for 6 tool(s) in phase 'search', which were denied; the first was 'tool_0': "
        "ValueError('no policy for tool_0')"
    )
    assert searched.exc_info[1].args == ("no policy for tool_0",)
    assert searched.exc_info[2] is not None
    assert "3 tool(s) in phase 'active'" in active.getMessage()
    assert "'tool_2'" in active.getMessage()


async def test_a_second_request_warns_for_itself(caplog):
    for _ in range(2):
        await admitted(lambda request: 1 / 0, TOOLS)
    assert len(caplog.records) == 2


async def test_denials_are_not_warned_of(caplog):
    assert await admitted(lambda request: False) == []
    assert caplog.records == []


# -- within a request


@both_ways
@pytest.mark.parametrize("verdict", [True, False, None])
async def test_a_tool_is_asked_about_once_a_phase_in_a_request(verdict, asynchronously):
    asked = []

    def answer(request):
        asked.append((request.phase, request.tool_name))
        return verdict

    with admission(delivered(answer, asynchronously=asynchronously)) as asking:
        first = await asking.admit(TOOLS[:2], "search")
        assert await asking.admit(TOOLS[:2], "search") == first
        await asking.admits(TOOLS[0], "search", "load")
    expected = [("search", "tool_0"), ("search", "tool_1")]
    assert asked == expected + [("load", "tool_0")] * bool(verdict)


@both_ways
async def test_a_failure_is_not_asked_again_and_counts_once(asynchronously, caplog):
    asked = []

    def answer(request):
        asked.append(request.tool_name)
        raise ValueError

    with admission(delivered(answer, asynchronously=asynchronously)) as asking:
        for _ in range(3):
            assert not await asking.admits(TOOLS[0], "search")
    assert asked == ["tool_0"]
    assert "1 tool(s)" in caplog.text


async def test_requests_share_no_verdicts():
    answers = iter([True, False])

    def hook(request):
        return next(answers)

    assert await admitted(hook, TOOLS[:1]) == ["tool_0"]
    assert await admitted(hook, TOOLS[:1]) == []


# -- cancellation


@pytest.mark.parametrize("kind", ["sync", "async", "sync-among-async"])
async def test_cancellation_by_the_hook_passes_through_and_leaves_nothing_behind(kind):
    never, ended = asyncio.Event(), []

    async def wait(request):
        try:
            await never.wait()
        finally:
            ended.append(request.tool_name)

    async def cancelled():
        await asyncio.sleep(0)
        raise asyncio.CancelledError

    def hook(request):
        if request.tool_name != "tool_2":
            return False if kind == "sync" else wait(request)
        if kind == "async":
            return cancelled()
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await admitted(hook, TOOLS[:4])
    assert asyncio.all_tasks() == {asyncio.current_task()}
    assert sorted(ended) == (["tool_0", "tool_1", "tool_3"] if kind == "async" else [])


async def test_an_interrupt_is_no_verdict():
    def hook(request):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await admitted(hook, TOOLS[:3])


async def test_cancelling_the_request_cancels_every_pending_hook():
    under_way, never = asyncio.Barrier(4), asyncio.Event()
    cancelled = []

    async def hook(request):
        try:
            await under_way.wait()
            await never.wait()
        except asyncio.CancelledError:
            for _ in range(4 * int(request.tool_name[-1])):
                await asyncio.sleep(0)  # takes a moment to tidy up, some longer than others
            cancelled.append(request.tool_name)
            raise

    task = asyncio.create_task(admitted(hook, TOOLS[:3]))
    await under_way.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert sorted(cancelled) == names(TOOLS[:3])
    assert asyncio.all_tasks() == {asyncio.current_task()}


@pytest.mark.parametrize("cached", [False, True], ids=["plain", "cached"])
async def test_hooks_that_had_not_begun_when_the_request_was_cancelled_never_begin(cached):
    began = []

    async def hook(request):
        began.append(request.tool_name)

    policy = cached_filter(hook, key=lambda request: "") if cached else hook
    task = asyncio.create_task(admitted(policy, TOOLS[:3]))
    await asyncio.sleep(0)  # their tasks are made, and none has run
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert began == []
    gc.collect()  # a coroutine that nobody awaits would be told of here


async def test_other_awaitables_of_a_cancelled_request_are_let_go_too():
    future = asyncio.get_running_loop().create_future()

    def hook(request):
        if request.tool_name == "tool_0":
            return future
        if request.tool_name == "tool_1":
            return Later(verdict=True)
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await admitted(hook, TOOLS[:3])
    assert future.cancelled()


# -- cached_filter


class Policy:
    """A costly policy that counts how often it is asked."""

    def __init__(self, *, asynchronously=False):
        self.asked = 0
        self.asynchronously = asynchronously
        self.error = None
        self.verdict = True

    def __call__(self, request):
        return self._later(request) if self.asynchronously else self._answer(request)

    async def _later(self, request):
        await asyncio.sleep(0)
        return self._answer(request)

    def _answer(self, request):
        self.asked += 1
        if self.error is not None:
            raise self.error
        return self.verdict


def by_user(request):
    return request.context["user"]


@both_ways
@pytest.mark.parametrize("verdict", [True, False])
async def test_a_cached_verdict_is_not_asked_for_again(verdict, asynchronously):
    policy = Policy(asynchronously=asynchronously)
    policy.verdict = verdict
    hook = cached_filter(policy, key=by_user)
    for _ in range(3):
        assert await admitted(hook, TOOLS[:1], context={"user": "ada"}) == (["tool_0"] if verdict else [])
    assert policy.asked == 1


def test_a_key_is_required():
    with pytest.raises(TypeError, match="key"):
        cached_filter(lambda request: True)


@both_ways
@pytest.mark.parametrize(
    "other",
    [
        {"context": {"user": "bob"}},
        {"phase": "load"},
        {"tools": [Tool("tool_1")]},
        {"tools": [Tool("tool_0", description="changed")]},
        {"tools": [Tool("tool_0", tags={"admin"})]},
    ],
    ids=["key", "phase", "name", "description", "tags"],
)
async def test_the_key_holds_the_tool_its_content_and_the_phase(other, asynchronously):
    policy = Policy(asynchronously=asynchronously)
    hook = cached_filter(policy, key=by_user)
    same = {"tools": [Tool("tool_0")], "context": {"user": "ada"}, "phase": "search"}
    for options in (same, same, same | other, same | other, same):
        await admitted(hook, **options)
    assert policy.asked == 2


@both_ways
async def test_a_verdict_holds_for_its_time(asynchronously):
    policy, clock = Policy(asynchronously=asynchronously), ManualClock()
    hook = cached_filter(policy, key=by_user, ttl_seconds=60, timer=clock)
    for seconds, asked in ((0, 1), (59, 1), (1, 2), (59, 2)):
        clock.advance(seconds)
        await admitted(hook, TOOLS[:1], context={"user": "ada"})
        assert policy.asked == asked


async def test_by_default_a_verdict_holds_for_a_minute():
    policy, clock = Policy(), ManualClock()
    hook = cached_filter(policy, key=by_user, timer=clock)
    for seconds, asked in ((0, 1), (59.5, 1), (0.5, 2)):
        clock.advance(seconds)
        await admitted(hook, TOOLS[:1], context={"user": "ada"})
        assert policy.asked == asked


def test_by_default_ten_thousand_verdicts_are_kept():
    asked = []
    hook = cached_filter(lambda request: not asked.append(request), key=by_user)
    for user in (*range(10_001), 1, 0):  # the first one made room for the last
        assert hook(FilterRequest("tool_0", TOOLS[0], {"user": user}, "search")) is True
    assert len(asked) == 10_002


async def test_no_more_verdicts_than_maxsize_are_kept():
    policy = Policy()
    hook = cached_filter(policy, key=by_user, maxsize=2)
    for user, asked in (("ada", 1), ("bob", 2), ("ada", 2), ("eve", 3), ("ada", 3), ("bob", 4)):
        await admitted(hook, TOOLS[:1], context={"user": user})
        assert policy.asked == asked, user


@both_ways
async def test_an_exception_is_never_kept(asynchronously):
    policy = Policy(asynchronously=asynchronously)
    hook = cached_filter(policy, key=by_user)
    policy.error = ConnectionError("policy server is away")
    assert await admitted(hook, TOOLS[:1], context={"user": "ada"}) == []
    policy.error = None
    assert await admitted(hook, TOOLS[:1], context={"user": "ada"}) == ["tool_0"]
    assert policy.asked == 2


async def test_an_answer_without_a_truth_is_never_kept():
    policy = Policy()
    policy.verdict = Untrue()
    hook = cached_filter(policy, key=by_user)
    assert await admitted(hook, TOOLS[:1], context={"user": "ada"}) == []
    policy.verdict = True
    assert await admitted(hook, TOOLS[:1], context={"user": "ada"}) == ["tool_0"]


@pytest.mark.parametrize(
    "key", [lambda request: [request.thread_id], lambda request: request.context["missing"]]
)
async def test_a_key_that_cannot_be_kept_denies_in_a_processor(key, caplog):
    search = ToolSearchProcessor([Tool("read_file")], filter=cached_filter(lambda request: True, key=key))
    assert await search.search("read_file") == []
    assert len(caplog.records) == 1


@pytest.mark.parametrize(
    "options", [{"ttl_seconds": 0}, {"ttl_seconds": -1}, {"ttl_seconds": float("nan")}, {"maxsize": 0}]
)
def test_a_cache_that_keeps_nothing_is_refused(options):
    with pytest.raises(
        ConfigurationError, match=r"(ttl_seconds|maxsize) must be a (whole )?number .*, found"
    ):
        cached_filter(lambda request: True, key=by_user, **options)


@pytest.mark.parametrize(
    ("policy", "key", "found"),
    [
        (None, by_user, "a filter that takes a request, found None"),
        (by_user, None, "key that takes a request, found None"),
        (by_user, "user", "key that takes a request, found 'user'"),
        (dict.get, by_user, "a filter that takes a request, found <method 'get' of 'dict' objects>"),
    ],
)
def test_what_cannot_be_asked_is_refused(policy, key, found):
    with pytest.raises(ConfigurationError, match=f"^cached_filter needs {found}$"):
        cached_filter(policy, key=key)


def test_a_cached_filter_serves_many_threads():
    policy = Policy()
    hook = cached_filter(policy, key=by_user, maxsize=7)
    ready = threading.Barrier(8)

    def ask(start):
        ready.wait(30)
        for i in range(300):
            request = FilterRequest("tool_0", TOOLS[0], {"user": (start + i) % 11}, "search")
            assert hook(request) is True

    with ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(ask, start) for start in range(8)]:
            done.result()
    assert 11 <= policy.asked <= 2400
