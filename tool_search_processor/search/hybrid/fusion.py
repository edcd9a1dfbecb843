"""How two rankings become one: by the odds that each tool fits, or by rank."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tool_search_processor.search.bm25.confidence import MOST_SCORE, bias_of, crowd_of

Floats = NDArray[np.float32]

LEAST_COVERAGE = 0.1
"""The least share of the meaning, for a query that the embedder doesn't cover: it breaks ties between the
words, which are all equal for a Russian request to an English catalog."""
NAMED_SCORE = 0.94
"""A lexical hit with at least this score is a tool that the query names."""
UNMATCHED = -3.0
"""Log odds of a tool that is not in the lexical list."""

# A tool at the upper end of an embedder's `cosine_range` is exp(4) times as likely to fit as at the lower
# end. Over twelve public sets 3.5 to 6 give the same within 0.4 points; at 4 no set loses more than 0.9
# points of recall@5 against the better of the two lists; at 6 one set loses 1.3.
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

    The log odds of independent evidence add up (naive Bayes). A list that finds nothing good adds the same
    small amount to all tools, and so doesn't reorder the other list. If the meaning counts for more than the
    words, the words are scaled down: scaling up the meaning would make every tool certain or impossible.

    Args:
        words: Log odds by words, one for each tool.
        meaning: Nearness of the meaning, one for each tool: 0 surely does not fit, 1 surely does; NaN if
            unknown.
        weight: How much the meaning counts; 1 measured best.
        prior: Log odds of a tool that matches no word.
    """
    by_meaning = (meaning - np.float32(0.5)) * np.float32(_STEEPNESS * min(weight, 1.0))
    by_words = prior + (words - np.float32(prior)) / np.float32(max(weight, 1.0))
    odds = np.where(np.isnan(meaning), words, by_words + by_meaning)
    return np.asarray(np.clip(odds, -_CERTAIN, _CERTAIN), np.float32)


def least_odds(size: int) -> float:
    """Return the log odds below which a tool is not a hit.

    In a large catalog every tool has small odds: there, a tool is not a hit if neither words nor meaning
    speak for it.

    Args:
        size: How many tools there are.
    """
    return min(_LEAST_ODDS, bias_of(size) + _LEAST_GAIN)


def scores_of(odds: Floats, *, least: float, lead: float, coverage: float, size: int) -> Floats:
    """Return how likely each tool is to fit, 0 to 0.93, in the order of the odds; 0 if it is not a hit.

    The odds rank the tools of a catalog. Whether any tool serves the query also shows in how much nearer the
    query is to the best tool than to tools in general (see `cohort`).

    Args:
        odds: Log odds, one for each tool.
        least: A tool with smaller log odds is not a hit.
        lead: Nearness of the nearest tool minus that of the cohort; NaN if unknown.
        coverage: How much of the query the embedder understands, 0 to 1; at 0 the odds decide alone.
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
    """Return the log odds of a score of 0 to 1, within bounds, so that one list never decides alone."""
    kept = min(max(score, 0.01), 0.99)
    return float(np.log(kept / (1 - kept)))


def reciprocal_ranks(lists: Sequence[tuple[float, Sequence[int]]], *, size: int, k: float) -> Floats:
    """Return weighted reciprocal rank fusion, as shares of the best possible: first in every list is 0.93.

    The sum over the lists of weight / (k + rank), ranks from 1, absent 0: Cormack, Clarke and Büttcher,
    SIGIR 2009, https://doi.org/10.1145/1571941.1572114.

    Args:
        lists: The weight of each list, and the places of its tools, best first.
        size: How many tools there are.
        k: The higher it is, the less the first places count.
    """
    fused = np.zeros(size, np.float32)
    for weight, places in lists:
        fused[list(places)] += weight / (k + np.arange(1, len(places) + 1))
    possible = sum(weight for weight, _ in lists) / (k + 1)
    return np.asarray(fused * (MOST_SCORE / possible), np.float32)
