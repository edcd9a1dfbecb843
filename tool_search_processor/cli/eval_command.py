"""`tool-search eval`: how well searches find the right tools, as a table, a page and an exit code."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tool_search_processor.cli.choices import (
    add_search_options,
    add_tools_option,
    check_writable,
    given_tools,
    index_maker,
)
from tool_search_processor.cli.eval_table import show_figures
from tool_search_processor.cli.python_names import is_python_name
from tool_search_processor.cli.terminal import progress, require_tables, show_json, warn
from tool_search_processor.errors import ConfigurationError
from tool_search_processor.evaluation.data import Dataset, load_dataset, load_folder
from tool_search_processor.evaluation.files import DataError
from tool_search_processor.evaluation.history import Past, asked_again, load_history
from tool_search_processor.evaluation.html import html_report
from tool_search_processor.evaluation.measure import evaluate, foreign_tools, query_count
from tool_search_processor.evaluation.report import METRICS, Report
from tool_search_processor.evaluation.summary import grouped, united
from tool_search_processor.tools import Tool
from tool_search_processor.wire.plain import counted

_ABSTENTION = "abstention_auc"
_RELATED = 0.05
"""Two sets are related if they have more than this share of their tools in common."""


def add_to(commands: Any) -> None:
    """Add the command to the program's."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "eval",
        help="measure searches on catalogs and queries",
        description="Measure how well searches find the tools that queries should find. A query is a line "
        'such as {"query": "open a ticket", "relevant": ["create_issue"]}.',
    )
    add_tools_option(parser, required=False)
    parser.add_argument("--queries", metavar="FILE", help="its queries; JSON Lines")
    parser.add_argument(
        "--set",
        dest="sets",
        metavar="DIR",
        action="append",
        default=[],
        help="a folder that holds tools.jsonl and queries.jsonl; give it again for an average over sets",
    )
    add_search_options(parser, several=True)
    parser.add_argument(
        "--abstain-tools",
        metavar="TOOLS",
        help="a catalog, given like --tools, that serves none of the queries; measures how well the best "
        "score tells the two catalogs apart",
    )
    parser.add_argument(
        "--abstain",
        action="store_true",
        help="the same for each set, with the catalog of another set of similar size with other tools",
    )
    parser.add_argument(
        "--history",
        metavar="FILE",
        help="past requests, which count as example requests of their tools: a line is such as "
        '{"query": "open a ticket", "tool": "create_issue"}; `learn` makes such a file',
    )
    parser.add_argument(
        "--allow-missing", action="store_true", help="leave out relevant tools that are not in the catalog"
    )
    parser.add_argument("--report", metavar="FILE", help="write an HTML page with plots")
    parser.add_argument(
        "--fail-under",
        metavar="METRIC=VALUE",
        type=_bound,
        action="append",
        default=[],
        help=f"exit with 1 if a search is under it (its average, of several sets): {', '.join(METRICS)}, "
        f"{_ABSTENTION}",
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of the bootstrap (default 0)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Measure every search on every set, and print the results."""
    if not options.json:
        require_tables()
    searches = list(dict.fromkeys(options.search or ["bm25"]))
    makers = {name: index_maker(name, options, waits=True) for name in searches}
    datasets = _datasets(options)
    history = _history(options, datasets)
    others = _unserving(options, datasets)
    if any(name == _ABSTENTION for name, _ in options.fail_under) and not all(others):
        raise ConfigurationError(f"{_ABSTENTION} is measured with --abstain-tools or --abstain: give one")
    check_writable("--report", options.report)
    total = sum(map(query_count, datasets, others)) * len(makers)
    reports = []
    with progress(total, "queries") as advance:
        for seed, (dataset, other) in enumerate(zip(datasets, others, strict=True), start=options.seed):
            for name, make_index in makers.items():
                report = evaluate(
                    make_index,
                    dataset.tools,
                    dataset.queries,
                    search=name,
                    name=dataset.name,
                    abstain_tools=other,
                    history=history,
                    seed=seed,
                    progress=advance,
                )
                reports.append(report)
    if options.report:
        Path(options.report).write_text(html_report(reports), encoding="utf-8", errors="replace")
    if options.json:
        averages = [united(found) for found in grouped(reports).values() if len(found) > 1]
        parts = {"reports": reports, "averages": averages}
        show_json({name: [report.as_json() for report in listed] for name, listed in parts.items()})
    else:
        show_figures(reports)
    if options.report:
        warn(f"wrote {options.report}")
    return _verdict(reports, options.fail_under)


def _datasets(options: argparse.Namespace) -> list[Dataset]:
    if options.sets and (options.tools or options.queries):
        raise ConfigurationError("give either --tools and --queries, or --set, not both")
    if options.sets:
        with progress(None, "reading sets"):
            datasets = [load_folder(folder, allow_missing=options.allow_missing) for folder in options.sets]
    elif options.tools and options.queries:
        tools = given_tools(options.tools) if is_python_name(options.tools) else options.tools
        datasets = [load_dataset(tools, options.queries, allow_missing=options.allow_missing)]
    else:
        raise ConfigurationError("give --tools and --queries, or --set with a folder that holds both")
    titles = [dataset.name for dataset in datasets]
    if len(set(titles)) < len(titles):
        raise ConfigurationError(f"two sets have one name: {', '.join(titles)}: rename a folder")
    for dataset in datasets:
        if dataset.missing:
            names, are = counted(dataset.missing, "relevant name"), "is" if dataset.missing == 1 else "are"
            warn(f"{dataset.name}: {names} {are} not in the catalog and {are} left out")
    return datasets


def _history(options: argparse.Namespace, datasets: Sequence[Dataset]) -> list[Past]:
    """Return the past requests; warn if they are useless, or make the figures too good."""
    if not options.history:
        return []
    history = load_history(options.history)
    tools = [tool for dataset in datasets for tool in dataset.tools]
    names = {tool.name for tool in tools} | {tool.original_name for tool in tools}
    if names.isdisjoint(name for past in history for name in past.tools):
        warn(f"{options.history} names no tool of the catalog, so it changes nothing")
    again = sum(asked_again((query.text for query in dataset.queries), history) for dataset in datasets)
    if again:
        warn(
            f"{again:,} queries are in {options.history} word for word, so the figures are too good: "
            "measure with requests that are not in the history"
        )
    return history


def _unserving(options: argparse.Namespace, datasets: Sequence[Dataset]) -> list[Sequence[Tool]]:
    """Return for each set a catalog that serves none of its queries; empty if there is no such catalog."""
    if options.abstain_tools:
        other = given_tools(options.abstain_tools)
        if not all(foreign_tools(dataset.tools, other) for dataset in datasets):
            raise DataError(f"{options.abstain_tools} holds only tools that the catalog has as well")
        return [other for _ in datasets]
    if not options.abstain:
        return [() for _ in datasets]
    if len(datasets) < 2:
        raise ConfigurationError("--abstain needs two sets at least; give --abstain-tools for one")
    return [least_related(place, datasets).tools for place in range(len(datasets))]


def least_related(place: int, datasets: Sequence[Dataset]) -> Dataset:
    """Return the set nearest in size among those that share almost no tool with this one.

    The size matters: in a larger catalog some tool looks better by chance alone. If every set shares more,
    the one that shares least is returned.
    """
    dataset = datasets[place]
    own = {tool.name for tool in dataset.tools}

    def distance(other: Dataset) -> tuple[float, float]:
        shared = sum(tool.name in own for tool in other.tools)
        share = shared / max(1, min(len(own), len(other.tools)))
        sizes = abs(math.log(max(1, len(other.tools)) / max(1, len(own))))
        return (share if share > _RELATED else 0.0), sizes

    return min([*datasets[place + 1 :], *datasets[:place]], key=distance)


def _bound(text: str) -> tuple[str, float]:
    """Read a bound such as `recall@5=0.8`."""
    name, _, number = text.partition("=")
    name = name.strip().lower()
    if name not in METRICS and name != _ABSTENTION:
        raise argparse.ArgumentTypeError(
            f"there is no metric {name!r}: choose one of {', '.join(METRICS)}, {_ABSTENTION}"
        )
    try:
        value = float(number)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"a bound is {name}=VALUE with a value from 0 to 1, found {text!r}")
    return name, value


def _verdict(reports: Sequence[Report], bounds: Sequence[tuple[str, float]]) -> int:
    failed = 0
    for name, found in grouped(reports).items():
        report = united(found)
        for metric, bound in bounds:
            value = report.abstention_auc if metric == _ABSTENTION else report.metrics[metric].value
            if value is not None and value < bound:
                warn(f"{name}: {metric} is {value:.4f}, under {bound:g}")
                failed = 1
    return failed
