"""How long a provider may take, when it is asked again, and one reading of it at a time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Hashable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, TypeVar

from tool_search_processor.errors import ConfigurationError
from tool_search_processor.plain import is_number

ValueT = TypeVar("ValueT")

PATIENCE_SECONDS = 0.5
"""How long a request waits for a reading when it can go on without: with the last good list, or with what
the others list while a provider is down. The reading goes on meanwhile, and a later request gets it."""

_FIRST_HOLD_OFF_SECONDS = 1.0
_LONGEST_HOLD_OFF_SECONDS = 60.0
_GRACE_SECONDS = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How patient a catalog is with its providers; see `Catalog` for each option's meaning."""

    timeout_seconds: float | None = 30.0
    max_stale_seconds: float | None = None
    clock: Callable[[], float] = time.time

    def __post_init__(self) -> None:
        """Refuse what can't work.

        Raises:
            ConfigurationError: Says what was found.
        """
        for option, value in (
            ("provider_timeout_seconds", self.timeout_seconds),
            ("max_stale_seconds", self.max_stale_seconds),
        ):
            if value is not None and not (is_number(value) and value > 0):
                raise ConfigurationError(f"{option} is above 0 or None, found {value!r}")
        if not callable(self.clock):
            raise ConfigurationError(f"clock is a function that tells seconds, found {self.clock!r:.80}")


class HoldOff:
    """The time in which a provider that failed is not asked again.

    One second after the first failure, twice as long after each further one, at most a minute; and never
    shorter than the failure itself took, so that a dead server costs at most half of the time. A provider
    whose change mark has moved since has come to life, and is asked at once.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        """Begin without a failure."""
        self._clock = clock
        self._failures = 0
        self._span = (0.0, 0.0)
        self._mark: Hashable | None = None

    def begin(self, *, took_seconds: float, mark: Hashable | None) -> None:
        """Count a failure.

        Args:
            took_seconds: How long it took to fail.
            mark: The provider's change mark then.
        """
        self._failures += 1
        # 2 ** 6 is beyond the longest, and a float overflows at 2 ** 1024
        backoff = _FIRST_HOLD_OFF_SECONDS * 2 ** min(self._failures - 1, 6)
        now = self._clock()
        self._span = (now, now + max(min(backoff, _LONGEST_HOLD_OFF_SECONDS), took_seconds))
        self._mark = mark

    def end(self) -> None:
        """Forget the failures: the provider has answered."""
        self._failures = 0
        self._span = (0.0, 0.0)

    def is_on(self, mark: Hashable | None) -> bool:
        """Tell whether the provider, whose change mark is `mark` now, is not to be asked yet."""
        begun, over = self._span
        # a clock that was set back would hold for as long as it was set back
        return bool(self._failures) and begun <= self._clock() < over and mark == self._mark

    def left_seconds(self) -> float | None:
        """Return for how long it still holds; None where it doesn't."""
        left = self._span[1] - self._clock()
        return left if self._failures and left > 0 else None


class Flight:
    """Work that is under way in one event loop, and that callers in any loop may wait for."""

    def __init__(self, work: Coroutine[Any, Any, object], *, seconds: float | None) -> None:
        """Begin the work as a task of the running loop.

        Args:
            work: What ends by itself.
            seconds: When it should have ended; later, a loop that no longer runs is thought to hold it.
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
        """Whether it ended, with its loop, before the work was done."""
        return self._task.cancelled() if self._landed.done() else self._is_lost()

    async def wait(self, seconds: float | None) -> bool:
        """Wait until the work has ended, at most this long; tell whether it has, and not by `cancel`."""
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
            task.exception()  # it was reported; asyncio need not tell it once more
        self._landed.set_result(None)

    def _is_lost(self) -> bool:
        return self._loop.is_closed() or (self._latest is not None and time.monotonic() > self._latest)


async def within(work: Coroutine[Any, Any, ValueT], seconds: float | None) -> ValueT:
    """Return the result of foreign work, which is left alone when it takes longer.

    Unlike `asyncio.timeout`, this doesn't wait for what goes on in spite of its cancellation.

    Raises:
        TimeoutError: When it takes longer; then it is cancelled.
    """
    if seconds is None:
        return await work
    task = asyncio.ensure_future(work)
    task.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
    try:
        await asyncio.wait({task}, timeout=seconds)
    finally:
        in_time = task.done()
        task.cancel()
    if not in_time:
        raise TimeoutError(f"no answer within {seconds:g} seconds (provider_timeout_seconds)")
    return task.result()
