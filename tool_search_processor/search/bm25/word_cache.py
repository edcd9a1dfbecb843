"""What the words of queries found, kept for the next query: the same few words make up most queries."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TypeVar

from tool_search_processor.search.bm25.request_field import ExampleRequests
from tool_search_processor.search.bm25.source import DocumentSource
from tool_search_processor.search.bm25.word_evidence import WordEvidence, evidence_of

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


class WordSource(DocumentSource):
    """Documents in which each word of a query is looked up once."""

    _evidence: WordCache[tuple[str, bool], WordEvidence]

    @cached_property
    def example_requests(self) -> ExampleRequests:
        """The documents that have example requests."""
        return ExampleRequests(self)

    def evidence(self, word: str, *, guess: bool) -> WordEvidence:
        """Return what a word finds here.

        Args:
            word: A word of a query, or a term.
            guess: Whether an unknown word may stand for another one.
        """
        found = self._evidence.get((word, guess))
        return found or self._evidence.keep((word, guess), self._look_up(word, guess=guess))

    def _look_up(self, word: str, *, guess: bool) -> WordEvidence:
        return evidence_of(word, source=self, guess=guess)
