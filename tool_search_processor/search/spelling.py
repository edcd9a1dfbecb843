"""Words of an index that a word it doesn't hold may stand for."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from tool_search_processor.search.text import stem
from tool_search_processor.search.thesaurus import is_concept

_MOST = 3
_SHORTEST = 4  # of a word whose spelling may be wrong; shorter ones are near to everything
_LONGEST = 40
_WHOLE, _BEGINNING, _NEAR = 0.9, 0.4, 0.4


class Alternative(NamedTuple):
    """A term to search for instead."""

    term: str
    share: float
    """How much of the word's weight it deserves, 0 to 1."""


class Vocabulary:
    """The terms of one index, arranged so that near ones are found without reading all."""

    def __init__(self, terms: Iterable[str]) -> None:
        """Arrange the terms by their ends; a slip rarely changes both."""
        self._by_first: dict[tuple[str, int], list[str]] = {}
        self._sorted: dict[str, list[str]] = {}
        self._by_last: dict[tuple[str, int], list[str]] = {}
        for term in terms:
            if not is_concept(term):
                self._by_first.setdefault((term[0], len(term)), []).append(term)
                self._by_last.setdefault((term[-1], len(term)), []).append(term)

    def beginning_with(self, word: str) -> Iterator[str]:
        """Yield the terms that a word begins."""
        terms = self._sorted_by_first(word[0])
        for place in range(bisect_right(terms, word), len(terms)):
            term = terms[place]
            if not term.startswith(word):
                break
            if len(term) < len(word) * 2 + 5:
                yield term

    def _sorted_by_first(self, first: str) -> list[str]:
        """Return the terms that begin with a character, in order; made when first asked for."""
        found = self._sorted.get(first)
        if found is None:
            found = self._sorted[first] = sorted(
                term for (start, _), terms in self._by_first.items() if start == first for term in terms
            )
        return found

    def ending_with(self, word: str) -> Iterator[str]:
        """Yield the terms one letter longer that a word ends."""
        for term in self._by_last.get((word[-1], len(word) + 1), ()):
            if term.endswith(word):
                yield term

    def near(self, word: str, slips: int) -> list[str]:
        """Return the terms that may be at most so many slips away: more than are, to be measured."""
        lengths = range(len(word) - slips, len(word) + slips + 1)
        found: list[str] = []
        for first in dict.fromkeys(word[:2]):
            for length in lengths:
                found += self._by_first.get((first, length), ())
        for length in lengths:
            found += self._by_last.get((word[-1], length), ())
        return found


def alternatives(
    word: str, *, vocabularies: Iterable[Vocabulary], frequency: Callable[[str], int]
) -> tuple[Alternative, ...]:
    """Return what to search for instead of a word that no document holds.

    In this order, the first that gives something: known words written together (`sendemail`), known
    words it begins (`notif`), known words at most one slip away (two from eight letters on), the nearest
    first, then the commonest, then by alphabet.

    Args:
        word: The word, in lower case.
        vocabularies: The terms to choose from.
        frequency: Tells how many documents hold a term; those with none are passed over.
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
    """Return the fewest known words, each of three letters at least, that make up a word."""
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
        found.update((candidate, distance) for candidate, distance, _ in near if frequency(candidate) > 0)
    ranked = sorted(found, key=lambda candidate: (found[candidate], -frequency(candidate), candidate))
    return tuple(Alternative(candidate, _NEAR) for candidate in ranked[:_MOST])
