"""Notices a model that keeps searching and uses nothing."""

from __future__ import annotations

from collections.abc import Collection, Hashable
from typing import Literal

FRUITLESS_SEARCHES = 6
"""How many searches in a row may bring nothing new before the model is told."""
_MAX_REMEMBERED = 1000


class LoopGuard:
    """Remembers the searches of one run. It only judges: it never raises and never holds one back."""

    def __init__(self) -> None:
        self._asked: set[int] = set()
        self._seen: set[str] = set()
        self._fruitless = 0

    def judge(self, search: Hashable, names: Collection[str]) -> Literal["repeated", "fruitless"] | None:
        """Take note of a search and tell whether the model goes round in circles.

        Args:
            search: What was asked for, in a form in which equal searches are equal.
            names: The tools that it found.
        """
        brings_new = not self._seen.issuperset(names)
        # Its hash is kept, since queries may be long.
        asked = hash(search)
        repeated = asked in self._asked
        self._fruitless = 0 if brings_new else self._fruitless + 1
        self._seen.update(names)
        if len(self._asked) < _MAX_REMEMBERED:
            self._asked.add(asked)
        if brings_new:
            return None
        if repeated:
            return "repeated"
        return "fruitless" if self._fruitless >= FRUITLESS_SEARCHES else None

    def used(self) -> None:
        """Take note that a tool was loaded or called: what comes next is a new search for something."""
        self._asked.clear()
        self._fruitless = 0
