"""Schemas of an OpenAPI document as JSON Schema 2020-12, with the definitions that they use."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from tool_search_processor.providers.openapi.documents import Document, Target
from tool_search_processor.tools.frozen import FrozenDict, freeze
from tool_search_processor.tools.schemas import Schema, edit_schemas, map_types

Direction = Literal["request", "response"]
"""What a schema describes: properties that the other direction has alone are left out."""

Converted = dict[str, Any]

_OUTSIDE_NAMES = re.compile(r"[^A-Za-z0-9_-]+")
_LEFT_OUT: dict[Direction, str] = {"request": "readOnly", "response": "writeOnly"}
_ANNOTATIONS = ("title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Definition:
    """A schema that others refer to."""

    name: str
    schema: FrozenDict
    uses: tuple[str, ...]
    """Its own references to definitions."""
    size: int
    """Characters of its JSON text."""


class SchemaReader:
    """Converts schemas, each definition once however many operations use it."""

    def __init__(self, document: Document) -> None:
        """Take the document that the schemas stand in."""
        self._document = document
        self._names: dict[str, str] = {}
        self._targets: dict[str, Target] = {}
        self._definitions: dict[tuple[str, Direction], _Definition] = {}

    def read(self, schema: object, *, base: str, direction: Direction = "request") -> Converted:
        """Return a schema converted; its references lead to `#/$defs/`, which `with_definitions` adds.

        Args:
            schema: As it stands in the document.
            base: The URI that its references are relative to.
            direction: What it describes.

        Raises:
            ConfigurationError: If a reference leads out of the document.
            RecursionError: If it is nested too deeply.
        """
        if not isinstance(schema, dict):
            return {"not": {}} if schema is False else {}

        def convert(part: Schema) -> Schema:
            return self._converted(part, base, _LEFT_OUT[direction])

        edited: Converted = map_types(edit_schemas(_modernized(schema), convert))
        return edited

    def target(self, schema: Schema, *, direction: Direction = "request") -> Schema:
        """Return what a converted schema stands for: the definition where it is a mere reference."""
        seen = set()
        while isinstance(schema.get("$ref"), str) and schema["$ref"] not in seen:
            seen.add(schema["$ref"])
            annotations = {key: schema[key] for key in _ANNOTATIONS if key in schema}
            if schema.keys() - annotations.keys() != {"$ref"}:
                break
            schema = {**self._definition(schema["$ref"], direction).schema, **annotations}
        return schema

    def with_definitions(
        self, schema: Converted, *, direction: Direction = "request", max_size: int | None = None
    ) -> Converted | None:
        """Return a converted schema with the definitions that it uses, or None where that is too large.

        Args:
            schema: Its references lead to `#/$defs/`.
            direction: What it describes.
            max_size: The most characters of the JSON text, about; None has no limit.
        """
        found: dict[str, FrozenDict] = {}
        size = 0 if max_size is None else len(json.dumps(schema))
        waiting = _references(schema)
        while waiting:
            definition = self._definition(waiting.pop(0), direction)
            if definition.name in found:
                continue
            found[definition.name] = definition.schema
            size += definition.size
            if max_size is not None and size > max_size:
                return None
            waiting.extend(definition.uses)
        if max_size is not None and size > max_size:
            return None
        return {**schema, "$defs": found} if found else schema

    def _definition(self, reference: str, direction: Direction) -> _Definition:
        name = reference.rpartition("/")[2]
        known = self._definitions.get((name, direction))
        if known is None:
            target = self._targets[name]
            schema = self.read(target.value, base=target.base, direction=direction)
            known = _Definition(
                name=name,
                schema=freeze(schema, json_only=True),
                uses=tuple(_references(schema)),
                size=len(json.dumps(schema)),
            )
            self._definitions[name, direction] = known
        return known

    def _name(self, target: Target) -> str:
        if target.key not in self._names:
            last = target.key.removesuffix("#").rpartition("/")[2]
            base = _OUTSIDE_NAMES.sub("_", last) or "schema"
            name, number = base, 1
            while name in self._targets:
                number += 1
                name = f"{base}_{number}"
            self._names[target.key], self._targets[name] = name, target
        return self._names[target.key]

    def _converted(self, part: Schema, base: str, left_out: str) -> Schema:
        """Return one schema converted, whose inner schemas are converted already."""
        kept = {key: value for key, value in part.items() if key in _WELL_FORMED and _WELL_FORMED[key](value)}
        if "$ref" in part:
            kept = self._with_reference(part["$ref"], kept, base)
        if "properties" in kept:
            kept = _without_properties(kept, left_out)
        if "example" in part and "examples" not in kept:
            kept["examples"] = [part["example"]]
        kept = _with_exclusive_limits(part, kept)
        return _nullable(kept) if part.get("nullable") is True else kept

    def _with_reference(self, reference: object, kept: Converted, base: str) -> Converted:
        if self._document.ignores_beside_references:
            kept = {key: kept[key] for key in _ANNOTATIONS if key in kept}
        target = self._document.find(reference, base=base)
        if target is None or not isinstance(target.value, dict):
            return kept
        return {**kept, "$ref": f"#/$defs/{self._name(target)}"}


def _references(schema: Any) -> list[str]:
    """Return the references in a converted schema, each once, in order."""
    found: dict[str, None] = {}

    def note(part: Schema) -> Schema:
        if "$ref" in part:
            found[part["$ref"]] = None
        return part

    edit_schemas(schema, note)
    return list(found)


def _modernized(schema: Converted) -> Converted:
    """Return the schema with what is often written otherwise as it should be."""

    def mend(part: Schema) -> Schema:
        changes: Converted = {}
        items, properties, required = part.get("items"), part.get("properties"), part.get("required")
        if isinstance(items, list):  # older dialects
            changes = {"prefixItems": items, "items": part.get("additionalItems", True)}
        if isinstance(properties, dict) and None in properties.values():  # `name:` in YAML
            changes["properties"] = {name: {} if v is None else v for name, v in properties.items()}
        if isinstance(required, list):
            changes["required"] = list(dict.fromkeys(name for name in required if isinstance(name, str)))
        return {**part, **changes} if changes else part

    edited: Converted = edit_schemas(schema, mend)
    return edited


def _without_properties(schema: Converted, left_out: str) -> Converted:
    gone = {n for n, v in schema["properties"].items() if isinstance(v, dict) and v.get(left_out) is True}
    if not gone:
        return schema
    properties = {name: value for name, value in schema["properties"].items() if name not in gone}
    required = [name for name in schema.get("required", ()) if name not in gone]
    rest = {key: value for key, value in schema.items() if key != "required"}
    return {**rest, "properties": properties, **({"required": required} if required else {})}


def _with_exclusive_limits(part: Schema, kept: Converted) -> Converted:
    """Write `minimum: 1, exclusiveMinimum: true` as `exclusiveMinimum: 1`."""
    for limit, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        if part.get(exclusive) is True and limit in kept:
            kept = {**kept, exclusive: kept[limit]}
            del kept[limit]
    return kept


def _nullable(schema: Converted) -> Converted:
    """Return a schema that allows null as well."""
    if "enum" in schema and None not in schema["enum"]:
        schema = {**schema, "enum": [*schema["enum"], None]}
    kind = schema.get("type")
    if isinstance(kind, str):
        return {**schema, "type": [kind, "null"]}
    if isinstance(kind, list):
        return schema if "null" in kind else {**schema, "type": [*kind, "null"]}
    if schema.keys() <= set(_ANNOTATIONS) | {"enum"}:
        return schema
    hoisted = {key: schema[key] for key in _ANNOTATIONS if key in schema}
    rest = {key: value for key, value in schema.items() if key not in hoisted}
    branches = rest["anyOf"] if rest.keys() == {"anyOf"} else [rest]
    return {**hoisted, "anyOf": [*branches, {"type": "null"}]}


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _is_number(value: Any) -> bool:
    if isinstance(value, bool):
        return False
    return isinstance(value, int) or (isinstance(value, float) and math.isfinite(value))


def _is_positive(value: Any) -> bool:
    return _is_number(value) and value > 0


def _is_count(value: Any) -> bool:
    return _is_number(value) and value >= 0 and value % 1 == 0


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _is_names(value: Any) -> bool:
    return _is_list(value) and all(map(_is_text, value)) and len(set(value)) == len(value)


def _is_schema(value: Any) -> bool:
    return isinstance(value, dict | bool)


def _are_schemas(value: Any) -> bool:
    return _is_list(value) and bool(value) and all(map(_is_schema, value))


def _is_schema_map(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_is_schema, value.values()))


def _is_names_map(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_is_names, value.values()))


def _is_kind(value: Any) -> bool:
    return _is_text(value) or (_is_names(value) and bool(value))


def _is_any(value: Any) -> bool:
    return True


def _each(keywords: Iterable[str], check: Callable[[Any], bool]) -> Mapping[str, Callable[[Any], bool]]:
    return dict.fromkeys(keywords, check)


_WELL_FORMED: Mapping[str, Callable[[Any], bool]] = {
    **_each(("title", "description", "format", "pattern", "contentEncoding", "contentMediaType"), _is_text),
    **_each(("deprecated", "readOnly", "writeOnly", "uniqueItems"), _is_flag),
    **_each(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _is_number),
    **_each(("minLength", "maxLength", "minItems", "maxItems", "minContains", "maxContains"), _is_count),
    **_each(("minProperties", "maxProperties"), _is_count),
    **_each(("enum", "examples"), _is_list),
    **_each(("default", "const"), _is_any),
    **_each(("items", "additionalProperties", "contains", "propertyNames", "not"), _is_schema),
    **_each(("if", "then", "else", "contentSchema"), _is_schema),
    **_each(("unevaluatedProperties", "unevaluatedItems"), _is_schema),
    **_each(("allOf", "anyOf", "oneOf", "prefixItems"), _are_schemas),
    **_each(("properties", "patternProperties", "dependentSchemas"), _is_schema_map),
    "multipleOf": _is_positive,
    "required": _is_names,
    "dependentRequired": _is_names_map,
    "type": _is_kind,
}
"""What is kept of a schema, and when. Neither models nor validators know what else OpenAPI has: `xml`,
`discriminator`, `externalDocs`, `x-…`; and half of the documents have something in a form that is none."""
