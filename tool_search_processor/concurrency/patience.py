"""Work that holds up its caller for a short time only, and then goes on by itself."""

from __future__ import annotations

import asyncio
import contextlib
import math
import time
from collections.abc import Coroutine
from typing import Any

_QUICK_SECONDS = 0.01
_REST_SECONDS = 30.0
_MOST = 200


class Patience:
    """Waits for work that should be quick; work that takes longer goes on as a task of its own.

    A task costs more than quick work does, so work is simply awaited for as long as it is quick. After it was
    too slow, nobody waits for half a minute.
    """

    def __init__(self, seconds: float) -> None:
        """Wait at most so long."""
        self._seconds = seconds
        self._is_quick = False
        self._rests_until = -math.inf
        self._tasks: set[asyncio.Task[None]] = set()

    async def wait_for(self, work: Coroutine[Any, Any, None]) -> None:
        """Wait for work, which must not raise; while 200 others go on, it is dropped."""
        if self._is_quick:
            await self._at_once(work)
            return
        if len(self._tasks) >= _MOST:
            work.close()
            return
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        await asyncio.sleep(0)
        if task.done():
            self._is_quick = True
        elif time.monotonic() >= self._rests_until:
            _, slow = await asyncio.wait({task}, timeout=self._seconds)
            if slow:
                self._rests_until = time.monotonic() + _REST_SECONDS

    async def _at_once(self, work: Coroutine[Any, Any, None]) -> None:
        """Wait for work that was quick last time; give it up if it has come to hang."""
        started = time.monotonic()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._seconds):
                await work
        self._is_quick = time.monotonic() - started < _QUICK_SECONDS

    async def finish(self) -> None:
        """Wait a little longer for the work of this event loop that goes on."""
        loop = asyncio.get_running_loop()
        if tasks := [task for task in self._tasks if task.get_loop() is loop]:
            await asyncio.wait(tasks, timeout=self._seconds)
