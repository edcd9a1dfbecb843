"""Work that holds up its caller for a short time only."""

import asyncio
from unittest import mock

import pytest

from tool_search_processor.concurrency.patience import Patience


@pytest.fixture
def waits(monkeypatch):
    """How often somebody waited for work that is a task of its own."""
    waits = mock.AsyncMock(wraps=asyncio.wait)
    monkeypatch.setattr("tool_search_processor.concurrency.patience.asyncio.wait", waits)
    return waits


class Work:
    """Work that is done when it is let."""

    def __init__(self):
        self.gate = asyncio.Event()
        self.done = 0

    async def __call__(self):
        await self.gate.wait()
        self.done += 1


async def test_quick_work_is_done_when_the_wait_is_over():
    patience, work = Patience(10), Work()
    work.gate.set()
    for number in range(1, 4):
        await patience.wait_for(work())
        assert work.done == number


async def test_slow_work_goes_on_and_after_it_nobody_waits(waits):
    patience, work = Patience(0.05), Work()
    for _ in range(20):
        await patience.wait_for(work())
    assert waits.await_count == 1
    assert work.done == 0
    work.gate.set()
    await patience.finish()
    assert work.done == 20


async def test_what_goes_on_is_bounded():
    patience, work = Patience(0.01), Work()
    for _ in range(250):
        await patience.wait_for(work())
    work.gate.set()
    await patience.finish()
    assert work.done == 200


async def test_a_caller_that_is_cancelled_leaves_the_work_alone():
    patience, work = Patience(10), Work()
    caller = asyncio.create_task(patience.wait_for(work()))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    work.gate.set()
    await patience.finish()
    assert work.done == 1


async def test_work_that_was_quick_and_hangs_is_given_up(waits):
    patience, work = Patience(0.05), Work()
    work.gate.set()
    await patience.wait_for(work())
    await patience.wait_for(work())
    work.gate.clear()
    for _ in range(3):
        await patience.wait_for(work())
    assert waits.await_count == 1  # for the second; the first was given up before
    work.gate.set()
    await patience.finish()
    assert work.done == 4  # of the three, the first was given up
