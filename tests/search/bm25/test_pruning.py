"""Searching a large index: exact, though only a part of the postings is read."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tool_search_processor.search.bm25 import BM25Index, pruning, word_evidence
from tool_search_processor.search.bm25.pruning import kth_greatest
from tool_search_processor.search.protocol import Document

WORDS = ["alpha", "brick", "cloud", "dunk", "ember", "flint", "grove", "helix", "igloo", "joker", "knoll"]
WORDS += ["lemon"]
CLAUSES = "alpha brick cloud once. Then dunk ember flint, and then helix igloo alpha at last"


def documents(size: int, *, seed: int = 5) -> list[Document]:
    chance = np.random.default_rng(seed)
    rare_last = 1 / np.arange(1, len(WORDS) + 1) ** 1.5
    texts = chance.choice(WORDS, size=(size, 6), p=rare_last / rare_last.sum())
    return [Document(name=f"{text[0]}_{n}", description=" ".join(text[1:])) for n, text in enumerate(texts)]


def both(index: BM25Index, query: str, *, limit: int):
    """Return what pruned search gives, and what adding up all postings gives."""
    before = word_evidence.LARGE
    found = []
    try:
        for large in (0, 10**9):
            word_evidence.LARGE = large
            index._last = None
            found.append(index.search(query, limit=limit))
    finally:
        word_evidence.LARGE = before
    return found


@pytest.fixture(scope="module")
def crowd() -> BM25Index:
    index = BM25Index()
    index.update(documents(3_000))
    return index


@given(
    st.lists(st.sampled_from([*WORDS, "get", "list", "alphax", "nothing"]), min_size=1, max_size=8),
    st.sampled_from([1, 2, 5, 10, 300]),
)
def test_a_query_of_any_words(crowd, words, limit):
    pruned, whole = both(crowd, " ".join(words), limit=limit)
    assert pruned == whole


@pytest.mark.parametrize("limit", [1, 3, 10, 5_000])
@pytest.mark.parametrize("query", [CLAUSES, "lemon knoll joker now. lemon knoll grove then. xxxx yyyy zzzz"])
def test_a_request_of_several_clauses(crowd, query, limit):
    pruned, whole = both(crowd, query, limit=limit)
    assert pruned == whole


@pytest.mark.parametrize("query", ["lemon_7 and helix", "use `alpha_3` then lemon", "nothing here", CLAUSES])
def test_names_and_misses(crowd, query):
    pruned, whole = both(crowd, query, limit=10)
    assert pruned == whole


@pytest.mark.parametrize("query", ["lemon knoll", "alpha", CLAUSES])
def test_removed_and_replaced_documents_and_another_order(query):
    held = documents(600)
    index = BM25Index()
    index.update(held)
    changed = [replace(d, description="lemon knoll") if n % 9 == 0 else d for n, d in enumerate(held)]
    index.update(changed[:50] + changed[90:][::-1])
    pruned, whole = both(index, query, limit=20)
    assert pruned == whole
    assert pruned


def test_what_was_added_may_say_more_of_a_word_than_all_before():
    held = [Document(name=f"tool_{n}", description=f"matter {n}") for n in range(600)]
    held += [Document(name=f"brick_{n}", description="alpha") for n in range(20)]
    held += [
        Document(name=f"cloud_{n}", description=f"lemon {'of many other matters ' * 30}") for n in range(3)
    ]
    index = BM25Index()
    index.update(held)
    index.update([*held, Document(name="lemon", description="lemon")])
    pruned, whole = both(index, "some alpha lemon", limit=1)
    assert pruned == whole
    assert [hit.name for hit in pruned] == ["lemon"]


@pytest.mark.parametrize("query", ["lemon knoll joker alpha brick cloud", "alpha brick", "knoll dunk alpha"])
def test_a_better_bound_before_a_word_of_many_documents(crowd, monkeypatch, query):
    monkeypatch.setattr(pruning, "_COSTLY", 10)
    monkeypatch.setattr(pruning, "_NEAR", 100)
    pruned, whole = both(crowd, query, limit=5)
    assert pruned == whole


def test_counting_after_a_pruned_search_counts_all(crowd, monkeypatch):
    whole = crowd.count("alpha lemon", min_score=0.1)
    monkeypatch.setattr(word_evidence, "LARGE", 0)
    crowd._last = None
    assert len(crowd.search("alpha lemon", limit=5)) == 5
    assert crowd.count("alpha lemon", min_score=0.1) == whole
    assert len(crowd.search("alpha lemon")) == crowd.count("alpha lemon")


@given(st.lists(st.floats(0, 8, width=32), max_size=40), st.integers(1, 5), st.integers(1, 60))
def test_at_least_count_values_reach_the_kth_greatest(values, count, repeats):
    array = np.array(values * repeats, np.float32)
    bound = kth_greatest(array, count)
    assert np.count_nonzero(array >= bound) >= min(count, len(array))
    if len(array) < 200:
        assert bound == (sorted(array.tolist())[-count] if len(array) >= count else 0)
