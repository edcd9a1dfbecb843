"""Arranges reports of several searches and sets for people to read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from tool_search_processor.evaluation.metrics import recall_at
from tool_search_processor.evaluation.report import DEPTH, Report, macro_average
from tool_search_processor.wire.plain import counted

COLUMNS: Mapping[str, str] = {
    "recall@1": "recall@1",
    "recall@5": "recall@5",
    "recall@10": "recall@10",
    "ndcg@10": "nDCG@10",
    "completeness@5": "completeness@5",
    "mrr": "MRR",
}
"""The metrics that tables show, with their headings."""


def grouped(reports: Iterable[Report]) -> dict[str, list[Report]]:
    """Return the reports of each search, in order."""
    found: dict[str, list[Report]] = {}
    for report in reports:
        found.setdefault(report.search, []).append(report)
    return found


def united(reports: Sequence[Report]) -> Report:
    """Return the only report of a search, or the average of several."""
    return reports[0] if len(reports) == 1 else macro_average(reports)


def size_of(report: Report) -> str:
    """Return how large the set of a report is, in words."""
    tools, queries = counted(report.tools, "tool"), counted(report.queries, "query")
    return f"{tools}, {queries}, {report.tokens_all:,.0f} tokens of all definitions"


def has_auc(lines: Iterable[Report]) -> bool:
    """Return True if any line of a table has an `abstention_auc`."""
    return any(line.abstention_auc is not None for line in lines)


def table_rows(reports: Iterable[Report]) -> list[Report]:
    """Return the lines of a table: set by set, then averages if there are several sets."""
    measured = list(reports)
    sets = {report.set_name: place for place, report in reversed(list(enumerate(measured)))}
    lines = sorted(measured, key=lambda report: sets[report.set_name])
    averages = [macro_average(listed) for listed in grouped(measured).values() if len(listed) > 1]
    return lines + averages


def recall_curve(reports: Sequence[Report]) -> list[float]:
    """Return recall@1 to recall@10; each set counts once."""

    def mean(report: Report, k: int) -> float:
        recalls = [recall_at(o.ranked, o.query.relevant, k) for o in report.outcomes]
        return sum(recalls) / len(recalls)

    return [sum(mean(report, k) for report in reports) / len(reports) for k in range(1, DEPTH + 1)]
