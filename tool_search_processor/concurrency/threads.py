"""A thread pool of this package's own, so that hanging foreign code blocks no other thread pool."""

from __future__ import annotations

import asyncio
import contextvars
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

_ValueT = TypeVar("_ValueT")


class Threads:
    """A pool of threads, made at first use, and again in a forked process.

    A function in one of the threads may wait for another function here, as a tool does that asks another
    agent. Each level of such nesting has its own threads: in one pool, the outer functions could take all
    threads and wait forever for the inner ones.
    """

    def __init__(self, most: int, *, name: str) -> None:
        """Set the most threads of each level of nesting, and their name."""
        self._most = most
        self._name = name
        self._lock = threading.Lock()
        self._executors: dict[int, ThreadPoolExecutor] = {}
        self._level = contextvars.ContextVar(f"{name}-level", default=0)

    async def run(self, call: Callable[[], _ValueT]) -> _ValueT:
        """Run a function in one of the threads, with the caller's context variables, and return its result.

        Cancelling frees the caller at once; a function that already runs goes on to its end.

        Raises:
            RuntimeError: The function raised what no future can carry.
            BaseException: What else the function raised.
        """
        level = self._level.get()
        context = contextvars.copy_context()
        context.run(self._level.set, level + 1)
        return await asyncio.get_running_loop().run_in_executor(self._get(level), context.run, _called, call)

    def _get(self, level: int) -> ThreadPoolExecutor:
        with self._lock:
            if not self._executors and hasattr(os, "register_at_fork"):
                os.register_at_fork(after_in_child=self._forget)
            if level not in self._executors:
                self._executors[level] = ThreadPoolExecutor(self._most, thread_name_prefix=self._name)
            return self._executors[level]

    def _forget(self) -> None:
        self._lock = threading.Lock()
        self._executors = {}


def _called(call: Callable[[], _ValueT]) -> _ValueT:
    try:
        return call()
    except (StopIteration, GeneratorExit) as exc:  # no future carries these: its caller would wait forever
        raise RuntimeError(f"{type(exc).__name__} was raised") from exc
