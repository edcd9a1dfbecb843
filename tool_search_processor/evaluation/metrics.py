"""How good a ranking is, and how certain the mean of many: one formula in each function."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

LOW_PERCENT, HIGH_PERCENT = 2.5, 97.5
"""The bounds of a 95 % interval."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A mean over queries with its interval.

    ```python
    dataset = load_folder("my_set")
    recall = evaluate(BM25Index, dataset.tools, dataset.queries).metrics["recall@5"]
    print(f"{recall.value:.3f} [{recall.low:.3f}, {recall.high:.3f}]")
    ```
    """

    value: float
    low: float
    """Lower bound of the 95 % interval."""
    high: float
    """Upper bound of the 95 % interval."""


def recall_at(ranked: Sequence[str], relevant: Collection[str], k: int) -> float:
    """Return the share of all relevant tools that are among the first `k`, 0 to 1.

    ```python
    recall_at(["a", "x", "b"], {"a", "b"}, 2)  # -> 0.5
    ```

    The denominator is the number of relevant tools even where it is greater than `k` (Manning, Raghavan,
    Schütze: Introduction to Information Retrieval, 8.3; https://nlp.stanford.edu/IR-book/).

    Raises:
        ValueError: If nothing is relevant: the share is not defined.
    """
    wanted = _required(relevant)
    return len(wanted.intersection(ranked[:k])) / len(wanted)


def hit_at(ranked: Sequence[str], relevant: Collection[str], k: int) -> float:
    """Return 1.0 if any relevant tool is among the first `k`, else 0.0.

    ```python
    hit_at(["x", "a"], {"a", "b"}, 2)  # -> 1.0
    ```
    """
    return float(not _required(relevant).isdisjoint(ranked[:k]))


def completeness_at(ranked: Sequence[str], relevant: Collection[str], k: int) -> float:
    """Return 1.0 if all relevant tools are among the first `k`, else 0.0.

    ```python
    completeness_at(["x", "a"], {"a", "b"}, 2)  # -> 0.0
    ```

    COMP@k (Qu et al.: Towards Completeness-Oriented Tool Retrieval, CIKM 2024,
    https://arxiv.org/abs/2405.16089): a task that needs two tools can't be done with one of them.
    """
    return float(_required(relevant).issubset(ranked[:k]))


def ndcg_at(ranked: Sequence[str], relevant: Collection[str], k: int) -> float:
    """Return the normalized discounted cumulative gain of the first `k`, 0 to 1.

    ```python
    round(ndcg_at(["x", "a"], {"a"}, 10), 3)  # -> 0.631
    ```

    Gain is 1 for a relevant tool, divided by log2(rank + 1); the ideal list has min(|relevant|, k) relevant
    tools on top (Järvelin, Kekäläinen: Cumulated gain-based evaluation of IR techniques, ACM TOIS 20(4),
    2002, https://doi.org/10.1145/582415.582418, with the discount of Burges et al., 2005). A name that
    appears twice counts once.
    """
    wanted = _required(relevant)
    gains = (
        1 / math.log2(rank + 1)
        for rank, name in enumerate(dict.fromkeys(ranked[:k]), start=1)
        if name in wanted
    )
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(len(wanted), k) + 1))
    return sum(gains) / ideal


def reciprocal_rank(ranked: Sequence[str], relevant: Collection[str], k: int) -> float:
    """Return 1 / rank of the first relevant tool, 0.0 if the first `k` hold no relevant tool.

    ```python
    reciprocal_rank(["x", "a"], {"a"}, 10)  # -> 0.5
    ```

    Its mean is the MRR (Voorhees: The TREC-8 Question Answering Track Report, 1999,
    https://trec.nist.gov/pubs/trec8/papers/qa_report.pdf).
    """
    wanted = _required(relevant)
    ranks = (rank for rank, name in enumerate(ranked[:k], start=1) if name in wanted)
    return 1 / next(ranks, math.inf)


def auc(positives: ArrayLike, negatives: ArrayLike) -> float:
    """Return the area under the ROC curve: the probability that a positive scores above a negative.

    ```python
    auc([0.9, 0.4], [0.1, 0.5])  # -> 0.75
    ```

    A tie counts half. Computed from mean ranks, which is the Mann-Whitney U statistic divided by the
    number of pairs (Hanley, McNeil: The meaning and use of the area under a ROC curve, Radiology 143(1),
    1982, https://doi.org/10.1148/radiology.143.1.7063747).

    Args:
        positives: Scores of what should be let through; any order.
        negatives: Scores of what should be refused; any order.

    Raises:
        ValueError: If either is empty.
    """
    above = np.asarray(positives, float)
    below = np.sort(np.asarray(negatives, float))
    if not above.size or not below.size:
        raise ValueError("the area under the curve needs at least one score of each kind")
    smaller = np.searchsorted(below, above, "left")
    not_greater = np.searchsorted(below, above, "right")
    return float((smaller + not_greater).sum() / (2 * above.size * below.size))


def bootstrap_means(values: ArrayLike, *, resamples: int = 1000, seed: int = 0) -> NDArray[np.float64]:
    """Return the means of `resamples` samples of the rows, drawn with replacement.

    Args:
        values: One row for each query and one column for each metric: (n_queries, n_metrics).
        resamples: The number of samples, each of n_queries rows.
        seed: The same seed gives the same samples.

    Returns:
        (resamples, n_metrics).
    """
    rows = np.asarray(values, float)
    count = len(rows)
    # The number of times a row is drawn is multinomial, so the mean of a sample is one product.
    drawn = np.random.default_rng(seed).multinomial(count, np.full(count, 1 / count), size=resamples)
    means: NDArray[np.float64] = drawn @ rows / count
    return means


def percentile_interval(means: ArrayLike) -> tuple[float, float]:
    """Return the 95 % percentile interval of bootstrap means.

    Efron, Tibshirani: An Introduction to the Bootstrap, 1993, chapter 13.
    """
    low, high = np.percentile(np.asarray(means, float), [LOW_PERCENT, HIGH_PERCENT])
    return float(low), float(high)


def bootstrap_interval(
    values: Sequence[float], *, resamples: int = 1000, seed: int = 0
) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of the mean over queries.

    ```python
    low, high = bootstrap_interval([1.0, 0.0, 1.0, 1.0])
    low <= 0.75 <= high  # -> True
    ```

    Args:
        values: One value for each query; at least one.
        resamples: How many samples are drawn.
        seed: The same seed gives the same interval.
    """
    return percentile_interval(
        bootstrap_means(np.asarray(values, float)[:, None], resamples=resamples, seed=seed)
    )


def _required(relevant: Collection[str]) -> set[str]:
    if not relevant:
        raise ValueError("a ranking can't be judged if no tool is relevant")
    return set(relevant)
