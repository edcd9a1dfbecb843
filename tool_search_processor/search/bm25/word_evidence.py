"""What a word of a query finds in an index, regardless of the rest of the query."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from tool_search_processor.search.bm25.postings import Ids, Postings, Weights
from tool_search_processor.search.bm25.query import idf, keys_of
from tool_search_processor.search.bm25.source import DocumentSource
from tool_search_processor.search.bm25.sums import Part, add_at_places, summed

_DENSE = 6
"""From a sixth of all documents on, adding a whole array is faster than adding at places (1.5 µs against 15
µs at 10,000)."""
_MANY = 256
"""From this many slots on, marks are faster than binary search (0.1 ms against 0.5 ms at 10,000)."""
_FEW = 64
_LARGE = 200_000
"""From this many slots on, neither the sum of a word's postings nor a bit for each slot is kept: to keep
large arrays, and drop them again, takes longer than to add up the postings at each query."""


class WordEvidence:
    """The documents that match a word, and its evidence for each: the sum of a few postings."""

    __slots__ = ("bits", "everywhere", "missing", "parts", "possible", "size", "weights")

    def __init__(self, shares: Mapping[str, float], *, missing: float, source: DocumentSource) -> None:
        """Look the word up.

        Args:
            shares: The keys to look up, each with its share of the word; unknown keys are skipped.
            missing: The share of the word that no key stands for, 0 to 1.
            source: Where to look.
        """
        self.weights: dict[str, float] = {}
        self.missing = missing
        self.possible = 0.0
        self.size = source.size
        self.bits: bytes | None = None
        """What `marks` gave."""
        self.everywhere: Weights | None = None
        """The sum for all slots, in place of the parts, if that is the faster way to add it."""
        self.parts: list[Part] = []
        for key, share in shares.items():
            count = source.frequency(key)
            if count > 0:
                weight = self.weights[key] = idf(count, source.total) * share
                for ids, held in source.find(key):
                    self.parts.append((ids, held, weight))
                self.possible += weight
        if self.parts and sum([len(ids) for ids, *_ in self.parts]) * _DENSE >= self.size:
            self.everywhere = np.zeros(self.size, np.float32)
            add_at_places(self.parts, self.everywhere)
            self.parts = []
        elif self.parts and self.size < _LARGE:
            self.parts = [summed(self.parts, self.size)]

    @property
    def cost(self) -> int:
        """About how many numbers it holds, `marks` among them; large parts are those of the index."""
        own = self.size // 32 + len(self.parts[0][0]) if self.parts and self.size < _LARGE else 0
        return 140 + own + (0 if self.everywhere is None else self.size)

    @property
    def marks(self) -> bytes | None:
        """A bit for each slot, set if its document matches the word; None if looking up is faster."""
        if self.bits is None and self.size < _LARGE:
            self.bits = np.packbits(self.marked()).tobytes()
        return self.bits

    def holding(self, slots: Ids) -> NDArray[np.bool_]:
        """Return, for each of some slots, whether its document matches the word."""
        if len(slots) > _MANY:
            return self.marked().take(slots)
        held = np.zeros(len(slots), np.bool_)
        if self.everywhere is not None:
            np.greater(self.everywhere.take(slots, mode="clip"), 0, out=held)
            held &= slots < len(self.everywhere)
        for ids, *_ in self.parts:
            held |= ids.take(ids.searchsorted(slots), mode="clip") == slots
        return held

    def marked(self) -> NDArray[np.bool_]:
        """Return, for every slot, whether its document matches the word."""
        marks = np.zeros(self.size, np.bool_)
        if self.everywhere is not None:
            np.greater(self.everywhere, 0, out=marks[: len(self.everywhere)])
        for ids, *_ in self.parts:
            marks[ids] = True
        return marks

    def extended(self, own: Postings, *, size: int) -> WordEvidence:
        """Return a copy with a request's documents after the slots; `size` counts theirs too."""
        extended = copy(self)
        found = ((own.find(key), weight) for key, weight in self.weights.items())
        more = [(*posting, weight) for posting, weight in found if posting]
        extended.size, extended.parts, extended.bits = size, [*self.parts, *more], None
        return extended


def add_up(words: Iterable[WordEvidence], row: Weights) -> None:
    """Add the evidence of words to a row, one number for each slot, always in the same order."""
    parts: list[Part] = []
    for word in words:
        if word.everywhere is not None:
            row[: len(word.everywhere)] += word.everywhere
        parts += word.parts
    add_at_places(parts, row)


def evidence_of(word: str, *, source: DocumentSource, guess: bool) -> WordEvidence:
    """Return what a word finds.

    An unknown word counts as missing, so that a tool which matches the rest of the query matches it only in
    part. An unknown number or identifier is treated as a value and doesn't count.

    Args:
        word: The word.
        source: Where to look.
        guess: Whether an unknown word may stand for another one.
    """
    found = WordEvidence(keys_of(word), missing=0.0, source=source)
    if found.weights or any(map(str.isdigit, word)):
        return found
    instead = source.alternatives(word.lower()) if guess else ()
    missing = 1 - max((alternative.share for alternative in instead), default=0.0)
    return WordEvidence(dict(instead), missing=missing, source=source)


def matched_words(found: Mapping[str, WordEvidence], slots: Sequence[int]) -> list[tuple[str, ...]]:
    """Return, for each of some slots, the words that its document matches, in order."""
    if len(slots) <= _FEW or not found:
        # For a few slots this takes a third of the time of numpy.
        marks = [(word, bits) for word, evidence in found.items() if (bits := evidence.marks)]
        if len(marks) == len(found):
            places = [(slot >> 3, 128 >> (slot & 7)) for slot in slots]
            return [tuple([word for word, bits in marks if bits[place] & bit]) for place, bit in places]
    wanted = np.array(slots, np.int32)
    holding = np.empty((len(found), len(slots)), np.bool_)
    for row, evidence in zip(holding, found.values(), strict=True):
        row[:] = evidence.holding(wanted)
    # The same few sets of words recur: each is assembled once.
    marked, width = np.ascontiguousarray(holding.T).tobytes(), len(found)
    keys = [marked[start : start + width] for start in range(0, len(marked), width)]
    known = {key: tuple(compress(found, key)) for key in set(keys)}
    return [known[key] for key in keys]
