"""Merges the properties of an object's parts (`allOf`) and kinds into those of one object."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tool_search_processor.providers.openapi.documents import OpenAPIDocument, Target
from tool_search_processor.tools.dialects import ANNOTATIONS, Converted
from tool_search_processor.tools.schema_walk import Schema
from tool_search_processor.wire.plain import items_of

Fields = tuple[dict[str, Any], list[str]]
"""The properties of an object, and the names of those that are required."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """A schema with its reference followed."""

    schema: Schema
    """The schema itself, or a reference to it where it has kinds."""
    kinds: Sequence[Schema] = ()
    """References to its kinds."""
    values: Mapping[str, Schema] = field(default_factory=dict)
    """The property that tells the kinds apart, with its values."""


_SAID = frozenset(
    {"type", "properties", "required", "additionalProperties", "unevaluatedProperties", "allOf", "format"}
) | set(ANNOTATIONS)
"""Keywords that an object to be merged may have: none of them relates properties to each other."""

_TOLD = frozenset({"$ref", "anyOf", "const", "enum", "examples"})
"""Keywords that already say which values a property has."""
_CLOSING = ("additionalProperties", "unevaluatedProperties")
_MAX_KINDS = 20
"""The most kinds whose fields are shown as those of one object: more would hide what belongs together."""


class Merger:
    """Merges an object's parts, each once no matter how often it is referred to."""

    def __init__(self, resolve: Callable[[Schema], Resolved | None], *, narrows: bool = False) -> None:
        """Set how references are followed.

        Args:
            resolve: Returns what a schema stands for; None if that isn't known yet.
            narrows: Whether a property that two parts describe differently must satisfy both; otherwise the
                parts can't be merged.
        """
        self._resolve = resolve
        self._narrows = narrows
        self._seen: set[str] = set()

    def fields(self, schema: Schema) -> Fields | None:
        """Return the fields of an object; None if it says more than its properties."""
        reference = schema.get("$ref")
        if isinstance(reference, str):
            if reference in self._seen:  # a part that is merged already adds nothing
                return {}, []
            self._seen.add(reference)
        resolved = self._resolve(schema)
        if resolved is None:
            return None
        return self._with_kinds(resolved) if resolved.kinds else self._own(resolved.schema)

    def _own(self, schema: Schema) -> Fields | None:
        if not _is_plain_object(schema):
            return None
        properties, required = dict(schema.get("properties", {})), list(schema.get("required", ()))
        for part in schema.get("allOf", ()):
            inner = self.fields(part) if isinstance(part, Mapping) else None
            if inner is None:
                return None
            for name, value in inner[0].items():
                known = properties.get(name, value)
                if known != value and not self._narrows:
                    return None
                properties[name] = value if known == value else {"allOf": [known, value]}
            required += inner[1]
        return properties, list(dict.fromkeys(required))

    def _with_kinds(self, whole: Resolved) -> Fields | None:
        """Return the fields of an object and those that only its kinds have, which are not required."""
        own = self.fields(whole.schema) if len(whole.kinds) <= _MAX_KINDS else None
        if own is None:
            return None
        properties = own[0]
        for kind in whole.kinds:
            inner = self.fields(kind)
            if inner is None:
                return None
            for name, value in inner[0].items():
                known = properties.get(name, value)
                properties[name] = value if known == value else _either(known, value)
        for name, told in whole.values.items():
            value = properties.get(name)
            if isinstance(value, dict) and _TOLD.isdisjoint(value):
                properties[name] = {**value, **told}
        return properties, own[1]


class ClosedObjects:
    """Knows which schemas of a document refuse unknown properties, themselves or in one of their parts."""

    def __init__(self, document: OpenAPIDocument) -> None:
        """Look references up in `document`."""
        self._document = document
        self._known: dict[str, bool] = {}

    def holds(self, target: Target) -> bool:
        """Return True if a schema refuses properties that it doesn't name."""
        if target.key not in self._known:
            self._known[target.key] = False  # while it is looked at: a circle closes nothing
            self._known[target.key] = self._is_closed(target.value, target.base)
        return self._known[target.key]

    def _is_closed(self, schema: object, base: str) -> bool:
        if not isinstance(schema, dict):
            return False
        target = self._document.find(schema["$ref"], base=base) if "$ref" in schema else None
        if is_closed(schema) or (target is not None and self.holds(target)):
            return True
        return any(self._is_closed(part, base) for part in items_of(schema.get("allOf")))


def is_closed(schema: object) -> bool:
    """Return True if a schema itself refuses properties that it doesn't name."""
    return isinstance(schema, Mapping) and any(schema.get(key) is False for key in _CLOSING)


def opened(schema: Any) -> Any:
    """Return a schema that accepts properties that it doesn't name."""
    if not is_closed(schema):
        return schema
    return {key: value for key, value in schema.items() if key not in _CLOSING or value is not False}


def closed_object(schema: Schema, fields: Fields) -> Converted:
    """Return an object with exactly these fields and the schema's title, description and the like."""
    properties, required = fields
    annotations = {key: schema[key] for key in ANNOTATIONS if key in schema}
    needed = [name for name in required if name in properties]
    return {
        **annotations,
        "type": "object",
        "properties": properties,
        **({"required": needed} if needed else {}),
        "additionalProperties": False,
    }


def _is_plain_object(schema: Schema) -> bool:
    kind = schema.get("type", "object")
    is_object = kind == "object" or (isinstance(kind, list) and set(kind) == {"object", "null"})
    return (
        is_object and not schema.keys() - _SAID and all(schema.get(key, False) is False for key in _CLOSING)
    )


def _either(one: Any, other: Any) -> Any:
    branches = list(one["anyOf"]) if isinstance(one, dict) and one.keys() == {"anyOf"} else [one]
    return one if other in branches else {"anyOf": [*branches, other]}
