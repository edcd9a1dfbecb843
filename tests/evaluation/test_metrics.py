"""The formulas, against numbers worked by hand and against a slow version written from the textbook."""

import itertools
import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tool_search_processor.evaluation.metrics import (
    auc,
    bootstrap_interval,
    bootstrap_means,
    completeness_at,
    hit_at,
    ndcg_at,
    percentile_interval,
    recall_at,
    reciprocal_rank,
)

RANKED = ["a", "b", "c", "d", "e", "f"]
LOG3 = math.log2(3)


@pytest.mark.parametrize(
    ("relevant", "k", "expected"),
    [
        (["a"], 1, 1.0),
        (["b"], 1, 0.0),
        (["b", "z"], 5, 0.5),  # z is nowhere, and counts
        (["a", "b", "c"], 1, 1 / 3),  # more relevant than looked at: still of all three
        (["a", "a"], 1, 1.0),  # named twice, wanted once
        (["f"], 5, 0.0),
        (["f"], 100, 1.0),
    ],
)
def test_recall(relevant, k, expected):
    assert recall_at(RANKED, relevant, k) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("relevant", "hit", "complete"),
    [(["a"], 1.0, 1.0), (["a", "b"], 1.0, 1.0), (["a", "c"], 1.0, 0.0), (["c", "d"], 0.0, 0.0)],
)
def test_hit_and_completeness(relevant, hit, complete):
    assert hit_at(RANKED, relevant, 2) == hit
    assert completeness_at(RANKED, relevant, 2) == complete


@pytest.mark.parametrize(
    ("relevant", "k", "expected"),
    [
        (["a"], 10, 1.0),
        (["b"], 10, 1 / LOG3),
        (["c"], 10, 0.5),  # 1 / log2(4)
        (["a", "c"], 10, 1.5 / (1 + 1 / LOG3)),
        (["a", "z"], 10, 1 / (1 + 1 / LOG3)),
        (["b", "z"], 1, 0.0),
        (["a", "b", "c"], 1, 1.0),  # the ideal list is no longer than k
        (["z"], 10, 0.0),
    ],
)
def test_ndcg(relevant, k, expected):
    assert ndcg_at(RANKED, relevant, k) == pytest.approx(expected)


def test_a_name_that_is_listed_twice_gains_once():
    assert ndcg_at(["a", "a", "b"], ["a", "b"], 10) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("relevant", "k", "expected"),
    [(["a", "c"], 10, 1.0), (["c", "d"], 10, 1 / 3), (["f"], 5, 0.0), (["z"], 10, 0.0)],
)
def test_reciprocal_rank(relevant, k, expected):
    assert reciprocal_rank(RANKED, relevant, k) == pytest.approx(expected)


@pytest.mark.parametrize("metric", [recall_at, hit_at, completeness_at, ndcg_at, reciprocal_rank])
def test_an_empty_ranking_is_worth_nothing_and_nothing_relevant_can_not_be_judged(metric):
    assert metric([], ["a"], 5) == 0.0
    with pytest.raises(ValueError, match="no tool is relevant"):
        metric(RANKED, [], 5)


def slow(ranked, relevant, k):
    """Every metric of one query, written as the textbooks have them: gains in a vector, nothing clever."""
    gains = [1.0 if name in relevant else 0.0 for name in ranked][:k]
    dcg = sum((2**gain - 1) / (math.log(i + 2) / math.log(2)) for i, gain in enumerate(gains))
    ideal = sorted([1.0] * len(relevant) + [0.0] * len(ranked), reverse=True)[:k]
    idcg = sum((2**gain - 1) / (math.log(i + 2) / math.log(2)) for i, gain in enumerate(ideal))
    found = sum(gains)
    first = next((i + 1 for i, gain in enumerate(gains) if gain), None)
    return (
        found / len(relevant),
        float(found > 0),
        float(found == len(relevant)),
        dcg / idcg,
        1 / first if first else 0.0,
    )


@given(
    ranked=st.lists(st.sampled_from("abcdefghijkl"), unique=True, max_size=12),
    relevant=st.sets(st.sampled_from("abcdefghijklmnop"), min_size=1, max_size=8),
    k=st.integers(1, 12),
)
def test_every_metric_agrees_with_the_textbook(ranked, relevant, k):
    metrics = (recall_at, hit_at, completeness_at, ndcg_at, reciprocal_rank)
    assert [metric(ranked, relevant, k) for metric in metrics] == pytest.approx(slow(ranked, relevant, k))


@pytest.mark.parametrize(
    ("positives", "negatives", "expected"),
    [
        ([0.9, 0.8], [0.1, 0.2], 1.0),
        ([0.1], [0.9], 0.0),
        ([0.5], [0.5], 0.5),
        ([0.9, 0.4], [0.5, 0.3], 0.75),  # of four pairs, (0.4, 0.5) is wrong
        ([0.0, 0.0, 1.0], [0.0], (0.5 + 0.5 + 1) / 3),
    ],
)
def test_auc_by_hand(positives, negatives, expected):
    assert auc(positives, negatives) == pytest.approx(expected)


@given(
    positives=st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), min_size=1, max_size=12),
    negatives=st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), min_size=1, max_size=12),
)
def test_auc_agrees_with_counting_all_pairs(positives, negatives):
    pairs = list(itertools.product(positives, negatives))
    wins = sum(1.0 if p > n else 0.5 if p == n else 0.0 for p, n in pairs)
    assert auc(positives, negatives) == pytest.approx(wins / len(pairs))


@pytest.mark.parametrize(("positives", "negatives"), [([], [1.0]), ([1.0], []), ([], [])])
def test_auc_needs_scores_of_both_kinds(positives, negatives):
    with pytest.raises(ValueError, match="at least one score of each kind"):
        auc(positives, negatives)


def test_bootstrap_means_are_means_of_samples_of_whole_rows():
    means = bootstrap_means([[0, 10], [1, 11]], resamples=500, seed=3)
    assert means.shape == (500, 2)
    assert set(np.unique(means[:, 0])) == {0.0, 0.5, 1.0}
    assert np.allclose(means[:, 1] - means[:, 0], 10)  # both columns from the same rows


def test_bootstrap_is_the_same_for_the_same_seed_and_another_for_another():
    rows = [[float(value)] for value in range(20)]
    assert (bootstrap_means(rows, seed=1) == bootstrap_means(rows, seed=1)).all()
    assert (bootstrap_means(rows, seed=1) != bootstrap_means(rows, seed=2)).any()


def test_the_interval_agrees_with_drawing_one_by_one():
    rng = random.Random(5)
    values = [rng.random() for _ in range(60)]
    means = sorted(sum(rng.choices(values, k=60)) / 60 for _ in range(4000))
    low, high = bootstrap_interval(values, resamples=4000, seed=1)
    assert low == pytest.approx(means[100], abs=0.01)
    assert high == pytest.approx(means[3900], abs=0.01)


def test_the_interval_agrees_with_the_normal_one_where_that_holds():
    values = [1.0] * 300 + [0.0] * 100
    error = 1.96 * math.sqrt(0.75 * 0.25 / 400)
    assert bootstrap_interval(values) == pytest.approx((0.75 - error, 0.75 + error), abs=0.01)


def test_a_constant_has_no_width():
    assert bootstrap_interval([0.5] * 7) == (0.5, 0.5)
    assert bootstrap_interval([1.0]) == (1.0, 1.0)


def test_percentiles_are_those_of_95_percent():
    assert percentile_interval(np.arange(1001) / 1000) == pytest.approx((0.025, 0.975))
