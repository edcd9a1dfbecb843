"""From evidence to a score: how likely a tool is to fit."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tool_search_processor.search.bm25.query import idf

# A logistic model of "a tool here is what the query asks for", fitted over twelve public sets: their queries
# against their own tools and against the tools of the other sets. Left out one set at a time, the area under
# the ROC curve is 0.92 against a catalog of like size, where the best evidence alone gives 0.87.
_COVERAGE = 9.0
_STRENGTH = 3.0
_CROWD = 0.65
_BIAS = 0.9
MOST_SCORE = 0.93
"""The highest score of a tool that the query does not name."""


@dataclass(frozen=True, slots=True)
class Confidence:
    """Turns the evidence of one query into scores."""

    slope: float
    bias: float

    def of(self, evidence: Iterable[float]) -> list[float]:
        """Return a score in (0, 0.93) for each evidence; rises strictly with it."""
        bias, slope = self.bias, self.slope
        # By hand: for the few values of one list this takes a third of the time of numpy.
        return [MOST_SCORE / (1 + math.exp(-(bias + slope * value))) for value in evidence]

    def count(self, evidence: NDArray[np.float32], min_score: float) -> int:
        """Return how many values of evidence above 0 score at least `min_score`."""
        if min_score <= 0:
            return int(np.count_nonzero(evidence))
        if min_score >= MOST_SCORE or self.slope <= 0:
            return sum(score >= min_score for score in self.of(evidence[evidence > 0].tolist()))
        # The inverse of the curve gives a limit for the evidence; values near the limit are scored exactly.
        limit = (math.log(min_score / (MOST_SCORE - min_score)) - self.bias) / self.slope
        room = 1e-5 * (1 + abs(limit))
        above = np.count_nonzero(evidence > max(limit + room, 0.0))
        near = evidence[(evidence > max(limit - room, 0.0)) & (evidence <= limit + room)]
        return int(above) + sum(score >= min_score for score in self.of(near.tolist()))


def confidence_of(*, possible: float, size: int) -> Confidence:
    """Return how to turn the evidence for one query into scores.

    Evidence counts in two ways: as a share of the evidence for a perfect answer (`possible`), and in absolute
    terms, as a multiple of the worth of a word that only one document holds. In a large catalog some
    documents look good by chance, so the same evidence says less.
    """
    strength, bias = _of_size(size)
    return Confidence(_COVERAGE / possible + strength if possible > 0 else 0.0, bias)


@lru_cache(maxsize=64)
def _of_size(size: int) -> tuple[float, float]:
    """Return what the evidence of a word in one document alone adds to the slope, and the bias."""
    return _STRENGTH / idf(0, size), bias_of(size)


def bias_of(size: int) -> float:
    """Return the log odds that a tool without a matching word fits, in a catalog of a size."""
    return _BIAS - _CROWD * crowd_of(size)


def crowd_of(size: int) -> float:
    """Return the logarithm of a catalog's size, clipped to the sizes that were measured."""
    return math.log(min(max(size, 50), 20_000))
