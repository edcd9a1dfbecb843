"""The inverted index: which documents hold a term and with what weight, in flat arrays."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from itertools import compress, count

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int32]
Weights = NDArray[np.float32]
Posting = tuple[Ids, Weights]
"""Document numbers, ascending and each once, and the term's weight in each."""
Weighed = tuple[Ids, Weights, float]
"""A posting, and the sum of its weights in double precision: so the order of the documents doesn't show."""
REQUEST = "\0"
"""Begins every key of the field of example requests (see `request_field`), and no other key."""
_NOTHING: Weighed = np.zeros(0, np.int32), np.zeros(0, np.float32), 0.0


class Postings:
    """An immutable set of postings, sorted by term and then by document.

    A term costs 8 bytes for each document that holds it. Each array is one block of memory for all terms, and
    a look-up returns views of two of them.
    """

    __slots__ = ("_ids", "_numbers", "_starts", "_totals", "_weights")

    def __init__(self, numbers: dict[str, int], starts: array[int], ids: Ids, weights: Weights) -> None:
        """Take arrays that are already in order.

        Args:
            numbers: The number of each term.
            starts: Where the postings of each term begin; one entry more than there are terms.
            ids: The documents, term by term.
            weights: The weights, alongside.
        """
        self._numbers = numbers
        self._starts = starts
        self._ids = ids
        self._weights = weights
        self._totals: array[float] | None = None

    def find(self, term: str) -> Posting | None:
        """Return the postings of a term, or None if no document holds it."""
        number = self._numbers.get(term)
        if number is None:
            return None
        start, end = self._starts[number], self._starts[number + 1]
        return self._ids[start:end], self._weights[start:end]

    def count(self, term: str) -> int:
        """Return how many documents hold a term."""
        number = self._numbers.get(term)
        return 0 if number is None else self._starts[number + 1] - self._starts[number]

    def weighed(self, terms: Iterable[str]) -> list[Weighed]:
        """Return the postings of several terms, empty for those that no document holds."""
        if self._totals is None:
            self._totals = array("d", _sums(self._weights, self._starts).tobytes())
        ids, weights, starts, totals = self._ids, self._weights, self._starts, self._totals
        return [
            _NOTHING
            if number is None
            else (ids[at := slice(starts[number], starts[number + 1])], weights[at], totals[number])
            for number in map(self._numbers.get, terms)
        ]

    def renumbered(self, start: int) -> Postings:
        """Return the same postings with the documents numbered from `start`."""
        return Postings(self._numbers, self._starts, self._ids + np.int32(start), self._weights)

    def parts(self) -> tuple[list[str], array[int], Ids, Weights]:
        """Return the terms in the order of their numbers, and the arrays, as the constructor takes them."""
        return list(self._numbers), self._starts, self._ids, self._weights

    def terms(self) -> Iterable[str]:
        """Return every term that some document holds."""
        return self._numbers.keys()

    def merged(self, more: Mapping[str, Posting], renumbered: Ids) -> Postings:
        """Return these postings merged with others, under new document numbers.

        Args:
            more: The others, by term.
            renumbered: For each document number of either, the new one, or -1 to leave the document out;
                new numbers are distinct.
        """
        numbers = dict(self._numbers)
        terms = [np.repeat(np.arange(len(numbers), dtype=np.int32), np.diff(self._starts))]
        ids, weights = [self._ids], [self._weights]
        for term, (their_ids, their_weights) in more.items():
            terms.append(np.full(len(their_ids), numbers.setdefault(term, len(numbers)), np.int32))
            ids.append(their_ids)
            weights.append(their_weights)
        documents = renumbered[np.concatenate(ids)]
        kept = (documents >= 0).nonzero()[0]
        order = kept[np.argsort(documents[kept], kind="stable")]
        numbered = np.concatenate(terms)[order]
        held = np.bincount(numbered, minlength=len(numbers)) > 0
        renumbered_terms = np.cumsum(held, dtype=np.int32) - 1
        return _arrange(
            dict(zip(compress(numbers, held.tolist()), count(), strict=False)),
            renumbered_terms[numbered],
            documents[order],
            np.concatenate(weights)[order],
        )


def build(analyses: Iterable[Mapping[str, float]]) -> Postings:
    """Index documents, numbered from 0 in the order given, by their terms' weights."""
    numbers: dict[str, int] = {}
    terms, lengths, weights = array("i"), array("i"), array("f")
    for analysis in analyses:
        terms.extend([numbers.setdefault(term, len(numbers)) for term in analysis])
        lengths.append(len(analysis))
        weights.extend(analysis.values())
    return _arrange(
        numbers,
        np.frombuffer(terms, np.int32),
        np.repeat(np.arange(len(lengths), dtype=np.int32), lengths),
        np.frombuffer(weights, np.float32),
    )


def gathered(analyses: Iterable[Mapping[str, float]], *, start: int) -> dict[str, Posting]:
    """Return the postings of a few documents, numbered from `start`."""
    found: dict[str, tuple[list[int], list[float]]] = {}
    for number, analysis in enumerate(analyses, start):
        for term, weight in analysis.items():
            ids, weights = found.setdefault(term, ([], []))
            ids.append(number)
            weights.append(weight)
    return {
        term: (np.array(ids, np.int32), np.array(weights, np.float32))
        for term, (ids, weights) in found.items()
    }


def joined(first: Weighed, second: Weighed) -> Weighed:
    """Return the postings of a term in two sets of documents as one."""
    if not len(first[0]):
        return second
    ids, weights = np.concatenate((first[0], second[0])), np.concatenate((first[1], second[1]))
    return ids, weights, first[2] + second[2]


def discounted(posting: Weighed, removed: NDArray[np.bool_]) -> Weighed:
    """Return the same with the weights of removed documents taken off the sum."""
    ids, weights, total = posting
    return ids, weights, total - float(weights[removed].sum(dtype=np.float64))


def _sums(weights: Weights, starts: array[int]) -> NDArray[np.float64]:
    """Return the sum of each term's weights."""
    first = np.frombuffer(starts, np.int64)[:-1]
    sums: NDArray[np.float64] = np.zeros(len(first))
    if len(first):
        np.add.reduceat(weights, first, dtype=np.float64, out=sums)
    return sums


def _arrange(numbers: dict[str, int], terms: Ids, ids: Ids, weights: Weights) -> Postings:
    """Sort postings that are in order of documents by term."""
    order = np.argsort(terms, kind="stable")
    # A Python array: its items are read twice as fast as those of numpy, and a list takes five times the
    # memory.
    starts = array("q", bytes(8 * (len(numbers) + 1)))
    np.cumsum(np.bincount(terms, minlength=len(numbers)), out=np.frombuffer(starts, np.int64)[1:])
    return Postings(numbers, starts, ids[order], weights[order])
