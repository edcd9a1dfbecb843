"""Search as people type: unfinished words, typing errors, words in any order."""

from __future__ import annotations

import re
import threading
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import OSA
from rapidfuzz.process import cdist

from tool_search_processor.search.index import Documents, Index, Names
from tool_search_processor.search.masks import Views, best_places
from tool_search_processor.search.protocol import Document, Hit, distinct
from tool_search_processor.search.text import STOP_WORDS, name_key, words

Floats = NDArray[np.float32]

QUERY_CHARACTERS = 200
"""Only so much of a query is read: nobody types more into a search box."""

_QUERY_WORDS = 12
_SENTENCE_WORDS = 3
_DESCRIPTION = 0.6  # what a word of the description is worth; a word of the name is worth 1
_REQUEST = 0.3  # and one that stands only in example requests
_SIMILAR = 0.7  # OSA similarity from which a word or a name counts as misspelt
_SIMILAR_LENGTH = 4  # shorter words are one slip away from too many others
_LEAST = 0.3  # half of a query of two words found in a description only
_BEST = 0.99  # 1.0 is an exact name

_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W_A-Za-z0-9]+")


@dataclass(frozen=True, slots=True)
class _Entry:
    document: Document
    key: str
    words: tuple[str, ...]
    """Never empty: it includes the name's key."""
    worth: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class _Words:
    entries: tuple[_Entry, ...]
    views: Views
    vocabulary: tuple[str, ...]
    joined: str
    starts: tuple[int, ...]
    """Where each word of the vocabulary begins in `joined`."""
    occurring: NDArray[np.int64]
    """The words of all documents, document by document, as places in the vocabulary."""
    worth: Floats
    """What each of these words is worth."""
    firsts: NDArray[np.int64]
    """Where each document begins in `occurring`."""
    keys: tuple[str, ...]
    key_lengths: Floats


class FuzzyIndex(Index):
    """Ranks tools by how closely their names, descriptions and example requests match what is typed.

    ```python
    index = FuzzyIndex()
    index.update([Document("create_issue"), Document("list_issues")])
    index.search("craete_i", limit=1)[0].name  # -> 'create_issue'
    ```

    Each word of the query is looked for in names, descriptions and, for less, example requests: as a whole
    word, as the beginning or the middle of one, and with typing errors (optimal string alignment: two swapped
    letters are one error). The
    score is the share of the query that was found; only an exact name scores 1.0. Scores don't depend on the
    other tools.
    """

    def __init__(self) -> None:
        self._snapshot = _build(())
        self._update_lock = threading.Lock()

    def update(self, documents: Sequence[Document]) -> None:
        """Make `documents` the whole content, in this order."""
        with self._update_lock:
            known = {entry.document: entry for entry in self._snapshot.entries}
            self._snapshot = _build(
                [known.get(document) or _entry(document) for document in distinct(documents)]
            )

    def _search(self, query: str, limit: int | None, within: Names, extra: Documents) -> list[Hit]:
        held, own = self._snapshot, _build([_entry(document) for document in extra])
        stored = _scores(held, query)
        mask = held.views.mask(within, own.views.slots)
        if mask is not None:
            stored *= mask
        scores = np.concatenate([stored, _scores(own, query)])
        scores[scores < _LEAST] = 0.0
        entries = (*held.entries, *own.entries)
        return [
            Hit(name=entries[place].document.name, score=float(scores[place]))
            for place in best_places(scores, limit)
        ]


def _scores(snapshot: _Words, query: str) -> Floats:
    """Return one score for each document, in order."""
    scores = np.zeros(len(snapshot.entries), np.float32)
    asked = _asked(query)
    if not asked or not len(scores):
        return scores
    for closeness in _closeness(snapshot, asked):
        # One pass over all words costs less than looking up the postings of hundreds of near words.
        scores += np.maximum.reduceat(closeness[snapshot.occurring] * snapshot.worth, snapshot.firsts)
    scores /= len(asked)
    key = name_key(query[:QUERY_CHARACTERS])
    # Of names that hold all that was typed, the one with the least else comes first.
    scores *= 0.9 + 0.1 * np.minimum(1.0, len(key) / snapshot.key_lengths)
    names = _similar([key], snapshot.keys)[0]
    np.minimum(np.maximum(scores, names), _BEST, out=scores)
    exact = snapshot.views.slots.get(query.strip())
    if exact is not None:
        scores[exact] = 1.0
    return scores


