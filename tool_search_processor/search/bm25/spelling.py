"""Finds the words of an index that an unknown word may stand for."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tool_search_processor.search.bm25.postings import REQUEST
from tool_search_processor.search.text import stem

_MOST = 3
_SHORTEST = 4  # letters of a word that may be misspelled; shorter words are near to everything
_SHORT = 5  # letters of a word whose first one is right
_LONGEST = 40
_WHOLE, _BEGINNING, _NEAR = 0.9, 0.4, 0.4
_ONE, _CHARACTER = np.uint32(1), np.uint32(31)


class Alternative(NamedTuple):
    """A term to search for instead."""

    term: str
    share: float
    """How much of the word's weight it deserves, 0 to 1."""


class Vocabulary:
    """The terms of one index, described in arrays that quickly give the few worth comparing with a word."""

    def __init__(self, terms: Iterable[str]) -> None:
        """Describe the terms: by length, first and last character, and the set of their characters.

        Concepts may be among them: no word is spelled like a concept.
        """
        self._terms = [term for term in terms if not term.startswith(REQUEST)]
        lengths = np.fromiter(map(len, self._terms), np.int32, len(self._terms))
        ends = np.cumsum(lengths)
        text = "".join(self._terms).encode("utf-32-le", "surrogatepass")
        characters = np.frombuffer(text, np.uint32)
        order = np.argsort(lengths, kind="stable")
        starts = (ends - lengths)[order]
        self._order = order
        self._ends = np.bincount(lengths, minlength=1).cumsum().tolist()
        """For each length, how many terms have at most this length."""
        self._first = characters[starts]
        self._last = characters[ends[order] - 1]
        marks = np.left_shift(_ONE, characters & _CHARACTER)
        self._sets = np.bitwise_or.reduceat(marks, ends - lengths)[order]

    def beginning_with(self, word: str) -> list[str]:
        """Return the longer terms that begin with a word, up to twice its length plus four."""
        span = self._of_lengths(len(word) + 1, len(word) * 2 + 4)
        asked = _set_of(word)
        places = (self._first[span] == ord(word[0])) & (self._sets[span] & asked == asked)
        return [term for term in self._picked(span, places) if term.startswith(word)]

    def ending_with(self, word: str) -> list[str]:
        """Return the terms, one letter longer, that end with a word."""
        span = self._of_lengths(len(word) + 1, len(word) + 1)
        places = self._last[span] == ord(word[-1])
        return [term for term in self._picked(span, places) if term.endswith(word)]

    def near(self, word: str, slips: int) -> list[str]:
        """Return the terms that may be at most this many slips away; their distance is still to be measured.

        They begin with one of the word's first two characters or end with its last: a slip rarely changes
        both ends.
        """
        span = self._of_lengths(len(word) - slips, len(word) + slips)
        asked, sets = _set_of(word), self._sets[span]
        lacking, more = asked & ~sets, sets & ~asked
        for _ in range(slips):  # each slip brings or takes one character at most: the lowest is struck out
            lacking &= lacking - _ONE
            more &= more - _ONE
        first = self._first[span]
        ends = (first == ord(word[0])) | (first == ord(word[1])) | (self._last[span] == ord(word[-1]))
        return self._picked(span, ends & (lacking | more == 0))

    def _of_lengths(self, least: int, most: int) -> slice:
        longest = len(self._ends) - 1
        return slice(self._ends[min(least - 1, longest)], self._ends[min(most, longest)])

    def _picked(self, span: slice, places: NDArray[np.bool_]) -> list[str]:
        return [self._terms[place] for place in self._order[span][places].tolist()]


def _set_of(word: str) -> np.uint32:
    """Return a word's characters as a bit set; characters with the same last five bits share a bit."""
    return np.uint32(functools.reduce(operator.or_, (1 << (ord(character) & 31) for character in word)))


def alternatives(
    word: str, *, vocabularies: Iterable[Vocabulary], frequency: Callable[[str], int]
) -> tuple[Alternative, ...]:
    """Return the terms to search for instead of a word that no document holds.

    In this order, the first that gives something: known words written together (`sendemail`), known
    words it begins (`notif`), known words at most one slip away (two from eight letters on), the nearest
    first, then the commonest, then by alphabet.

    Args:
        word: The word, in lower case.
        vocabularies: The terms to choose from.
        frequency: Returns how many documents hold a term; terms without documents are skipped.
    """
    if len(word) > _LONGEST:
        return ()
    vocabularies = tuple(vocabularies)
    if parts := _break(word, frequency):
        return tuple(Alternative(part, _WHOLE) for part in parts)
    longer = {
        term for vocabulary in vocabularies for term in _longer(vocabulary, word) if frequency(term) > 0
    }
    if longer:
        ranked = sorted(longer, key=lambda term: (-frequency(term), term))
        return tuple(Alternative(term, _BEGINNING) for term in ranked[:_MOST])
    return _near(word, vocabularies, frequency)


def _longer(vocabulary: Vocabulary, word: str) -> Iterator[str]:
    if not word[0].isascii():
        yield from vocabulary.ending_with(word)
        yield from vocabulary.beginning_with(word)
    elif len(word) >= 3:
        yield from vocabulary.beginning_with(word)


def _break(word: str, frequency: Callable[[str], int]) -> list[str]:
    """Return the fewest known words, of at least three letters each, that make up a word."""
    if not word.isascii() or len(word) < 6:
        return []
    best: list[list[str] | None] = [[], *[None] * len(word)]
    for end in range(3, len(word) + 1):
        for start in range(end - 2):
            before = best[start]
            if before is None or (best[end] is not None and len(before) + 1 >= len(best[end] or ())):
                continue
            term = stem(word[start:end])
            if frequency(term) > 0:
                best[end] = [*before, term]
    return best[-1] or []


def _near(
    word: str, vocabularies: tuple[Vocabulary, ...], frequency: Callable[[str], int]
) -> tuple[Alternative, ...]:
    from rapidfuzz import process
    from rapidfuzz.distance import OSA

    term = stem(word)
    if len(term) < _SHORTEST or not term.isalpha():
        return ()
    slips = 1 if len(term) < 8 else 2
    found: dict[str, float] = {}
    for vocabulary in vocabularies:
        near = process.extract(
            term, vocabulary.near(term, slips), scorer=OSA.distance, score_cutoff=slips, limit=None
        )
        found.update(
            (candidate, distance)
            for candidate, distance, _ in near
            if frequency(candidate) > 0 and _begins_alike(term, candidate)
        )
    ranked = sorted(found, key=lambda candidate: (found[candidate], -frequency(candidate), candidate))
    return tuple(Alternative(candidate, _NEAR) for candidate in ranked[:_MOST])


def _begins_alike(word: str, term: str) -> bool:
    """Return True if a term may be what was meant by a misspelled word, judged by how both begin.

    A short word with another first letter is another word (lend, end), unless two letters were swapped.
    """
    return len(word) > _SHORT or word[0] == term[0] or word[:2] == term[1::-1]
