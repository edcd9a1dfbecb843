"""The documents of one request, which its own search sees together with the stored ones."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tool_search_processor.search.bm25.fields import indexed
from tool_search_processor.search.bm25.name_table import name_keys
from tool_search_processor.search.bm25.postings import Posting, Weights
from tool_search_processor.search.bm25.request_field import RequestWord, numbers_in
from tool_search_processor.search.bm25.snapshot import Snapshot
from tool_search_processor.search.bm25.spelling import Alternative, Vocabulary, alternatives
from tool_search_processor.search.bm25.word_evidence import WordEvidence, evidence_of
from tool_search_processor.search.protocol import Document


class _Own(NamedTuple):
    weights: dict[str, float]
    name_keys: tuple[str, ...]


@lru_cache(maxsize=2_048)
def _read(document: Document) -> _Own:
    """Analyze a document; cached, since a request's tools usually return with its next step."""
    return _Own(indexed(document), tuple(name_keys(document.name)))


class RequestDocuments:
    """A snapshot followed by a few documents; they cost the same whatever the snapshot's size.

    The statistics are those of the snapshot. If the request has more documents than the snapshot, they count
    too.
    """

    def __init__(self, documents: Sequence[Document], snapshot: Snapshot) -> None:
        """Put documents after a snapshot's last slot; they hide stored ones of the same name."""
        self._snapshot = snapshot
        self._own = [_read(document) for document in documents]
        self._pooled = len(documents) > snapshot.total
        self.total = snapshot.total + (len(documents) if self._pooled else 0)
        self.size = snapshot.size + len(documents)
        replaced = [slot for document in documents if (slot := snapshot.slot_of(document.name)) is not None]
        self.hidden: NDArray[np.int64] = np.concatenate((snapshot.hidden, np.array(replaced, np.int64)))
        self._replaced = frozenset(replaced)

    def evidence(self, word: str, *, guess: bool) -> WordEvidence:
        """Return what a word finds among the stored documents and these."""
        if not self._pooled:
            stored = self._snapshot.evidence(word, guess=guess)
            if stored.weights and not stored.missing:
                return stored.extended([own.weights for own in self._own], start=self._snapshot.size)
        return evidence_of(word, source=self, guess=guess)

    @cached_property
    def request_numbers(self) -> Weights:
        """How many example requests the document in each slot has; 0 for a hidden one."""
        return numbers_in(self)

    def in_requests(self, word: str) -> RequestWord:
        """Return what a word finds in the example requests of the stored documents and these."""
        return RequestWord(word, self)

    def find(self, term: str) -> list[Posting]:
        """Return the postings of a key, hidden slots among them."""
        found = self._snapshot.find(term)
        held = [(slot, own.weights[term]) for slot, own in self._numbered() if term in own.weights]
        if held:
            slots, weights = zip(*held, strict=True)
            found.append((np.array(slots, np.int32), np.array(weights, np.float32)))
        return found

    def frequency(self, term: str) -> int:
        """Return how many stored documents hold a key; if none does, how many of the request's."""
        stored = self._snapshot.frequency(term)
        if stored and not self._pooled:
            return stored
        return stored + sum(term in own.weights for own in self._own)

    def alternatives(self, word: str) -> tuple[Alternative, ...]:
        """Return what to look up for a word that no document holds."""
        return self._snapshot.alternatives(word) or alternatives(
            word, vocabularies=(self._vocabulary,), frequency=self.frequency
        )

    @cached_property
    def _vocabulary(self) -> Vocabulary:
        return Vocabulary(dict.fromkeys(chain.from_iterable(own.weights for own in self._own)))

    def named(self, key: str) -> list[int]:
        """Return the slots of the documents whose name has this key."""
        own = [slot for slot, own in self._numbered() if own.name_keys[0] == key]
        return [slot for slot in self._snapshot.named(key) if slot not in self._replaced] + own

    def ending(self, key: str) -> list[int]:
        """Return the slots of the documents whose name ends with this key."""
        own = [slot for slot, own in self._numbered() if key in own.name_keys[1:] and key != own.name_keys[0]]
        return [slot for slot in self._snapshot.ending(key) if slot not in self._replaced] + own

    def _numbered(self) -> enumerate[_Own]:
        return enumerate(self._own, self._snapshot.size)
