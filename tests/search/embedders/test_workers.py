"""Calls of an embedder that are given up on when they take too long."""

import contextvars
import threading

import pytest

from tool_search_processor.search.embedders.workers import MOST_CALLS, TimedCalls

LATE = r"the embedder gave no answer within 0\.05 seconds \(timeout_seconds\)"


@pytest.mark.parametrize("seconds", [None, 10])
@pytest.mark.parametrize("failure", [ValueError("no key"), TimeoutError("its own"), SystemExit(3)])
def test_what_a_call_returns_or_raises_is_had(seconds, failure):
    def fail():
        raise failure

    calls = TimedCalls(seconds)
    assert calls.call(lambda: 7) == 7
    with pytest.raises(type(failure)) as raised:
        calls.call(fail)
    assert raised.value is failure


def test_a_call_sees_the_context_variables_of_its_caller():
    variable = contextvars.ContextVar("variable", default="none")
    variable.set("mine")
    assert TimedCalls(10).call(variable.get) == "mine"


def test_without_a_limit_no_thread_is_needed():
    assert TimedCalls(None).call(threading.get_ident) == threading.get_ident()


def test_calls_that_hang_hold_few_threads_until_they_end():
    calls, go = TimedCalls(0.05), threading.Event()
    for _ in range(MOST_CALLS):
        with pytest.raises(TimeoutError, match=LATE):
            calls.call(lambda: go.wait(60))
    began = []
    with pytest.raises(TimeoutError, match=LATE):
        calls.call(lambda: began.append(1))
    assert began == []
    go.set()
    for _ in range(MOST_CALLS):
        assert calls._free.acquire(timeout=60)
    assert calls._given_up == 0


def test_more_calls_than_threads_wait_for_their_turn():
    calls, results = TimedCalls(60), []
    barrier = threading.Barrier(MOST_CALLS, timeout=60)

    def ask(number):
        results.append(calls.call(lambda: (barrier.wait(), number)[1]))

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(3 * MOST_CALLS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == list(range(3 * MOST_CALLS))


def test_a_thread_that_does_not_start_takes_no_place(monkeypatch):
    def refuse(*_, **__):
        raise RuntimeError("can't start new thread")

    calls = TimedCalls(10)
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", refuse)
        for _ in range(MOST_CALLS + 1):
            with pytest.raises(RuntimeError, match="can't start new thread"):
                calls.call(lambda: 7)
    assert calls.call(lambda: 7) == 7
