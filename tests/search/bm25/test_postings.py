"""Postings: building, looking up, merging."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tool_search_processor.search.bm25.postings import Postings, build, gathered

analyses = st.lists(
    st.dictionaries(st.sampled_from("abcdefg"), st.sampled_from([0.25, 0.5, 0.75]), max_size=5), max_size=8
)


def content(postings: Postings) -> dict[str, list[tuple[int, float]]]:
    return {
        term: list(zip(*(column.tolist() for column in postings.find(term)), strict=True))
        for term in postings.terms()
    }


def expected(documents) -> dict[str, list[tuple[int, float]]]:
    found: dict[str, list[tuple[int, float]]] = {}
    for number, document in enumerate(documents):
        for term, weight in document.items():
            found.setdefault(term, []).append((number, weight))
    return found


@given(analyses)
def test_every_term_lists_its_documents_in_order(documents):
    postings = build(documents)
    assert content(postings) == expected(documents)
    assert set(postings.terms()) == set(expected(documents))
    assert [postings.count(term) for term in "abcdefgh"] == [
        len(expected(documents).get(t, ())) for t in "abcdefgh"
    ]
    assert postings.find("h") is None
    assert [total for *_, total in postings.weighed("abcdefgh")] == [
        sum(document.get(term, 0.0) for document in documents) for term in "abcdefgh"
    ]


@given(analyses, analyses, st.randoms())
def test_merging_is_building_what_remains(first, second, random):
    documents = [*first, *second]
    kept = sorted(random.sample(range(len(documents)), random.randint(0, len(documents))))
    random.shuffle(kept)
    renumbered = np.full(len(documents), -1, np.int32)
    renumbered[kept] = np.arange(len(kept))
    more = gathered(second, start=len(first))
    merged = build(first).merged(more, renumbered)
    assert content(merged) == expected([documents[number] for number in kept])


def test_nothing_merges_to_nothing():
    empty, nobody = build([]), np.full(1, -1, np.int32)
    assert (
        content(empty) == content(empty.merged({}, nobody)) == content(build([{"a": 0.5}]).merged({}, nobody))
    )
