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
    """A pool of threads, made at first use and anew in a forked process."""

    def __init__(self, most: int, *, name: str) -> None:
        """Say how many there are at most, and what they are called."""
        self._most = most
        self._name = name
        self._lock = threading.Lock()
        self._executor: ThreadPoolExecutor | None = None

    async def run(self, call: Callable[[], _ValueT]) -> _ValueT:
        """Return what a function returns in one of the threads, with the caller's context variables.

        Cancelling frees the caller at once; a thread that already runs goes on to its end.

        Raises:
            RuntimeError: It raised what no future can carry.
            BaseException: What else it raised.
        """
        context = contextvars.copy_context()
        return await asyncio.get_running_loop().run_in_executor(self._get(), context.run, _called, call)

    def _get(self) -> ThreadPoolExecutor:
        with self._lock:
            if self._executor is None:
                self._executor = ThreadPoolExecutor(self._most, thread_name_prefix=self._name)
                if hasattr(os, "register_at_fork"):
                    os.register_at_fork(after_in_child=self._forget)
            return self._executor

    def _forget(self) -> None:
        self._lock = threading.Lock()
        self._executor = None


def _called(call: Callable[[], _ValueT]) -> _ValueT:
    try:
        return call()
    except (StopIteration, GeneratorExit) as exc:  # whoever waits for the future would wait for ever
        raise RuntimeError(f"{type(exc).__name__} was raised") from exc
