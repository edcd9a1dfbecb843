"""The content of a lexical index: immutable states; making the next one costs what has changed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from tool_search_processor.search.bm25 import postings
from tool_search_processor.search.bm25.fields import indexed
from tool_search_processor.search.bm25.name_table import NameTable
from tool_search_processor.search.bm25.postings import (
    Posting,
    Postings,
    Weighed,
    discounted,
    gathered,
    joined,
)
from tool_search_processor.search.bm25.spelling import Alternative, Vocabulary, alternatives
from tool_search_processor.search.bm25.word_cache import WordCache
from tool_search_processor.search.bm25.word_source import WordSource
from tool_search_processor.search.masks import Mask, Masks
from tool_search_processor.search.protocol import Document

_TAIL = 256
"""The most changed documents that are kept next to the base before a merge. Each slows queries a little
(0.15 ms at 1,000), and each merge rebuilds the arrays."""
_ALTERNATIVES = 4_096
"""The alternatives of this many words are cached: finding them takes as long as ten searches."""
_HELD = 4_000_000
"""This many numbers of 4 bytes, plus 24 for each of at most a million documents, are cached of what the words
of queries found."""


class Base:
    """A large set of documents, indexed once."""

    def __init__(self, documents: Sequence[Document], index: Postings) -> None:
        """Take documents and their index, numbered in the same order."""
        self.names = tuple(document.name for document in documents)
        self.slots = {name: slot for slot, name in enumerate(self.names)}
        self.postings = index
        self.name_table = NameTable(self.names)

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The terms by spelling; made for the first unknown word."""
        return Vocabulary(self.postings.terms())


@dataclass(frozen=True, slots=True)
class Tail:
    """The few documents that came after the base; their numbers continue those of the base."""

    names: tuple[str, ...] = ()
    slots: Mapping[str, int] = field(default_factory=dict)
    postings: Mapping[str, Posting] = field(default_factory=dict)

    def with_documents(self, documents: Sequence[Document], start: int) -> Tail:
        """Return a tail with these documents added, numbered from `start`."""
        changed = dict(self.postings)
        for term, new in gathered(map(indexed, documents), start=start).items():
            old = changed.get(term)
            changed[term] = (
                new if old is None else (np.concatenate((old[0], new[0])), np.concatenate((old[1], new[1])))
            )
        names = tuple(document.name for document in documents)
        slots = {**self.slots, **{name: slot for slot, name in enumerate(names, start)}}
        return Tail((*self.names, *names), slots, changed)


