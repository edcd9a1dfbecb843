"""What words find, added up over the keys that stand for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from tool_search_processor.search.bm25 import word_evidence
from tool_search_processor.search.bm25.postings import Posting
from tool_search_processor.search.bm25.spelling import Alternative
from tool_search_processor.search.bm25.word_evidence import WordEvidence, add_up, matched_words


class Held:
    """A source of a few keys, each held by some of its documents with weight 1."""

    def __init__(self, size: int, keys: Mapping[str, Sequence[int]]) -> None:
        self.total = self.size = size
        self._keys = keys

    def frequency(self, term: str) -> int:
        return len(self._keys[term])

    def find(self, term: str) -> list[Posting]:
        ids = np.array(self._keys[term], np.int32)
        return [(ids, np.ones(len(ids), np.float32))]

    def alternatives(self, word: str) -> tuple[Alternative, ...]:
        return ()


@pytest.mark.parametrize("large", [10**9, 0], ids=["small", "large"])
@pytest.mark.parametrize("size", [12, 1000], ids=["dense", "sparse"])
@pytest.mark.parametrize(
    "keys",
    [
        {"mail": [2, 7]},
        {"mail": [2, 7], "message": [1, 2, 7, 9]},
        {"mail": [2, 7, 11], "message": [1, 2, 7]},
        {"mail": [2, 7], "message": [1, 9]},
        {"mail": [2, 7], "message": [1, 2, 7], "box": [0, 2]},
    ],
    ids=["one key", "one within the other", "one beyond the other", "apart", "three keys"],
)
def test_a_word_says_for_a_document_what_its_keys_say_together(
    size: int, keys: dict[str, list[int]], large: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(word_evidence, "_LARGE", large)
    evidence = WordEvidence(dict.fromkeys(keys, 0.5), missing=0.0, source=Held(size, keys))
    expected = [
        sum(evidence.weights[key] for key, held in keys.items() if slot in held) for slot in range(size)
    ]
    for _ in range(2):  # what is kept of the first time is not changed by it
        row = np.zeros(size, np.float32)
        add_up([evidence], row)
        assert row.tolist() == pytest.approx(expected)
    for slots in (range(12), range(size), range(size)[::-1]):
        assert matched_words({"word": evidence}, slots) == [
            ("word",) if expected[slot] else () for slot in slots
        ]


def test_a_perfect_answer_holds_every_key_of_a_word():
    source = Held(20, {"mail": [2, 7], "message": [1, 2, 7, 9]})
    evidence = WordEvidence({"mail": 0.5, "message": 0.25}, missing=0.0, source=source)
    row = np.zeros(20, np.float32)
    add_up([evidence], row)
    assert evidence.possible == pytest.approx(float(row[2]))