def _asked(query: str) -> list[str]:
    """Return the words to look for; stop words count only in short queries."""
    found = list(dict.fromkeys(_parts(query[:QUERY_CHARACTERS])))
    if len(found) > _SENTENCE_WORDS:
        found = [word for word in found if word not in STOP_WORDS] or found
    return found[:_QUERY_WORDS]


def _similar(asked: Sequence[str], known: Sequence[str]) -> Floats:
    """Return similarities, (asked, known); unlike `extract`, `cdist` releases the interpreter lock."""
    found: Floats = cdist(
        asked, known, scorer=OSA.normalized_similarity, score_cutoff=_SIMILAR, dtype=np.float32
    )
    return found


def _closeness(snapshot: _Words, asked: Sequence[str]) -> Floats:
    """Return how close each word of the vocabulary is to each query word, (asked, vocabulary)."""
    close = _similar(asked, snapshot.vocabulary)
    for row, word in enumerate(asked):
        if len(word) < _SIMILAR_LENGTH:
            close[row][close[row] < 1.0] = 0.0
        for place in _places(snapshot, word):
            other = snapshot.vocabulary[place]
            share = len(word) / len(other)
            value = 0.85 + 0.15 * share if other.startswith(word) else 0.5 + 0.3 * share
            close[row, place] = max(close[row, place], value)
    return close


def _places(snapshot: _Words, word: str) -> Iterator[int]:
    """Yield the places of the words that contain `word`; a single letter counts only at the beginning."""
    sought = word if len(word) > 1 else "\n" + word
    at = snapshot.joined.find(sought)
    while at >= 0:
        place = bisect_right(snapshot.starts, at + len(sought) - len(word)) - 1
        yield place
        at = snapshot.joined.find(sought, snapshot.starts[place] + len(snapshot.vocabulary[place]))


def _parts(text: str) -> list[str]:
    """Return the parts of a string's words in lower case; unlike the terms of BM25, they are not stemmed."""
    return [part.casefold() for word in words(text) for part in _PARTS.findall(word)]


def _entry(document: Document) -> _Entry:
    key = name_key(document.name)
    asked = (part for request in document.example_requests for part in _parts(request))
    worth = dict.fromkeys(asked, _REQUEST)
    worth.update(dict.fromkeys(_parts(document.description), _DESCRIPTION))
    worth.update(dict.fromkeys((*_parts(document.name), key), 1.0))
    return _Entry(document=document, key=key, words=tuple(worth), worth=tuple(worth.values()))


def _build(entries: Sequence[_Entry]) -> _Words:
    known: dict[str, int] = {}
    occurring: list[int] = []
    worth: list[float] = []
    firsts: list[int] = []
    for entry in entries:
        firsts.append(len(occurring))
        occurring.extend(known.setdefault(word, len(known)) for word in entry.words)
        worth.extend(entry.worth)
    lengths = np.array([len(word) + 1 for word in known], np.int64)
    return _Words(
        entries=tuple(entries),
        views=Views([entry.document.name for entry in entries]),
        vocabulary=tuple(known),
        joined="\n" + "\n".join(known),
        starts=tuple((np.cumsum(lengths) - lengths + 1).tolist()),
        occurring=np.array(occurring, np.int64),
        worth=np.array(worth, np.float32),
        firsts=np.array(firsts, np.int64),
        keys=tuple(entry.key for entry in entries),
        key_lengths=np.array([max(1, len(entry.key)) for entry in entries], np.float32),
    )
