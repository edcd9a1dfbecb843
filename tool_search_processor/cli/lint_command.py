"""`tool-search lint`: the problems of a catalog, and what its tools cost."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Any

from tool_search_processor.cli.choices import add_tools_option, given_tools
from tool_search_processor.cli.terminal import Table, progress, require_tables, show, show_json, show_table
from tool_search_processor.evaluation.likeness import SIMILARITY, look_alikes
from tool_search_processor.evaluation.lint import MAX_TOKENS, Finding, LintReport, lint
from tool_search_processor.wire.checks import refuse
from tool_search_processor.wire.plain import counted

_SHOWN = 10
"""How many of the costliest tools, and of each kind of finding, are shown by default."""
_SHOWN_NAMES = 4
"""How many names of a group of look-alikes are shown after the first one."""
_HEADS = ("", "finding", "tool", "what")


def add_to(commands: Any) -> None:
    """Add the command to the parser's."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "lint",
        help="check a catalog",
        description="Look for tools that a model will confuse, can't understand, or pays too much for. Exits "
        "with 1 if there are errors (a name twice, no description); with --strict, if there is any finding.",
    )
    add_tools_option(parser)
    parser.add_argument(
        "--similarity",
        type=float,
        default=SIMILARITY,
        help=f"likeness of names and descriptions from which tools are confusable (default {SIMILARITY})",
    )
    parser.add_argument(
        "--max-tokens",
        type=int,
        default=MAX_TOKENS,
        help=f"what a definition may cost before it is a finding (default {MAX_TOKENS})",
    )
    parser.add_argument(
        "--verbose",
        "--all",
        dest="every",
        action="store_true",
        help=f"show every finding, not {_SHOWN} of each kind, every pair of tools that read alike, "
        "not groups of them, and what every tool costs",
    )
    parser.add_argument("--strict", action="store_true", help="also exit with 1 for warnings")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Check the catalog, and print the findings."""
    if not 0 < options.similarity <= 1:
        refuse("--similarity", "above 0 and at most 1", options.similarity)
    if not options.json:
        require_tables()
    tools = given_tools(options.tools)
    with progress(len(tools), "tools") as advance:
        report = lint(tools, similarity=options.similarity, max_tokens=options.max_tokens, progress=advance)
    if options.json:
        show_json(report.as_json())
    else:
        _show(report, every=options.every)
    return int(bool(report.findings if options.strict else report.errors))


def _show(report: LintReport, *, every: bool) -> None:
    most = None if every else _SHOWN
    if report.findings:
        rows = list(_rows(report.findings, most))
        show_table(Table(heads=_HEADS, rows=rows, text=frozenset(_HEADS), whole=frozenset({"", "finding"})))
    title = "tool" if every else "costliest tools"
    costs = [[name, f"{count:,}"] for name, count in report.tokens[:most]]
    show_table(Table(heads=[title, "tokens"], rows=costs, text=frozenset({title})))
    warnings = len(report.findings) - report.errors
    show(
        f"{counted(len(report.tokens), 'tool')}, {report.total_tokens:,} tokens (estimated): "
        f"{counted(report.errors, 'error')}, {counted(warnings, 'warning')}."
    )


def _rows(findings: Iterable[Finding], most: int | None) -> Iterator[list[str]]:
    for kind, group in groupby(findings, key=attrgetter("kind")):
        found = list(group)
        severity = found[0].severity
        if kind == "confusable" and most:
            yield from ([severity, kind, *cells] for cells in _alike(found, most))
            continue
        yield from ([severity, kind, f.tool, f.text] for f in found[:most])
        left = len(found[most:]) if most else 0
        if left:
            yield [severity, kind, f"and {left:,} more", "--verbose shows them."]


def _alike(pairs: Sequence[Finding], most: int) -> Iterator[tuple[str, str]]:
    """Yield a line for each group of tools that read alike, and a line that says what to do."""
    groups = look_alikes((pair.tool, other) for pair in pairs for other in pair.others)
    for first, *others in groups[:most]:
        more = f" and {len(others) - _SHOWN_NAMES:,} more" if len(others) > _SHOWN_NAMES else ""
        yield first, f"reads like {', '.join(others[:_SHOWN_NAMES])}{more}"
    left = len(groups) - most
    yield (
        f"and {counted(left, 'more group')}" if left > 0 else "",
        f"{counted(len(pairs), 'pair')} among {sum(map(len, groups)):,} tools: say how each tool differs, or "
        "offer only one. --verbose shows every pair.",
    )
