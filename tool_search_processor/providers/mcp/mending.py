"""Entries of a server's lists that are a little wrong, mended where their meaning is certain."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tool_search_processor.tools.dialects import object_schema

FindFault = Callable[[dict[str, Any]], tuple[str, ...] | None]
"""Returns where an entry's first fault is, as keys from the outside in; None if it has no fault."""

_NEEDED = frozenset({"name", "uri", "uriTemplate", "inputSchema"})
"""An entry without one of these is useless; everything else can be left out of it."""

_NAMED_BY = {"resources/list": "uri", "resources/templates/list": "uriTemplate"}
"""The name of a resource that has none."""

_MOST_MENDS = 20


def mended(method: str, entry: Any, find_fault: FindFault) -> Any:
    """Return an entry of a list with its faults mended, as far as that is possible.

    Args:
        method: The request that the list answers.
        entry: As it came.
        find_fault: Looks for the next fault.
    """
    if not isinstance(entry, Mapping):
        return entry
    entry = dict(entry)
    for _ in range(_MOST_MENDS):
        where = find_fault(entry)
        if not where:
            break
        key = where[0]
        if key == "inputSchema" and (schema := object_schema(entry.get(key))) is not None:
            if schema == entry.get(key):
                break
            entry[key] = schema
        elif key == "name" and isinstance(named := entry.get(_NAMED_BY.get(method, "")), str):
            entry[key] = named
        elif key in entry and key not in _NEEDED:
            del entry[key]
        else:
            break
    return entry
