"""Example requests in the lexical index: a field of its own, which adds evidence and changes no other field.

A request holds many words that say nothing about the tool ("find out for me whether"), and most tools have no
requests at all. So single words must not count: the evidence grows with the square of the share of the query
that a tool's requests hold together, and a word that is in many requests makes up little of it. Over twelve
public sets, half of each set's queries as requests and the other half asked, this adds 4.1 points of recall@5
and no set loses. Added up word by word like the other fields, sets whose requests are about
other tools lose up to 8 points.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tool_search_processor.search.bm25.postings import Posting, Weights
from tool_search_processor.search.bm25.query import keys_of
from tool_search_processor.search.bm25.thesaurus import concepts_of
from tool_search_processor.search.text import STOP_WORDS, content_terms, words

REQUEST = "\0"
"""Begins every key of this field; alone, it is the key of all documents that have requests."""
_WHOLE = REQUEST + "="
"""Begins the key of a whole request."""

_WEIGHT = 1.3
"""The evidence of requests that hold the whole query, as a multiple of that of a perfect answer, before it is
cut at 1: no tool's requests reach this."""
_SATURATION = 2.0
"""k1 of BM25: the number of requests at which a word in them has half of its greatest weight."""
_CROWD = 0.05
"""How much each further request of a tool adds to that: with many, some hold any word by chance."""
_CHARACTERS = 500
_MOST_CHARACTERS = 4 * _CHARACTERS


class RequestSource(Protocol):
    """A set of documents in which the words of a query are looked up."""

    size: int
    """The number of slots, including those of removed documents."""

    @property
    def request_numbers(self) -> Weights:
        """How many requests the document in each slot has; 0 for a removed document."""
        ...

    def find(self, term: str) -> Iterable[Posting]:
        """Return the postings of a key."""
        ...


class RequestWord:
    """The documents whose example requests hold a word, and its weight in each of them."""

    __slots__ = ("everywhere", "parts", "possible")

    def __init__(self, word: str, source: RequestSource) -> None:
        """Look the word up."""
        numbers = source.request_numbers
        total = float(numbers.sum())
        self.parts: list[Posting] = []
        self.possible = 0.0
        """Its weight in a document whose requests all hold it."""
        self.everywhere: Weights | None = None
        """The weights for all slots, if that is the faster way to add them up."""
        for key, share in keys_of(word).items():
            found = [(ids, held, numbers.take(ids)) for ids, held in source.find(REQUEST + key)]
            frequency = sum(float(held[there > 0].sum()) for _, held, there in found)
            weight = math.log(1 + (total - frequency + 0.5) / (frequency + 0.5)) * share
            self.possible += weight
            for ids, held, there in found:
                saturated = held / (held + np.float32(_SATURATION) + np.float32(_CROWD) * there)
                self.parts.append((ids, np.asarray(saturated * np.float32(weight), np.float32)))
        if sum(len(ids) for ids, _ in self.parts) * _DENSE >= source.size:
            self.everywhere = np.zeros(source.size, np.float32)
            _add_up(self.parts, self.everywhere)
            self.parts = []

    @property
    def cost(self) -> int:
        """About how many numbers it holds."""
        listed = sum(len(held) for _, held in self.parts)
        return 100 + listed + (0 if self.everywhere is None else len(self.everywhere))


_DENSE = 4
"""A word in the requests of more than a quarter of all documents is kept as an array of all slots."""
_CACHED_WORDS = 50_000


class _Keys(dict[str, tuple[str, ...]]):
    """This field's keys of each word: of its terms and their concepts; none for a stop word."""

    def __missing__(self, word: str) -> tuple[str, ...]:
        if len(self) >= _CACHED_WORDS:
            self.clear()
        terms = content_terms(word)
        concepts = (concept for term in terms for concept in concepts_of(term))
        found = self[word] = tuple(REQUEST + key for key in dict.fromkeys((*terms, *concepts)))
        return found


_keys = _Keys()


def request_counts(requests: Iterable[str]) -> dict[str, float]:
    """Return the keys of a document's requests, each with the number of requests that hold it.

    A request may have several lines, for what was asked in several ways; it counts once.
    """
    # Counted in C: a hundred thousand requests take a second.
    numbers: Counter[str] = Counter()
    wholes: Counter[str] = Counter()
    total = 0
    for request in requests:
        found = words(request[:_MOST_CHARACTERS])
        numbers.update(set(chain.from_iterable(map(_keys.__getitem__, found))))
        lines = request.split("\n") if "\n" in request else ()
        for line in (words(line[:_CHARACTERS]) for line in lines) if lines else (found,):
            if whole := _whole(line):
                wholes[whole] += 1
        total += bool(found)
    if not numbers:
        return {}
    return {**numbers, **wholes, REQUEST: total}


class NumberSource(Protocol):
    """A set of documents in which the numbers of requests are looked up."""

    size: int
    hidden: NDArray[np.int64]
    """The slots of removed documents."""

    def find(self, term: str) -> Iterable[Posting]:
        """Return the postings of a key."""
        ...


def numbers_in(source: NumberSource) -> Weights:
    """Return how many requests the document in each slot has, 0 for a removed one."""
    numbers = np.zeros(source.size, np.float32)
    for ids, held in source.find(REQUEST):
        numbers[ids] = held
    numbers[source.hidden] = 0
    return numbers


def shares_of(query: str, found: Sequence[RequestWord], source: RequestSource) -> Weights:
    """Return how well each document's requests fit a query, one number from 0 to 1 for each slot.

    Args:
        query: What is looked for.
        found: What each word of it finds.
        source: Where they were looked up.
    """
    row = np.zeros(source.size, np.float32)
    _add_up([part for word in found for part in word.parts], row)
    for word in found:
        if word.everywhere is not None:
            row += word.everywhere
    possible = sum(word.possible for word in found)
    row *= np.float32(math.sqrt(_WEIGHT) / possible) if possible > 0 else 0
    row *= row
    np.minimum(row, 1, out=row)
    if whole := _whole(words(query[:_CHARACTERS])):
        for ids, held in source.find(whole):
            row[ids] = np.maximum(row[ids], held / (held + 1))
    return row


def _add_up(parts: Sequence[Posting], row: Weights) -> None:
    if parts:
        # One call for all words: a call takes as long as 500 additions.
        ids = np.concatenate([ids for ids, _ in parts], dtype=np.intp)
        np.add.at(row, ids, np.concatenate([held for _, held in parts]))


def word_in(key: str) -> str:
    """Return the key of a word behind one of this field's keys; empty for one that is not a word's."""
    return "" if key.startswith(_WHOLE) else key.removeprefix(REQUEST)


def _whole(found: Iterable[str]) -> str:
    """Return the key of a whole request: its words in any order; empty if all of them are stop words."""
    meant = set(map(str.lower, found)) - STOP_WORDS
    return _WHOLE + " ".join(sorted(meant)) if meant else ""
