"""An event loop in its own thread, for callers without a loop and for work that outlives the caller's."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import threading
from collections.abc import Awaitable, Callable


class BackgroundLoop:
    """An event loop that starts its thread at first use, and again after `close` and in a forked child.

    The thread is a daemon, and the loop is closed when the interpreter exits: tasks that still run are
    cancelled and have a few seconds to end.
    """

    def __init__(
        self,
        name: str,
        *,
        close_seconds: float = 5.0,
        before_close: Callable[[], Awaitable[object]] | None = None,
    ) -> None:
        """Name the loop; nothing is started yet.

        Args:
            name: The thread's name.
            close_seconds: The longest time that closing may take.
            before_close: Awaited in the loop before the tasks that still run are cancelled.
        """
        self._name = name
        self._close_seconds = close_seconds
        self._before_close = before_close
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._hooked = False
        # a child inherits loops whose threads it doesn't have: never run, never closed, kept from the
        # garbage collector, which would warn
        self._abandoned: list[asyncio.AbstractEventLoop] = []

    def get(self) -> asyncio.AbstractEventLoop:
        """Return the running loop; start it first if needed."""
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                serving = (self._loop,)
                self._thread = threading.Thread(target=_serve, args=serving, name=self._name, daemon=True)
                self._thread.start()
                self._hook()
            return self._loop

    def close(self) -> None:
        """Cancel the tasks, stop the thread and close the loop; the next use starts another."""
        with self._lock:
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        if loop is None or thread is None:
            return
        with contextlib.suppress(Exception):
            asyncio.run_coroutine_threadsafe(self._wind_down(), loop).result(self._close_seconds)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(self._close_seconds)

    def _hook(self) -> None:
        if not self._hooked:
            self._hooked = True
            atexit.register(self.close)
            if hasattr(os, "register_at_fork"):
                os.register_at_fork(after_in_child=self._after_fork)

    def _after_fork(self) -> None:
        self._lock = threading.Lock()  # another thread of the parent may have held it
        if self._loop is not None:
            self._abandoned.append(self._loop)
        self._loop = self._thread = None

    async def _wind_down(self) -> None:
        """End the other tasks of this loop."""
        if self._before_close is not None:
            await self._before_close()
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        await asyncio.get_running_loop().shutdown_asyncgens()


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    stopped = False
    while not stopped:
        # SystemExit of a task leaves run_forever; its caller gets it, and the others' loop goes on
        with contextlib.suppress(KeyboardInterrupt, SystemExit):
            loop.run_forever()
            stopped = True
    loop.close()
