"""What is told once, however often it comes up."""

from __future__ import annotations

from collections.abc import Hashable


class Once:
    """Remembers what was told, up to a bound: what foreign lists give rise to may vary without end."""

    def __init__(self, *, most: int = 1000) -> None:
        """Begin with nothing told; after `most` things nothing more is."""
        self._most = most
        self._told: set[Hashable] = set()

    def is_new(self, thing: Hashable) -> bool:
        """Tell whether something is to be told now, and take note of it."""
        if thing in self._told or len(self._told) >= self._most:
            return False
        self._told.add(thing)
        return True
