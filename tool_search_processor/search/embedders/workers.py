"""The threads that embed: few, given up on when they take too long, and ended before the program is."""

from __future__ import annotations

import atexit
import contextvars
import threading
import time
import weakref
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

_ValueT = TypeVar("_ValueT")

MOST_CALLS = 16
"""Calls for queries that one embedder has under way at a time; more of them wait."""

_EXIT_SECONDS = 10.0
exiting = threading.Event()
"""Set when the program ends."""
_workers: weakref.WeakSet[threading.Thread] = weakref.WeakSet()


@atexit.register
def _end_workers() -> None:
    """Have the threads that embed end first: a model's own code can't outlive the interpreter."""
    exiting.set()
    latest = time.monotonic() + _EXIT_SECONDS
    for worker in tuple(_workers):
        worker.join(max(latest - time.monotonic(), 0))


def start_worker(work: Callable[[], object], *, name: str) -> threading.Thread:
    """Start a thread that embeds; it doesn't keep the program from ending for long."""
    worker = threading.Thread(target=work, name=name, daemon=True)
    worker.start()
    _workers.add(worker)  # once it runs: one that hasn't started can't be waited for at the end
    return worker


class TimedCalls:
    """Calls an embedder in threads of its own, and waits only so long for each answer.

    What a call that was given up on makes in the end may still be kept by the call itself. While all threads
    are held by such calls, a further one fails at once.
    """

    def __init__(self, seconds: float | None) -> None:
        """Say how long a call may take; None waits for ever, in the caller's thread."""
        self._seconds = seconds
        self._free = threading.Semaphore(MOST_CALLS)
        self._given_up = 0
        self._lock = threading.Lock()

    def call(self, work: Callable[[], _ValueT]) -> _ValueT:
        """Return what a function returns.

        Raises:
            TimeoutError: When it takes too long, or waits too long for a thread.
        """
        if self._seconds is None:
            return work()
        if not self._free.acquire(timeout=0 if self._given_up >= MOST_CALLS else self._seconds):
            raise self._too_late()
        answer: Future[_ValueT] = Future()
        is_given_up = threading.Event()

        def run() -> None:
            try:
                answer.set_result(work())
            except BaseException as exc:  # noqa: BLE001 - raised where it is waited for
                answer.set_exception(exc)
            with self._lock:
                self._given_up -= is_given_up.is_set()
            self._free.release()

        context = contextvars.copy_context()
        try:
            start_worker(lambda: context.run(run), name="embedder")
        except RuntimeError:  # there are too many threads
            self._free.release()
            raise
        try:
            return answer.result(self._seconds)
        except TimeoutError:
            with self._lock:
                if answer.done():  # it was its own, or has come at the last moment
                    return answer.result()
                is_given_up.set()
                self._given_up += 1
            raise self._too_late() from None

    def _too_late(self) -> TimeoutError:
        return TimeoutError(f"the embedder gave no answer within {self._seconds:g} seconds (timeout_seconds)")
