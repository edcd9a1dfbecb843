"""`tool-search learn`: past requests from logs, for `eval --history` and `Experience.load`."""

from __future__ import annotations

import argparse
import json
from typing import Any

from tool_search_processor.cli.choices import check_writable
from tool_search_processor.cli.terminal import progress, warn, write_output
from tool_search_processor.evaluation.logs import SEARCH_TOOLS, read_log
from tool_search_processor.wire.plain import counted


def add_to(commands: Any) -> None:
    """Add the command to the program's."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "learn",
        help="make a file of past requests from logs",
        description="Read which tools were called successfully, and what was asked before: the queries of "
        "the search tool, and the user's message. Prints JSON Lines of query, tool and thread. The logs are "
        "message histories of OpenAI or Anthropic (a list, or an object with 'messages'; one, or one on "
        "each line), or OpenTelemetry spans of generative AI as JSON.",
    )
    parser.add_argument("logs", metavar="FILE", nargs="+", help="a log; - is the standard input")
    parser.add_argument("--output", metavar="FILE", help="write to this file instead of the standard output")
    parser.add_argument(
        "--search-tool",
        metavar="NAME",
        action="append",
        default=[],
        help=f"the search tool's name in the logs (default: {', '.join(SEARCH_TOOLS)})",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read every log, and print the past requests in them."""
    check_writable("--output", options.output)
    search_tools = tuple(options.search_tool) or SEARCH_TOOLS
    with progress(None, "reading logs"):
        records = [record for log in options.logs for record in read_log(log, search_tools=search_tools)]
    distinct = dict.fromkeys(json.dumps(record, ensure_ascii=False) for record in records)
    if not distinct:
        warn("the logs hold no call of a tool after a request, so there is nothing to learn")
    text = "".join(f"{line}\n" for line in distinct)
    tools = len({record["tool"] for record in records})
    what = f"{counted(len(distinct), 'request')} of {counted(tools, 'tool')}"
    write_output(text, options.output, what=what)
    return 0
