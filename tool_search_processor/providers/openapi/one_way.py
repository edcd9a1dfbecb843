"""Properties that only requests or only responses have: `writeOnly` and `readOnly`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal

from tool_search_processor.tools.schema_walk import (
    BRANCH_KEYWORDS,
    SAME_VALUE_KEYWORDS,
    Schema,
    branches,
    edit_schemas,
    with_inner,
)
from tool_search_processor.wire.plain import items_of, mapping_of

Direction = Literal["request", "response"]
"""What a schema describes: properties that only the other direction has are left out."""

Followed = tuple[Any, str | None]
Follow = Callable[[Schema, str | None], Followed]
"""Returns the target of a schema's reference, with its base; the base is None in converted schemas."""

LEFT_OUT: Mapping[Direction, str] = {"request": "readOnly", "response": "writeOnly"}

_MAX_DEPTH = 20
_DEMANDING = SAME_VALUE_KEYWORDS - {"if", "not"}


class OneWay:
    """Finds and removes the properties that one direction doesn't have."""

    def __init__(self, direction: Direction, follow: Follow) -> None:
        """Set what schemas describe, and the function that follows their references."""
        self._flag = LEFT_OUT[direction]
        self._telling = frozenset({self._flag, "$ref", *BRANCH_KEYWORDS})
        self._combining = frozenset(BRANCH_KEYWORDS)
        self._follow = follow
        self._behind: dict[str, bool] = {}

    def names(self, schema: object, base: str | None, *, depth: int = 0) -> Iterator[str]:
        """Yield the names that are left out of an object, those in its combinators included."""
        if not isinstance(schema, dict) or depth > _MAX_DEPTH:
            return
        if "$ref" in schema:
            yield from self.names(*self._follow(schema, base), depth=depth + 1)
        for name, value in mapping_of(schema.get("properties")).items():
            if self._is_marked(value, base):
                yield name
        for part in branches(schema):
            yield from self.names(part, base, depth=depth + 1)

    def concerns(self, schema: Schema) -> bool:
        """Return True if a converted schema has, or may require, properties of the other direction only."""
        # Each schema of a document is asked: most have nothing to look at.
        for value in schema.get("properties", {}).values():
            if value and self._is_marked(value, None):
                return True
        if self._combining.isdisjoint(schema):
            return False
        references = (part["$ref"] for part in branches(schema) if isinstance(part, dict) and "$ref" in part)
        return any(self._is_behind(reference) for reference in references)

    def removed(self, schema: Any) -> Any:
        """Return a converted schema without such properties; nothing in it requires them."""
        return edit_schemas(edit_schemas(schema, self._without_required), self._without_properties)

    def _is_behind(self, reference: str) -> bool:
        if reference not in self._behind:
            names = self.names({"$ref": reference}, None)
            self._behind[reference] = next(names, None) is not None
        return self._behind[reference]

    def _is_marked(self, value: object, base: str | None, *, depth: int = 0) -> bool:
        if not isinstance(value, dict) or self._telling.isdisjoint(value) or depth > _MAX_DEPTH:
            return False
        if value.get(self._flag) is True:
            return True
        if "$ref" in value and self._is_marked(*self._follow(value, base), depth=depth + 1):
            return True
        if self._combining.isdisjoint(value):
            return False
        if any(self._is_marked(part, base, depth=depth + 1) for part in branches(value, "allOf")):
            return True
        for key in ("anyOf", "oneOf"):
            choices = [choice for choice in items_of(value.get(key)) if choice != {"type": "null"}]
            if choices and all(self._is_marked(choice, base, depth=depth + 1) for choice in choices):
                return True
        return False

    def _without_required(self, schema: Schema) -> Schema:
        gone = set(self.names(schema, None))
        return _requires_not(schema, gone) if gone else schema

    def _without_properties(self, schema: Schema) -> Schema:
        properties = mapping_of(schema.get("properties"))
        kept = {name: value for name, value in properties.items() if not self._is_marked(value, None)}
        return schema if len(kept) == len(properties) else {**schema, "properties": kept}


def _requires_not(schema: Schema, gone: set[str]) -> Schema:
    """Return a schema that requires none of these names, not even in its branches or under a condition.

    What `not` and `if` say of them stays: a request doesn't have them.
    """
    changed = {key: value for key, value in schema.items() if key != "required"}
    if required := _without(schema.get("required"), gone):
        changed["required"] = required
    if "dependentRequired" in schema:
        demanded = {name: _without(names, gone) for name, names in schema["dependentRequired"].items()}
        changed["dependentRequired"] = demanded

    def inner(keyword: str, part: Any) -> Any:
        return _requires_not(part, gone) if isinstance(part, dict) and keyword in _DEMANDING else part

    return with_inner(changed, inner)


def _without(names: Any, gone: set[str]) -> list[Any]:
    return [name for name in items_of(names) if name not in gone]
