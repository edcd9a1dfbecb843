"""How long a provider may take, when it is asked again, and one reading of it at a time."""

import asyncio
import threading

import pytest

from tool_search_processor.catalog import reading
from tool_search_processor.catalog.reading import Flight, HoldOff, Limits, within
from tool_search_processor.errors import ConfigurationError
from tool_search_processor.testing import ManualClock

# -- limits


@pytest.mark.parametrize("value", [0, -1, "30", True, [1]])
@pytest.mark.parametrize(
    ("field", "option"),
    [("timeout_seconds", "provider_timeout_seconds"), ("max_stale_seconds", "max_stale_seconds")],
)
def test_seconds_that_cannot_be_are_refused(field, option, value):
    with pytest.raises(ConfigurationError, match=f"{option} is above 0 or None, found"):
        Limits(**{field: value})


def test_a_clock_is_a_function():
    with pytest.raises(ConfigurationError, match=r"clock is a function .*, found 12"):
        Limits(clock=12)


# -- the hold-off


def held_for(hold_off, clock):
    """Return the whole seconds until it is over, and go there."""
    seconds = 0
    while hold_off.is_on("v1"):
        clock.advance(1)
        seconds += 1
    return seconds


def test_the_hold_off_doubles_up_to_a_minute_and_begins_anew_after_an_answer():
    clock = ManualClock(100)
    hold_off = HoldOff(clock)
    assert not hold_off.is_on("v1")
    assert hold_off.left_seconds() is None
    spans = []
    for _ in range(9):
        hold_off.begin(took_seconds=0, mark="v1")
        spans.append(held_for(hold_off, clock))
    assert spans == [1, 2, 4, 8, 16, 32, 60, 60, 60]
    hold_off.end()
    hold_off.begin(took_seconds=0, mark="v1")
    assert hold_off.left_seconds() == 1


def test_the_hold_off_is_no_shorter_than_the_failure():
    hold_off = HoldOff(ManualClock())
    hold_off.begin(took_seconds=90, mark="v1")
    assert hold_off.left_seconds() == 90


def test_a_moved_mark_ends_the_hold_off():
    hold_off = HoldOff(ManualClock())
    hold_off.begin(took_seconds=0, mark="v1")
    assert hold_off.is_on("v1")
    assert not hold_off.is_on("v2")


def test_a_clock_that_is_set_back_holds_nothing_off():
    clock = ManualClock(1000)
    hold_off = HoldOff(clock)
    hold_off.begin(took_seconds=0, mark=None)
    clock.now = 10
    assert not hold_off.is_on(None)


# -- foreign work within a time


async def stubborn(ended):
    """Go on in spite of being cancelled, until the test says so."""
    while not ended.is_set():
        try:
            await ended.wait()
        except asyncio.CancelledError:
            continue
    raise ValueError("nobody looks at this")


async def test_work_in_time_gives_its_result():
    async def work():
        return 3

    assert await within(work(), 30) == 3
    assert await within(work(), None) == 3


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
    monkeypatch.setattr(reading, "_GRACE_SECONDS", 0.01)
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
    flights, ready = [], threading.Event()

    async def fly():
        flight = Flight(asyncio.Event().wait(), seconds=30)
        flights.append(flight)
        ready.set()
        await flight.wait(None)

    thread = threading.Thread(target=asyncio.run, args=(fly(),))
    thread.start()
    assert ready.wait(30)

    async def wait_and_cancel():
        assert not await flights[0].wait(0.001)
        flights[0].cancel()
        assert not await flights[0].wait(None)

    asyncio.run(wait_and_cancel())
    thread.join(30)
    assert flights[0].was_cut_off
