"""Functions that a user supplies and this package calls."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import Any


def takes_one(hook: Callable[..., Any]) -> bool:
    """Tell whether a function can be called with one argument; of one that doesn't say, it is supposed."""
    return _takes(hook, None)


def takes_none(hook: Callable[..., Any]) -> bool:
    """Tell whether a function can be called without arguments; of one that doesn't say, it is supposed."""
    return _takes(hook)


def _takes(hook: Callable[..., Any], *arguments: object) -> bool:
    try:
        signature = inspect.signature(hook)
    except (TypeError, ValueError):  # some callables of C have no signature
        return True
    try:
        signature.bind(*arguments)
    except TypeError:
        return False
    return True


def is_cancelled() -> bool:
    """Tell whether the running task is being cancelled, rather than something inside what it awaits."""
    try:
        task = asyncio.current_task()
    except RuntimeError:  # no event loop runs, as at a construction
        return False
    return task is not None and task.cancelling() > 0


def is_no_failure(exc: BaseException) -> bool:
    """Tell whether what came out of foreign code is none of its failures: an interrupt, or our cancellation.

    Whoever answers for foreign code, its `SystemExit` and a panic of native code too, lets these pass.
    """
    if isinstance(exc, asyncio.CancelledError):
        return is_cancelled()
    return isinstance(exc, KeyboardInterrupt | GeneratorExit)
