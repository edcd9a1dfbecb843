"""What several keys say together for documents, ready to be added to what other words say."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import mul

import numpy as np
from numpy.typing import NDArray

from tool_search_processor.search.bm25.postings import Ids, Weights

_DENSE = 6
"""From a sixth of all documents on, adding a whole array is faster than adding at places (1.5 µs against 15
µs at 10,000)."""
_MANY = 256
"""From this many slots on, marks are faster than binary search (0.1 ms against 0.5 ms at 10,000)."""

Part = tuple[Ids, Weights, float]
"""The documents of one posting, ascending, their weights, and a factor of all weights."""


class Sum:
    """A number for each of some documents: the sum of a few postings."""

    __slots__ = ("everywhere", "parts", "size")

    def __init__(self, parts: Sequence[Part], *, size: int) -> None:
        """Take the postings, and the number of slots."""
        self.size = size
        self.parts = parts
        self.everywhere: Weights | None = None
        """The sum for all slots, in place of the parts, if that is the faster way to add it."""
        if parts and sum([len(part[0]) for part in parts]) * _DENSE >= size:
            self.everywhere, self.parts = np.zeros(size, np.float32), ()
            _add_at_places(parts, self.everywhere)

    @property
    def cost(self) -> int:
        """About how many numbers it holds; parts are those of the index."""
        return 140 + (0 if self.everywhere is None else self.size)

    def holding(self, slots: Ids) -> NDArray[np.bool_]:
        """Return, for each of some slots, whether its document has a number here."""
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
        """Return, for every slot, whether its document has a number here."""
        marks = np.zeros(self.size, np.bool_)
        if self.everywhere is not None:
            np.greater(self.everywhere, 0, out=marks[: len(self.everywhere)])
        for ids, *_ in self.parts:
            marks[ids] = True
        return marks


def add_up(sums: Iterable[Sum], row: Weights) -> None:
    """Add sums to a row, one number for each slot, always in the same order."""
    parts: list[Part] = []
    for one in sums:
        if one.everywhere is not None:
            row[: len(one.everywhere)] += one.everywhere
        parts += one.parts
    _add_at_places(parts, row)


def summed(parts: Sequence[Part], size: int) -> Part:
    """Return several postings as one."""
    if len(parts) == 1:
        ids, held, factor = parts[0]
        return ids, held * factor, 1.0
    whole = np.zeros(size, np.float32)
    before = 0
    for ids, held, factor in parts:  # a part holds no document twice
        values = held * factor
        if before:
            known = whole.take(ids)
            values += known
            if len(parts) == 2 and np.count_nonzero(known) == before:
                # All that is there: the documents of a word are among those of its concept.
                return ids, values, 1.0
        whole[ids] = values
        before = len(ids)
    # On booleans this is ten times faster than on numbers.
    places = (whole > 0).nonzero()[0]
    return places.astype(np.int32), whole.take(places), 1.0


def _add_at_places(parts: Sequence[Part], row: Weights) -> None:
    if parts:
        # One call for all words: a call takes as long as 500 additions.
        ids, weights, factors = zip(*parts, strict=True)
        if set(factors) != {1.0}:
            weights = tuple(map(mul, weights, factors))
        np.add.at(row, np.concatenate(ids, dtype=np.intp), np.concatenate(weights))
