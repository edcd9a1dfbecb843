"""The two fusions, by numbers worked out by hand."""

import math

import numpy as np
import pytest

from tool_search_processor.search.hybrid.fusion import (
    least_odds,
    log_odds_of,
    odds_of,
    reciprocal_ranks,
    scores_of,
)

NAN = math.nan


def floats(*values):
    return np.array(values, np.float32)


def test_log_odds_add_up():
    made = odds_of(floats(0.0, 1.0, 0.0), floats(0.5, 0.5, 1.0), weight=1.0, prior=-1.6)
    assert made == pytest.approx([0.0, 1.0, 2.0])


def test_without_weight_or_without_a_vector_the_words_decide_alone():
    assert odds_of(floats(2.0, 1.0), floats(NAN, NAN), weight=1.0, prior=-1.6) == pytest.approx([2.0, 1.0])
    assert odds_of(floats(2.0, 1.0), floats(0.1, 0.9), weight=0.0, prior=-1.6) == pytest.approx([2.0, 1.0])


def test_more_weight_for_the_meaning_is_less_for_what_words_add_to_the_odds_of_any_tool():
    words, meaning = floats(-2.0, 2.0, 2.0), floats(0.5, 0.5, NAN)
    assert odds_of(words, meaning, weight=4.0, prior=-2.0) == pytest.approx([-2.0, -1.0, 2.0])
    assert odds_of(words, meaning + 0.5, weight=4.0, prior=-2.0) == pytest.approx([0.0, 1.0, 2.0])


@pytest.mark.parametrize(("lead", "coverage"), [(NAN, 1.0), (NAN, 0.0), (0.4, 0.0)])
def test_scores_without_a_known_lead_are_the_odds_alone(lead, coverage):
    made = scores_of(floats(0.0, 1.0, -2.0), least=-3.8, lead=lead, coverage=coverage, size=100)
    assert made == pytest.approx([0.93 / 2, 0.93 / (1 + math.exp(-1)), 0.93 / (1 + math.exp(2))])


def test_a_known_lead_counts_beside_the_odds():
    sure = 0.5 * 2.0 + 6.0 * 0.4 - 0.6 * math.log(100) + 2.6
    half = 0.75 * 2.0 + 0.5 * (6.0 * 0.4 - 0.6 * math.log(100) + 2.6)
    for coverage, odds in ((1.0, sure), (0.5, half)):
        made = scores_of(floats(2.0), least=-3.8, lead=0.4, coverage=coverage, size=100)
        assert made == pytest.approx([0.93 / (1 + math.exp(-odds))])


def test_more_lead_and_less_choice_mean_more():
    odds = floats(1.0)
    plain = scores_of(odds, least=-3.8, lead=0.2, coverage=1.0, size=1000)[0]
    assert scores_of(odds, least=-3.8, lead=0.3, coverage=1.0, size=1000)[0] > plain
    assert scores_of(odds, least=-3.8, lead=0.2, coverage=1.0, size=100)[0] > plain


@pytest.mark.parametrize("lead", [NAN, -1.0, 0.0, 0.9])
def test_a_lead_changes_neither_the_order_nor_what_is_a_hit(lead):
    odds = floats(-3.9, -3.7, 0.0, 8.0)
    made = scores_of(odds, least=-3.8, lead=lead, coverage=0.9, size=5000)
    assert made[0] == 0.0
    assert (np.diff(made) > 0).all()


@pytest.mark.parametrize(
    ("size", "least"), [(1, -3.8), (200, -3.8), (5_000, 0.9 - 0.65 * math.log(5_000) - 1)]
)
def test_of_many_tools_none_is_shut_out_by_their_number(size, least):
    assert least_odds(size) == pytest.approx(least)


def test_no_score_reaches_that_of_a_name():
    odds = odds_of(floats(90.0), floats(3.0), weight=1.0, prior=-1.6)
    assert scores_of(odds, least=-3.8, lead=2.0, coverage=1.0, size=1)[0] <= 0.93 + 1e-6


@pytest.mark.parametrize(("score", "odds"), [(0.5, 0.0), (0.0, math.log(1 / 99)), (1.0, math.log(99))])
def test_log_odds_of_a_score(score, odds):
    assert log_odds_of(score) == pytest.approx(odds)


def test_reciprocal_ranks_by_hand():
    fused = reciprocal_ranks([(0.5, [0, 1]), (0.5, [2, 0])], size=4, k=60.0)
    best = 1 / 61
    expected = [0.5 / 61 + 0.5 / 62, 0.5 / 62, 0.5 / 61, 0.0]
    assert fused == pytest.approx([0.93 * value / best for value in expected])


def test_first_in_both_lists_is_the_best_there_can_be():
    assert reciprocal_ranks([(0.3, [1]), (0.7, [1])], size=2, k=10.0) == pytest.approx([0.0, 0.93])


def test_empty_lists_give_zeros():
    assert reciprocal_ranks([(0.5, []), (0.5, [])], size=3, k=60.0).tolist() == [0, 0, 0]
