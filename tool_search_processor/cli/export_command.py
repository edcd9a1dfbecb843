"""`tool-search export`: a catalog as JSON, in the shape that a provider or an MCP client takes."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping
from typing import Any

from tool_search_processor.cli.choices import add_tools_option, check_writable, read_catalog
from tool_search_processor.cli.terminal import write_output
from tool_search_processor.evaluation.formats import META_PREFIX
from tool_search_processor.tools import Tool
from tool_search_processor.wire.plain import counted


def _mcp_entry(tool: Tool) -> dict[str, Any]:
    """Return an entry of `tools/list` that includes what only searches use, so nothing is lost."""
    entry = tool.to_mcp()
    known = {
        "namespace": tool.namespace,
        "tags": sorted(tool.tags),
        "keywords": list(tool.keywords),
        "example_requests": list(tool.example_requests),
        "pinned": tool.pinned,
    }
    about = {f"{META_PREFIX}{key}": value for key, value in known.items() if value}
    return {**entry, "_meta": {**entry.get("_meta", {}), **about}} if about else entry


_SHAPES: Mapping[str, Callable[[Tool], dict[str, Any]]] = {
    "openai": Tool.to_openai,
    "anthropic": Tool.to_anthropic,
    "mcp": _mcp_entry,
}


def add_to(commands: Any) -> None:
    """Add the command to the parser's."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "export",
        help="write a catalog as JSON",
        description="Write the definitions of a catalog's tools as JSON: what an OpenAI or Anthropic request "
        "has as `tools`, or an MCP `tools/list` result, which keeps namespaces, tags and keywords as well. "
        "Every command reads it as --tools.",
    )
    add_tools_option(parser)
    parser.add_argument(
        "--format", choices=tuple(_SHAPES), default="openai", help="the shape of definitions (default openai)"
    )
    parser.add_argument("--output", metavar="FILE", help="where to write it (default: the standard output)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write every definition, in the catalog's order."""
    check_writable("--output", options.output)
    tools = read_catalog(options)
    definitions = [_SHAPES[options.format](tool) for tool in tools]
    value = {"tools": definitions} if options.format == "mcp" else definitions
    text = json.dumps(value, ensure_ascii=False, indent=2)
    write_output(f"{text}\n", options.output, what=counted(len(tools), "tool"))
    return 0
