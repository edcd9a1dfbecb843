"""Functions that a user supplies and this package calls."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any


def takes_one(hook: Callable[..., Any]) -> bool:
    """Return True if a function can be called with one argument, or has no readable signature."""
    return _takes(hook, None)


def takes_none(hook: Callable[..., Any]) -> bool:
    """Return True if a function can be called without arguments, or has no readable signature."""
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


async def awaited(value: Any) -> Any:
    """Return what a function gave that may be sync or async: the value itself, or what it waits for."""
    return await value if inspect.isawaitable(value) else value


def is_cancelled() -> bool:
    """Return True if the running task is being cancelled, not just something that it awaits."""
    try:
        task = asyncio.current_task()
    except RuntimeError:  # no event loop runs, as at a construction
        return False
    return task is not None and task.cancelling() > 0


def is_no_failure(exc: BaseException) -> bool:
    """Return True if an exception is not a failure of the foreign code: an interrupt, or our cancellation.

    Code that turns foreign failures into answers, even `SystemExit` and a panic of native code, lets these
    pass.
    """
    if isinstance(exc, asyncio.CancelledError):
        return is_cancelled()
    return isinstance(exc, KeyboardInterrupt | GeneratorExit)


class Noted:
    """Adds a note to the exception that the foreign code in the block raises."""

    def __init__(self, note: str) -> None:
        """Set the note."""
        self._note = note

    def __enter__(self) -> None:
        """Begin."""

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        """Add the note; an exception that can't be changed goes on as it is."""
        if isinstance(error, Exception):
            with suppress(AttributeError):
                error.add_note(self._note)


class FailuresLogged:
    """Logs a failure of the foreign code in the block with its traceback, and goes on after the block."""

    def __init__(
        self, logger: logging.Logger, message: str, *args: object, level: int = logging.WARNING
    ) -> None:
        """Set what is logged: a message with its arguments, as `logging` takes them."""
        self._log = partial(logger.log, level, message, *args)

    def __enter__(self) -> None:
        """Begin."""

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> bool:
        """Return True if the block's exception is a failure, which is logged."""
        if error is None or is_no_failure(error):
            return False
        self._log(exc_info=error)
        return True
