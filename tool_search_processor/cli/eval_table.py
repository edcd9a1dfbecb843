"""Shows the figures of `tool-search eval` in a terminal of any width, with names whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import attrgetter

from tool_search_processor.cli.terminal import Table, show, show_first_that_fits
from tool_search_processor.evaluation.report import Report
from tool_search_processor.evaluation.summary import COLUMNS, has_auc, size_of, table_rows

_WITH_INTERVAL = ("recall@5", "ndcg@10")
_TEXT = frozenset({"set", "search", "figure"})
_NARROW = {
    "recall@1": "recall\n@1",
    "recall@5": "recall\n@5",
    "recall@10": "recall\n@10",
    "nDCG@10": "nDCG\n@10",
    "completeness@5": "complete-\nness@5",
    "tokens top 5": "tokens\ntop 5",
}
"""Headings in two lines."""
_LEGEND = "Means over queries, with 95 % bootstrap intervals; ms: CPU time, median; tokens: estimates."
_LEGEND_WITHOUT = (
    "Means over queries; ms: CPU time, median; tokens: estimates.\n"
    "A wider terminal and --json show 95 % intervals."
)


def show_figures(reports: Sequence[Report]) -> None:
    """Print the figures in the widest of four forms that fits the terminal.

    One row for each set and search; a table for each set; the same without intervals; a list for each set and
    search. Names are whole in all of them.
    """
    lines = table_rows(reports)
    without = list(_by_set(lines, intervals=False))
    shown = show_first_that_fits(
        [_whole(lines)], list(_by_set(lines, intervals=True)), without, list(_by_line(lines))
    )
    show(_LEGEND if shown is not without else _LEGEND_WITHOUT)


def _whole(lines: Sequence[Report]) -> Table:
    with_auc = has_auc(lines)
    rows = [
        {
            "set": line.set_name,
            "search": line.search,
            "tools": f"{line.tools:,}",
            "queries": f"{line.queries:,}",
            **_figures(line, with_auc=with_auc),
            "tokens all": f"{line.tokens_all:,.0f}",
        }
        for line in lines
    ]
    return _table(rows)


def _by_set(lines: Sequence[Report], *, intervals: bool) -> Iterator[Table]:
    with_auc = has_auc(lines)
    for name, group in groupby(lines, key=attrgetter("set_name")):
        listed = list(group)
        rows = [
            {"search": line.search, **_figures(line, with_auc=with_auc, intervals=intervals)}
            for line in listed
        ]
        narrow = [{_NARROW.get(head, head): cell for head, cell in row.items()} for row in rows]
        yield _table(narrow, title=f"{name}: {size_of(listed[0])}", is_tight=True)


def _by_line(lines: Sequence[Report]) -> Iterator[Table]:
    with_auc = has_auc(lines)
    for line in lines:
        figures = _figures(line, with_auc=with_auc)
        rows = [{"figure": name, "value": figure} for name, figure in figures.items()]
        yield _table(rows, title=f"{line.set_name}, {line.search}: {size_of(line)}", is_tight=True)


def _table(rows: Sequence[dict[str, str]], *, title: str = "", is_tight: bool = False) -> Table:
    cells = [list(row.values()) for row in rows]
    return Table(title=title, heads=list(rows[0]), rows=cells, text=_TEXT, is_tight=is_tight)


def _figures(line: Report, *, with_auc: bool, intervals: bool = True) -> dict[str, str]:
    """Return what was measured of a search on a set, by heading."""
    figures = {}
    for name, head in COLUMNS.items():
        found = line.metrics[name]
        interval = f" [{found.low:.3f}, {found.high:.3f}]" if intervals and name in _WITH_INTERVAL else ""
        figures[head] = f"{found.value:.3f}{interval}"
    if with_auc:
        figures["AUC"] = "" if line.abstention_auc is None else f"{line.abstention_auc:.3f}"
    return {**figures, "ms": f"{line.milliseconds:.2f}", "tokens top 5": f"{line.tokens_top5:,.0f}"}
