"""A report as one HTML page: figures, plots and missed queries; no scripts, no external files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from tool_search_processor.evaluation.plots import bars, curves
from tool_search_processor.evaluation.report import MACRO, Report
from tool_search_processor.evaluation.summary import COLUMNS, grouped, recall_curve, table_rows, united

_MISSES = 30
_SHOWN_HITS = 5

_STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #59636e; --page: #fff;
  --line: #d1d9e0; --band: #f6f8fa;
  --s0: #0969da; --s1: #bc4c00; --s2: #1a7f37; --s3: #8250df; --s4: #bf3989; --s5: #7d4e00; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6edf3; --soft: #9198a1; --page: #0d1117; --line: #3d444d; --band: #151b23;
    --s0: #58a6ff; --s1: #f0883e; --s2: #56d364; --s3: #bc8cff; --s4: #ff7bcb; --s5: #e3b341; } }
body { margin: 2rem auto; max-width: 70rem; padding: 0 1rem; background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
p, figcaption, small { color: var(--soft); }
.wide { overflow-x: auto; } figure { margin: 1rem 0; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { border-bottom: 1px solid var(--line); padding: .3rem .7rem; text-align: right; vertical-align: top; }
th:first-child, td:first-child, .text { text-align: left; overflow-wrap: anywhere; }
thead th { border-bottom: 2px solid var(--line); } tr.average { background: var(--band); font-weight: 600; }
.plots { display: flex; flex-wrap: wrap; gap: 1rem 2rem; } svg { max-width: 100%; height: auto; }
svg text { fill: var(--ink); font: 12px system-ui, sans-serif; } svg .soft { fill: var(--soft); }
svg .grid { stroke: var(--line); } svg .whisker { stroke: var(--ink); }
"""


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
        *(_groups(report) for report in reports),
        "<h2>What was missed</h2>",
        *(_missed(report) for report in reports),
    ]
    body = "\n".join(part for part in parts if part)
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def _what(reports: Sequence[Report]) -> str:
    sets = {report.set_name: report for report in reports}
    tools = sum(report.tools for report in sets.values())
    queries = sum(report.queries for report in sets.values())
    return escape(f"{len(sets):,} set{'s' * (len(sets) > 1)}, {tools:,} tools, {queries:,} queries.")


def _table(lines: Sequence[Report]) -> str:
    with_auc = any(line.abstention_auc is not None for line in lines)
    heads = ["set", "search", "tools", "queries", *COLUMNS.values(), *(["abstention AUC"] * with_auc)]
    heads += ["ms", "tokens of top 5", "tokens of all"]
    body = []
    for line in lines:
        cells = [_text(line.set_name), _text(line.search), _number(line.tools), _number(line.queries)]
        for name in COLUMNS:
            found = line.metrics[name]
            cells.append(f"<td>{found.value:.3f}<br><small>{found.low:.3f} to {found.high:.3f}</small></td>")
        if with_auc:
            cells.append(
                "<td></td>" if line.abstention_auc is None else f"<td>{line.abstention_auc:.3f}</td>"
            )
        cells += [f"<td>{line.milliseconds:.2f}</td>", _number(line.tokens_top5), _number(line.tokens_all)]
        average = ' class="average"' if line.set_name == MACRO else ""
        body.append(f"<tr{average}>{''.join(cells)}</tr>")
    return _framed(heads, body)


def _plots(summaries: Sequence[Report], by_search: Mapping[str, Sequence[Report]]) -> str:
    searches = [report.search for report in summaries]
    figures = [
        bars(
            {head: [report.metrics[name] for report in summaries] for name, head in COLUMNS.items()},
            searches,
            title="Every metric, with its interval",
        ),
        curves(
            {name: recall_curve(measured) for name, measured in by_search.items()},
            title="Recall by the number of results",
        ),
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
        figures.append(bars(per_set, searches, title="Recall@5 by set"))
    inner = "\n".join(f"<figure>{figure}</figure>" for figure in figures)
    return f'<h2>Plots</h2>\n<div class="plots">{inner}</div>'


def _groups(report: Report) -> str:
    groups = report.groups()
    if len(groups) < 2:
        return ""
    body = [
        f"<tr>{_text(group)}{''.join(f'<td>{means[name]:.3f}</td>' for name in COLUMNS)}</tr>"
        for group, means in groups.items()
    ]
    head = f"{report.set_name}, {report.search}: by group"
    return (
        f"<details><summary>{escape(head)}</summary>{_framed(['group', *COLUMNS.values()], body)}</details>"
    )


def _missed(report: Report) -> str:
    missed = report.misses()
    count = f"{len(missed):,} of {report.queries:,} queries lack a tool in the top 5"
    head = f"{report.set_name}, {report.search}: {count}"
    body = []
    for outcome in missed[:_MISSES]:
        wanted = ", ".join(outcome.query.relevant)
        got = ", ".join(outcome.ranked[:_SHOWN_HITS]) or "nothing"
        body.append(f"<tr>{_text(outcome.query.text)}{_text(wanted)}{_text(got)}</tr>")
    table = _framed(["query", "should be found", "was found first"], body, text=True) if body else ""
    return f"<details><summary>{escape(head)}</summary>{table}</details>"


def _framed(heads: Sequence[str], body: Sequence[str], *, text: bool = False) -> str:
    kind = ' class="text"' if text else ""
    head = "".join(f"<th{kind}>{escape(name)}</th>" for name in heads)
    lines = "\n".join(body)
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>\n{lines}\n</tbody></table></div>'


def _text(text: str) -> str:
    return f'<td class="text">{escape(text)}</td>'


def _number(value: float) -> str:
    return f"<td>{value:,.0f}</td>"
