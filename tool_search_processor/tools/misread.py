"""Schemas at which LiteLLM's conversions for Gemini, Anthropic and Bedrock fail, and with them the request.

The conversions treat any key `$ref` as a reference, even in data and among the names of properties.
"""

from __future__ import annotations

import re
from typing import Any

from tool_search_processor.tools.frozen import values_in
from tool_search_processor.tools.loosening import leave_out
from tool_search_processor.tools.schema_walk import (
    DEFINITION_KEYWORDS,
    INNER_KEYWORDS,
    MAP_KEYWORDS,
    Schema,
    schemas_in,
)

_NAMED = MAP_KEYWORDS | {"dependentRequired"}
_SCHEMA_KEYWORDS = _NAMED | INNER_KEYWORDS
_CHECKING = frozenset({"const", "enum", "dependencies", "dependentRequired", "dependentSchemas"})
"""Keywords that check something, and that may be left out, wholly or partly."""


def without_misread(schema: Schema) -> Schema:
    """Return the schema with `$ref` only ever as the keyword, in it and in every schema in it.

    A property of that name is described by a pattern, which means the same. Data (`default`, `enum` …) is
    left out if it has a key `$ref` that holds no string, or a key of definitions that holds no schemas. All
    that the schema accepts is accepted.
    """
    misread = [part for part in schemas_in(schema) if _well_read(part) is not part]
    losing = (part for part in misread if not _CHECKING.isdisjoint(part))
    return leave_out(schema, _well_read, losing=losing) if misread else schema


def _well_read(part: Schema) -> Schema:
    changes: dict[str, Any] = {}
    for key, value in part.items():
        if key in _NAMED and "$ref" in value:
            changes[key] = {name: inner for name, inner in value.items() if name != "$ref"}
        elif (
            key not in _SCHEMA_KEYWORDS
            and isinstance(value, dict | list)
            and any(map(_is_misread, values_in(value)))
        ):
            changes[key] = None
    if not changes:
        return part
    if "$ref" in part.get("properties", {}):
        patterns: Schema = {**part, **changes}.get("patternProperties", {})
        changes["patternProperties"] = {**patterns, f"^{re.escape('$ref')}$": part["properties"]["$ref"]}
    return {key: value for key, value in {**part, **changes}.items() if changes.get(key, value) is not None}


def _is_misread(data: Any) -> bool:
    if not isinstance(data, dict):
        return False
    definitions = [data[key] for key in DEFINITION_KEYWORDS & data.keys()]
    return not isinstance(data.get("$ref", ""), str) or not all(
        isinstance(held, dict) and all(isinstance(one, dict) for one in held.values()) for held in definitions
    )
