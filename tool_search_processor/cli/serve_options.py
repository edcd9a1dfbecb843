"""The options of `tool-search serve`, and its help."""

from __future__ import annotations

import argparse
from typing import get_args

from tool_search_processor.cli.choices import add_search_options
from tool_search_processor.server.options import MAX_CONNECTIONS, MAX_SESSIONS, ResultFormat

HOST = "127.0.0.1"
TOKEN_VARIABLE = "TOOL_SEARCH_TOKEN"  # noqa: S105 - the variable's name
DESCRIPTION = """\
Serve the tools, resources and prompts of many MCP servers, and the operations of HTTP APIs, as one MCP
server. Clients see two tools, search_tools and call_tool, which find and run all the others. A server that is
down or hangs is reported on standard error, and the others are served without it.
"""
EXAMPLES = """\
examples:
  tool-search serve --config servers.json                     for a client that starts it (Claude Desktop …)
  tool-search serve --config servers.json --http 8000         http://127.0.0.1:8000/mcp, and a page at /
  tool-search serve --openapi pets=pets.json --http 8000      an API's operations, as pets_…
  tool-search serve --tools my_package.tools:all_tools        functions and tools in Python
  TOOL_SEARCH_TOKEN=… tool-search serve --config servers.json --http 0.0.0.0:8000

servers.json is the file that MCP clients read, and may name APIs as well; ${NAME} stands for an environment
variable:
  {"mcpServers": {"git":  {"command": "uvx", "args": ["mcp-server-git"]},
                  "docs": {"url": "https://example.com/mcp", "headers": {"Authorization": "Bearer ${DOCS}"}}},
   "openapi":    {"pets": {"document": "pets.json", "base_url": "https://example.com/v1",
                           "credentials": {"api_key": "${PETS}"}}}}
(base_url is needed if the document names no server, or to use another). A ToolServer of your own among the
servers has to list its tools: in discovery mode, only its own search would be found.
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add every option, in groups."""
    _add_sources(parser.add_argument_group("what is served"))
    _add_ways(parser.add_argument_group("how it is reached"))
    _add_tools(parser.add_argument_group("what clients see, and find"))
    _add_limits(parser.add_argument_group("limits"))
    parser.add_argument("--verbose", action="store_true", help="log what upstreams say, and tracebacks")


def _add_repeatable(group: argparse._ArgumentGroup, option: str, what: str) -> None:
    name, metavar = option.split(" ")
    group.add_argument(name, metavar=metavar, action="append", default=[], help=f"{what}; may be repeated")


def _add_number(group: argparse._ArgumentGroup, option: str, default: float, what: str) -> None:
    name, metavar = option.split(" ")
    about = f"{what} (default {default:,.0f})"
    group.add_argument(name, metavar=metavar, type=type(default), default=default, help=about)


def _add_sources(group: argparse._ArgumentGroup) -> None:
    _add_repeatable(
        group,
        "--config FILE",
        "MCP servers, as clients list them, and APIs; a server's name is put before the names of its tools",
    )
    _add_repeatable(
        group,
        "--openapi [NAME=]FILE",
        "an OpenAPI document (2.0 or 3.x), a file or a URL, whose operations become tools; if it needs "
        "a base_url, headers or credentials, name it in --config FILE instead",
    )
    _add_repeatable(
        group,
        "--tools MODULE:NAME",
        "tools in Python, named as package.module:attribute: what a ToolSearchProcessor takes as tools, or a "
        "processor",
    )
    group.add_argument(
        "--on-change",
        choices=("warn", "block"),
        default="warn",
        help="what to do with a tool whose definition has changed since it was first seen: serve it with a "
        "warning (default), or withhold it",
    )
    _add_number(
        group,
        "--upstream-timeout SECONDS",
        10.0,
        "how long the first request waits for a server that does not answer; its tools are served as soon as "
        "it does",
    )
    _add_number(group, "--call-timeout SECONDS", 60.0, "how long one call may take")


def _add_ways(group: argparse._ArgumentGroup) -> None:
    way = group.add_mutually_exclusive_group()
    way.add_argument(
        "--stdio", action="store_true", help="serve the client that started this command (default)"
    )
    way.add_argument(
        "--http",
        metavar="[HOST:]PORT",
        help=f"serve over HTTP: MCP at /mcp, a page at /, REST at /v1/tools/search, /health and /metrics; "
        f"without a host, for this machine only ({HOST}); port 0 takes a free one",
    )
    group.add_argument(
        "--token-env",
        metavar="NAME",
        help="the environment variable with the token that HTTP clients send as `Authorization: Bearer …`, "
        "and browsers as a password; needed if other machines can reach the server (default "
        f"{TOKEN_VARIABLE}, if that is set)",
    )
    group.add_argument("--token-file", metavar="FILE", help="a file that holds the token, instead")
    _add_repeatable(
        group,
        "--allow-host NAME",
        "a name by which clients may call this host (default: the names of this machine; any name if other "
        "machines can reach it)",
    )
    _add_repeatable(
        group,
        "--allow-origin ORIGIN",
        "a web page's origin, such as https://example.com, that may send requests",
    )


def _add_tools(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--mode",
        choices=("discovery", "normal"),
        default="discovery",
        help="list the two tools that search and call (default), or every tool; a client may choose by the "
        "header X-MCP-Tool-Mode or by ?tool_mode=",
    )
    _add_repeatable(group, "--always-visible NAME", "a tool, or a tag of tools, to list in either mode")
    add_search_options(group, several=False)
    group.add_argument(
        "--index-cache",
        metavar="DIR",
        help="keep the index and its vectors in a folder, so that a restart with the same tools is quick",
    )
    group.add_argument(
        "--warm-up",
        action="store_true",
        help="read every upstream and make the index with its vectors before serving",
    )
    _add_number(group, "--top-k N", 5, "results of a search")
    group.add_argument(
        "--result-format",
        choices=get_args(ResultFormat),
        default="json",
        help="a search's answer: data (default), short text with the data, or entries of tools/list",
    )
    group.add_argument(
        "--mask-error-details",
        action="store_true",
        help="tell clients only that a tool failed, and leave the details to the log; answers of upstreams "
        "are still passed on",
    )
    for option, default in (("--search-tool-name", "search_tools"), ("--call-tool-name", "call_tool")):
        group.add_argument(option, metavar="NAME", default=default, help=f"instead of {default}")


def _add_limits(group: argparse._ArgumentGroup) -> None:
    for option, default, what in (
        ("--max-body-bytes N", 4 * 1024 * 1024, "bytes of a request"),
        ("--max-concurrent N", 1000, "requests at the same time"),
        ("--max-connections N", MAX_CONNECTIONS, "open connections"),
        ("--max-sessions N", MAX_SESSIONS, "sessions of HTTP clients; idle sessions end after 30 minutes"),
        ("--requests-per-second N", 1000.0, "requests from one address"),
        ("--grace-seconds N", 10, "how long calls may go on when the command is stopped"),
    ):
        _add_number(group, option, default, what)
