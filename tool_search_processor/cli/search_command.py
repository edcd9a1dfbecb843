"""`tool-search search`: which tools of a catalog a query finds."""

from __future__ import annotations

import argparse
from typing import Any

from tool_search_processor.cli.choices import add_search_options, add_tools_option, index_maker, read_catalog
from tool_search_processor.cli.terminal import Table, progress, require_tables, show, show_json, show_table
from tool_search_processor.evaluation.measure import MeasuredIndex
from tool_search_processor.meta_tools import cut, one_line
from tool_search_processor.search.protocol import Hit
from tool_search_processor.tokens.counting import DefinitionCounter
from tool_search_processor.tools import Tool
from tool_search_processor.wire.checks import check_count, check_fraction

_DEFAULT_LIMIT = 5


def add_to(commands: Any) -> None:
    """Add the command to the parser's."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "search", help="search a catalog", description="Show which tools of a catalog a query finds."
    )
    parser.add_argument("query", metavar="QUERY", help="what to look for")
    add_tools_option(parser)
    add_search_options(parser, several=False)
    parser.add_argument("--limit", type=int, default=_DEFAULT_LIMIT, help="the most results (default 5)")
    parser.add_argument("--min-score", type=float, default=0.0, help="the least score, 0 to 1 (default 0)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Search, and print what was found; finding nothing is not a failure."""
    check_count("--limit", options.limit)
    check_fraction("--min-score", options.min_score)
    if not options.json:
        require_tables()
    query = _typed(options.query)
    make_index = index_maker(options.search or "bm25", options, waits=True)
    tools = read_catalog(options)
    with progress(None, f"indexing {len(tools):,} tools"), MeasuredIndex(make_index()) as engine:
        engine.fill(tools)
        hits = engine.search(query, limit=options.limit)
    by_name = {tool.name: tool for tool in tools}
    results = [_result(by_name[hit.name], hit) for hit in hits if hit.score >= options.min_score]
    if options.json:
        show_json({"query": query, "tools": len(tools), "results": results})
    elif results:
        _show(results)
    else:
        show(f"None of {len(tools):,} tools fits.")
    return 0


def _typed(text: str) -> str:
    """Return what was typed: in a plain ASCII locale, Python passes UTF-8 on as escapes."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _result(tool: Tool, hit: Hit) -> dict[str, Any]:
    return {
        "name": tool.name,
        "original_name": tool.metadata.get("original_name"),
        "namespace": tool.namespace,
        "score": hit.score,
        "description": tool.shown_description,
        "matched": list(hit.matched),
        "tokens": DefinitionCounter().count([tool]),
    }


def _show(results: list[dict[str, Any]]) -> None:
    heads = ["score", "name", "namespace", "description", "matched", "tokens"]
    rows = [
        [
            f"{result['score']:.3f}",
            result["name"],
            result["namespace"] or "",
            cut(one_line(result["description"])),
            ", ".join(result["matched"]),
            f"{result['tokens']:,}",
        ]
        for result in results
    ]
    columns = [column for column in zip(heads, *rows, strict=True) if any(column[1:])]
    kept, *shown = zip(*columns, strict=True)
    show_table(Table(heads=kept, rows=shown, text=frozenset({"name", "namespace", "description", "matched"})))
