"""What a word of a query finds in an index, regardless of the rest of the query."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tool_search_processor.search.bm25.postings import Ids, Posting, Weights
from tool_search_processor.search.bm25.query import idf, keys_of
from tool_search_processor.search.bm25.source import DocumentSource

_DENSE = 6
"""If a word is in more than a sixth of all documents, adding a whole array is faster than adding at places
(1.5 µs against 15 µs at 10,000)."""

LARGE = 200_000
"""From this many documents on, it pays to read only some postings (3.1 ms against 5.3 ms at 1,000,000)."""

_REPAID = 100
"""An array of all slots is made and cached if at least one in this many is looked up."""
_ZERO = np.float32(0)
_FEW, _MANY = 64, 256
"""From this many slots on, marks are faster than binary search: 0.1 ms against 0.5 ms at 10,000."""
_NONE = np.zeros(0, np.int32), np.zeros(0, np.float32)

Part = tuple[Ids, Weights, float]
"""The documents of one posting, ascending, their weights, and a factor: evidence is weight times factor."""


class WordEvidence:
    """The documents that match a word, and its evidence for each."""

    __slots__ = (
        "_marks",
        "_size",
        "_summed",
        "dense",
        "frequency",
        "missing",
        "own",
        "parts",
        "possible",
        "weights",
    )

    def __init__(self, shares: Mapping[str, float], *, missing: float, source: DocumentSource) -> None:
        """Look the word up.

        Args:
            shares: The keys to look up, each with its share of the word; unknown keys are skipped.
            missing: The share of the word that no key stands for, 0 to 1.
            source: Where to look.
        """
        self.weights: dict[str, float] = {}
        self.parts: list[Part] = []
        self.missing = missing
        self.possible = 0.0
        self.frequency = 0
        """How many documents match; a document with several keys counts several times."""
        for key, share in shares.items():
            count = source.frequency(key)
            if count > 0:
                weight = self.weights[key] = idf(count, source.total) * share
                for ids, held in source.find(key):
                    self.parts.append((ids, held, weight))
                self.possible += weight
                self.frequency += count
        self.dense = bool(self.parts) and self.frequency * _DENSE >= source.total
        """Whether to add it up as an array of all slots."""
        self.own: tuple[int, NDArray[np.float32]] | None = None
        """The first slot of the request's documents, and the evidence for each of them."""
        self._size = source.size
        self._summed: Posting | None = None
        self._marks: bytes | None = None

    @property
    def cost(self) -> int:
        """About how many numbers it holds once it has been used."""
        return 140 + self._size // 32 + (self._size if self.dense else self.frequency)

    @property
    def posting(self) -> Posting:
        """The documents, ascending, with the evidence for each; for a dense word, that for all slots."""
        if self._summed is None:
            self._summed = _summed(self.parts, self._size, dense=self.dense)
        return self._summed

    @property
    def marks(self) -> bytes | None:
        """A bit for each slot, set if its document matches the word; None if looking up is faster."""
        if self._size >= LARGE:
            return None
        if self._marks is None:
            there = np.zeros(self._size + (0 if self.own is None else len(self.own[1])), np.bool_)
            if self.dense:
                np.greater(self.posting[1], _ZERO, out=there[: self._size])
            else:
                there[self.posting[0]] = True
            if self.own is not None:
                np.greater(self.own[1], _ZERO, out=there[self.own[0] :])
            self._marks = np.packbits(there).tobytes()
        return self._marks

    @property
    def summed(self) -> bool:
        """Whether `posting` has been computed already."""
        return self._summed is not None

    def at(self, slots: NDArray[np.integer[Any]]) -> NDArray[np.float32]:
        """Return the evidence for each of some slots of stored documents."""
        if self.dense and (self._summed is not None or len(slots) * _REPAID > self._size):
            return self.posting[1].take(slots)
        values = np.zeros(len(slots), np.float32)
        slots = slots.astype(np.int32)  # with another type than the ids, each look-up would convert all ids
        for ids, held, weight in self.parts:
            places = ids.searchsorted(slots)
            found = (ids.take(places, mode="clip") == slots).nonzero()[0]
            values[found] += held.take(places.take(found)) * weight
        return values

    def extended(self, own: Mapping[str, Posting], count: int, *, start: int) -> WordEvidence:
        """Return a copy with a request's documents after the slots.

        Args:
            own: The postings of their keys, numbered from 0.
            count: How many documents there are.
            start: The slot of the first.
        """
        added = np.zeros(count, np.float32)
        for key, weight in self.weights.items():
            if key in own:
                numbers, held = own[key]
                added[numbers] += held * np.float32(weight)
        self.posting  # noqa: B018 - made once for all copies
        extended = object.__new__(WordEvidence)
        for name in self.__slots__:
            setattr(extended, name, getattr(self, name))
        extended.own, extended._marks = (start, added), None
        return extended


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


