"""Older drafts' and OpenAPI's spellings of JSON Schema, rewritten as draft 2020-12.

The Messages API and the Model Context Protocol ask for that draft.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from tool_search_processor.tools.schema_walk import INNER_KEYWORDS, LIST_KEYWORDS, MAP_KEYWORDS, with_inner
from tool_search_processor.wire.plain import items_of, mapping_of

Converted = dict[str, Any]
Check = Callable[[Any], bool]

ANNOTATIONS = ("title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly")
"""Keywords that describe a value and check nothing."""

NOTHING_FITS: Mapping[str, Any] = {"not": {}}
"""The schema `false` as an object."""

_UNNAMED_KEYWORDS = frozenset({"additionalProperties", "unevaluatedItems", "unevaluatedProperties"})
"""Keywords for what no other keyword names: readers know that their `false` closes an object or array."""

_SCHEMA_MAPS = MAP_KEYWORDS - {"dependencies"}
_LIMITS = (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum"))


def modern(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a schema with common misspellings corrected; the same object if it has no misspellings.

    Lists of schemas in `items` become `prefixItems`. A malformed field or branch takes nothing else
    with it, and `required` has names only, each once.
    """
    if INNER_KEYWORDS.isdisjoint(schema) and "required" not in schema:
        return schema  # quickly: most schemas are so
    changes: Converted = {}
    if isinstance(schema.get("items"), list):
        changes = {"prefixItems": schema["items"], "items": schema.get("additionalItems", True)}
    for key, value in ({**schema, **changes} if changes else schema).items():
        if key in _SCHEMA_MAPS and isinstance(value, dict) and not _is_schema_map(value):
            changes[key] = {name: one if _is_schema(one) else {} for name, one in value.items()}
        elif key in LIST_KEYWORDS and isinstance(value, list) and not all(map(_is_schema, value)):
            changes[key] = [one for one in value if _is_schema(one)]
    required = schema.get("required")
    if isinstance(required, list) and not _is_names(required):
        changes["required"] = list(dict.fromkeys(name for name in required if isinstance(name, str)))
    return {**schema, **changes} if changes else schema


