"""Calls that run in tasks of their own, and what is said of those that were stopped."""

import asyncio

import pytest

from tool_search_processor.session.prepared_calls import PreparedCall
from tool_search_processor.session.running_calls import RunningCall, finish, stop_tasks
from tool_search_processor.tools import Tool
from tool_search_processor.wire.calls import CallRequest


def prepared(name, tool=True):
    request = CallRequest(id=f"id-{name}", name=name, arguments=None)
    return PreparedCall(request=request, name=name, tool=Tool(name) if tool else None, arguments={})


def started(*calls, run, at_once=9):
    gate = asyncio.Semaphore(at_once)
    return [RunningCall(call, run, gate=gate) for call in calls]


async def answering(call):
    await asyncio.sleep(0)
    return call.answer(f"of {call.name}", is_error=False, ran=True)


async def test_outcomes_come_in_the_order_of_the_calls():
    calls = started(prepared("a"), prepared("b"), run=answering)
    assert [outcome.text for outcome in await finish(calls)] == ["of a", "of b"]
    assert [call.outcome().text for call in calls] == ["of a", "of b"]


async def test_a_gate_lets_no_more_begin_than_it_has_places():
    running = most = 0

    async def counting(call):
        nonlocal running, most
        running += 1
        most = max(most, running)
        outcome = await answering(call)
        running -= 1
        return outcome

    await finish(started(*(prepared(name) for name in "abcd"), run=counting, at_once=2))
    assert most == 2


@pytest.mark.parametrize(("has_tool", "ran"), [(True, True), (False, False)])
async def test_a_call_that_was_stopped_says_so_and_whether_it_may_have_taken_effect(has_tool, ran):
    began = asyncio.Event()

    async def forever(call):
        began.set()
        await asyncio.Event().wait()

    calls = started(prepared("first", has_tool), prepared("second"), run=forever, at_once=1)
    waiting = asyncio.create_task(finish(calls))
    await began.wait()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    first, second = (call.outcome() for call in calls)
    assert first.text == (
        "Error: first was stopped before it answered, because the run was cancelled. "
        "It may have taken effect."
    )
    assert second.text == "Error: second was not run, because the run was cancelled before."
    assert (first.ran, second.ran) == (ran, False)
    assert first.is_error
    assert second.is_error


async def test_what_a_call_raises_ends_the_others_and_is_told_as_a_stop():
    async def failing(call):
        if call.name == "bad":
            raise KeyError("no")
        await asyncio.Event().wait()

    calls = started(prepared("bad"), prepared("other"), run=failing)
    with pytest.raises(KeyError):
        await finish(calls)
    assert ["stopped before" in call.outcome().text for call in calls] == [True, True]


async def test_tasks_are_stopped_when_they_have_ended():
    ended = []

    async def tidying():
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            ended.append(True)

    done = asyncio.create_task(asyncio.sleep(0))
    await done
    tasks = [done, asyncio.create_task(tidying())]
    await asyncio.sleep(0)
    await stop_tasks(tasks)
    assert ended == [True]
    assert not done.cancelled()
    await stop_tasks([])
