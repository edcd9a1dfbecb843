"""Sums of postings: what the keys of a word say together, and what all words say."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from tool_search_processor.search.bm25.postings import Ids, Weights

Places = NDArray[np.intp]
"""Where numbers stand in a row."""
Part = tuple[Ids, Weights, float]
"""The documents of one posting, ascending, their weights, and a factor of all weights."""


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


def add_at_places(
    parts: Sequence[Part], row: Weights, *, place: Callable[[Places], Places] | None = None
) -> None:
    """Add postings to a row of numbers.

    Args:
        parts: The postings.
        row: Where to add them.
        place: Returns the places in the row of documents; by default they are their numbers.
    """
    if parts:
        # One call for all words: a call takes as long as 500 additions.
        ids, weights, factors = zip(*parts, strict=True)
        added = np.concatenate(weights)
        if set(factors) != {1.0}:
            added *= np.repeat(np.array(factors, np.float32), list(map(len, ids)))
        places = np.concatenate(ids, dtype=np.intp)
        np.add.at(row, places if place is None else place(places), added)
