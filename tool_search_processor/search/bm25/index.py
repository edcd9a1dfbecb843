"""Lexical search: BM25F over the fields of a tool, names first, with scores that are probabilities."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Sequence
from dataclasses import fields
from itertools import compress, count
from operator import is_not
from os import PathLike

import numpy as np
from numpy.typing import NDArray

from tool_search_processor.search.bm25.disk import PostingsCache
from tool_search_processor.search.bm25.ranking import Evidence, Slots, WordRanking, leading
from tool_search_processor.search.bm25.snapshot import Snapshot, built, changed, empty
from tool_search_processor.search.bm25.word_evidence import matched_words
from tool_search_processor.search.index import Documents, Index, Names
from tool_search_processor.search.protocol import Document, Hit, distinct

_NAME_ROOM = 0.0199


class BM25Index(Index):
    """Ranks tools by the words they share with the query.

    ```python
    index = BM25Index()
    index.update([Document("send_mail", description="Sends an email."), Document("add")])
    [hit.name for hit in index.search("write an e-mail")]  # -> ['send_mail']
    ```

    BM25F with the weights of `fields.FORMS`. Synonyms, compound words and near spellings count in part; each
    clause of a request for several things counts on its own; tools that the query names come first. At most
    20,000 characters and 128 distinct words of a query are read.

    Example requests count as a whole, next to the other fields (`request_field`): at most as much as a tool
    that matches every word of the query perfectly.

    The score is how likely a tool is to fit: 1.0 is an exact name, 0.5 as likely as not. The effect of a
    `min_score` on requests that some tool serves (the share that still gets an answer, and recall@5), and on
    requests that no tool serves (the share that rightly gets no answer). Means over twelve public sets
    (`python tests/benchmarks/bench_min_score.py --set DIR … --search bm25`):

        min_score      0     0.1   0.2   0.3   0.4   0.5
        answered      1.00  1.00  0.99  0.95  0.90  0.83
        recall@5      0.82  0.82  0.81  0.78  0.73  0.67
        no answer     0.03  0.23  0.42  0.57  0.72  0.81

    0.1 costs nothing; 0.3 is a good choice if a wrong tool does harm.

    Thread-safe: a search works on one immutable state and takes no lock.
    """

    def __init__(self, *, cache_path: str | PathLike[str] | None = None) -> None:
        """Begin with no documents.

        Args:
            cache_path: A folder for what is built of whole catalogs: the next process that has the same
                documents reads it there, in a tenth of the time. Processes may share it. None keeps nothing.
        """
        self._build = built if cache_path is None else PostingsCache(cache_path).postings
        self._changing = threading.Lock()
        self._order: tuple[Document, ...] = ()
        self._snapshot = empty()
        self._last: tuple[Snapshot, WordRanking] | None = None

    def update(self, documents: Sequence[Document]) -> None:
        """Make `documents` the whole content, in this order; of two with one name the later one counts.

        The cost is that of the difference: documents are compared by identity first, then by content.
        """
        with self._changing:
            before, after = self._order, tuple(documents)
            start = _alike(before, after)
            if start == len(before) == len(after):
                return
            end = min(_alike(reversed(before), reversed(after)), len(before) - start, len(after) - start)
            old, new = before[start : len(before) - end], after[start : len(after) - end]
            if not self._may_replace(old, new):
                after = distinct(documents)
                start, old, new = 0, before, after
            if old == new:
                return
            self._snapshot = changed(
                self._snapshot, documents=after, start=start, old=old, new=new, build=self._build
            )
            self._order = after

    def _may_replace(self, old: Sequence[Document], new: Sequence[Document]) -> bool:
        """Return whether names stay unique when some documents take the place of some others."""
        names = {document.name for document in new}
        elsewhere = names.difference(document.name for document in old)
        return len(names) == len(new) and all(self._snapshot.slot_of(name) is None for name in elsewhere)

    def _search(self, query: str, limit: int | None, within: Names, extra: Documents) -> list[Hit]:
        if limit is not None and limit <= 0:
            return []
        snapshot = self._snapshot
        ranking = self._rank(snapshot, query, extra)
        calls = ranking.named
        if within is None:
            slots, evidence = leading(ranking.evidence, limit)
        else:
            mask = _mask(snapshot, ranking, within)
            slots, evidence = leading(ranking.evidence * mask, limit)
            calls = {slot: score for slot, score in calls.items() if mask[slot]}
        order = _order(snapshot, slots, evidence)[:limit]
        scores = ranking.confidence.of(evidence.take(order).tolist())
        scored = list(zip(slots.take(order).tolist(), scores, strict=True))
        if calls:
            first = _named_first(snapshot, ranking, calls)
            scored = [*first, *(pair for pair in scored if pair[0] not in calls)][:limit]
        return _hits(snapshot, ranking, scored)

    def _count(self, query: str, min_score: float, within: Names, extra: Documents) -> int:
        snapshot = self._snapshot
        ranking = self._rank(snapshot, query, extra)
        evidence, calls, confidence = ranking.evidence, ranking.named, ranking.confidence
        if within is not None:
            mask = _mask(snapshot, ranking, within)
            evidence = evidence * mask
            calls = {slot: score for slot, score in calls.items() if mask[slot]}
        good = confidence.count(evidence, min_score)
        if calls:
            ordinary = evidence.take(list(calls))
            good -= confidence.count(ordinary, min_score)
            good += sum(score >= min_score for _, score in _named_first(snapshot, ranking, calls))
        return good

    def log_odds(self, query: str, *, extra: Sequence[Document] = ()) -> NDArray[np.float32]:
        """Return the log odds that each document fits, in order, those of `extra` last; see `Index.log_odds`.

        Words count less if the documents hold only a few words of the query (`WordRanking.grasp`).
        """
        snapshot = self._snapshot
        ranking = self._rank(snapshot, query, tuple(extra))
        live = np.flatnonzero(snapshot.positions >= 0)
        evidence = np.empty(len(live) + len(ranking.extra), np.float32)
        evidence[snapshot.positions[live]] = ranking.evidence[live]
        evidence[len(live) :] = ranking.evidence[snapshot.size :]
        confidence = ranking.confidence
        return np.asarray(confidence.bias + confidence.slope * ranking.grasp * evidence, np.float32)

    def _rank(self, snapshot: Snapshot, query: str, extra: Documents) -> WordRanking:
        """Return the ranking of a query; the last one is cached, for a longer list or a count."""
        last = self._last
        if last and last[0] is snapshot and last[1].query == query and last[1].extra == extra:
            return last[1]
        ranking = WordRanking(snapshot, query, extra)
        self._last = snapshot, ranking
        return ranking


def _alike(before: Iterable[Document], after: Iterable[Document]) -> int:
    """Return how many documents at the beginning are the same objects in both."""
    before, after = tuple(before), tuple(after)
    shorter = min(len(before), len(after))
    return next(compress(count(), map(is_not, before, after)), shorter)


def _mask(snapshot: Snapshot, ranking: WordRanking, within: Collection[str]) -> NDArray[np.bool_]:
    mask = snapshot.mask(within)
    return np.concatenate((mask, np.ones(len(ranking.extra), np.bool_))) if ranking.extra else mask


def _order(snapshot: Snapshot, slots: Slots, evidence: Evidence) -> Slots:
    """Return the order of ascending slots, best first, ties in the catalog's order."""
    if snapshot.in_order:
        return (-evidence).argsort(kind="stable")
    return np.lexsort((_positions(snapshot, slots), -evidence))


