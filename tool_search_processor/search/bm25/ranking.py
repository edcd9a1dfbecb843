"""The ranking of an index's documents for a query: the evidence for each, and which of them it names."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from tool_search_processor.search.bm25.confidence import confidence_of
from tool_search_processor.search.bm25.name_match import named
from tool_search_processor.search.bm25.postings import REQUEST
from tool_search_processor.search.bm25.query import ParsedQuery, idf, joined, parse
from tool_search_processor.search.bm25.request_documents import RequestDocuments
from tool_search_processor.search.bm25.request_field import shares_of
from tool_search_processor.search.bm25.snapshot import Snapshot
from tool_search_processor.search.bm25.word_evidence import WordEvidence, add_up
from tool_search_processor.search.protocol import Document
from tool_search_processor.search.text import terms_of

_ENOUGH = 8
"""This many known words say enough, whatever else a long request holds."""
CLAUSE_SHARE = 0.5
"""The weight of the best clause, next to 1 for the whole request."""
Evidence = NDArray[np.float32]
Slots = NDArray[np.int64]

_SMALLEST = 1e-30


class WordRanking:
    """The evidence of every document for a query, documents of the request after the stored ones."""

    def __init__(self, snapshot: Snapshot, query: str, extra: tuple[Document, ...]) -> None:
        """Look up the words and the names in a query; evidence is added up later."""
        source = RequestDocuments.of(extra, snapshot) if extra else snapshot
        asked = parse(query)
        self.query = query
        self.extra = extra
        self.words = _found(asked, source)
        self.named: dict[int, float] = named(query, exact=source.named, suffix=source.ending)
        self._source = source
        self._clauses = _clauses(asked, self.words)
        self._asked_words = asked.words
        self._has_requests = source.frequency(REQUEST) > 0
        self._evidence: Evidence | None = None
        possible = missing = 0.0
        for evidence in self.words.values():
            possible += evidence.possible
            missing += evidence.missing
        self._held = possible
        self._asked = possible + missing * idf(0, source.total)
        self.confidence = confidence_of(possible=self._asked, size=source.total)

    @property
    def evidence(self) -> Evidence:
        """One number for each document, 0 for no match; it is only compared and turned into a score."""
        if self._evidence is None:
            evidence = self._of_clauses() if self._clauses else self._of_words()
            if self._has_requests:
                self._source.example_requests.add(self._of_requests(), to=evidence)
            self._evidence = evidence
        return self._evidence

    @property
    def grasp(self) -> float:
        """How far to trust the words next to another ranking, 0 to 1: little if few of them are known.

        A Russian request may share only a product's name with an English catalog. The tools found are then a
        guess, however well they match that one word.
        """
        known = sum(1 - evidence.missing for evidence in self.words.values() if evidence.weights)
        return max(math.sqrt(self._held / self._asked), min(1.0, known / _ENOUGH)) if known else 1.0

    def _of_words(self) -> Evidence:
        row = np.zeros(self._source.size, np.float32)
        add_up(self.words.values(), row)
        if len(self._source.hidden):
            row[self._source.hidden] = 0
        return row

    def _of_clauses(self) -> Evidence:
        """Return the evidence for a request of several clauses; each word is added up once."""
        rows = np.zeros((len(self._clauses), self._source.size), np.float32)
        whole: Evidence = np.zeros(self._source.size, np.float32)
        for row, (new, again) in zip(rows, self._clauses, strict=True):
            add_up(new, row)
            whole += row
            if again:
                add_up(again, row)
        if len(self._source.hidden):
            whole[self._source.hidden] = 0
            rows[:, self._source.hidden] = 0
        return _combined(whole, rows) if len(whole) else whole

    def _of_requests(self) -> Evidence:
        """Return the evidence of example requests for the documents that have any.

        It is at most that of a perfect answer.
        """
        source = self._source
        row = shares_of(self._asked_words, source, source.example_requests)
        row *= np.float32(self._asked)
        return row


def _found(asked: ParsedQuery, source: Snapshot | RequestDocuments) -> Mapping[str, WordEvidence]:
    """Return what each word of a query finds.

    An unknown word with a capital inside a sentence is a name, not a misspelling. An unknown compound is not
    a word of the query, so it does not count as missing.
    """
    found: dict[str, WordEvidence] = {}
    for place, word in enumerate(asked.words):
        evidence = source.evidence(word, guess=not (place and word[0].isupper()))
        if evidence.missing and (term := joined(asked.words, place, source.frequency)):
            evidence = source.evidence(term, guess=False)
        found[word] = evidence
    said = {term for word in found for term in terms_of(word)} if asked.compounds else ()
    for word in asked.compounds:
        term = terms_of(word)[0]
        if term not in said and source.frequency(term) > 0:
            found[word] = source.evidence(word, guess=False)
    return found


_Clause = tuple[list[WordEvidence], list[WordEvidence]]
"""The evidence of a clause's words: those that appear here first, and those of earlier clauses."""


def _clauses(asked: ParsedQuery, found: Mapping[str, WordEvidence]) -> list[_Clause]:
    said: set[str] = set()
    clauses: list[_Clause] = []
    for clause in asked.clauses:
        known = [word for word in clause if word in found]
        new = [found[word] for word in known if word not in said]
        clauses.append((new, [found[word] for word in known if word in said]))
        said.update(known)
    return clauses


def _combined(whole: Evidence, clauses: Evidence) -> Evidence:
    """Return the evidence of each document: for the whole request, and for its best clause.

    Clauses are scaled to their best document, so that a clause in rare words doesn't crowd out the others.

    Args:
        whole: The evidence for the whole request; overwritten, like the clauses.
        clauses: The evidence for each clause, one row for each.
    """
    best = np.max(clauses, axis=1, keepdims=True)
    clauses *= CLAUSE_SHARE * np.max(whole) / np.maximum(best, np.float32(_SMALLEST))
    whole += np.max(clauses, axis=0)
    whole *= np.float32(1 / (1 + CLAUSE_SHARE))
    return whole


def leading(evidence: Evidence, limit: int | None) -> tuple[Slots, Evidence]:
    """Return the slots, ascending, of at least the best `limit` documents, and their evidence."""
    least = 0.0 if limit is None else kth_greatest(evidence, limit)
    slots = (evidence >= np.float32(max(least, _SMALLEST))).nonzero()[0]
    return slots, evidence.take(slots)


def kth_greatest(values: NDArray[np.float32], count: int) -> float:
    """Return a number near the greatest that at least `count` values reach; 0 for too few values.

    The k-th greatest of the maxima of many columns is at most the k-th greatest of all, and finding it takes
    a fraction of the time of sorting (0.2 ms against 3 ms at 100,000).
    """
    columns = max(128, 8 * count)
    height = len(values) // columns
    if height > 1:
        values = values[: height * columns].reshape(height, columns).max(axis=0)
    elif len(values) < count:
        return 0.0
    else:
        values = values.copy()
    values.partition(len(values) - count)
    return float(values[-count])
