"""How much work a call does: how many functions it calls, which is the same on a busy machine."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any


@dataclass
class Calls:
    """Functions called so far, of Python and of C."""

    number: int = 0


class Compared(str):
    """A string whose comparisons are calls."""

    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        """Compare as strings do."""
        return str.__eq__(self, other)


@contextmanager
def counted_calls(*, most: int = sys.maxsize) -> Iterator[Calls]:
    """Count the functions that this thread calls inside; at the first one beyond `most`, fail at once."""
    calls = Calls()

    def count(frame: object, event: str, _: Any) -> None:
        if event in ("call", "c_call"):
            calls.number += 1
            assert calls.number <= most, f"more than {most} functions are called"

    sys.setprofile(count)
    try:
        yield calls
    finally:
        sys.setprofile(None)
    assert calls.number <= most, "the failure was caught inside"
