"""What the words of queries found, kept for the next query: the same few words make up most queries."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

_KeyT = TypeVar("_KeyT")
_FoundT = TypeVar("_FoundT")


class WordCache(dict[_KeyT, _FoundT]):
    """Drops its older half once its values together cost more than a limit; threads may share it."""

    def __init__(self, most: int, cost: Callable[[_FoundT], int]) -> None:
        """Set the limit, and the function that returns a value's cost, always the same one."""
        super().__init__()
        self._most = most
        self._cost = cost
        self._held = 0

    def keep(self, key: _KeyT, found: _FoundT) -> _FoundT:
        """Add a value, and return it."""
        if self._held > self._most:
            for old in list(self)[: len(self) // 2]:
                self.pop(old, None)
            # Added up again: two threads that look up one word at once have counted it twice.
            self._held = sum(map(self._cost, list(self.values())))
        self[key] = found
        self._held += self._cost(found)
        return found
