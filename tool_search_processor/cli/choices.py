"""The options that commands share: the catalog, and the search strategy."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from tool_search_processor.cli.python_names import imported, is_python_name, python_tools
from tool_search_processor.cli.terminal import progress
from tool_search_processor.errors import ConfigurationError
from tool_search_processor.evaluation.data import check_unique, load_tools
from tool_search_processor.evaluation.files import STDIN, DataError, label_of
from tool_search_processor.search.protocol import AnyIndex
from tool_search_processor.search.strategies import index_factory, made_index
from tool_search_processor.tools import Tool

_WITH_VECTORS = ("vector", "hybrid")
_SUFFIXES = (".json", ".jsonl", ".yaml", ".yml")
"""Of files that hold tools; what ends in another one and is not there may be meant as a name in Python."""


def add_tools_option(parser: argparse._ActionsContainer, *, required: bool = True) -> None:
    """Add `--tools`, a catalog in a file or in Python, which `given_tools` reads."""
    parser.add_argument(
        "--tools",
        metavar="TOOLS",
        required=required,
        help="a file (JSON Lines, a JSON list, an OpenAI or Anthropic tools array, an MCP tools/list result, "
        "or an OpenAPI document, 2.0 or 3.x), - for the standard input, or package.module:attribute for what "
        "a ToolSearchProcessor takes as tools, or a processor, in Python",
    )


def given_tools(name: str) -> list[Tool]:
    """Return the tools in a file, or of `package.module:attribute`; names in a file may repeat.

    Raises:
        DataError: If the file can't be read, or there are no tools.
        ConfigurationError: If what is named in Python can't be used.
    """
    with progress(None, f"reading {label_of(name)}"):
        if is_python_name(name):
            return python_tools(name)
        if not (name == STDIN or name.endswith(_SUFFIXES) or Path(name).exists()):
            raise DataError(f"there is no file {name}: tools in Python are named package.module:attribute")
        return load_tools(name)


def read_catalog(options: argparse.Namespace) -> list[Tool]:
    """Return the tools of `--tools`, whose names must be unique.

    Raises:
        DataError: If they can't be read, or two tools have one name.
    """
    tools = given_tools(options.tools)
    check_unique(tools, label_of(options.tools))
    return tools


def check_writable(option: str, path: str | None) -> None:
    """Check that a file, if one is given, can be written before the long work begins.

    Raises:
        ConfigurationError: If its folder doesn't exist, or it is a folder.
    """
    if path is not None and (Path(path).is_dir() or not Path(path).absolute().parent.is_dir()):
        raise ConfigurationError(
            f"{option} {path!r} can't be written: its folder doesn't exist, or it is a folder"
        )


def add_search_options(parser: argparse._ActionsContainer, *, several: bool) -> None:
    """Add `--search` and the options that shape it.

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
        help="the embedder for vector and hybrid: static (fastest), minilm, multilingual, or minilm+static "
        "(default: both)",
    )
    parser.add_argument(
        "--vectors", metavar="FILE", help="keep vectors in a file, so that nothing is embedded twice"
    )


def index_maker(name: str, options: argparse.Namespace, *, waits: bool = False) -> Callable[[], AnyIndex]:
    """Return a function that makes empty indexes of a strategy.

    Args:
        name: What `--search` says.
        options: The command's options.
        waits: Let the embedder take as long as it needs; otherwise, results from words alone would pass for
            those of the whole strategy.

    Raises:
        ConfigurationError: If there is no such strategy, module or attribute, or an option affects none
            of the strategies that were asked for.
    """
    chosen = options.search if isinstance(options.search, list) else [options.search]
    if (options.embedder or options.vectors) and not set(chosen) & set(_WITH_VECTORS):
        raise ConfigurationError(
            "--embedder and --vectors shape a search by meaning: add --search vector or --search hybrid"
        )
    if ":" in name:
        return index_factory(imported("--search", name))
    if name not in _WITH_VECTORS:
        return index_factory(name)  # type: ignore[arg-type]  # it refuses anything else
    of_vectors: dict[str, Any] = {"timeout_seconds": None} if waits else {}
    if name == "hybrid":
        of_vectors["background"] = not waits
    if options.embedder:
        of_vectors["embedder"] = options.embedder
    if options.vectors:
        of_vectors["cache_path"] = options.vectors
    return partial(made_index, name, getattr(options, "index_cache", None), **of_vectors)