def without_booleans(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a schema whose inner schemas are objects, except for `additionalProperties` and the like.

    Many readers of schemas don't expect `true` and `false` there.
    """
    return with_inner(schema, lambda key, one: one if key in _UNNAMED_KEYWORDS else _as_object(one))


def _as_object(schema: Any) -> Any:
    if not isinstance(schema, bool):
        return schema
    return {} if schema else {**NOTHING_FITS}


def with_exclusive_limits(part: Mapping[str, Any], kept: Converted) -> Converted:
    """Write `minimum: 1, exclusiveMinimum: true` as `exclusiveMinimum: 1`.

    Args:
        part: The schema as it was.
        kept: What is kept of it: no `exclusiveMinimum` that isn't a number.
    """
    for limit, exclusive in _LIMITS:
        if part.get(exclusive) is True and limit in kept:
            kept = {**kept, exclusive: kept[limit]}
            del kept[limit]
    return kept


def nullable(schema: Converted) -> Converted:
    """Return a schema that allows null as well."""
    if "enum" in schema and None not in schema["enum"]:
        schema = {**schema, "enum": [*schema["enum"], None]}
    kind = schema.get("type")
    if isinstance(kind, str | list):
        kinds = [kind] if isinstance(kind, str) else kind
        return schema if "null" in kinds else {**schema, "type": [*kinds, "null"]}
    if schema.keys() <= set(ANNOTATIONS) | {"enum"}:
        return schema
    hoisted = {key: schema[key] for key in ANNOTATIONS if key in schema}
    rest = {key: value for key, value in schema.items() if key not in hoisted}
    branches = rest["anyOf"] if rest.keys() == {"anyOf"} else [rest]
    return {**hoisted, "anyOf": [*branches, {"type": "null"}]}


def object_schema(schema: Any) -> dict[str, Any] | None:
    """Return a schema of arguments as MCP wants it; None if it does not describe an object."""
    if not schema:  # missing, null, or an empty list, as PHP writes an empty object
        return {"type": "object"}
    if not isinstance(schema, Mapping) or not _may_be_object(schema.get("type")):
        return None
    fixed = {**schema, "type": "object"}
    if not isinstance(fixed.get("$schema", ""), str):
        del fixed["$schema"]
    if "properties" in fixed:
        fixed["properties"] = {
            # the exact type first: every result of a search comes here, and asking for a Mapping is slow
            name: part if type(part) is dict or isinstance(part, Mapping | bool) else {}
            for name, part in mapping_of(fixed["properties"]).items()
        }
    if "required" in fixed:
        fixed["required"] = [name for name in items_of(fixed["required"]) if isinstance(name, str)]
    return fixed


def _may_be_object(kind: Any) -> bool:
    if not kind or kind == "object":
        return True
    kinds = kind if isinstance(kind, list) else [kind]
    return any(str(each).strip().lower() in ("object", "dict") for each in kinds)


def _is(*kinds: type) -> Check:
    return lambda value: isinstance(value, kinds)


def _maps_to(check: Check) -> Check:
    return lambda value: isinstance(value, dict) and all(map(check, value.values()))


def _is_number(value: Any) -> bool:
    if isinstance(value, bool):
        return False
    return isinstance(value, int) or (isinstance(value, float) and math.isfinite(value))


def _is_positive(value: Any) -> bool:
    return _is_number(value) and value > 0


def _is_count(value: Any) -> bool:
    return _is_number(value) and value >= 0 and value % 1 == 0


def _is_names(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, value)) and len(set(value)) == len(value)


def _are_schemas(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_is_schema, value))


def _is_dependency(value: Any) -> bool:
    return _is_names(value) or _is_schema(value)


def _is_kind(value: Any) -> bool:
    return _is_text(value) or (_is_names(value) and bool(value))


_is_text, _is_schema = _is(str), _is(dict, bool)
_is_schema_map = _maps_to(_is_schema)
_SCHEMAS = (
    "items", "additionalProperties", "contains", "propertyNames", "not", "if", "then", "else",
    "contentSchema", "unevaluatedProperties", "unevaluatedItems",
)  # fmt: skip
_COUNTS = (
    "minLength", "maxLength", "minItems", "maxItems", "minContains", "maxContains", "minProperties",
    "maxProperties",
)  # fmt: skip
_TEXTS = ("title", "description", "format", "pattern", "contentEncoding", "contentMediaType")

WELL_FORMED: Mapping[str, Check] = {
    **dict.fromkeys(_TEXTS, _is_text),
    **dict.fromkeys(("deprecated", "readOnly", "writeOnly", "uniqueItems"), _is(bool)),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _is_number),
    **dict.fromkeys(_COUNTS, _is_count),
    **dict.fromkeys(("enum", "examples"), _is(list)),
    **dict.fromkeys(("default", "const"), _is(object)),
    **dict.fromkeys(_SCHEMAS, _is_schema),
    **dict.fromkeys(("allOf", "anyOf", "oneOf", "prefixItems"), _are_schemas),
    **dict.fromkeys(("properties", "patternProperties", "dependentSchemas"), _is_schema_map),
    "multipleOf": _is_positive,
    "required": _is_names,
    "dependentRequired": _maps_to(_is_names),
    "type": _is_kind,
}
"""Keywords and the check of their value's form: half of the OpenAPI documents have a value in a form that
is not allowed."""

OTHER_FORMS: Mapping[str, Check] = {
    **dict.fromkeys(("$defs", "definitions"), _is_schema_map),
    "dependencies": _maps_to(_is_dependency),
}
"""The same for keywords that schemas of an OpenAPI document don't have."""