def add_up(found: Iterable[WordEvidence], row: Weights) -> None:
    """Add the evidence of words to a row of zeros, one for each slot, always in the same order."""
    listed: list[WordEvidence] = []
    own: list[tuple[int, NDArray[np.float32]]] = []
    for evidence in found:
        if evidence.own is not None:
            own.append(evidence.own)
        if evidence.dense:
            row[: len(evidence.posting[1])] += evidence.posting[1]
        else:
            listed.append(evidence)
    for start, added in own:
        row[start:] += added
    if listed:
        # One call for all words: a call takes as long as 500 additions.
        ids, weights = zip(*[evidence.posting for evidence in listed], strict=True)
        np.add.at(row, np.concatenate(ids, dtype=np.intp), np.concatenate(weights))


def matched_words(found: Mapping[str, WordEvidence], slots: Sequence[int]) -> list[tuple[str, ...]]:
    """Return, for each of some slots, the words that its document matches, in order."""
    if len(slots) <= _FEW:
        # For a few slots this takes a third of the time of numpy.
        marks = [(word, bits) for word, evidence in found.items() if (bits := evidence.marks)]
        if len(marks) == len(found):
            places = [(slot >> 3, 128 >> (slot & 7)) for slot in slots]
            return [tuple([word for word, bits in marks if bits[place] & bit]) for place, bit in places]
    wanted = np.array(slots, np.int32)
    holding = np.empty((len(found), len(slots)), np.bool_)
    for row, evidence in zip(holding, found.values(), strict=True):
        _mark(row, evidence, wanted)
    # The same few sets of words recur: each is assembled once.
    packed = np.packbits(holding, axis=0)
    keys, width = packed.T.tobytes(), len(packed)
    known: dict[bytes, tuple[str, ...]] = {}
    matched = []
    for place in range(len(slots)):
        key = keys[place * width : place * width + width]
        words = known.get(key)
        if words is None:
            words = known[key] = tuple(compress(found, holding[:, place].tolist()))
        matched.append(words)
    return matched


def _mark(row: NDArray[np.bool_], evidence: WordEvidence, slots: NDArray[np.int32]) -> None:
    """Write into a row which slots match a word."""
    if evidence.dense and evidence.summed:
        np.greater(evidence.posting[1].take(slots, mode="clip"), _ZERO, out=row)
    else:
        lists = [evidence.posting[0]] if evidence.summed else [ids for ids, *_ in evidence.parts]
        row[:] = False
        for ids in lists:
            if not len(ids):
                continue
            if len(slots) <= _MANY:
                row |= ids.take(ids.searchsorted(slots), mode="clip") == slots
            else:
                there = np.zeros(max(int(ids[-1]), int(np.max(slots))) + 1, np.bool_)
                there[ids] = True
                row |= there.take(slots)
    if evidence.own is not None:
        start, added = evidence.own
        own = slots >= start
        row[own] = added[slots[own] - start] > 0


def _summed(parts: Sequence[Part], slots: int, *, dense: bool) -> Posting:
    """Return the sum of several postings; for a dense word, an array of all slots."""
    if not parts:
        return _NONE
    if len(parts) == 1 and not dense:
        ids, held, weight = parts[0]
        return ids, held * weight
    if len(parts) == 2 and not dense and slots >= LARGE and (within := _within(*parts)):
        return within
    whole = np.zeros(slots, np.float32)
    before = 0
    for ids, held, weight in parts:  # a part holds no document twice
        values = held * weight
        if before:
            known = whole.take(ids)
            values += known
            if len(parts) == 2 and not dense and np.count_nonzero(known) == before:
                # All that is there: the documents of a word are among those of its concept.
                return ids, values
        whole[ids] = values
        before = len(ids)
    if dense:
        return _NONE[0], whole
    # On booleans this is ten times faster than on numbers.
    places = (whole > 0).nonzero()[0]
    return places.astype(np.int32), whole.take(places)


def _within(some: Part, larger: Part) -> Posting | None:
    """Return the sum of two postings if the second has all documents of the first.

    In a large index this takes a third of the time of an array of all slots.
    """
    places = larger[0].searchsorted(some[0])
    if not (larger[0].take(places, mode="clip") == some[0]).all():
        return None
    values = larger[1] * larger[2]
    values[places] += some[1] * some[2]
    return larger[0], values
