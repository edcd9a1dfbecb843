"""Notices when a model goes in circles: the same searches, loads and wrong names."""

from __future__ import annotations

from collections.abc import Collection, Hashable
from typing import Literal

FRUITLESS_SEARCHES = 6
"""How many searches in a row may find nothing new before the model is told."""
_MAX_REMEMBERED = 1000


class LoopGuard:
    """Remembers what one run has asked for. It only reports: it never raises and never blocks a call."""

    def __init__(self) -> None:
        self._asked: set[int] = set()
        self._seen: set[str] = set()
        self._fruitless = 0

    def judge(self, search: Hashable, names: Collection[str]) -> Literal["repeated", "fruitless"] | None:
        """Record a search, and return in which way the model goes in circles; None if it doesn't.

        Args:
            search: What was asked for, in a form in which equal searches are equal.
            names: The names of the tools that it found.
        """
        brings_new = not self._seen.issuperset(names)
        repeated = self.is_asked_again(search)
        self._fruitless = 0 if brings_new else self._fruitless + 1
        self._seen.update(names)
        if brings_new:
            return None
        if repeated:
            return "repeated"
        return "fruitless" if self._fruitless >= FRUITLESS_SEARCHES else None

    def is_asked_again(self, question: Hashable) -> bool:
        """Record a search, load or call, and return True if it was made before.

        Args:
            question: What was asked for, in a form in which equal questions are equal.
        """
        # Only the hash is kept, since queries and names may be long.
        asked = hash(question)
        if asked in self._asked:
            return True
        if len(self._asked) < _MAX_REMEMBERED:
            self._asked.add(asked)
        return False

    def used(self) -> None:
        """Record that a tool was loaded or called: the next search is a new one."""
        self._asked.clear()
        self._fruitless = 0
