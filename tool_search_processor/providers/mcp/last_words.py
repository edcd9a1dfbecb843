"""Finds the line in a program's standard error that says why it ended."""

from __future__ import annotations

import re
from collections.abc import Sequence

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
