"""Counts the parts of a message that the SDK checks, and measures how deep they are nested.

The SDK notes each part that is wrong, in up to 7 kB: 300,000 blocks of no known kind, 4 MB on the wire, cost
2 GB and 5 s of CPU. So a message with more parts than any sensible one is not given to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sized
from typing import Any

from tool_search_processor.tools.frozen import parts_of

MOST_PARTS = 20_000
"""The most parts of a message."""

MOST_LIST_PARTS = 300_000
"""The most parts of a page of a list; ten thousand tools have a hundred thousand."""

_SCHEMAS = frozenset({"inputSchema", "outputSchema"})
_UNCHECKED = frozenset({"structuredContent", "_meta"})


def has_more_parts(message: Any, limit: int) -> bool:
    """Return True if part of a message, as it was read, has more items and fields than `limit`.

    Of schemas only the first level counts, and fields that may hold anything count as one part.
    """
    waiting, count = [message], 0
    while waiting:
        value = waiting.pop()
        if isinstance(value, Mapping):
            count += len(value) + sum(_schema_parts(value.get(key)) for key in _SCHEMAS)
            inner = [item for key, item in value.items() if key not in _SCHEMAS and key not in _UNCHECKED]
        elif isinstance(value, list):
            count += len(value)
            inner = value
        else:
            continue
        if count > limit:
            return True
        waiting.extend(item for item in inner if isinstance(item, Mapping | list))
    return False


def has_more_levels(value: Any, limit: int) -> bool:
    """Return True if a JSON value is nested deeper than `limit`; a string or a number is one level."""
    level = [value]
    for _ in range(limit):
        level = [part for item in level for part in parts_of(item)]
        if not level:
            return False
    return True


def _schema_parts(schema: Any) -> int:
    if not isinstance(schema, Mapping):
        return 0
    fields = (schema.get("properties"), schema.get("required"))
    return len(schema) + sum(len(field) for field in fields if isinstance(field, Sized))
