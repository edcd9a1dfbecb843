"""Threads of this package's own: foreign code that hangs in them takes none from the rest of the program."""

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
    """A pool of threads, made at first use and anew in a forked process.

    What runs in one of them may run and wait for something else here, as a tool does that asks another agent:
    that has threads of its own, or else as many of the former as there are threads would wait for ever.
    """

    def __init__(self, most: int, *, name: str) -> None:
        """Say how many there are at most for each level of such nesting, and what they are called."""
        self._most = most
        self._name = name
        self._lock = threading.Lock()
        self._executors: dict[int, ThreadPoolExecutor] = {}
        self._level = contextvars.ContextVar(f"{name}-level", default=0)

    async def run(self, call: Callable[[], _ValueT]) -> _ValueT:
        """Return what a function returns in one of the threads, with the caller's context variables.

        Cancelling frees the caller at once; a thread that already runs goes on to its end.

        Raises:
            RuntimeError: It raised what no future can carry.
            BaseException: What else it raised.
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
    except (StopIteration, GeneratorExit) as exc:  # whoever waits for the future would wait for ever
        raise RuntimeError(f"{type(exc).__name__} was raised") from exc
