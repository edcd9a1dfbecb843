"""Scores from evidence."""

import numpy as np
import pytest

from tool_search_processor.search.bm25.confidence import confidence_of


def score(evidence: float, *, possible: float = 10.0, size: int = 1_000) -> float:
    return float(confidence_of(possible=possible, size=size).of([evidence])[0])


def test_more_evidence_is_a_higher_score_below_that_of_a_name():
    scores = [score(evidence) for evidence in (0.1, 1, 2, 4, 8, 10)]
    assert scores == sorted(set(scores))
    assert 0 < scores[0] < 0.1
    assert 0.9 < scores[-1] < 0.94


def test_of_a_word_that_nearly_all_tools_hold_more_evidence_is_a_higher_score_too():
    assert score(0.01, possible=0.02) < score(0.02, possible=0.02)


def test_the_same_evidence_says_less_for_a_longer_query_and_in_a_larger_catalog():
    assert score(3, possible=5) > score(3, possible=20)
    assert score(3, size=100) > score(3, size=10_000)


@pytest.mark.parametrize("size", [0, 1, 10, 10_000_000])
def test_any_size_gives_a_score(size):
    assert 0 < score(1.0, size=size) < 1


def test_nothing_possible_is_no_error():
    assert 0 < score(0.0, possible=0.0) < 0.5


@pytest.mark.parametrize("min_score", [0.0, 1e-9, 0.1, 0.3, 0.5, 0.92, 0.93, 1.0])
@pytest.mark.parametrize("possible", [0.0, 10.0])
def test_counting_is_scoring_all_and_comparing(min_score, possible):
    confidence = confidence_of(possible=possible, size=1_000)
    evidence = np.repeat(np.linspace(0, 12, 400, dtype=np.float32), 2)
    scores = confidence.of(evidence[evidence > 0].tolist())
    limits = [min_score, *scores[::37]]
    for limit in limits:
        assert confidence.count(evidence, limit) == sum(score >= limit for score in scores)
