"""Schemas of an OpenAPI document as JSON Schema 2020-12, with the definitions that they use."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tool_search_processor.providers.openapi import merging, subtypes
from tool_search_processor.providers.openapi.documents import OpenAPIDocument, Target
from tool_search_processor.providers.openapi.one_way import Direction, Followed, OneWay
from tool_search_processor.tools.dialects import (
    ANNOTATIONS,
    WELL_FORMED,
    Converted,
    modern,
    nullable,
    with_exclusive_limits,
)
from tool_search_processor.tools.frozen import FrozenDict, freeze
from tool_search_processor.tools.loosening import leave_out
from tool_search_processor.tools.schema_walk import Schema, edit_schemas, schemas_in
from tool_search_processor.tools.schemas import loses_check, with_json_types
from tool_search_processor.wire.plain import mapping_of

_OUTSIDE_NAMES = re.compile(r"[^A-Za-z0-9_-]+")
_DEFINITIONS = "#/$defs/"
_CONDITIONS = frozenset({"not", "if", "contains"})
_ONE_AND_ANY = frozenset({"oneOf", "anyOf"})
"""Beside an `anyOf`, a `oneOf` stays what it is."""
_MAX_WITH_KINDS = 20_000
"""Characters of a schema's definitions; if there are more, the kinds of its objects are left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Source:
    """The schema that a definition is made from."""

    target: Target
    is_part: bool
    """Whether it is part of another object, which has further properties: then it refuses none, and is not
    one of its own kinds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Definition:
    """A schema that others refer to."""

    name: str
    schema: FrozenDict
    uses: tuple[str, ...]
    """Its own references to definitions."""
    size: int
    """Characters of its JSON text."""
    kinds: tuple[str, ...] = ()
    """References to the kinds of object that it stands for."""


class SchemaReader:
    """Converts schemas, each definition once however many operations use it."""

    def __init__(self, document: OpenAPIDocument) -> None:
        """Look references up in `document`."""
        self.document = document
        self._subtypes = subtypes.Subtypes(document)
        self._names: dict[tuple[str, bool], str] = {}
        self._sources: dict[str, _Source] = {}
        self._definitions: dict[tuple[str, Direction], _Definition] = {}
        self._reading: set[tuple[str, Direction]] = set()
        self._closed = merging.ClosedObjects(document)
        self._one_way: dict[Direction, OneWay] = {
            direction: OneWay(direction, self._followed) for direction in ("request", "response")
        }

    def read(self, schema: object, *, base: str, direction: Direction = "request") -> Converted:
        """Return a schema converted; its references lead to `#/$defs/`, which `with_definitions` adds.

        Args:
            schema: As written in the document.
            base: The URI that its references are relative to.
            direction: What it describes.

        Raises:
            InvalidToolError: If a reference leads out of the document.
            RecursionError: If it is nested too deeply.
        """
        if not isinstance(schema, dict):
            return {"not": {}} if schema is False else {}
        has_one_way = has_conditions = False

        def convert(part: Schema) -> Schema:
            nonlocal has_one_way, has_conditions
            is_condition = not _CONDITIONS.isdisjoint(part) or part.keys() >= _ONE_AND_ANY
            has_conditions = has_conditions or is_condition
            converted = self._converted(modern(with_json_types(part)), base, direction)
            has_one_way = has_one_way or self._one_way[direction].concerns(converted)
            return converted

        edited: Converted = edit_schemas(schema, convert)
        if has_conditions:
            losing = [part for part in schemas_in(schema) if self._loses(part, base, direction)]
            edited = {**leave_out(schema, convert, losing=losing)} if losing else edited
        return self._one_way[direction].removed(edited) if has_one_way else edited

    def target(self, schema: Schema, *, direction: Direction = "request") -> Schema:
        """Return the definition that a converted schema refers to, or the schema itself if it says more."""
        seen = set()
        while isinstance(schema.get("$ref"), str) and schema["$ref"] not in seen:
            seen.add(schema["$ref"])
            annotations = {key: schema[key] for key in ANNOTATIONS if key in schema}
            if schema.keys() - annotations.keys() != {"$ref"}:
                break
            schema = {**self._definition(schema["$ref"], direction).schema, **annotations}
        return schema

    def fields(self, schema: Schema) -> merging.Fields | None:
        """Return the fields of a request's object with its `allOf` merged; None if it says more than that."""

        def resolve(part: Schema) -> merging.Resolved:
            whole = self._definition(part["$ref"], "request") if part.keys() == {"$ref"} else None
            if whole is None or not whole.kinds or not self._shows_kinds(part):
                return merging.Resolved(schema=self.target(part))
            return merging.Resolved(
                schema=self._as_part(part, "request"),
                kinds=[{"$ref": kind} for kind in whole.kinds],
                values=whole.schema["properties"],
            )

        return merging.Merger(resolve).fields(schema)

    def _shows_kinds(self, schema: Schema) -> bool:
        used = self._used(schema, "request", max_size=None) or {}
        return any(definition.kinds for definition in used.values())

    def with_definitions(
        self, schema: Converted, *, direction: Direction = "request", max_size: int | None = None
    ) -> Converted | None:
        """Return a converted schema with the definitions that it uses, or None if that is too large.

        Args:
            schema: Its references lead to `#/$defs/`.
            direction: What it describes.
            max_size: The most characters of the JSON text, about; None has no limit.
        """
        found = self._used(schema, direction, max_size=max_size)
        if found is None:
            return None
        definitions = {name: definition.schema for name, definition in found.items()}
        return {**schema, "$defs": definitions} if definitions else schema

    def _used(
        self, schema: Schema, direction: Direction, *, max_size: int | None, with_kinds: bool = True
    ) -> dict[str, _Definition] | None:
        """Return the definitions that a schema uses, or None if they are too large."""
        found: dict[str, _Definition] = {}
        has_kinds = False
        size = 0 if max_size is None else len(json.dumps(schema))
        waiting = _references(schema)
        while waiting:
            definition = self._definition(waiting.pop(0), direction)
            if definition.name in found:
                continue
            if definition.kinds and not with_kinds:
                name = definition.name
                definition = _described(name, self._as_part({"$ref": _DEFINITIONS + name}, direction))
            found[definition.name] = definition
            size += definition.size
            has_kinds = has_kinds or bool(definition.kinds)
            if has_kinds and size > _MAX_WITH_KINDS:
                return self._used(schema, direction, max_size=max_size, with_kinds=False)
            if max_size is not None and size > max_size:
                return None
            waiting.extend(definition.uses)
        return None if max_size is not None and size > max_size else found

    def _definition(self, reference: str, direction: Direction) -> _Definition:
        name = reference.removeprefix(_DEFINITIONS)
        known = self._definitions.get((name, direction))
        if known is None:
            self._reading.add((name, direction))
            try:
                known = self._read_definition(name, direction)
            finally:
                self._reading.discard((name, direction))
            self._definitions[name, direction] = known
        return known

    def _read_definition(self, name: str, direction: Direction) -> _Definition:
        source = self._sources[name]
        kinds = self._subtypes.of(source.target) if direction == "request" and not source.is_part else {}
        if kinds:
            references = [self._reference(target) for target in kinds.values()]
            branches = [*references, self._reference(source.target, is_part=True)]
            values = subtypes.kind_values(source.target.value, list(kinds))
            return _described(name, {"anyOf": branches, "properties": values}, kinds=references)
        schema: Schema = self.read(source.target.value, base=source.target.base, direction=direction)
        if source.is_part:
            left_out = ("anyOf",) if subtypes.has_discriminator(source.target.value) else ()
            schema = {key: value for key, value in merging.opened(schema).items() if key not in left_out}
        return _described(name, self._below_parents(schema, source.target, direction))

    def _below_parents(self, schema: Schema, child: Target, direction: Direction) -> Schema:
        """Return a kind of another object that refers to that object's properties, not to its other kinds."""

        def below(part: Any) -> Any:
            source = self._sources.get(_name_in(part))
            if source is None or not subtypes.has_discriminator(source.target.value):
                return part
            is_split = subtypes.lists_kinds(source.target.value) or (direction == "request")
            is_below = is_split and self._subtypes.is_below(child, source.target)
            return self._as_part(part, direction) if is_below else part

        if "allOf" not in schema:
            return schema
        return {**schema, "allOf": [below(part) for part in schema["allOf"]]}

    def _reference(self, target: Target, *, is_part: bool = False) -> Converted:
        key = (target.key, is_part)
        if key not in self._names:
            last = target.key.removesuffix("#").rpartition("/")[2]
            base = (_OUTSIDE_NAMES.sub("_", last) or "schema") + ("_base" if is_part else "")
            name, number = base, 1
            while name in self._sources:
                number += 1
                name = f"{base}_{number}"
            self._names[key], self._sources[name] = name, _Source(target=target, is_part=is_part)
        return {"$ref": _DEFINITIONS + self._names[key]}

    def _as_part(self, schema: Schema, direction: Direction) -> Schema:
        """Return a reference to the form that a schema has as a part of another object."""
        target = self._sources[_name_in(schema)].target
        if not self._closed.holds(target) and not subtypes.has_discriminator(target.value):
            return schema
        return {**schema, **self._reference(target, is_part=True)}

    def _converted(self, part: Schema, base: str, direction: Direction) -> Schema:
        """Return one schema converted, whose inner schemas are converted already."""
        # Neither models nor validators know OpenAPI's other keywords: `xml`, `discriminator`, `x-…`.
        kept = {key: value for key, value in part.items() if key in WELL_FORMED and WELL_FORMED[key](value)}
        if "$ref" in part:
            kept = self._with_reference(part["$ref"], kept, base)
        if "example" in part and "examples" not in kept:
            kept["examples"] = [part["example"]]
        kept = with_exclusive_limits(part, kept)
        if "oneOf" in kept and "anyOf" not in kept:
            # A discriminator or the API decides which one is meant: most branches fit too much.
            kept["anyOf"] = kept.pop("oneOf")
        if "allOf" in kept:
            kept = self._with_parts(kept, direction)
        # Swagger 2.0 has no keyword for it; its tools write `x-nullable`.
        is_nullable = part.get("nullable") is True or part.get("x-nullable") is True
        return nullable(kept) if is_nullable else kept

    def _loses(self, part: Schema, base: str, direction: Direction) -> bool:
        """Return True if a schema of the document, or one that it refers to, accepts more once converted."""
        waiting, seen = [(part, base)], set()
        while waiting:
            part, base = waiting.pop()
            if self._itself_loses(part, base, direction):
                return True
            target = self.document.find(part["$ref"], base=base) if "$ref" in part else None
            if target is not None and target.key not in seen:
                seen.add(target.key)
                waiting.extend((inner, target.base) for inner in schemas_in(target.value))
        return False

    def _itself_loses(self, part: Schema, base: str, direction: Direction) -> bool:
        wrong = [key for key, fits in WELL_FORMED.items() if key in part and not fits(part[key])]
        is_lost = "$ref" in part and not isinstance(self._followed(part, base)[0], dict)
        if loses_check(part, [*wrong, "$ref"] if is_lost else wrong):
            return True
        if "oneOf" in part and "anyOf" not in part:  # becomes `anyOf`
            return True
        return any(self._one_way[direction].names(part, base))

    def _with_reference(self, reference: object, kept: Converted, base: str) -> Converted:
        if self.document.ignores_beside_references:
            kept = {key: kept[key] for key in ANNOTATIONS if key in kept}
        target = self.document.find(reference, base=base)
        if target is None or not isinstance(target.value, dict):
            return kept
        return {**kept, **self._reference(target)}

    def _with_parts(self, schema: Converted, direction: Direction) -> Converted:
        """Return an object of several parts that don't refuse each other's properties.

        `additionalProperties: false` in a part is meant for the whole: read literally, nothing would fit.
        """
        parts = schema["allOf"]
        rest = {key: value for key, value in schema.items() if key != "allOf"}
        said = [part for part in (rest, *parts) if mapping_of(part).keys() - set(ANNOTATIONS)]
        if len(said) < 2 or not any(map(self._closes, said)):
            return schema

        def resolve(part: Schema) -> merging.Resolved | None:
            if "$ref" not in part:
                return merging.Resolved(schema=part)
            part = self._as_part(part, direction)
            is_open = (_name_in(part), direction) in self._reading
            return None if is_open else merging.Resolved(schema=self.target(part, direction=direction))

        fields = merging.Merger(resolve, narrows=True).fields(schema)
        if fields is not None:
            return merging.closed_object(schema, fields)
        opened_parts = [
            self._as_part(part, direction) if _name_in(part) in self._sources else merging.opened(part)
            for part in parts
        ]
        return {**merging.opened(rest), "allOf": opened_parts}

    def _closes(self, part: Schema) -> bool:
        """Return True if a part of a converted object refuses properties that it doesn't name."""
        source = self._sources.get(_name_in(part))
        if merging.is_closed(part) or (source is not None and self._closed.holds(source.target)):
            return True
        return any(isinstance(inner, dict) and self._closes(inner) for inner in part.get("allOf", ()))

    def _followed(self, schema: Schema, base: str | None) -> Followed:
        if base is None:
            source = self._sources.get(_name_in(schema))
            target = None if source is None else source.target
        else:
            target = self.document.find(schema["$ref"], base=base)
        return (None, base) if target is None else (target.value, target.base)


def _described(name: str, schema: Schema, *, kinds: Sequence[Schema] = ()) -> _Definition:
    return _Definition(
        name=name,
        schema=freeze(schema, json_only=True),
        uses=tuple(_references(schema)),
        size=len(json.dumps(schema)),
        kinds=tuple(kind["$ref"] for kind in kinds),
    )


def _name_in(schema: object) -> str:
    """Return the name of the definition that a converted schema refers to, or an empty string."""
    return str(mapping_of(schema).get("$ref", "")).removeprefix(_DEFINITIONS)


def _references(schema: Any) -> list[str]:
    """Return the references in a converted schema, each once, in order."""
    return list(dict.fromkeys(part["$ref"] for part in schemas_in(schema) if "$ref" in part))
