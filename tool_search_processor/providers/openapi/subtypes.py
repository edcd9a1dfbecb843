"""Kinds of an object that a discriminator distinguishes, and that name their parent in `allOf`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from tool_search_processor.errors import InvalidToolError
from tool_search_processor.providers.openapi.documents import OpenAPIDocument, Target
from tool_search_processor.wire.plain import items_of, mapping_of

_MAX_VALUES = 50


class Subtypes:
    """Finds the subtypes of schemas with a discriminator that don't list them in `oneOf` or `anyOf`."""

    def __init__(self, document: OpenAPIDocument) -> None:
        """Look references up in `document`."""
        self._document = document
        self._found: dict[str, Mapping[str, Target]] = {}
        holder = document.root if document.is_swagger else mapping_of(document.root.get("components"))
        self._schemas = mapping_of(holder.get("definitions" if document.is_swagger else "schemas"))
        self._place = "#/definitions/" if document.is_swagger else "#/components/schemas/"

    def of(self, parent: Target) -> Mapping[str, Target]:
        """Return the subtypes of a schema by the value that its discriminator has for each."""
        if not has_discriminator(parent.value):
            return {}
        if parent.key not in self._found:
            self._found[parent.key] = {} if lists_kinds(parent.value) else dict(self._subtypes(parent))
        return self._found[parent.key]

    def is_below(self, child: Target, parent: Target) -> bool:
        """Return True if a schema names another in its `allOf`, directly or through other schemas."""
        return any(found.key == child.key for _, found in self._below(parent.key, set()))

    def _subtypes(self, parent: Target) -> Iterator[tuple[str, Target]]:
        seen = {parent.key}
        mapping = mapping_of(mapping_of(parent.value["discriminator"]).get("mapping"))
        for value, reference in mapping.items():
            # a bare name stands for a schema of the document
            pointer = self._place + _escaped(reference) if reference in self._schemas else reference
            target = self._target(pointer, parent.base)
            if target is not None and target.key not in seen and isinstance(target.value, dict):
                seen.add(target.key)
                yield str(value), target
        for name, target in self._below(parent.key, set()):
            if target.key not in seen:
                seen.add(target.key)
                yield str(target.value.get("x-ms-discriminator-value") or name), target

    def _below(self, key: str, seen: set[str]) -> Iterator[tuple[str, Target]]:
        for name, child in self._children.get(key, {}).items():
            if child.key not in seen:
                seen.add(child.key)
                yield name, child
                yield from self._below(child.key, seen)

    def _target(self, reference: object, base: str) -> Target | None:
        """Return what a reference leads to; None if it can't be followed, which harms only what needs it."""
        try:
            return self._document.find(reference, base=base)
        except InvalidToolError:
            return None

    @cached_property
    def _children(self) -> dict[str, dict[str, Target]]:
        """The schemas of the document by the names that they have, by the keys of those in their `allOf`."""
        found: dict[str, dict[str, Target]] = {}
        base = self._document.base
        for name, schema in self._schemas.items():
            references = [mapping_of(part).get("$ref") for part in items_of(mapping_of(schema).get("allOf"))]
            for reference in filter(None, references):
                parent = self._target(reference, base)
                child = self._target(self._place + _escaped(str(name)), base)
                if parent is not None and child is not None:
                    found.setdefault(parent.key, {})[str(name)] = child
        return found


def has_discriminator(schema: object) -> bool:
    """Return True if a schema has a discriminator, in the form of Swagger 2.0 or of OpenAPI 3."""
    return isinstance(mapping_of(schema).get("discriminator"), str | Mapping)


def lists_kinds(schema: object) -> bool:
    """Return True if a schema lists alternatives itself."""
    return not {"oneOf", "anyOf"}.isdisjoint(mapping_of(schema))


def kind_values(parent: object, values: Sequence[str]) -> Mapping[str, Any]:
    """Return the property that distinguishes the kinds, with its values; nothing if it is not named."""
    given = mapping_of(parent).get("discriminator")
    name = given if isinstance(given, str) else mapping_of(given).get("propertyName")
    return {name: {"examples": list(values[:_MAX_VALUES])}} if isinstance(name, str) else {}


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1").replace("%", "%25")
