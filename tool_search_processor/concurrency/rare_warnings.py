"""Warnings about a failure that goes on, seldom enough to be read."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable


class RareWarnings:
    """Logs a repeated message as a warning from time to time, and for debugging in between."""

    def __init__(
        self, logger: logging.Logger, *, seconds: float = 600.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Log with this logger.

        Args:
            logger: The logger.
            seconds: The least time between two warnings about the same thing.
            clock: Returns the time in seconds.
        """
        self._logger = logger
        self._seconds = seconds
        self._clock = clock
        self._lock = threading.Lock()
        self._warned_at: dict[str, float] = {}

    def warn(self, message: str, *, about: str = "", exc_info: bool = False) -> None:
        """Log a message.

        Args:
            message: The message.
            about: What it is about; the message itself unless given.
            exc_info: Whether to log the current exception too.
        """
        now = self._clock()
        with self._lock:
            warned_at = self._warned_at.get(about or message)
            is_due = warned_at is None or now - warned_at >= self._seconds
            if is_due:
                self._warned_at[about or message] = now
        self._logger.log(logging.WARNING if is_due else logging.DEBUG, message, exc_info=exc_info)
