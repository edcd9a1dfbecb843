"""Notices a model that goes round in circles: the same searches, loads and wrong names."""

from __future__ import annotations

from collections.abc import Collection, Hashable
from typing import Literal

FRUITLESS_SEARCHES = 6
"""How many searches in a row may bring nothing new before the model is told."""
_MAX_REMEMBERED = 1000


class LoopGuard:
    """Remembers what one run has asked for. It only judges: it never raises and never holds anything back."""

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
        repeated = self.is_asked_again(search)
        self._fruitless = 0 if brings_new else self._fruitless + 1
        self._seen.update(names)
        if brings_new:
            return None
        if repeated:
            return "repeated"
        return "fruitless" if self._fruitless >= FRUITLESS_SEARCHES else None

    def is_asked_again(self, question: Hashable) -> bool:
        """Take note of a search, load or call, and return True if it was made before.

        Args:
            question: What was asked for, in a form in which equal questions are equal.
        """
        # Its hash is kept, since queries and names may be long.
        asked = hash(question)
        if asked in self._asked:
            return True
        if len(self._asked) < _MAX_REMEMBERED:
            self._asked.add(asked)
        return False

    def used(self) -> None:
        """Take note that a tool was loaded or called: what comes next is a new search for something."""
        self._asked.clear()
        self._fruitless = 0
