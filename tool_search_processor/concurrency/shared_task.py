"""Foreign work that several callers wait for, in any event loop, and that may take only so long."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, TypeVar

from tool_search_processor.concurrency.foreign_calls import is_no_failure

ValueT = TypeVar("ValueT")

_GRACE_SECONDS = 5.0


class Flight:
    """Work that runs in one event loop, and that callers in any loop may wait for."""

    def __init__(self, work: Coroutine[Any, Any, object], *, seconds: float | None) -> None:
        """Begin the work as a task of the running loop.

        Args:
            work: A coroutine that ends by itself.
            seconds: The time it may take; after that, its loop counts as stopped.
        """
        self._landed: Future[None] = Future()
        # From here on, a caller who gives up waiting can't cancel it for the others.
        self._landed.set_running_or_notify_cancel()
        self._latest = None if seconds is None else time.monotonic() + seconds + _GRACE_SECONDS
        self._loop = asyncio.get_running_loop()
        self._task = self._loop.create_task(work)
        self._task.add_done_callback(self._land)
        self._is_cancelled = False
        self.outlasted_patience = False

    @property
    def is_under_way(self) -> bool:
        """Whether it may still end."""
        return not self._landed.done() and not self._is_lost()

    @property
    def was_cut_off(self) -> bool:
        """Whether its loop ended before the work was done."""
        return self._task.cancelled() if self._landed.done() else self._is_lost()

    async def wait(self, seconds: float | None) -> bool:
        """Wait until the work has ended, at most this long; return True if it ended, and not by `cancel`."""
        left = None if self._latest is None else max(self._latest - time.monotonic(), 0)
        limits = [limit for limit in (seconds, left) if limit is not None]
        waiter = asyncio.wrap_future(self._landed)
        try:
            await asyncio.wait({waiter}, timeout=min(limits, default=None))
        finally:
            waiter.cancel()
        return self._landed.done() and not self._is_cancelled

    def cancel(self) -> None:
        """End the work; safe from any thread and loop."""
        if self.is_under_way:
            self._is_cancelled = True
            self._loop.call_soon_threadsafe(self._task.cancel)

    def _land(self, task: asyncio.Task[object]) -> None:
        if not task.cancelled():
            task.exception()  # it was reported: asyncio need not report it again
        self._landed.set_result(None)

    def _is_lost(self) -> bool:
        return self._loop.is_closed() or (self._latest is not None and time.monotonic() > self._latest)


async def within(work: Coroutine[Any, Any, ValueT], seconds: float | None) -> ValueT:
    """Return the result of foreign work, or leave it behind if it takes longer.

    Unlike `asyncio.timeout`, this doesn't wait for work that ignores its cancellation.

    Raises:
        TimeoutError: The work took longer and was cancelled.
        BaseException: What the work raises.
    """
    if seconds is None:
        return await work
    task = asyncio.ensure_future(_caught(work))

    def settle(ended: asyncio.Task[object]) -> None:
        work.close()  # cancelled at once, the task has not even begun it
        if not ended.cancelled():
            ended.exception()

    task.add_done_callback(settle)
    try:
        await asyncio.wait({task}, timeout=seconds)
    finally:
        in_time = task.done()
        task.cancel()
    if not in_time:
        raise TimeoutError(f"no answer within {seconds:g} seconds (provider_timeout_seconds)")
    outcome = task.result()
    if isinstance(outcome, _Raised):
        raise outcome.error
    return outcome


def run_without_waiting(coroutine: Coroutine[Any, Any, object]) -> None:
    """Run a coroutine to its end, or close it as soon as it suspends."""
    try:
        coroutine.send(None)
    except StopIteration:
        return
    coroutine.close()


@dataclass(frozen=True, slots=True)
class _Raised:
    error: BaseException


async def _caught(work: Coroutine[Any, Any, ValueT]) -> ValueT | _Raised:
    """Return the result or the exception of foreign work: raised in a task, SystemExit would end the loop."""
    try:
        return await work
    except BaseException as exc:
        if is_no_failure(exc):
            raise
        return _Raised(exc)
