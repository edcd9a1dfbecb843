"""`tool-search serve`: many servers and APIs as one MCP server, whose tools are found by search."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from tool_search_processor.cli.choices import add_search_options, index_maker
from tool_search_processor.cli.terminal import show
from tool_search_processor.errors import ConfigurationError
from tool_search_processor.tools.names import make_tool_name

if TYPE_CHECKING:
    from tool_search_processor.providers import Provider
    from tool_search_processor.server.mcp import ToolServer

_TOKEN_VARIABLE = "TOOL_SEARCH_TOKEN"  # noqa: S105 - the variable's name
_MAX_PORT = 65535


def add_to(commands: Any) -> None:
    """Add the command to the parser's."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "serve",
        help="serve many MCP servers and APIs as one",
        description="Serve the tools, resources and prompts of many MCP servers, and the operations of APIs, "
        "as one MCP server. Its client is listed two tools, which search and call all others. One server "
        "that is down does not take the others with it.",
    )
    parser.add_argument(
        "--config",
        metavar="FILE",
        action="append",
        default=[],
        help='servers, as clients list them: {"mcpServers": {name: {"command": …} or {"url": …}}}; each name '
        "becomes a prefix; may be given again",
    )
    parser.add_argument(
        "--openapi",
        metavar="FILE",
        action="append",
        default=[],
        help="an OpenAPI document, a file or a URL, whose operations become tools; may be given again",
    )
    way = parser.add_mutually_exclusive_group()
    way.add_argument(
        "--stdio", action="store_true", help="serve the client that started this command (default)"
    )
    way.add_argument(
        "--http",
        metavar="[HOST:]PORT",
        help=f"serve over streamable HTTP, at /mcp; a host that other machines reach needs a token in the "
        f"environment variable {_TOKEN_VARIABLE}, which clients send as `Authorization: Bearer …`",
    )
    parser.add_argument(
        "--mode",
        choices=("discovery", "normal"),
        default="discovery",
        help="list the two tools that search and call (default), or every tool",
    )
    add_search_options(parser, several=False)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Serve until the client leaves, or until the command is told to stop."""
    address = None if options.http is None else parse_address(options.http)
    # Standard output is the client's.
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(levelname)s %(message)s")
    server = gateway(options, token=os.environ.get(_TOKEN_VARIABLE) or None)
    if address is None:
        asyncio.run(server.run_stdio())
    else:
        host, port = address
        asyncio.run(server.run_http(host, port, ready=_tell))
    return 0


def gateway(options: argparse.Namespace, *, token: str | None) -> ToolServer:
    """Return the server that was asked for.

    Raises:
        ConfigurationError: Without anything to serve, or for a file that can't be used.
        ImportError: When an extra is not installed.
    """
    from tool_search_processor.server.mcp import ToolServer

    providers = _providers(options)
    if not providers:
        raise ConfigurationError("there is nothing to serve: give --config FILE or --openapi FILE")
    return ToolServer(
        providers,
        mode=options.mode,
        search=index_maker(options.search, options) if options.search else "bm25",
        authenticate=token,
    )


def parse_address(text: str) -> tuple[str, int]:
    """Return host and port of `[HOST:]PORT`; without a host, that of this machine alone.

    Raises:
        ConfigurationError: For a port that is none.
    """
    host, _, port = text.rpartition(":")
    if not port.isdecimal() or int(port) > _MAX_PORT:
        raise ConfigurationError(f"--http is [HOST:]PORT, such as 127.0.0.1:8000, found {text!r}")
    return host.strip("[]") or "127.0.0.1", int(port)


def _providers(options: argparse.Namespace) -> list[Provider]:
    providers: list[Provider] = []
    if options.config:
        from tool_search_processor.providers.mcp import MCPProvider
        from tool_search_processor.server.mcp import forward_progress

        for path in options.config:
            providers += MCPProvider.from_config(path, on_progress=forward_progress)
    if options.openapi:
        from tool_search_processor.providers.openapi import OpenAPIProvider
        from tool_search_processor.transforms import Namespace

        for document in options.openapi:
            prefix = make_tool_name(Path(urlsplit(document).path).stem)
            providers.append(OpenAPIProvider(document).with_transforms(Namespace(prefix)))
    return providers


def _tell(url: str) -> None:
    show(f"Serving at {url} (Ctrl+C ends)")
    sys.stdout.flush()
