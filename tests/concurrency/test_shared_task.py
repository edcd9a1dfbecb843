"""Foreign work that several callers wait for, and that may take only so long."""

import asyncio
import gc
import threading

import pytest

from tool_search_processor.concurrency import shared_task
from tool_search_processor.concurrency.shared_task import Flight, within

# -- foreign work within a time


async def stubborn(ended):
    """Go on in spite of being cancelled, until the test says so."""
    while not ended.is_set():
        try:
            await ended.wait()
        except asyncio.CancelledError:
            continue
    raise ValueError("nobody looks at this")


async def test_work_in_time_gives_what_it_gives_and_raises_what_it_raises():
    async def give(value):
        await asyncio.sleep(0)
        if isinstance(value, BaseException):
            raise value
        return value

    for seconds in (None, 10):
        assert await within(give("value"), seconds) == "value"
        error = OSError("no")
        assert (await within(give([error]), seconds)) == [error]
        for raised in (
            error,
            SystemExit(3),
            asyncio.CancelledError("inside"),
        ):  # of which two end a task's loop
            with pytest.raises(type(raised)):
                await within(give(raised), seconds)


async def test_work_that_is_cancelled_before_it_began_is_ended():
    async def work():
        await asyncio.Event().wait()

    waiting = asyncio.create_task(within(work(), 10))
    await asyncio.sleep(0)
    (begun,) = asyncio.all_tasks() - {waiting, asyncio.current_task()}
    begun.cancel()
    await asyncio.wait({waiting})
    gc.collect()  # which would warn of a coroutine that nobody awaited
    assert waiting.cancelled()


async def test_work_that_takes_longer_is_left_alone():
    ended = asyncio.Event()
    with pytest.raises(TimeoutError, match=r"no answer within 0.01 seconds \(provider_timeout_seconds\)"):
        await within(stubborn(ended), 0.01)
    ended.set()


async def test_who_is_cancelled_cancels_the_work():
    begun, cancelled = asyncio.Event(), asyncio.Event()

    async def work():
        begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise

    task = asyncio.create_task(within(work(), 30))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await cancelled.wait()


# -- flights


async def test_one_who_gives_up_waiting_leaves_it_to_the_others():
    gate = asyncio.Event()
    flight = Flight(gate.wait(), seconds=30)
    assert not await flight.wait(0.001)
    assert flight.is_under_way
    waiting = asyncio.create_task(flight.wait(None))
    gate.set()
    assert await waiting
    assert not flight.is_under_way
    assert not flight.was_cut_off
    assert await flight.wait(0)


async def test_what_it_raises_is_nobodys_concern():
    async def work():
        raise ValueError

    flight = Flight(work(), seconds=None)
    assert await flight.wait(None)
    assert not flight.was_cut_off


def test_a_flight_ends_with_its_loop():
    async def begin():
        return Flight(asyncio.Event().wait(), seconds=30)

    flight = asyncio.run(begin())
    assert not flight.is_under_way
    assert flight.was_cut_off
    flight.cancel()


def test_a_loop_that_stopped_holds_nobody(monkeypatch):
    monkeypatch.setattr(shared_task, "_GRACE_SECONDS", 0.01)
    loop = asyncio.new_event_loop()

    async def begin():
        return Flight(asyncio.Event().wait(), seconds=0.01)

    flight = loop.run_until_complete(begin())
    assert not asyncio.run(flight.wait(None))
    assert not flight.is_under_way
    assert flight.was_cut_off
    flight._task.cancel()
    loop.run_until_complete(asyncio.gather(flight._task, return_exceptions=True))
    loop.close()


def test_another_loop_may_wait_and_cancel():
    flown, ready = [], threading.Event()

    async def fly():
        flight = Flight(asyncio.Event().wait(), seconds=30)
        flown.append(flight)
        ready.set()
        await flight.wait(None)

    thread = threading.Thread(target=asyncio.run, args=(fly(),))
    thread.start()
    assert ready.wait(30)

    async def wait_and_cancel():
        assert not await flown[0].wait(0.001)
        flown[0].cancel()
        assert not await flown[0].wait(None)

    asyncio.run(wait_and_cancel())
    thread.join(30)
    assert flown[0].was_cut_off
