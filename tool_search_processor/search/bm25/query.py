"""A parsed query: its words, its clauses, and the keys that each word looks up in an index."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from itertools import islice
from typing import NamedTuple

from tool_search_processor.search import text
from tool_search_processor.search.bm25.thesaurus import CONCEPT_SHARE, concepts_of

_CLAUSE_WORDS = 3
"""A clause of fewer words is joined to the one before it."""
_MOST_CLAUSES = 12
# Ends of sentences (not the dot of "3.5" or "node.js"), and the words that join one request to the next.
_CLAUSE_END = re.compile(
    r"[.?!;\u3002\uff1f\uff01\uff1b\n]+(?=\s|$|[^\x00-\x7f])|,? \b(?:and|then) ", re.IGNORECASE
)

_MOST_COMPOUNDS = 12
_OF = re.compile(r"\b([A-Za-z]{3,}) of (?:the |an? )?([A-Za-z]{3,})\b")

_MAY_END = re.compile("[.?!;\u3002\uff1f\uff01\uff1b\n]| and | then ", re.IGNORECASE)


class ParsedQuery(NamedTuple):
    """The words of a query that say what is wanted."""

    words: tuple[str, ...]
    """Distinct by their terms, in order; folded but with their case."""
    compounds: tuple[str, ...] = ()
    """Compounds such as "weekday" for "day of the week"; empty if the request asks for several things."""
    clauses: tuple[tuple[str, ...], ...] = ()
    """The words of each part of a request for several things; empty if it asks for one."""


def parse(query: str) -> ParsedQuery:
    """Read a query: at most its first 20,000 characters and 128 distinct words.

    Stop words are left out, unless there is nothing else.
    """
    query = query[: text.QUERY_CHARACTERS]
    canonical: dict[tuple[str, ...], str] = {}
    clauses: list[dict[str, None]] = []
    for part in _CLAUSE_END.split(query) if _MAY_END.search(query) else (query,):
        found = {
            canonical.setdefault(meant, word): None
            for word in text.words(part)
            if (meant := text.content_terms(word))
        }
        if clauses and (len(found) < _CLAUSE_WORDS or len(clauses[-1]) < _CLAUSE_WORDS):
            clauses[-1].update(found)
        else:
            clauses.append(found)
    words = tuple(canonical.values()) or tuple(dict.fromkeys(text.words(query)))
    several = 1 < len(clauses) <= _MOST_CLAUSES
    kept = words[: text.QUERY_WORDS]
    compounds = () if several else _compounds(query)
    return ParsedQuery(words=kept, compounds=compounds, clauses=tuple(map(tuple, clauses)) if several else ())


def _compounds(query: str) -> tuple[str, ...]:
    if " of " not in query:
        return ()
    pairs = islice(_OF.finditer(query), _MOST_COMPOUNDS)
    return tuple(dict.fromkeys(f"{pair[2]}{pair[1]}".lower() for pair in pairs))


def idf(frequency: int, size: int) -> float:
    """Return the inverse document frequency of BM25, in the form of Lucene, which is never negative."""
    return math.log(1 + (size - frequency + 0.5) / (frequency + 0.5))


def keys_of(word: str) -> dict[str, float]:
    """Return the keys that a word looks up, its terms and their concepts, each with its share of the word."""
    found: dict[str, float] = {}
    for term in text.terms_of(word):
        concepts = concepts_of(term)
        found[term] = 1 - CONCEPT_SHARE if concepts else 1.0
        for concept in concepts:
            found[concept] = max(CONCEPT_SHARE / len(concepts), found.get(concept, 0.0))
    return found


def joined(words: Sequence[str], place: int, frequency: Callable[[str], int]) -> str | None:
    """Return the indexed term that a word forms with one of its neighbors ("git hub"), if any."""
    for start in (place - 1, place):
        pair = words[max(start, 0) : start + 2]
        both = "".join(pair).lower()
        if (
            len(pair) == 2
            and both.isascii()
            and both.isalpha()
            and frequency(term := text.terms_of(both)[0]) > 0
        ):
            return term
    return None
