"""Local references of a JSON Schema, kept correct when their targets move."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tool_search_processor.tools.schema_walk import (
    DEFINITION_KEYWORDS,
    SAME_VALUE_KEYWORDS,
    Schema,
    edit_schemas,
    is_pointer,
    pointer_parts,
    pointer_to,
    resolve_pointer,
    schemas_in,
)


def relocate_refs(
    rewritten: dict[str, Any], original: Schema, *, names: Mapping[str, str], hidden: frozenset[str]
) -> dict[str, Any]:
    """Return the rewritten schema with references that lead where they led in the original.

    A reference to a renamed argument follows the name. A reference to the root, to a branch of it or to a
    hidden argument gets a copy of the original target in `$defs`: it is used for a nested object, whose
    names do not change. Definitions that are no longer used are dropped.

    Args:
        rewritten: The changed schema; its references are still those of the original.
        original: The schema as it was.
        names: New names of arguments by their old ones.
        hidden: Arguments that the rewritten schema does not hold.
    """
    relocation = _Relocation(original, names, hidden)
    result: dict[str, Any] = dict(edit_schemas(rewritten, relocation.edit))
    moved = {name: edit_schemas(target, relocation.edit) for name, target in relocation.targets()}
    if moved:
        result["$defs"] = {**result.get("$defs", {}), **moved}
    return _without(result, _used_definitions(original) - _used_definitions(result))


@dataclass(frozen=True, slots=True)
class _Relocation:
    """Changes references, and collects the targets that need a new place."""

    original: Schema
    names: Mapping[str, str]
    hidden: frozenset[str]
    places: dict[str, str] = field(default_factory=dict)
    """The name in `$defs` of each target, by the pointer to it."""

    def edit(self, schema: Schema) -> Schema:
        """Return a schema with its own reference changed."""
        reference = schema.get("$ref")
        moved = self._moved(reference) if is_pointer(reference) else reference
        return schema if moved == reference else {**schema, "$ref": moved}

    def targets(self) -> Iterator[tuple[str, Any]]:
        """Yield name and schema of each definition to add, including those found along the way."""
        done: set[str] = set()
        while later := [pointer for pointer in self.places if pointer not in done]:
            for pointer in later:
                target = resolve_pointer(self.original, pointer)
                if target is self.original:
                    target = {
                        k: v for k, v in target.items() if k not in (*DEFINITION_KEYWORDS, "$schema", "$id")
                    }
                yield self.places[pointer], target
            done.update(later)

    def _moved(self, reference: str) -> str:
        tokens = pointer_parts(reference)
        if not tokens or tokens[0] in SAME_VALUE_KEYWORDS:
            return self._place(reference)
        if tokens[0] != "properties" or len(tokens) == 1:
            return reference
        if tokens[1] in self.hidden:
            return self._place(reference)
        if tokens[1] not in self.names:
            return reference
        return pointer_to("properties", self.names[tokens[1]], *tokens[2:])

    def _place(self, pointer: str) -> str:
        if resolve_pointer(self.original, pointer) is None:
            return pointer
        if pointer not in self.places:
            taken = {*self.places.values(), *self.original.get("$defs", ())}
            number = len(self.places) + 1
            while f"Shared{number}" in taken:
                number += 1
            self.places[pointer] = f"Shared{number}"
        return f"#/$defs/{self.places[pointer]}"


def _used_definitions(schema: Schema) -> set[tuple[str, str]]:
    """Return keyword and name of each definition that is reached from outside of the definitions."""
    used: set[tuple[str, str]] = set()
    waiting: list[Any] = [{key: value for key, value in schema.items() if key not in DEFINITION_KEYWORDS}]

    while waiting:
        for part in schemas_in(waiting.pop()):
            reference = part.get("$ref")
            tokens = pointer_parts(reference) if is_pointer(reference) else []
            if len(tokens) > 1 and tokens[0] in DEFINITION_KEYWORDS and (tokens[0], tokens[1]) not in used:
                used.add((tokens[0], tokens[1]))
                waiting.append(resolve_pointer(schema, pointer_to(tokens[0], tokens[1])))
    return used


def _without(schema: dict[str, Any], unused: set[tuple[str, str]]) -> dict[str, Any]:
    """Return the schema without these definitions, and without a keyword that this empties."""
    result = dict(schema)
    for keyword in {keyword for keyword, _ in unused} & schema.keys():
        kept = {name: value for name, value in schema[keyword].items() if (keyword, name) not in unused}
        result[keyword] = kept
        if not kept:
            del result[keyword]
    return result
