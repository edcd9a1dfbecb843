"""How two rankings become one: by the odds that each tool fits, or by their ranks."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tool_search_processor.search.bm25.confidence import MOST_SCORE, bias_of, crowd_of

Floats = NDArray[np.float32]

LEAST_COVERAGE = 0.1
"""The meaning counts so much even for a query that the embedder doesn't cover: it orders what the words leave
equal, all tools for a request in Russian to an English catalog."""
NAMED_SCORE = 0.94
"""A lexical hit with this score or more is a tool that the query calls by its name."""
UNMATCHED = -3.0
"""Log odds of a tool that a lexical list doesn't hold."""

# How much more likely a tool fits at one end of an embedder's `cosine_range` than at the other: exp(4).
# Over twelve public sets 3.5 to 6 give the same within 0.4 points; at 4 no set loses more than 0.9 points of
# recall@5 against the better of the two lists, at 6 one loses 1.3.
_STEEPNESS = 4.0
_CERTAIN = 30.0
_LEAST_ODDS, _LEAST_GAIN = -3.8, -1.0

# A logistic model of "this catalog serves the query", fitted over twelve public sets: their queries against
# their own tools and against those of the others. Left out one set at a time, the area under the ROC curve is
# 0.953 against a catalog of like size; by the odds alone 0.942, with no cohort 0.948.
_ODDS = 0.5
_LEAD = 6.0
_CROWD = 0.6
_BIAS = 2.6


def odds_of(words: Floats, meaning: Floats, *, weight: float, prior: float) -> Floats:
    """Return the log odds that each tool fits, from two independent judgements.

    Log odds of independent evidence add up (naive Bayes), which keeps what each list knows of this query:
    a list that finds nothing good adds the same little to all tools, and so doesn't reorder the other.
    Where the meaning counts for more than the words, it is these that are scaled down: scaled up, the meaning
    would make all tools certain or impossible, and tell none of them apart.

    Args:
        words: Log odds by words, one a tool.
        meaning: Nearness of the meaning, one a tool: 0 certainly doesn't fit, 1 certainly does; NaN for
            not known.
        weight: How much the meaning counts, 1 for as much as measured best.
        prior: Log odds of a tool that no word speaks for.
    """
    by_meaning = (meaning - np.float32(0.5)) * np.float32(_STEEPNESS * min(weight, 1.0))
    by_words = prior + (words - np.float32(prior)) / np.float32(max(weight, 1.0))
    odds = np.where(np.isnan(meaning), words, by_words + by_meaning)
    return np.asarray(np.clip(odds, -_CERTAIN, _CERTAIN), np.float32)


def least_odds(size: int) -> float:
    """Return the log odds below which a tool is no hit.

    Where there is much to choose from, each tool has small odds: there it is no hit if neither words nor
    meaning speak for it.

    Args:
        size: How many tools there are.
    """
    return min(_LEAST_ODDS, bias_of(size) + _LEAST_GAIN)


def scores_of(odds: Floats, *, least: float, lead: float, coverage: float, size: int) -> Floats:
    """Return how likely each tool fits, 0 to 0.93, in the order of the odds; 0 for those that are no hit.

    The odds tell the tools of a catalog apart. Whether any of them serves the query is told as well by how
    much nearer it is to the best of them than to tools in general (see `cohort`).

    Args:
        odds: Log odds, one a tool.
        least: With smaller log odds a tool is no hit.
        lead: Nearness of the meaning of the nearest tool, less that of the cohort; NaN for not known.
        coverage: How much of the query the embedder understands, 0 to 1; without any the odds decide alone.
        size: How many tools there are to choose from.
    """
    slope, bias = 1.0, 0.0
    if not math.isnan(lead):
        slope = 1 - coverage * (1 - _ODDS)
        bias = coverage * (_LEAD * lead - _CROWD * crowd_of(size) + _BIAS)
    scores = np.float32(MOST_SCORE) / (1 + np.exp(-(odds * np.float32(slope) + np.float32(bias))))
    scores[odds < least] = 0.0
    return np.asarray(scores, np.float32)


def log_odds_of(score: float) -> float:
    """Return the log odds of a score of 0 to 1, kept within what one list may say."""
    kept = min(max(score, 0.01), 0.99)
    return float(np.log(kept / (1 - kept)))


def reciprocal_ranks(lists: Sequence[tuple[float, Sequence[int]]], *, size: int, k: float) -> Floats:
    """Return weighted reciprocal rank fusion, as shares of the best possible: first in every list is 0.93.

    The sum over the lists of weight / (k + rank), ranks from 1, absent 0: Cormack, Clarke and Büttcher,
    SIGIR 2009, https://doi.org/10.1145/1571941.1572114.

    Args:
        lists: For each its weight, and the places of its tools, best first.
        size: How many tools there are.
        k: The greater, the less first places count.
    """
    fused = np.zeros(size, np.float32)
    for weight, places in lists:
        fused[list(places)] += weight / (k + np.arange(1, len(places) + 1))
    possible = sum(weight for weight, _ in lists) / (k + 1)
    return np.asarray(fused * (MOST_SCORE / possible), np.float32)
