"""Where schemas stand inside a JSON Schema, and the one walk over them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import unquote

Schema = Mapping[str, Any]
Edit = Callable[[Schema], Schema]

SINGLE_KEYWORDS = frozenset(
    {
        "additionalItems", "additionalProperties", "contains", "contentSchema", "else", "if", "items", "not",
        "propertyNames", "then", "unevaluatedItems", "unevaluatedProperties",
    }
)  # fmt: skip
"""Keywords whose value is one schema (`items` may also be a list of them)."""

LIST_KEYWORDS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
"""Keywords whose value is a list of schemas."""

DEFINITION_KEYWORDS = frozenset({"$defs", "definitions"})
"""Keywords whose schemas apply to nothing by themselves: a reference has to lead there."""

MAP_KEYWORDS = DEFINITION_KEYWORDS | {"dependencies", "dependentSchemas", "patternProperties", "properties"}
"""Keywords whose value maps names to schemas."""

SAME_VALUE_KEYWORDS = frozenset(
    {"allOf", "anyOf", "dependencies", "dependentSchemas", "else", "if", "not", "oneOf", "then"}
)
"""Keywords whose schemas apply to the very value that the schema around them applies to."""


def subschemas(schema: Schema) -> Iterator[tuple[str, Schema]]:
    """Yield each schema object that stands directly in a schema, with its keyword."""
    for key, value in schema.items():
        if isinstance(value, dict) and key in MAP_KEYWORDS:
            yield from ((key, inner) for inner in value.values() if isinstance(inner, dict))
        elif isinstance(value, dict) and key in SINGLE_KEYWORDS:
            yield key, value
        elif isinstance(value, list) and (key in LIST_KEYWORDS or key == "items"):
            yield from ((key, inner) for inner in value if isinstance(inner, dict))


def schemas_in(schema: Any) -> Iterator[Schema]:
    """Yield the schema and every schema object in it, definitions included."""
    waiting: list[Schema] = [schema] if isinstance(schema, dict) else []
    while waiting:
        part = waiting.pop()
        yield part
        waiting.extend([inner for _, inner in subschemas(part)][::-1])


def edit_schemas(schema: Any, edit: Edit, *, first: Edit | None = None) -> Any:
    """Return the schema with `edit` applied to it and to every schema in it, innermost first.

    Only places where a schema stands are visited: never the data in `enum`, `const`, `default` or
    `examples`, and never a property for its mere name. Where nothing changes the same object is returned.

    Args:
        schema: What to edit; anything but a dict comes back as it is.
        edit: Gets each schema with what is inside of it edited already.
        first: Gets each schema as it stands in the original, before what is inside of it is visited.
    """
    if not isinstance(schema, dict):
        return schema
    if first is not None:
        schema = first(schema)
    changes: dict[str, Any] = {}
    for key, value in schema.items():
        edited = value
        if isinstance(value, dict):
            if key in MAP_KEYWORDS:
                edited = _edit_values(value, edit, first)
            elif key in SINGLE_KEYWORDS:
                edited = edit_schemas(value, edit, first=first)
        elif isinstance(value, list) and (key in LIST_KEYWORDS or key == "items"):
            items = [edit_schemas(item, edit, first=first) for item in value]
            edited = value if all(a is b for a, b in zip(items, value, strict=True)) else items
        if edited is not value:
            changes[key] = edited
    return edit({**schema, **changes} if changes else schema)


def _edit_values(schemas: dict[str, Any], edit: Edit, first: Edit | None) -> dict[str, Any]:
    edited = {name: edit_schemas(value, edit, first=first) for name, value in schemas.items()}
    return schemas if all(edited[name] is value for name, value in schemas.items()) else edited


def resolve_pointer(root: Any, pointer: object) -> Any:
    """Return what a local reference such as `#/$defs/Item` points to, or None."""
    way = passed_by(root, pointer)
    return way[-1] if way else None


def passed_by(root: Any, pointer: object) -> list[Any]:
    """Return what a pointer leads through, from the root to its target; nothing where it leads nowhere."""
    if not isinstance(pointer, str) or not (pointer == "#" or pointer.startswith("#/")):
        return []
    way = [root]
    for part in pointer[1:].split("/")[1:]:
        key = unquote(part).replace("~1", "/").replace("~0", "~")
        target = way[-1]
        if isinstance(target, Mapping) and key in target:
            way.append(target[key])
        elif isinstance(target, list) and key.isdecimal() and int(key) < len(target):
            way.append(target[int(key)])
        else:
            return []
    return way


class References:
    """Follows the references of one schema."""

    def __init__(self, root: Schema) -> None:
        """Take the schema that they lead into."""
        self._root = root

    def way(self, reference: object) -> list[Any]:
        """Return what a reference leads through, the target last; nothing where it leads nowhere."""
        if not isinstance(reference, str):
            return []
        return passed_by(self._root, reference) or self._anchors.get(reference, [])

    def target(self, reference: object) -> Any:
        """Return what a reference leads to, by a pointer or an anchor, or None."""
        way = self.way(reference)
        return way[-1] if way else None

    @functools.cached_property
    def _anchors(self) -> dict[str, list[Any]]:
        found: dict[str, list[Any]] = {}
        waiting: list[tuple[Schema, list[Any]]] = [(self._root, [self._root])]
        while waiting:
            part, way = waiting.pop()
            for key in ("$anchor", "$dynamicAnchor"):
                if isinstance(part.get(key), str):
                    found.setdefault(f"#{part[key]}", way)
            waiting.extend((inner, [*way, part.get(key), inner]) for key, inner in subschemas(part))
        return found
