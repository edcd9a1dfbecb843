"""The threads that embed: only a few, abandoned when they take too long, and ended before the program."""

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
"""The most calls of one embedder that run at a time; further calls wait."""

_EXIT_SECONDS = 10.0
exiting = threading.Event()
"""Set when the program ends."""
_workers: weakref.WeakSet[threading.Thread] = weakref.WeakSet()


@atexit.register
def _end_workers() -> None:
    """Let the threads that embed end first: a model's native code must not outlive the interpreter."""
    exiting.set()
    latest = time.monotonic() + _EXIT_SECONDS
    for worker in tuple(_workers):
        worker.join(max(latest - time.monotonic(), 0))


def start_worker(work: Callable[[], object], *, name: str) -> threading.Thread:
    """Start a thread that embeds; it delays the end of the program by at most 10 seconds."""
    worker = threading.Thread(target=work, name=name, daemon=True)
    worker.start()
    _workers.add(worker)  # after it has started: a thread that never started cannot be joined at the end
    return worker


class EmbeddingStopped(Exception):  # noqa: N818 - not an error
    """Raised when an embedder was stopped before every text had a vector."""


class TimedCalls:
    """Calls an embedder in its own threads, and waits a limited time for each answer.

    An abandoned call goes on, and may still store what it makes. While abandoned calls hold all threads, any
    further call fails at once.
    """

    def __init__(self, seconds: float | None) -> None:
        """Set how long a call may take; None waits forever, in the caller's thread."""
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
                if answer.done():  # the call raised it itself, or the answer came at the last moment
                    return answer.result()
                is_given_up.set()
                self._given_up += 1
            raise self._too_late() from None

    def _too_late(self) -> TimeoutError:
        return TimeoutError(f"the embedder gave no answer within {self._seconds:g} seconds (timeout_seconds)")
