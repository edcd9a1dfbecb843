"""Lexical search: BM25F over the fields of a tool, with names first and a score that means something."""

from __future__ import annotations

import math
import threading
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tool_search_processor.search import text
from tool_search_processor.search.base import Document, Hit

_K1 = 1.2


@dataclass(frozen=True, slots=True)
class _Field:
    weight: float
    b: float
    pivot: float
    """Length in terms at which a field is neither favoured nor disfavoured."""


_FIELDS = {
    "name": _Field(3.0, 0.3, 3.0),
    "namespace": _Field(1.0, 0.0, 2.0),
    "description": _Field(1.0, 0.5, 15.0),
    "tags": _Field(1.0, 0.5, 2.0),
    "keywords": _Field(2.0, 0.0, 5.0),
    "parameter_names": _Field(0.5, 0.5, 5.0),
    "parameter_texts": _Field(0.3, 0.5, 30.0),
}


def _field_texts(document: Document) -> dict[str, str]:
    return {
        "name": document.name,
        "namespace": document.namespace or "",
        "description": document.description,
        "tags": " ".join(document.tags),
        "keywords": " ".join(document.keywords),
        "parameter_names": " ".join(document.parameter_names),
        "parameter_texts": " ".join(document.parameter_texts),
    }


def analyze(document: Document) -> dict[str, float]:
    """Return the saturated term weights of one document, each in (0, 1)."""
    frequencies: dict[str, float] = {}
    for name, content in _field_texts(document).items():
        if not content:
            continue
        form = _FIELDS[name]
        found = text.terms(content)
        share = form.weight / (1 - form.b + form.b * len(found) / form.pivot)
        for term in found:
            frequencies[term] = frequencies.get(term, 0.0) + share
    return {term: value / (value + _K1) for term, value in frequencies.items()}


@dataclass(frozen=True, slots=True)
class _Snapshot:
    names: tuple[str, ...] = ()
    slots: dict[str, int] = field(default_factory=dict)
    keys: dict[str, list[int]] = field(default_factory=dict)
    postings: dict[str, tuple[NDArray[np.int32], NDArray[np.float32]]] = field(default_factory=dict)


class BM25Index:
    """Ranks tools by the words they share with the query."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._snapshot = _Snapshot()
        self._documents: tuple[Document, ...] = ()

    def update(self, documents: Sequence[Document]) -> None:
        """Make `documents` the whole content, in this order."""
        with self._lock:
            if tuple(documents) == self._documents:
                return
            self._documents = tuple(documents)
            self._snapshot = _build(self._documents)

    def search(
        self,
        query: str,
        *,
        limit: int | None = None,
        within: Collection[str] | None = None,
        extra: Sequence[Document] = (),
    ) -> list[Hit]:
        """Rank the documents for a query; see `SearchIndex.search`."""
        snapshot = self._snapshot
        asked = _query_terms(query)
        total = len(snapshot.names)
        scores = np.zeros(total + len(extra), np.float32)
        possible = 0.0
        weights = [analyze(document) for document in extra]
        for term in asked:
            found = snapshot.postings.get(term)
            df = len(found[0]) if found else 0
            idf = math.log(1 + (total - df + 0.5) / (df + 0.5))
            possible += idf
            if found:
                np.add.at(scores, found[0], found[1] * np.float32(idf))
            for place, known in enumerate(weights):
                scores[total + place] += idf * known.get(term, 0.0)
        if possible:
            scores *= 0.99 / possible
        key = text.name_key(query)
        for slot in snapshot.keys.get(key, ()):
            scores[slot] = 1.0
        for place, document in enumerate(extra):
            if text.name_key(document.name) == key:
                scores[total + place] = 1.0
            if document.name in snapshot.slots:
                scores[snapshot.slots[document.name]] = 0.0
        if within is not None:
            allowed = [snapshot.slots[name] for name in within if name in snapshot.slots]
            mask = np.zeros(len(scores), bool)
            mask[allowed] = True
            mask[total:] = True
            scores[~mask] = 0.0
        candidates = np.flatnonzero(scores > 0)
        order = candidates[np.argsort(-scores[candidates], kind="stable")][:limit]
        names = (*snapshot.names, *(document.name for document in extra))
        return [Hit(name=names[slot], score=float(scores[slot])) for slot in order]

    def count(
        self,
        query: str,
        *,
        min_score: float = 0.0,
        within: Collection[str] | None = None,
        extra: Iterable[Document] = (),
    ) -> int:
        """Return how many hits `search` with no limit would give with `score >= min_score`."""
        hits = self.search(query, within=within, extra=tuple(extra))
        return sum(hit.score >= min_score for hit in hits)


def _query_terms(query: str) -> list[str]:
    found = list(dict.fromkeys(text.words(query[: text.QUERY_CHARACTERS])))
    asked = [word for word in found if word.lower() not in text.STOP_WORDS] or found
    return list(dict.fromkeys(term for word in asked for term in text.terms_of(word)))[: text.QUERY_WORDS]


def _build(documents: tuple[Document, ...]) -> _Snapshot:
    gathered: dict[str, tuple[list[int], list[float]]] = {}
    keys: dict[str, list[int]] = {}
    for slot, document in enumerate(documents):
        keys.setdefault(text.name_key(document.name), []).append(slot)
        for term, weight in analyze(document).items():
            ids, weights = gathered.setdefault(term, ([], []))
            ids.append(slot)
            weights.append(weight)
    return _Snapshot(
        names=tuple(document.name for document in documents),
        slots={document.name: slot for slot, document in enumerate(documents)},
        keys=keys,
        postings={t: (np.array(i, np.int32), np.array(w, np.float32)) for t, (i, w) in gathered.items()},
    )
