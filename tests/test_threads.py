"""Threads that hang in no other part of the program."""

import contextvars
import threading

from tool_search_processor.threads import Threads


async def test_a_call_runs_in_a_named_thread_with_the_callers_context_variables():
    variable = contextvars.ContextVar("variable", default="none")
    variable.set("mine")
    threads = Threads(2, name="some-threads")
    name, value = await threads.run(lambda: (threading.current_thread().name, variable.get()))
    assert name.startswith("some-threads")
    assert value == "mine"


def test_a_forked_process_makes_threads_of_its_own():
    threads = Threads(2, name="some-threads")
    executor = threads._get()
    assert threads._get() is executor
    threads._forget()
    assert threads._get() is not executor
