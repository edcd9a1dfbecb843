"""Reading what a model wrote into a call of a meta-tool, however it encoded it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

MAX_RESULTS = 20
"""The most results of one query, and of one whole answer."""
MAX_QUERIES = 10
"""The most queries of one search that are answered."""
MAX_NAMES = 100
"""The most names of one load or unload that are read; the answer says how many were left out."""

_NOTHING = ("", "null", "[]")
_QUERY_KEYS = ("query", "queries", "pattern", "q")
_TAG_KEYS = ("tags", "tag", "namespaces", "namespace")
_NAMES_KEYS = ("tool_names", "tool_name", "names", "name", "tools", "tool", "toolNames", "toolName")
_NAME_KEYS = ("name", "tool_name", "toolName", "tool")
_ARGUMENT_KEYS = ("arguments", "parameters", "args")


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchCall:
    """What a call of the search tool asks for."""

    queries: tuple[str, ...]
    limit: int
    tags: frozenset[str]


def as_object(arguments: Any) -> Mapping[str, Any]:
    """Return the arguments as an object, however a model wrote them; anything else becomes an empty one."""
    if isinstance(arguments, str):
        arguments = _decoded(arguments)
    return arguments if isinstance(arguments, Mapping) else {}


def read_search(
    arguments: Mapping[str, Any], *, default_limit: int, max_limit: int = MAX_RESULTS
) -> SearchCall:
    """Read a search call: one query or several, however a model encodes them.

    Args:
        arguments: What the model wrote.
        default_limit: Results of a query if the model gives no readable number, or a smaller one: small
            models ask for one result and then load it, whatever it is.
        max_limit: The greatest limit; greater ones are reduced to it.
    """
    given = next((arguments[key] for key in _QUERY_KEYS if key in arguments), ())
    queries = dict.fromkeys(query for text in _texts(given) if (query := text.strip()))
    return SearchCall(
        queries=tuple(queries)[:MAX_QUERIES],
        limit=_limit(arguments.get("limit", arguments.get("max_results")), default_limit, most=max_limit),
        tags=frozenset(
            text for key in _TAG_KEYS if key in arguments for text in _texts(arguments[key]) if text.strip()
        ),
    )


def read_names(arguments: Mapping[str, Any]) -> tuple[str, ...]:
    """Read the tool names of a load or unload: a list, one string, or a list as a JSON string."""
    names: dict[str, None] = {}
    for key in _NAMES_KEYS:
        for text in _texts(arguments.get(key, ())):
            names |= dict.fromkeys(part.strip() for part in re.split(r"[,\n]", text) if part.strip())
    return tuple(names)


def read_call(arguments: Mapping[str, Any]) -> tuple[str, Any]:
    """Read a proxied call: the tool's name, and its arguments as they were written.

    Small models write the arguments next to the name instead of inside `arguments`; both are read.
    """
    named = next((key for key in _NAME_KEYS if key in arguments), "")
    name = arguments.get(named)
    inside = next((key for key in _ARGUMENT_KEYS if key in arguments), "")
    given = arguments.get(inside)
    # These mean no arguments, as in a call of a tool by its own name.
    if given in (None, [], {}) or (isinstance(given, str) and given.strip() in _NOTHING):
        given = {key: value for key, value in arguments.items() if key not in (named, inside)}
    return (name.strip() if isinstance(name, str) else ""), given


def _texts(value: Any) -> Iterator[str]:
    """Yield the strings in a string, a list, or a list that was encoded as a JSON string."""
    if isinstance(value, str):
        decoded = _decoded(value) if value.lstrip().startswith("[") else None
        yield from _texts(decoded) if isinstance(decoded, list) else (value,)
    elif isinstance(value, list | tuple):
        yield from (item for item in value if isinstance(item, str))


def _limit(value: Any, default: int, *, most: int) -> int:
    try:
        wanted = default if value is None or isinstance(value, bool) else int(value)
    except (TypeError, ValueError, OverflowError):
        wanted = default
    return max(default, min(wanted, most))


def _decoded(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
