"""A document as the lexical index weighs it: term by term, over its fields (BM25F)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tool_search_processor.search.bm25.request_field import request_weights
from tool_search_processor.search.bm25.thesaurus import concepts_of
from tool_search_processor.search.protocol import Document
from tool_search_processor.search.text import is_stop_word, terms_of, words

SATURATION = 1.5
"""k1 of BM25: the weighted frequency at which a term has half of its greatest weight."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldForm:
    """How one field counts."""

    weight: float
    normalization: float
    """b of BM25, 0 to 1: how much a long field makes each of its terms count less."""
    pivot: float
    """The length, in terms, at which a term counts exactly `weight`.

    A constant rather than the catalog's mean, so that a tool's weights depend on that tool alone: adding a
    tool changes no other tool.
    """
    stop_words: bool = False
    """Whether words such as "the" are indexed: in a name they are there on purpose."""


FORMS: Mapping[str, FieldForm] = {
    "name": FieldForm(weight=4.0, normalization=1.0, pivot=3.0, stop_words=True),
    "namespace": FieldForm(weight=0.5, normalization=0.0, pivot=2.0, stop_words=True),
    "description": FieldForm(weight=1.0, normalization=0.6, pivot=8.0),
    "tags": FieldForm(weight=0.5, normalization=0.5, pivot=2.0, stop_words=True),
    "keywords": FieldForm(weight=2.0, normalization=0.0, pivot=5.0, stop_words=True),
    "parameter_names": FieldForm(weight=0.5, normalization=0.5, pivot=5.0),
    "parameter_texts": FieldForm(weight=0.3, normalization=0.5, pivot=20.0),
}
"""Fitted once over twelve public retrieval sets as a whole, in round numbers."""

_CACHED_WORDS = 50_000


def analyze(document: Document) -> dict[str, float]:
    """Return the weight of each term and concept of a document, between 0 and 1.

    The weight is that of BM25F without idf: tf / (tf + k1), where tf sums, over the fields, the field's
    weight times the frequency, divided by 1 - b + b * length / pivot
    (Robertson, Zaragoza: The Probabilistic Relevance Framework, 2009, section 3.6).
    """
    frequencies: dict[str, float] = {}
    get = frequencies.get
    for form, content in _contents(document):
        found = [_entries.get(word) or _entry(word) for word in words(content)]
        if not form.stop_words:
            found = [entry for entry in found if entry[2]]
        if not found:
            continue
        length = sum([entry[1] for entry in found])
        share = form.weight / (1 - form.normalization + form.normalization * length / form.pivot)
        for keys, _, _ in found:
            for key in keys:
                frequencies[key] = get(key, 0.0) + share
    return {key: value / (value + SATURATION) for key, value in frequencies.items()}


def indexed(document: Document) -> dict[str, float]:
    """Return what `analyze` returns, and the keys of the document's example requests with their counts."""
    weights = analyze(document)
    if document.example_requests:
        weights |= request_weights(document.example_requests, said=weights)
    return weights


# The keys of one word of a document, its length in terms, and whether it is a content word (not a stop word).
# Plain tuples: named ones make building an index a quarter slower.
_Entry = tuple[tuple[str, ...], int, bool]
_entries: dict[str, _Entry] = {}


def _entry(word: str) -> _Entry:
    if len(_entries) >= _CACHED_WORDS:
        _entries.clear()
    terms = terms_of(word)
    concepts = dict.fromkeys(concept for term in terms for concept in concepts_of(term))
    entry = _entries[word] = (*terms, *concepts), len(terms), not is_stop_word(word)
    return entry


def _contents(document: Document) -> Iterator[tuple[FieldForm, str]]:
    yield FORMS["name"], document.name
    if document.namespace:
        yield FORMS["namespace"], document.namespace
    if document.description:
        yield FORMS["description"], document.description
    for field in ("tags", "keywords", "parameter_names", "parameter_texts"):
        if texts := getattr(document, field):
            yield FORMS[field], "\n".join(texts)
