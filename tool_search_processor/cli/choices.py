"""The options that commands share: a catalog's file, and from what `--search` says to what makes an index."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from tool_search_processor.errors import ConfigurationError
from tool_search_processor.evaluation.data import check_unique, load_tools
from tool_search_processor.evaluation.files import label_of
from tool_search_processor.search.protocol import AnyIndex
from tool_search_processor.search.strategies import index_factory
from tool_search_processor.tools import Tool

_WITH_VECTORS = ("vector", "hybrid")


def add_tools_option(parser: argparse._ActionsContainer) -> None:
    """Add `--tools`, the file of a catalog, which `load_tools` reads."""
    parser.add_argument(
        "--tools",
        metavar="FILE",
        required=True,
        help="JSON Lines, a JSON list, an OpenAI or Anthropic tools array, an MCP tools/list result, or an "
        "OpenAPI document (2.0 or 3.x); - is the standard input. Of tools in Python: "
        "json.dumps([tool.to_openai() for tool in await Catalog(tools).list_tools()])",
    )


def read_catalog(options: argparse.Namespace) -> list[Tool]:
    """Return the tools of `--tools`, whose names must be unique.

    Raises:
        DataError: If the file can't be read, or two tools have one name.
    """
    tools = load_tools(options.tools)
    check_unique(tools, label_of(options.tools))
    return tools


def add_search_options(parser: argparse._ActionsContainer, *, several: bool) -> None:
    """Add `--search` and what shapes it.

    Args:
        parser: The command's parser, or a group of its options.
        several: Whether `--search` may be given more than once.
    """
    parser.add_argument(
        "--search",
        metavar="NAME",
        action="append" if several else "store",
        help="bm25 (default), regex, fuzzy, vector, hybrid, or module:attribute, which makes an index"
        + ("; give it again to compare" if several else ""),
    )
    parser.add_argument(
        "--embedder",
        metavar="NAME",
        help="what embeds for vector and hybrid: static (fastest), minilm, multilingual, or minilm+static "
        "(default: both)",
    )
    parser.add_argument(
        "--vectors", metavar="FILE", help="keep vectors in a file, so that nothing is embedded twice"
    )


def index_maker(name: str, options: argparse.Namespace, *, waits: bool = False) -> Callable[[], AnyIndex]:
    """Return what makes empty indexes of a strategy.

    Args:
        name: What `--search` says.
        options: The command's options.
        waits: Let the embedder take as long as it needs: words alone would be measured, or shown, as if they
            were the whole strategy.

    Raises:
        ConfigurationError: If there is no such strategy, module or attribute, or an option shapes none of
            the strategies that were asked for.
    """
    chosen = options.search if isinstance(options.search, list) else [options.search]
    if (options.embedder or options.vectors) and not set(chosen) & set(_WITH_VECTORS):
        raise ConfigurationError(
            "--embedder and --vectors shape a search by meaning: add --search vector or --search hybrid"
        )
    if ":" in name:
        return index_factory(_imported(name))
    if name in _WITH_VECTORS and (options.embedder or options.vectors or waits):
        return lambda: _with_vectors(name, options, waits=waits)
    return index_factory(name)  # type: ignore[arg-type]  # it refuses anything else


def _with_vectors(name: str, options: argparse.Namespace, *, waits: bool) -> AnyIndex:
    from tool_search_processor.search.vector import VectorIndex

    chosen: dict[str, Any] = {"cache_path": options.vectors}
    if waits:
        chosen["timeout_seconds"] = None
    if options.embedder:
        chosen["embedder"] = options.embedder
    vector = VectorIndex(**chosen)
    if name == "vector":
        return vector
    from tool_search_processor.search.hybrid import HybridIndex

    return HybridIndex(vector=vector)


def _imported(name: str) -> Any:
    module, _, attribute = name.partition(":")
    if str(Path.cwd()) not in sys.path:  # an installed command does not look there by itself
        sys.path.insert(0, str(Path.cwd()))
    try:
        return getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as exc:
        raise ConfigurationError(f"--search {name!r} can't be imported: {exc}") from exc
