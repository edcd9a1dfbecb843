"""Entries of a server's lists that are a little wrong, mended where their meaning is certain."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tool_search_processor.plain import items_of, mapping_of

FindFault = Callable[[dict[str, Any]], tuple[str, ...] | None]
"""Returns where an entry's first fault is, as keys from the outside in; None where there is none."""

_NEEDED = frozenset({"name", "uri", "uriTemplate", "inputSchema"})
"""Without one of these an entry means nothing; everything else can be left out of it."""

_NAMED_BY = {"resources/list": "uri", "resources/templates/list": "uriTemplate"}
"""What a resource is called whose name is missing."""

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
        if key == "inputSchema" and (schema := _object_schema(entry.get(key))) is not None:
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


def _object_schema(schema: Any) -> dict[str, Any] | None:
    """Return a schema of arguments as the protocol wants it; None where it describes something else."""
    if not schema:  # missing, null, or an empty list, as PHP writes an empty object
        return {"type": "object"}
    if not isinstance(schema, Mapping) or not _may_be_object(schema.get("type")):
        return None
    fixed = {**schema, "type": "object"}
    if not isinstance(fixed.get("$schema", ""), str):
        del fixed["$schema"]
    if "properties" in fixed:
        fixed["properties"] = {
            name: part if isinstance(part, Mapping | bool) else {}
            for name, part in mapping_of(fixed["properties"]).items()
        }
    if "required" in fixed:
        fixed["required"] = [name for name in items_of(fixed["required"]) if isinstance(name, str)]
    return fixed


def _may_be_object(kind: Any) -> bool:
    kinds = kind if isinstance(kind, list) else [kind]
    return not kind or any(str(each).strip().lower() in ("object", "dict") for each in kinds)
