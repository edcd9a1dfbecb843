"""What a server that runs as a process writes to its standard error, and why it ended, by these lines."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import re
import threading
from collections import deque
from collections.abc import Sequence
from typing import IO

logger = logging.getLogger(__name__)

_KEPT_LINES = 200
_LONGEST_LINE = 500
_LONGEST_READ = 65_536  # bytes; a server may never end its line
_WAIT_SECONDS = 1.0

_FRAME = " \t|+-"
"""What Python draws around the exceptions of a group."""

_ERROR = re.compile(
    r"(?:Uncaught )?[\w$.]*(?:Error|Exception|Rejection)(?: \[\w+\])?(?::|$)"  # Python, Node
    r"|Exception in thread |thread '.*' panicked|panic: "  # Java, Rust, Go
    r"|fatal(?: error)?: |error: |\u00d7 "  # many, and uv
    r"|npm (?:ERR!|error) (?!code|errno|syscall|path|A complete log)",
    re.IGNORECASE,
)
_TRACEBACK = "Traceback (most recent call last)"
_GROUP = re.compile(r"[\w.]*ExceptionGroup:")
_NOISE = re.compile(
    r"Node\.js v\d|at |\[?\w+\]?: ?['\[{]|node:internal/|throw \w+;|For further information visit |npm notice"
)
"""Lines that say nothing of the cause: a stack, an error's fields, the version, a link."""


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


def first_telling(lines: Sequence[str]) -> str:
    """Return the first line that names an error, or else the last line."""
    in_traceback = False
    for line in lines:
        text = line.strip(_FRAME)
        if _TRACEBACK in text:
            in_traceback = True
        elif _ERROR.match(text):
            return text
        elif in_traceback and text and line[0] not in _FRAME and not _GROUP.match(text):
            return text  # an exception of any name; its traceback is indented
    return last_telling(lines)


def last_telling(lines: Sequence[str]) -> str:
    """Return the last line that says something; empty if no line does."""
    said = [text for line in lines if any(map(str.isalnum, text := line.strip(_FRAME)))]
    return next((text for text in reversed(said) if not _NOISE.match(text)), said[-1] if said else "")
