"""Results of measuring: of one query, of one set, and of several sets together."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from tool_search_processor.evaluation.data import Query
from tool_search_processor.evaluation.metrics import (
    Estimate,
    auc,
    bootstrap_means,
    completeness_at,
    hit_at,
    ndcg_at,
    percentile_interval,
    recall_at,
    reciprocal_rank,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DEPTH = 10
"""How many hits of each query are judged."""

Metric = Callable[[Sequence[str], Sequence[str]], float]

METRICS: Mapping[str, Metric] = {
    "hit@1": partial(hit_at, k=1),
    "recall@1": partial(recall_at, k=1),
    "recall@3": partial(recall_at, k=3),
    "recall@5": partial(recall_at, k=5),
    "recall@10": partial(recall_at, k=10),
    "ndcg@10": partial(ndcg_at, k=10),
    "completeness@5": partial(completeness_at, k=5),
    "mrr": partial(reciprocal_rank, k=DEPTH),
}
"""The metrics of each query, by name; the MRR uses the first 10 hits."""

MACRO = "macro average"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The answer of a search to one query.

    ```python
    dataset = load_folder("my_set")
    outcome = evaluate(BM25Index, dataset.tools, dataset.queries).outcomes[0]
    outcome.query.text, outcome.ranked[0]  # -> ('create an issue', 'create_issue')
    ```
    """

    query: Query
    ranked: tuple[str, ...]
    """Names of the first 10 hits, best first."""
    best_score: float
    """Score of the first hit; 0.0 if there are no hits."""
    milliseconds: float
    """CPU time of this process."""

    def values(self) -> list[float]:
        """Return every metric of this query, in the order of `METRICS`."""
        return [metric(self.ranked, self.query.relevant) for metric in METRICS.values()]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The results of one search on one set.

    ```python
    dataset = load_folder("my_set")
    report = evaluate(BM25Index, dataset.tools, dataset.queries)
    print(report.metrics["ndcg@10"], report.milliseconds, report.tokens_top5)
    ```
    """

    search: str
    set_name: str
    tools: int
    queries: int
    """The number of queries that a tool serves; the metrics are means over these."""
    metrics: Mapping[str, Estimate]
    """By the names of `METRICS`."""
    abstention_auc: float | None
    """How well the best score separates queries that a tool serves from queries that none serves, 0 to 1: 0.5
    is chance. None if there was nothing to compare with."""
    milliseconds: float
    """CPU time of a query, median."""
    build_seconds: float
    """CPU time to build the index."""
    tokens_top5: float
    """Estimated tokens of the definitions of the first five hits, mean."""
    tokens_all: float
    """Estimated tokens of all definitions."""
    samples: NDArray[np.float64] = field(compare=False, repr=False)
    """Bootstrap means, (1000, n_metrics), from which the intervals of averages are computed."""
    outcomes: tuple[Outcome, ...] = field(default=(), repr=False)
    """The outcome of every query that a tool serves, in order; empty in an average."""

    def groups(self) -> dict[str, dict[str, float]]:
        """Return the metrics' means for each group of queries, in order of appearance."""
        rows: dict[str, list[list[float]]] = {}
        for outcome in self.outcomes:
            if outcome.query.group is not None:
                rows.setdefault(outcome.query.group, []).append(outcome.values())
        return {
            group: dict(zip(METRICS, map(statistics.fmean, zip(*values, strict=True)), strict=True))
            for group, values in rows.items()
        }

    def misses(self, k: int = 5) -> list[Outcome]:
        """Return the queries that miss a relevant tool in the first `k`, the worst recall first."""
        worst = sorted(
            self.outcomes, key=lambda outcome: recall_at(outcome.ranked, outcome.query.relevant, k)
        )
        return [o for o in worst if not completeness_at(o.ranked, o.query.relevant, k)]

    def as_json(self) -> dict[str, Any]:
        """Return the figures as JSON values, without samples and outcomes."""
        return {
            "search": self.search,
            "set": self.set_name,
            "tools": self.tools,
            "queries": self.queries,
            "metrics": {name: asdict(estimate) for name, estimate in self.metrics.items()},
            "abstention_auc": self.abstention_auc,
            "milliseconds": self.milliseconds,
            "build_seconds": self.build_seconds,
            "tokens_top5": self.tokens_top5,
            "tokens_all": self.tokens_all,
            "groups": self.groups(),
        }


def make_report(
    *,
    search: str,
    set_name: str,
    outcomes: Sequence[Outcome],
    token_counts: Mapping[str, int],
    build_seconds: float,
    unserved_scores: Sequence[float] = (),
    seed: int = 0,
) -> Report:
    """Summarize the answers of a search.

    Args:
        search: The name of the strategy.
        set_name: The name of the set.
        outcomes: One for each query that a tool serves; at least one.
        token_counts: The tokens of every tool's definition, by name.
        build_seconds: CPU seconds to build the index.
        unserved_scores: Best scores of queries that no tool of the searched catalog serves.
        seed: The seed of the bootstrap; sets that are averaged have different ones.
    """
    values = [outcome.values() for outcome in outcomes]
    samples = bootstrap_means(values, seed=seed)
    means = [statistics.fmean(column) for column in zip(*values, strict=True)]
    spent = [sum(token_counts[name] for name in outcome.ranked[:5]) for outcome in outcomes]
    return Report(
        search=search,
        set_name=set_name,
        tools=len(token_counts),
        queries=len(outcomes),
        metrics=_estimates(means, samples),
        abstention_auc=auc([o.best_score for o in outcomes], unserved_scores) if unserved_scores else None,
        milliseconds=statistics.median(outcome.milliseconds for outcome in outcomes),
        build_seconds=build_seconds,
        tokens_top5=statistics.fmean(spent),
        tokens_all=sum(token_counts.values()),
        samples=samples,
        outcomes=tuple(outcomes),
    )


def macro_average(reports: Sequence[Report]) -> Report:
    """Return the average of one search over several sets; each set counts once.

    ```python
    sets = [load_folder("my_set"), load_folder("other_set")]
    reports = [evaluate(BM25Index, each.tools, each.queries, name=each.name) for each in sets]
    macro_average(reports).metrics["recall@5"].value  # -> 1.0
    ```

    Intervals come from the same bootstrap: queries are resampled within each set. `tools` and `queries` are
    sums; times and tokens are averages. `abstention_auc` is averaged over the sets that have one.
    """
    samples = sum((report.samples for report in reports), start=reports[0].samples * 0) / len(reports)
    means = [statistics.fmean(report.metrics[name].value for report in reports) for name in METRICS]
    areas = [report.abstention_auc for report in reports if report.abstention_auc is not None]
    return Report(
        search=reports[0].search,
        set_name=MACRO,
        tools=sum(report.tools for report in reports),
        queries=sum(report.queries for report in reports),
        metrics=_estimates(means, samples),
        abstention_auc=statistics.fmean(areas) if areas else None,
        milliseconds=statistics.fmean(report.milliseconds for report in reports),
        build_seconds=statistics.fmean(report.build_seconds for report in reports),
        tokens_top5=statistics.fmean(report.tokens_top5 for report in reports),
        tokens_all=statistics.fmean(report.tokens_all for report in reports),
        samples=samples,
    )


def _estimates(means: Sequence[float], samples: NDArray[np.float64]) -> dict[str, Estimate]:
    intervals = map(percentile_interval, samples.T)
    return {
        name: Estimate(value=value, low=low, high=high)
        for name, value, (low, high) in zip(METRICS, means, intervals, strict=True)
    }
