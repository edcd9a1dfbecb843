"""More than 200 real tools: functions of Python's standard library, grouped by topic.

`tools()` returns them as `Tool`s, the way a catalog of one's own is made: plain functions with
annotations and docstrings, a namespace and tags for each group.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import ModuleType
from typing import Any

from standard_library import (
    addresses,
    arithmetic,
    calendars,
    chance,
    characters,
    clocks,
    colors,
    counting,
    dates,
    decimals,
    differences,
    digests,
    documents,
    encoding,
    geometry,
    lists,
    mails,
    paths,
    patterns,
    sources,
    stats,
    system,
    tables,
    texts,
    urls,
)
from tool_search_processor import Tool

TOPICS: tuple[tuple[ModuleType, str, frozenset[str]], ...] = (
    (stats, "statistics", frozenset({"numbers"})),
    (arithmetic, "math", frozenset({"numbers"})),
    (geometry, "geometry", frozenset({"numbers"})),
    (decimals, "decimal", frozenset({"numbers"})),
    (counting, "combinatorics", frozenset({"numbers"})),
    (dates, "dates", frozenset({"time"})),
    (clocks, "timezones", frozenset({"time"})),
    (calendars, "calendar", frozenset({"time"})),
    (texts, "text", frozenset({"text"})),
    (patterns, "regex", frozenset({"text"})),
    (characters, "unicode", frozenset({"text"})),
    (differences, "diff", frozenset({"text"})),
    (digests, "hashing", frozenset({"security"})),
    (encoding, "encoding", frozenset({"data"})),
    (addresses, "network", frozenset({"web"})),
    (urls, "url", frozenset({"web"})),
    (mails, "email", frozenset({"web"})),
    (colors, "colors", frozenset({"design"})),
    (documents, "json", frozenset({"data"})),
    (tables, "tables", frozenset({"data"})),
    (lists, "lists", frozenset({"data"})),
    (chance, "random", frozenset({"security"})),
    (paths, "files", frozenset({"system"})),
    (sources, "python", frozenset({"code"})),
    (system, "system", frozenset({"system"})),
)
"""Each module with the namespace and the tags of its tools."""


def functions(module: ModuleType) -> list[Callable[..., Any]]:
    """Return the public functions that a module defines, in the order it defines them.

    Args:
        module: One of the modules of this package.
    """
    members = vars(module).values()
    return [
        f
        for f in members
        if inspect.isfunction(f) and f.__module__ == module.__name__ and f.__name__[0] != "_"
    ]


def tools() -> list[Tool]:
    """Return a tool for every function, with the namespace and the tags of its module."""
    return [
        Tool.from_function(function, namespace=namespace, tags=tags)
        for module, namespace, tags in TOPICS
        for function in functions(module)
    ]
