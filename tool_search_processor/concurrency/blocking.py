"""One private event loop a process, for synchronous callers."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

from tool_search_processor.concurrency.background_loop import BackgroundLoop
from tool_search_processor.errors import RunningLoopError

_T = TypeVar("_T")

_private = BackgroundLoop("tool-search-processor-loop")
close_private_loop = _private.close


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
        return _run(start, _private.get())
    raise RunningLoopError(f"{door} was called inside a running event loop: use {instead}")


def run_in_sync_hook(start: Callable[[], Coroutine[Any, Any, _T]], *, door: str, instead: str) -> _T:
    """Run a coroutine on the private loop and wait for it, even if the calling thread runs a loop.

    For the sync hooks of another framework: a caller inside a loop blocks that loop anyway.

    Args:
        start: As of `run_blocking`.
        door: As of `run_blocking`.
        instead: As of `run_blocking`.

    Raises:
        RunningLoopError: The calling thread runs the private loop itself, which would wait for itself.
    """
    loop = _private.get()
    if asyncio._get_running_loop() is loop:  # noqa: SLF001 - documented, and None where no loop runs
        raise RunningLoopError(f"{door} was called inside this package's own event loop: use {instead}")
    return _run(start, loop)


def _run(start: Callable[[], Coroutine[Any, Any, _T]], loop: asyncio.AbstractEventLoop) -> _T:
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
        if not tasks and not future.done():  # the interrupt came before anything began
            future.set_exception(asyncio.CancelledError())

    try:
        loop.call_soon_threadsafe(begin)
        return future.result()
    except BaseException as exc:
        if not future.done():  # the caller was interrupted, not the run
            loop.call_soon_threadsafe(cancel)
            with contextlib.suppress(Exception):
                stopped = future.exception()
                exc.run_messages = stopped.run_messages  # type: ignore[attr-defined,union-attr]  # as of `run`
        raise


def _copy(task: asyncio.Task[_T], future: Future[_T]) -> None:
    try:
        error = task.exception()
    except asyncio.CancelledError as cancelled:  # as raised, with the data on it
        error = cancelled
    if error is not None:
        future.set_exception(error)
    else:
        future.set_result(task.result())
