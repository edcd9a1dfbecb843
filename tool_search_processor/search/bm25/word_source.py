"""Documents in which the words of queries are looked up."""

from __future__ import annotations

from functools import cached_property

from tool_search_processor.search.bm25.request_field import ExampleRequests
from tool_search_processor.search.bm25.source import DocumentSource
from tool_search_processor.search.bm25.word_cache import WordCache
from tool_search_processor.search.bm25.word_evidence import WordEvidence, evidence_of


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
