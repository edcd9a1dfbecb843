"""The two fusions, by numbers worked out by hand."""

import math

import numpy as np
import pytest

from tool_search_processor.search.fusion import LEAST_SCORE, log_odds_of, reciprocal_ranks, scores_of

NAN = math.nan


def floats(*values):
    return np.array(values, np.float32)


def test_log_odds_add_up():
    made = scores_of(floats(0.0, 1.0, 0.0), floats(0.5, 0.5, 1.0), weight=1.0)
    assert made == pytest.approx([0.93 / 2, 0.93 / (1 + math.exp(-1)), 0.93 / (1 + math.exp(-2))])


def test_without_weight_or_without_a_vector_the_words_decide_alone():
    alone = scores_of(floats(2.0, 1.0), floats(NAN, NAN), weight=1.0)
    assert scores_of(floats(2.0, 1.0), floats(0.1, 0.9), weight=0.0) == pytest.approx(alone)
    assert alone == pytest.approx([0.93 / (1 + math.exp(-2)), 0.93 / (1 + math.exp(-1))])


def test_what_is_unlikely_is_no_hit():
    made = scores_of(floats(-3.0, -1.0), floats(0.0, 0.0), weight=1.0)
    assert made[0] == 0.0
    assert scores_of(floats(-3.0), floats(0.5), weight=1.0)[0] >= LEAST_SCORE


def test_no_score_reaches_that_of_a_name():
    assert scores_of(floats(90.0), floats(3.0), weight=1.0)[0] <= 0.93 + 1e-6


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
