"""How two rankings become one: by the odds that each tool fits, or by their ranks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tool_search_processor.search.confidence import MOST_SCORE

Floats = NDArray[np.float32]

LEAST_SCORE = 0.02
NAMED_SCORE = 0.94
"""A lexical hit with this score or more is a tool that the query calls by its name."""
UNMATCHED = -3.0
"""Log odds of a tool that a lexical list doesn't hold."""

# How much more likely a tool fits at one end of an embedder's `cosine_range` than at the other: exp(4).
# Over twelve public sets 3.5 to 6 give the same within 0.4 points; at 4 no set loses more than 0.9 points of
# recall@5 against the better of the two lists, at 6 one loses 1.3.
_STEEPNESS = 4.0
_CERTAIN = 30.0


def scores_of(words: Floats, meaning: Floats, *, weight: float) -> Floats:
    """Return how likely each tool fits, 0 to 0.93, from two independent judgements.

    Log odds of independent evidence add up (naive Bayes), which keeps what each list knows of this query:
    a list that finds nothing good adds the same little to all tools, and so doesn't reorder the other.
    What comes out below 0.02 is 0.

    Args:
        words: Log odds by words, one a tool.
        meaning: Nearness of the meaning, one a tool: 0 certainly doesn't fit, 1 certainly does; NaN for
            not known.
        weight: How much the meaning counts, 1 for as much as measured best.
    """
    by_meaning = (meaning - np.float32(0.5)) * np.float32(_STEEPNESS * weight)
    by_meaning[np.isnan(by_meaning)] = 0.0
    odds = np.clip(words + by_meaning, -_CERTAIN, _CERTAIN, dtype=np.float32)
    scores = np.float32(MOST_SCORE) / (1 + np.exp(-odds))
    scores[scores < LEAST_SCORE] = 0.0
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