class Snapshot(WordSource):
    """One state of an index, never changed once made.

    A *slot* is a document's number here; a removed or replaced document leaves a dead slot behind until
    the next merge. Frequencies and totals count live documents only.
    """

    def __init__(
        self,
        base: Base,
        tail: Tail,
        *,
        dead: Mapping[str, int],
        dead_slots: frozenset[int],
        order: NDArray[np.int64],
    ) -> None:
        """Assemble a state.

        Args:
            base: The large part.
            tail: What came after it.
            dead: For each term, how many dead documents hold it.
            dead_slots: The slots of removed and replaced documents.
            order: The slots of the live documents, in the catalog's order.
        """
        self.base = base
        self.tail = tail
        self.dead = dead
        self.dead_slots = dead_slots
        self.size = len(base.names) + len(tail.names)
        self.total = len(order)
        self.order = order
        self.positions = np.full(self.size, -1, np.int64)
        self.positions[order] = np.arange(self.total)
        self.in_order = bool((order[1:] > order[:-1]).all())
        """Whether the slots of the live documents are in the catalog's order."""
        self.hidden = np.array(sorted(dead_slots), np.int64)
        self._masks = Masks(self.size)
        self._evidence = WordCache(_HELD + 24 * min(self.size, 1_000_000), attrgetter("cost"))
        self._alternatives: dict[str, tuple[Alternative, ...]] = {}

    def slot_of(self, name: str) -> int | None:
        """Return the slot of a live document, or None."""
        slot = self.tail.slots.get(name)
        if slot is None:
            slot = self.base.slots.get(name)
        return None if slot is None or slot in self.dead_slots else slot

    def name_at(self, slot: int) -> str:
        """Return the name of the document in a slot."""
        size = len(self.base.names)
        return self.base.names[slot] if slot < size else self.tail.names[slot - size]

    def find(self, term: str) -> list[Posting]:
        """Return the postings of a term, including dead slots."""
        stored, added = self.base.postings.find(term), self.tail.postings.get(term)
        if added is None:
            return [] if stored is None else [stored]
        return [added] if stored is None else [stored, added]

    def frequency(self, term: str) -> int:
        """Return how many live documents hold a term."""
        count = self.base.postings.count(term) - self.dead.get(term, 0)
        added = self.tail.postings.get(term)
        return count if added is None else count + len(added[0])

    def weighed(self, terms: Sequence[str]) -> list[Weighed]:
        """Return the postings of several terms, including dead slots, which are not in the sums."""
        found = self.base.postings.weighed(terms)
        if self.dead or self.tail.postings:
            for place, term in enumerate(terms):
                if (added := self.tail.postings.get(term)) is not None:
                    found[place] = joined(found[place], (*added, sum(added[1].tolist())))
                if term in self.dead:
                    found[place] = discounted(found[place], self.positions.take(found[place][0]) < 0)
        return found

    def alternatives(self, word: str) -> tuple[Alternative, ...]:
        """Return what to look up instead of a word that no document holds."""
        found = self._alternatives.get(word)
        if found is None:
            if len(self._alternatives) >= _ALTERNATIVES:
                self._alternatives.clear()
            vocabularies = [self.base.vocabulary]
            if self.tail.postings:
                vocabularies.append(self._tail_vocabulary)
            found = alternatives(word, vocabularies=vocabularies, frequency=self.frequency)
            self._alternatives[word] = found
        return found

    @cached_property
    def _tail_vocabulary(self) -> Vocabulary:
        return Vocabulary(self.tail.postings)

    @cached_property
    def _tail_names(self) -> NameTable:
        return NameTable(self.tail.names)

    def named(self, key: str) -> list[int]:
        """Return the slots of the live documents whose name has this key."""
        in_tail = self._tail_names.exact(key) if self.tail.names else ()
        return self._live(self.base.name_table.exact(key), in_tail)

    def ending(self, key: str) -> list[int]:
        """Return the slots of the live documents whose name ends with this key."""
        in_tail = self._tail_names.suffix(key) if self.tail.names else ()
        return self._live(self.base.name_table.suffix(key), in_tail)

    def _live(self, in_base: Sequence[int], in_tail: Sequence[int]) -> list[int]:
        slots = [*in_base, *[len(self.base.names) + number for number in in_tail]]
        return [slot for slot in slots if slot not in self.dead_slots]

    def mask(self, within: Collection[str]) -> Mask:
        """Return which slots hold a document of these names; cached for a frozenset."""
        return self._masks.of(within, self.slot_of)


def empty() -> Snapshot:
    """Return the state of an empty index."""
    return _whole((), postings.build(()))


def built(documents: Sequence[Document]) -> Postings:
    """Index documents from nothing."""
    return postings.build(map(indexed, documents))


def _whole(documents: Sequence[Document], index: Postings) -> Snapshot:
    order = np.arange(len(documents), dtype=np.int64)
    return Snapshot(Base(documents, index), Tail(), dead={}, dead_slots=frozenset(), order=order)


def changed(
    before: Snapshot,
    *,
    documents: Sequence[Document],
    start: int,
    old: Sequence[Document],
    new: Sequence[Document],
    build: Callable[[Sequence[Document]], Postings] = built,
) -> Snapshot:
    """Return the state after some documents have replaced some others.

    Args:
        before: The state to start from.
        documents: The whole new content, in order; names are unique.
        start: The first position that differs.
        old: The documents at that position so far.
        new: The documents that replace them.
        build: Makes the postings of all documents, where most of them have changed.
    """
    stored = {document.name: document for document in old}
    names = {document.name for document in new}
    added = [
        document
        for document in new
        if (known := stored.get(document.name)) is not document and known != document
    ]
    gone = [document for document in old if document.name not in names]
    gone += [stored[document.name] for document in added if document.name in stored]
    if len(added) * 2 > before.total:
        return _whole(documents, build(documents))
    dead_slots = before.dead_slots | {before.slot_of(document.name) or 0 for document in gone}
    dead = dict(before.dead)
    for document in gone:
        for term in indexed(document):
            dead[term] = dead.get(term, 0) + 1
    tail = before.tail.with_documents(added, before.size) if added else before.tail
    first, later = before.base.slots, tail.slots
    slots = np.array([later.get(document.name, first.get(document.name, -1)) for document in new], np.int64)
    order = np.concatenate((before.order[:start], slots, before.order[start + len(old) :]))
    after = Snapshot(before.base, tail, dead=dead, dead_slots=dead_slots, order=order)
    return after if after.size - after.total + len(tail.names) <= _TAIL else _merged(after, documents)


def _merged(snapshot: Snapshot, documents: Sequence[Document]) -> Snapshot:
    """Return the same content with nothing in the tail and no dead slots; slots are positions again."""
    renumbered = snapshot.positions.astype(np.int32)
    return _whole(documents, snapshot.base.postings.merged(snapshot.tail.postings, renumbered))
