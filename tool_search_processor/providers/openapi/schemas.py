"""Schemas of an OpenAPI document as JSON Schema 2020-12, with the definitions that they use."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Literal

from tool_search_processor.providers.openapi.documents import Document, Target
from tool_search_processor.tools.dialects import (
    ANNOTATIONS,
    WELL_FORMED,
    Converted,
    modern,
    nullable,
    with_exclusive_limits,
)
from tool_search_processor.tools.frozen import FrozenDict, freeze
from tool_search_processor.tools.schemas import Schema, edit_schemas, map_types

Direction = Literal["request", "response"]
"""What a schema describes: properties that the other direction has alone are left out."""

_OUTSIDE_NAMES = re.compile(r"[^A-Za-z0-9_-]+")
_LEFT_OUT: dict[Direction, str] = {"request": "readOnly", "response": "writeOnly"}


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

        edited: Converted = map_types(edit_schemas(edit_schemas(schema, modern), convert))
        return edited

    def target(self, schema: Schema, *, direction: Direction = "request") -> Schema:
        """Return what a converted schema stands for: the definition where it is a mere reference."""
        seen = set()
        while isinstance(schema.get("$ref"), str) and schema["$ref"] not in seen:
            seen.add(schema["$ref"])
            annotations = {key: schema[key] for key in ANNOTATIONS if key in schema}
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
        # Neither models nor validators know what else OpenAPI has: `xml`, `discriminator`, `x-…`.
        kept = {key: value for key, value in part.items() if key in WELL_FORMED and WELL_FORMED[key](value)}
        if "$ref" in part:
            kept = self._with_reference(part["$ref"], kept, base)
        if "properties" in kept:
            kept = _without_properties(kept, left_out)
        if "example" in part and "examples" not in kept:
            kept["examples"] = [part["example"]]
        kept = with_exclusive_limits(part, kept)
        if "oneOf" in kept and "anyOf" not in kept:
            # Which one is meant, a discriminator tells, or the API: most branches fit more than their own.
            kept["anyOf"] = kept.pop("oneOf")
        # Swagger 2.0 has no word for it: `x-nullable` is what its tools write.
        is_nullable = part.get("nullable") is True or part.get("x-nullable") is True
        return nullable(kept) if is_nullable else kept

    def _with_reference(self, reference: object, kept: Converted, base: str) -> Converted:
        if self._document.ignores_beside_references:
            kept = {key: kept[key] for key in ANNOTATIONS if key in kept}
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


def _without_properties(schema: Converted, left_out: str) -> Converted:
    gone = {n for n, v in schema["properties"].items() if isinstance(v, dict) and v.get(left_out) is True}
    if not gone:
        return schema
    properties = {name: value for name, value in schema["properties"].items() if name not in gone}
    required = [name for name in schema.get("required", ()) if name not in gone]
    rest = {key: value for key, value in schema.items() if key != "required"}
    return {**rest, "properties": properties, **({"required": required} if required else {})}
