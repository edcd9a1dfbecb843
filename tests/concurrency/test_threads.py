"""Threads that hang in no other part of the program."""

import asyncio
import contextvars
import threading

import pytest

from tool_search_processor.concurrency.threads import Threads


async def test_a_call_runs_in_a_named_thread_with_the_callers_context_variables():
    variable = contextvars.ContextVar("variable", default="none")
    variable.set("mine")
    threads = Threads(2, name="some-threads")
    name, value = await threads.run(lambda: (threading.current_thread().name, variable.get()))
    assert name.startswith("some-threads")
    assert value == "mine"


def test_a_forked_process_makes_threads_of_its_own():
    threads = Threads(2, name="some-threads")
    executor = threads._get(0)
    assert threads._get(0) is executor
    threads._forget()
    assert threads._get(0) is not executor


async def test_what_waits_for_something_else_here_never_waits_for_its_own_thread():
    threads = Threads(2, name="some-threads")
    all_taken = threading.Barrier(2)

    def nested(depth):
        all_taken.wait(10)
        return depth if depth == 3 else asyncio.run(threads.run(lambda: nested(depth + 1)))

    runs = [threads.run(lambda: nested(1)) for _ in range(2)]
    assert await asyncio.wait_for(asyncio.gather(*runs), 30) == [3, 3]


@pytest.mark.parametrize("failure", [StopIteration, GeneratorExit])
async def test_what_a_future_can_not_carry_is_raised_as_what_it_can(failure):
    def fail():
        raise failure

    with pytest.raises(RuntimeError, match=f"{failure.__name__} was raised"):
        await asyncio.wait_for(Threads(1, name="some-threads").run(fail), 30)
