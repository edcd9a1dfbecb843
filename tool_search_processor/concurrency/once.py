"""Remembers what was reported, so that each thing is reported once."""

from __future__ import annotations

from collections.abc import Hashable


class Once:
    """Remembers what was reported, up to a bound: foreign lists may vary without end."""

    def __init__(self, *, most: int = 1000) -> None:
        """Start empty; after `most` things nothing more is new."""
        self._most = most
        self._told: set[Hashable] = set()

    def is_new(self, thing: Hashable) -> bool:
        """Return True if this value is seen for the first time, and remember it."""
        if thing in self._told or len(self._told) >= self._most:
            return False
        self._told.add(thing)
        return True
