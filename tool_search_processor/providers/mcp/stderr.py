"""What a server that runs as a process writes to its standard error."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import threading
from collections import deque
from typing import IO

from tool_search_processor.providers.mcp.last_words import first_telling, last_telling

logger = logging.getLogger(__name__)

_KEPT_LINES = 200
_LONGEST_LINE = 500
_LONGEST_READ = 65_536  # bytes; a server may never end its line
_WAIT_SECONDS = 1.0


class StderrReader:
    """Passes a process's standard error on to `logging`, line by line, and keeps the last lines.

    A thread reads the pipe: a process that nobody reads from stops once the pipe is full, and no event
    loop reads a pipe on every system.
    """

    def __init__(self, name: str) -> None:
        """Open the pipe and begin to read.

        Args:
            name: What the log calls the server.
        """
        self._name = name
        self._has_started = False
        self._lines: deque[str] = deque(maxlen=_KEPT_LINES)
        reading, writing = os.pipe()
        self.writing_end: IO[str] = os.fdopen(writing, "w")
        """What the process gets as its standard error; closed here once it has it."""
        self._thread = threading.Thread(
            target=self._read, args=(os.fdopen(reading, "rb"),), name=f"stderr of {name}", daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        """Close the writing end; reading ends when the process does."""
        with contextlib.suppress(OSError):
            self.writing_end.close()

    def started(self) -> None:
        """Note that the server has answered: what it wrote until then doesn't explain its end."""
        self._has_started = True
        self.close()

    async def last_words(self) -> str:
        """Return the line that says why it failed, once the process has ended or a second has passed."""
        self.close()
        await asyncio.to_thread(self._thread.join, _WAIT_SECONDS)
        return (last_telling if self._has_started else first_telling)([*self._lines])

    def _read(self, pipe: IO[bytes]) -> None:
        with pipe:
            for raw in iter(lambda: pipe.readline(_LONGEST_READ), b""):
                line = raw.decode(errors="replace").rstrip()[:_LONGEST_LINE]
                self._lines.append(line)
                logger.debug("%s: %r", self._name, line)
