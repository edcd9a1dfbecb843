"""The terms that the engine counts: our own, so that identifiers, stems and Chinese work there too.

The engine's BM25 ignores the length of a document (`b = 0`), and a term is repeated according to its BM25F
weight. So fields keep their weights in an engine that knows only one field.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tool_search_processor.search.bm25.confidence import Confidence, confidence_of
from tool_search_processor.search.bm25.fields import analyze
from tool_search_processor.search.bm25.query import idf, keys_of, parse
from tool_search_processor.search.bm25.request_field import request_weights, word_in
from tool_search_processor.search.protocol import Document

K1 = 2.0
"""Saturation in the engine: the highest that Milvus documents, for the finest steps of weight."""
MAX_TEXT_BYTES = 60_000
"""Milvus takes 65,535 bytes in a field."""

_MOST_TIMES = 24
_QUERY_TIMES = 4
_RARE = 0.5
_ASKED = 0.7


def stored_text(document: Document) -> str:
    """Return the text of a document for the engine: each term repeated according to its weight.

    A weight of w = tf / (tf + k) is that of the engine at K1 * w / (1 - w) occurrences. The heaviest terms
    come first; what doesn't fit into `MAX_TEXT_BYTES` is left out.
    """
    weighed = sorted(_weights(document).items(), key=lambda item: (-item[1], item[0]))
    found: list[str] = []
    size = 0
    for term, weight in weighed:
        times = min(max(round(K1 * weight / (1 - weight)), 1), _MOST_TIMES)
        word = _encoded(term)
        size += times * (len(word) + 1)
        if size > MAX_TEXT_BYTES:
            break
        found += [word] * times
    return " ".join(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class TextQuery:
    """A query for the engine, and the meaning of its answers."""

    shares: Mapping[str, float]
    """Each term with its share of the query."""

    @classmethod
    def of(cls, query: str) -> TextQuery:
        """Read a query, as `query.parse` does."""
        shares: dict[str, float] = {}
        for word in parse(query).words:
            for term, share in keys_of(word).items():
                shares[term] = max(share, shares.get(term, 0.0))
        return cls(shares=shares)

    @property
    def text(self) -> str:
        """The terms, each repeated according to its share; empty if the query has no words."""
        words = [[_encoded(term)] * _times(share) for term, share in self.shares.items()]
        return " ".join(word for repeated in words for word in repeated)

    def confidence(self, size: int) -> Confidence:
        """Return how to turn evidence into scores in a catalog of a size; see `confidence.confidence_of`.

        An engine doesn't say how rare the query's words are, so each is assumed to be half as rare as a word
        can be.
        """
        return confidence_of(possible=sum(self.shares.values()) * _usual(size), size=size)

    def evidence_of(self, document: Document, size: int) -> float:
        """Return roughly the evidence that the engine would give a document it doesn't hold."""
        weights = _weights(document)
        return _usual(size) * sum(share * weights.get(term, 0.0) for term, share in self.shares.items())


def _weights(document: Document) -> Mapping[str, float]:
    """Return the weight of each term of a document; those of its example requests alone weigh little.

    An engine that knows one field can't tell whether a request as a whole fits (see `bm25.request_field`), so
    its words may only bring a tool in, not push it up.
    """
    said = analyze(document)
    asked = (
        (word_in(key), weight) for key, weight in request_weights(document.example_requests, said).items()
    )
    return {word: _ASKED * weight for word, weight in asked if word} | said


def evidence_in(score: float) -> float:
    """Return an engine's BM25 score as the sum of share, idf and weight over the query's terms."""
    return score / ((K1 + 1) * _QUERY_TIMES)


def _usual(size: int) -> float:
    return _RARE * idf(0, max(size, 1))


def _times(share: float) -> int:
    return max(round(share * _QUERY_TIMES), 1)


def _encoded(term: str) -> str:
    """Return a term as a word that every analyzer leaves alone: lower-case letters and digits."""
    if term.isascii() and term.isalnum() and term == term.lower():
        return term
    return "zx" + term.encode("utf-8", "surrogatepass").hex()
