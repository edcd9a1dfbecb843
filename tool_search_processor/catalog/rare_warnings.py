"""Warnings about a failure that goes on, seldom enough to be read."""

from __future__ import annotations

import logging
import threading
import time

_SECONDS = 600.0


class RareWarnings:
    """Logs each message as a warning once in ten minutes, and for debugging in between."""

    def __init__(self, logger: logging.Logger) -> None:
        """Log with this logger."""
        self._logger = logger
        self._lock = threading.Lock()
        self._warned_at: dict[str, float] = {}

    def warn(self, message: str, *, exc_info: bool = False) -> None:
        """Log a message, with the current exception if that is wanted."""
        now = time.monotonic()
        with self._lock:
            warned_at = self._warned_at.get(message)
            is_due = warned_at is None or now - warned_at >= _SECONDS
            if is_due:
                self._warned_at[message] = now
        self._logger.log(logging.WARNING if is_due else logging.DEBUG, message, exc_info=exc_info)
