"""A request's own documents, which its searches see together with the stored ones."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from tool_search_processor.search.bm25.fields import indexed
from tool_search_processor.search.bm25.name_table import NameTable
from tool_search_processor.search.bm25.postings import (
    REQUEST,
    Posting,
    Postings,
    Weighed,
    build,
    discounted,
    joined,
)
from tool_search_processor.search.bm25.snapshot import Snapshot
from tool_search_processor.search.bm25.spelling import Alternative, Vocabulary, alternatives
from tool_search_processor.search.bm25.word_cache import WordCache
from tool_search_processor.search.bm25.word_evidence import WordEvidence
from tool_search_processor.search.bm25.word_source import WordSource
from tool_search_processor.search.protocol import Document

_read = lru_cache(maxsize=2_048)(indexed)
"""Analyzes a document; cached, since a request's tools usually return with its next step."""


class _Same:
    """A tuple of documents, equal only to itself: comparing the documents would take as long as a search."""

    __slots__ = ("documents",)

    def __init__(self, documents: Sequence[Document]) -> None:
        self.documents = documents

    def __hash__(self) -> int:
        return id(self.documents)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.documents is self.documents


@lru_cache(maxsize=16)
def _prepared(same: _Same) -> tuple[Postings, NameTable]:
    """Return the postings of the documents' keys, and their names, both numbered from 0."""
    return build(map(_read, same.documents)), NameTable([document.name for document in same.documents])


@lru_cache(maxsize=4)
def _combined(same: _Same, snapshot: Snapshot) -> RequestDocuments:
    return RequestDocuments(same.documents, snapshot)


_CACHED_WORDS = 5_000
"""What so many words of queries have found is cached; each costs what the request's documents cost."""


class RequestDocuments(WordSource):
    """A snapshot followed by a few documents; they cost the same whatever the snapshot's size.

    The statistics are those of the snapshot. If the request has more documents than the snapshot, they count
    too.
    """

    def __init__(self, documents: Sequence[Document], snapshot: Snapshot) -> None:
        """Put documents after a snapshot's last slot; they hide stored ones of the same name."""
        self._snapshot = snapshot
        prepared, self._names = _prepared(_Same(documents))
        self._own = prepared.renumbered(snapshot.size)
        self._pooled = len(documents) > snapshot.total
        self.total = snapshot.total + (len(documents) if self._pooled else 0)
        self.size = snapshot.size + len(documents)
        self._evidence = WordCache(_CACHED_WORDS, lambda _: 1)
        replaced = [slot for document in documents if (slot := snapshot.slot_of(document.name)) is not None]
        self.hidden: NDArray[np.int64] = np.concatenate((snapshot.hidden, np.array(replaced, np.int64)))
        self._replaced = frozenset(replaced)

    @staticmethod
    def of(documents: Sequence[Document], snapshot: Snapshot) -> RequestDocuments:
        """Return the same object for the same two, as long as few others are asked for."""
        return _combined(_Same(documents), snapshot)

    def _look_up(self, word: str, *, guess: bool) -> WordEvidence:
        if not self._pooled:
            stored = self._snapshot.evidence(word, guess=guess)
            if stored.weights and not stored.missing:
                return stored.extended(self._own, size=self.size)
        return super()._look_up(word, guess=guess)

    def find(self, term: str) -> list[Posting]:
        """Return the postings of a key, hidden slots among them."""
        found = self._snapshot.find(term)
        own = self._own.find(term)
        return found if own is None else [*found, own]

    def frequency(self, term: str) -> int:
        """Return how many stored documents hold a key; if none does, how many of the request's."""
        stored = self._snapshot.frequency(term)
        if stored and not self._pooled:
            return stored
        return stored + self._own.count(term)

    def weighed(self, terms: Sequence[str]) -> list[Weighed]:
        """Return the postings of several keys, hidden slots among them, but not in the sums."""
        own = self._own.weighed(terms)
        if not self._snapshot.frequency(REQUEST):
            return own
        stored = self._snapshot.weighed(terms)
        if self._replaced:
            replaced = self.hidden[len(self._snapshot.hidden) :]
            stored = [discounted(posting, np.isin(posting[0], replaced)) for posting in stored]
        return list(map(joined, stored, own))

    def alternatives(self, word: str) -> tuple[Alternative, ...]:
        """Return what to look up for a word that no document holds."""
        return self._snapshot.alternatives(word) or alternatives(
            word, vocabularies=(self._vocabulary,), frequency=self.frequency
        )

    @cached_property
    def _vocabulary(self) -> Vocabulary:
        return Vocabulary(self._own.terms())

    def named(self, key: str) -> list[int]:
        """Return the slots of the documents whose name has this key."""
        return self._with_stored(self._names.exact(key), self._snapshot.named(key))

    def ending(self, key: str) -> list[int]:
        """Return the slots of the documents whose name ends with this key."""
        return self._with_stored(self._names.suffix(key), self._snapshot.ending(key))

    def _with_stored(self, own: Sequence[int], stored: Sequence[int]) -> list[int]:
        kept = [slot for slot in stored if slot not in self._replaced]
        return kept + [self._snapshot.size + number for number in own]
