"""Masks of what a request may see, and the best places of scores."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tool_search_processor.search.masks import Views, best_places

NAMES = ["a", "b", "c"]


def test_no_limits_are_no_mask():
    assert Views(NAMES).mask(None) is None
    assert Views(NAMES).mask(None, hidden=["unknown"]) is None


@pytest.mark.parametrize(
    ("within", "hidden", "expected"),
    [
        (["a", "c", "unknown"], [], [True, False, True]),
        (frozenset({"a", "b"}), ["b"], [True, False, False]),
        (None, ["a"], [False, True, True]),
        (frozenset(), [], [False, False, False]),
    ],
)
def test_a_mask_shows_what_may_be_seen(within, hidden, expected):
    assert Views(NAMES).mask(within, hidden).tolist() == expected


def test_the_mask_of_a_frozenset_is_kept_and_never_changed():
    views = Views(NAMES)
    within = frozenset({"a", "b"})
    first = views.mask(within)
    views.mask(within, hidden=["a"])
    assert views.mask(frozenset({"b", "a"})) is first
    assert first.tolist() == [True, True, False]


@given(
    scores=st.lists(st.sampled_from([0.0, 0.1, 0.5, 0.9]), max_size=30),
    limit=st.one_of(st.none(), st.integers(0, 35)),
)
def test_best_places_is_a_stable_sort_cut_short(scores, limit):
    whole = sorted((p for p, score in enumerate(scores) if score > 0), key=lambda p: -scores[p])
    assert best_places(np.array(scores, np.float32), limit) == whole[:limit]