def _positions(snapshot: Snapshot, slots: Slots) -> Slots:
    """Return the positions of slots in the catalog's order; documents of the request come last."""
    size = snapshot.size
    known = snapshot.positions.take(slots, mode="clip") if size else slots
    return np.where(slots < size, known, slots + size)


def _named_first(
    snapshot: Snapshot, ranking: WordRanking, calls: dict[int, float]
) -> list[tuple[int, float]]:
    """Return the slots of tools that the query names, best first, each with its score."""
    slots = np.array(sorted(calls), np.int64)
    within_step = ranking.confidence.of(ranking.evidence.take(slots).tolist())
    scores = [
        step if step == 1.0 else step + _NAME_ROOM * more
        for step, more in zip((calls[slot] for slot in slots.tolist()), within_step, strict=True)
    ]
    order = np.lexsort((_positions(snapshot, slots), -np.array(scores)))
    return [(int(slots[place]), scores[place]) for place in order]


def _hits(snapshot: Snapshot, ranking: WordRanking, scored: list[tuple[int, float]]) -> list[Hit]:
    matched = matched_words(ranking.words, [slot for slot, _ in scored])
    size, extra, name_at = snapshot.size, ranking.extra, snapshot.name_at
    return [
        _hit(name_at(slot) if slot < size else extra[slot - size].name, score, words)
        for (slot, score), words in zip(scored, matched, strict=True)
    ]


_new = object.__new__
_set_name, _set_score, _set_text_rank, _set_vector_rank, _set_matched = (
    getattr(Hit, field.name).__set__ for field in fields(Hit)
)


def _hit(name: str, score: float, matched: tuple[str, ...]) -> Hit:
    """Return a hit without calling its constructor, which for a frozen class takes three times as long."""
    hit = _new(Hit)
    _set_name(hit, name)
    _set_score(hit, score)
    _set_text_rank(hit, None)
    _set_vector_rank(hit, None)
    _set_matched(hit, matched)
    return hit
