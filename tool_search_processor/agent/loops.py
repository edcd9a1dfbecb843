"""One private event loop a process, for synchronous callers."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import contextvars
import os
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

from tool_search_processor.errors import RunningLoopError

_T = TypeVar("_T")
_CLOSE_SECONDS = 5.0


def run_blocking(start: Callable[[], Coroutine[Any, Any, _T]], *, door: str, instead: str) -> _T:
    """Run a coroutine on the private loop and wait for it.

    The same loop serves every call of the process, so clients and connections bound to it survive. The
    coroutine sees the caller's context variables; Ctrl-C in the caller cancels it and waits for its end.

    Args:
        start: Makes the coroutine; called only when it will run.
        door: What the user called, for the error.
        instead: What to write inside a running loop.

    Raises:
        RunningLoopError: The calling thread runs an event loop, which waiting would block.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return _private.submit(start)
    raise RunningLoopError(f"{door} was called inside a running event loop: use {instead}")


class _PrivateLoop:
    """Starts its thread at the first call, and anew in a forked child."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._hooked = False
        # a child inherits loops whose threads it doesn't have: never run, never closed, kept from the
        # garbage collector, which would warn
        self._abandoned: list[asyncio.AbstractEventLoop] = []

    def submit(self, start: Callable[[], Coroutine[Any, Any, _T]]) -> _T:
        loop = self._running()
        context = contextvars.copy_context()
        future: Future[_T] = Future()
        tasks: list[asyncio.Task[_T]] = []

        def begin() -> None:
            try:
                task = loop.create_task(start(), context=context)
            except BaseException as exc:  # noqa: BLE001 - the caller waits for it
                future.set_exception(exc)
                return
            tasks.append(task)
            task.add_done_callback(lambda done: _copy(done, future))

        def cancel() -> None:
            for task in tasks:
                task.cancel()

        loop.call_soon_threadsafe(begin)
        try:
            return future.result()
        except BaseException:
            if not future.done():  # the caller was interrupted, not the run
                loop.call_soon_threadsafe(cancel)
                with contextlib.suppress(Exception):
                    future.exception()
            raise

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=_serve, args=(self._loop,), name="tool-search-processor-loop", daemon=True
                )
                self._thread.start()
                self._hook()
            return self._loop

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

    def close(self) -> None:
        """Cancel what runs, stop the thread and close the loop; the next call starts another."""
        with self._lock:
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        if loop is None or thread is None:
            return
        with contextlib.suppress(Exception):
            asyncio.run_coroutine_threadsafe(_wind_down(), loop).result(_CLOSE_SECONDS)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(_CLOSE_SECONDS)


async def _wind_down() -> None:
    """End the other tasks of this loop."""
    others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    await asyncio.get_running_loop().shutdown_asyncgens()


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    stopped = False
    while not stopped:
        # SystemExit of a tool leaves run_forever; its caller gets it, and the others' loop goes on
        with contextlib.suppress(KeyboardInterrupt, SystemExit):
            loop.run_forever()
            stopped = True
    loop.close()


def _copy(task: asyncio.Task[_T], future: Future[_T]) -> None:
    if task.cancelled():
        future.set_exception(asyncio.CancelledError())
        return
    error = task.exception()
    if error is not None:
        future.set_exception(error)
    else:
        future.set_result(task.result())


_private = _PrivateLoop()
close_private_loop = _private.close
