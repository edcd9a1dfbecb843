"""A report as one HTML page: figures, plots and missed queries; no scripts, no external files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from itertools import groupby
from operator import attrgetter

from tool_search_processor.evaluation.plots import bar_plots, color, curves
from tool_search_processor.evaluation.report import MACRO, Report
from tool_search_processor.evaluation.summary import (
    COLUMNS,
    grouped,
    has_auc,
    recall_curve,
    size_of,
    table_rows,
    united,
)
from tool_search_processor.wire.plain import counted

_MISSES = 30
_SHOWN_HITS = 5
_WITH_INTERVALS = "Every metric, with its interval"


def html_report(reports: Sequence[Report], *, title: str = "Tool search evaluation") -> str:
    """Return one self-contained HTML page: figures, plots, groups, and the queries that were missed.

    ```python
    dataset = load_folder("my_set")
    report = evaluate(BM25Index, dataset.tools, dataset.queries, search="bm25")
    Path("report.html").write_text(html_report([report]), "utf-8")
    ```

    Args:
        reports: One for each search and set, in any order. Averages are added if a search was measured on
            several sets.
        title: The page's heading.
    """
    by_search = grouped(reports)
    summaries = [united(measured) for measured in by_search.values()]
    parts = [
        f"<h1>{escape(title)}</h1>",
        f"<p>{_what(reports)} Intervals are 95 % bootstrap intervals over queries; times are CPU times "
        "of one query, median; tokens are estimates.</p>",
        _table(table_rows(reports)),
        _plots(summaries, by_search),
        _by_group(reports),
        "<h2>What was missed</h2>",
        *(_missed(report) for report in reports),
    ]
    body = "\n".join(part for part in parts if part)
    style = files("tool_search_processor.evaluation").joinpath("page.css").read_text("utf-8")
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def _what(reports: Sequence[Report]) -> str:
    sets = {report.set_name: report for report in reports}
    tools = sum(report.tools for report in sets.values())
    queries = sum(report.queries for report in sets.values())
    return f"{counted(len(sets), 'set')}, {counted(tools, 'tool')}, {counted(queries, 'query')}."


def _table(lines: Sequence[Report]) -> str:
    """Return the figures, a part of the table for each set."""
    with_auc = has_auc(lines)
    heads = ["search", *COLUMNS.values(), *(["abstention AUC"] * with_auc), "ms", "tokens of top 5"]
    bodies = []
    for name, group in groupby(lines, key=attrgetter("set_name")):
        listed = list(group)
        title = f"<span>{escape(name)}<small> {size_of(listed[0])}</small></span>"
        rows = [_figures(line, with_auc=with_auc) for line in listed]
        kind = ' class="average"' if name == MACRO else ""
        head = f'<tr class="set"><th colspan="{len(heads)}" scope="rowgroup">{title}</th></tr>'
        bodies.append("\n".join([f"<tbody{kind}>", head, *rows, "</tbody>"]))
    return _scrolling(heads, "\n".join(bodies))


def _figures(line: Report, *, with_auc: bool) -> str:
    cells = []
    for name in COLUMNS:
        found = line.metrics[name]
        cells.append(f"<td>{found.value:.3f}<br><small>{found.low:.3f}&ndash;{found.high:.3f}</small></td>")
    if with_auc:
        cells.append("<td></td>" if line.abstention_auc is None else f"<td>{line.abstention_auc:.3f}</td>")
    cells += [f"<td>{line.milliseconds:.2f}</td>", f"<td>{line.tokens_top5:,.0f}</td>"]
    return f"<tr>{_name(line.search)}{''.join(cells)}</tr>"


def _plots(summaries: Sequence[Report], by_search: Mapping[str, Sequence[Report]]) -> str:
    searches = [report.search for report in summaries]
    metrics = {head: [report.metrics[name] for report in summaries] for name, head in COLUMNS.items()}
    recalls = {name: recall_curve(measured) for name, measured in by_search.items()}
    title = "Recall by the number of results"
    figures = [
        _figure(_WITH_INTERVALS, searches, bar_plots(metrics, searches, title=_WITH_INTERVALS)),
        _figure(title, searches, [curves(recalls, title=title)]),
    ]
    sets = [report.set_name for report in next(iter(by_search.values()))]
    if len(sets) > 1:
        per_set = {
            name: [
                measured[place].metrics["recall@5"]
                for measured in by_search.values()
                if place < len(measured)
            ]
            for place, name in enumerate(sets)
        }
        title = "Recall@5 by set"
        figures.append(_figure(title, searches, bar_plots(per_set, searches, title=title)))
    inner = "\n".join(figures)
    return f'<h2>Plots</h2>\n<div class="plots">{inner}</div>'


def _figure(title: str, series: Sequence[str], plots: Sequence[str]) -> str:
    legend = "".join(
        f'<span><i style="background: {color(number)}"></i>{escape(name)}</span>'
        for number, name in enumerate(series)
    )
    return (
        f'<figure><figcaption>{escape(title)}</figcaption><div class="legend">{legend}</div>'
        f'<div class="panels">{"".join(plots)}</div></figure>'
    )


def _by_group(reports: Sequence[Report]) -> str:
    found = [(report, report.groups()) for report in reports]
    tables = [_groups(report, groups) for report, groups in found if len(groups) > 1]
    return "\n".join(["<h2>By group</h2>", *tables]) if tables else ""


def _groups(report: Report, groups: Mapping[str, Mapping[str, float]]) -> str:
    rows = [
        f"<tr>{_name(group)}{''.join(f'<td>{means[name]:.3f}</td>' for name in COLUMNS)}</tr>"
        for group, means in groups.items()
    ]
    table = _scrolling(["group", *COLUMNS.values()], "\n".join(["<tbody>", *rows, "</tbody>"]))
    head = f"{report.set_name}, {report.search}: by group"
    return f"<details><summary>{escape(head)}</summary>{table}</details>"


def _missed(report: Report) -> str:
    missed = report.misses()
    count = f"{len(missed):,} of {report.queries:,} queries lack a tool in the top 5"
    head = f"{report.set_name}, {report.search}: {count}"
    heads = ["query", "should be found", "was found first"]
    rows = []
    for outcome in missed[:_MISSES]:
        got = ", ".join(outcome.ranked[:_SHOWN_HITS]) or "nothing"
        texts = (outcome.query.text, ", ".join(outcome.query.relevant), got)
        cells = (
            f'<td data-head="{name}">{escape(text)}</td>' for name, text in zip(heads, texts, strict=True)
        )
        rows.append(f"<tr>{''.join(cells)}</tr>")
    body = "\n".join(["<tbody>", *rows, "</tbody>"])
    table = f'<table class="texts">{_head(heads)}{body}</table>' if rows else ""
    return f"<details><summary>{escape(head)}</summary>{table}</details>"


def _scrolling(heads: Sequence[str], bodies: str) -> str:
    """Return a table whose first column stays in view, with a hint that is seen only if it scrolls."""
    hint = '<span class="hint">Scroll sideways to see all columns →</span>'
    table = f"<table>{_head(heads, named=True)}{bodies}</table>"
    return f'<div class="wide" tabindex="0" role="region" aria-label="Figures"><div>{hint}{table}</div></div>'


def _head(heads: Sequence[str], *, named: bool = False) -> str:
    first = ' class="name"' if named else ""
    words = [escape(head).replace("completeness", "complete&shy;ness") for head in heads]
    cells = [f"<th{first if place == 0 else ''}>{head}</th>" for place, head in enumerate(words)]
    return f"<thead><tr>{''.join(cells)}</tr></thead>"


def _name(text: str) -> str:
    return f'<th class="name" scope="row">{escape(text)}</th>'
