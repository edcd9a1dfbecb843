"""What a server that runs as a process writes to its standard error."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import threading
from collections import deque
from typing import IO

logger = logging.getLogger(__name__)

_KEPT_LINES = 20
_LONGEST_LINE = 500
_LONGEST_READ = 65_536  # bytes; a server may never end its line
_WAIT_SECONDS = 1.0
_FRAME = " \t|+-"


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
        self._lines: deque[str] = deque(maxlen=_KEPT_LINES)
        reading, writing = os.pipe()
        self.writing_end: IO[str] = os.fdopen(writing, "w")
        """What the process gets as its standard error; closed here once it has it."""
        self._thread = threading.Thread(
            target=self._read, args=(os.fdopen(reading, "rb"),), name=f"stderr of {name}", daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        """Let go of the writing end; reading ends when the process does."""
        with contextlib.suppress(OSError):
            self.writing_end.close()

    async def last_line(self) -> str:
        """Return the last line that says something, once the process has ended or a second has passed.

        That is no rule, as below an exception group, and stands without the frame.
        """
        self.close()
        await asyncio.to_thread(self._thread.join, _WAIT_SECONDS)
        lines = (line.strip(_FRAME) for line in reversed(self._lines))
        return next((line for line in lines if any(map(str.isalnum, line))), "")

    def _read(self, pipe: IO[bytes]) -> None:
        with pipe:
            for raw in iter(lambda: pipe.readline(_LONGEST_READ), b""):
                line = raw.decode(errors="replace").rstrip()[:_LONGEST_LINE]
                self._lines.append(line)
                logger.debug("%s: %r", self._name, line)
