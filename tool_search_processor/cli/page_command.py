"""`tool-search page`: a page to try out searches on, in a browser of this machine."""

from __future__ import annotations

import argparse
import asyncio
import sys
from typing import Any

from tool_search_processor.cli.choices import add_search_options, add_tools_option, index_maker, read_catalog
from tool_search_processor.cli.terminal import show
from tool_search_processor.wire.checks import check_count

_HOST = "127.0.0.1"
_DEFAULT_PORT = 8000
_MAX_PORT = 65535


def add_to(commands: Any) -> None:
    """Add the command to the parser's."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "page",
        help="try out searches in a browser",
        description="Serve a page that shows what queries find and why, and the REST search endpoint, "
        "to this machine only. With --search hybrid two rankings are shown side by side.",
    )
    add_tools_option(parser)
    add_search_options(parser, several=False)
    parser.add_argument(
        "--port",
        type=int,
        default=_DEFAULT_PORT,
        help=f"where it is served (default {_DEFAULT_PORT}; 0 takes a free one)",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Serve the page until the command is interrupted."""
    check_count("--port", options.port, least=0, most=_MAX_PORT)
    from tool_search_processor.server.rest import create_app
    from tool_search_processor.server.serving import serve

    tools = read_catalog(options)
    app = create_app(tools, search=index_maker(options.search or "bm25", options)())

    def ready(url: str) -> None:
        show(f"{len(tools):,} tools at {url}/ (Ctrl+C ends)")
        sys.stdout.flush()

    asyncio.run(serve(app, host=_HOST, port=options.port, ready=ready))
    return 0
