"""Where schemas stand inside a JSON Schema, and the one walk over them.

Every reader of JSON Schemas uses these functions, so all of them agree on what is a schema and what is data.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeGuard
from urllib.parse import quote, unquote

from tool_search_processor.wire.plain import items_of

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
"""Keywords whose schemas apply to nothing unless a reference leads to them."""

MAP_KEYWORDS = DEFINITION_KEYWORDS | {"dependencies", "dependentSchemas", "patternProperties", "properties"}
"""Keywords whose value maps names to schemas."""

INNER_KEYWORDS = SINGLE_KEYWORDS | LIST_KEYWORDS | MAP_KEYWORDS
"""Keywords in whose value schemas stand."""

BRANCH_KEYWORDS = ("allOf", "anyOf", "oneOf")
"""Keywords whose list of schemas applies to the value that the schema around them applies to."""

SAME_VALUE_KEYWORDS = frozenset(
    {*BRANCH_KEYWORDS, "dependencies", "dependentSchemas", "else", "if", "not", "then"}
)
"""All keywords whose schemas apply to the value that the schema around them applies to."""


def subschemas(schema: Schema) -> Iterator[tuple[str, Schema]]:
    """Yield each schema object that stands directly in a schema, with its keyword."""
    for key, value in schema.items():
        if key not in INNER_KEYWORDS:
            continue
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
        if not INNER_KEYWORDS.isdisjoint(part):
            waiting.extend([inner for _, inner in subschemas(part)][::-1])


def edit_schemas(schema: Any, edit: Edit, *, first: Edit | None = None) -> Any:
    """Return the schema with `edit` applied to it and to every schema in it, innermost first.

    Only places where a schema stands are visited: never the data in `enum`, `const`, `default` or
    `examples`, and never a property for its mere name. Where nothing changes the same object is returned.

    Args:
        schema: What to edit; anything but a dict is returned unchanged.
        edit: Gets each schema after the schemas inside it were edited.
        first: Gets each schema as it stands in the original, before the schemas inside it are visited.
    """

    def visit(_: str, part: Any) -> Any:
        if not isinstance(part, dict):
            return part
        if first is not None:
            part = first(part)
        return edit(part if INNER_KEYWORDS.isdisjoint(part) else with_inner(part, visit))

    return visit("", schema)


def with_inner(schema: Schema, change: Callable[[str, Any], Any]) -> Schema:
    """Return the schema with each value that stands directly in the place of a schema replaced.

    Where nothing changes the same object is returned.

    Args:
        schema: What to edit; the schemas deeper inside are not visited.
        change: Gets the keyword and the value, which is a boolean or malformed where it is not a dict.
    """
    changes: dict[str, Any] = {}
    for key, value in schema.items():
        if key not in INNER_KEYWORDS:
            continue
        if isinstance(value, dict) and key in MAP_KEYWORDS:
            new = {name: new for name, inner in value.items() if (new := change(key, inner)) is not inner}
            edited: Any = {**value, **new} if new else value
        elif isinstance(value, list) and (key in LIST_KEYWORDS or key == "items"):
            items = [change(key, inner) for inner in value]
            edited = value if all(map(operator.is_, items, value)) else items
        else:
            edited = change(key, value) if key in SINGLE_KEYWORDS else value
        if edited is not value:
            changes[key] = edited
    return {**schema, **changes} if changes else schema


def branches(schema: Schema, *keywords: str) -> Iterator[Any]:
    """Yield the schemas in the `allOf`, `anyOf` and `oneOf` of a schema, or in these keywords only."""
    for key in keywords or BRANCH_KEYWORDS:
        yield from items_of(schema.get(key))


def is_pointer(reference: object) -> TypeGuard[str]:
    """Return True if a reference is a JSON pointer into its own document, such as `#/$defs/Item`."""
    return isinstance(reference, str) and (reference == "#" or reference.startswith("#/"))


def pointer_parts(pointer: str) -> list[str]:
    """Return the keys that a pointer leads through, such as `["$defs", "Item"]`."""
    return [unquote(part).replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]


def pointer_to(*parts: str) -> str:
    """Return the pointer that leads through these keys."""
    escaped = (quote(part.replace("~", "~0").replace("/", "~1"), safe="~$ ") for part in parts)
    return "#/" + "/".join(escaped)


def resolve_pointer(root: Any, pointer: object) -> Any:
    """Return what a local reference such as `#/$defs/Item` points to, or None."""
    way = passed_by(root, pointer)
    return way[-1] if way else None


def passed_by(root: Any, pointer: object) -> list[Any]:
    """Return what a pointer leads through, from the root to its target; nothing if it leads nowhere."""
    if not is_pointer(pointer):
        return []
    way = [root]
    for key in pointer_parts(pointer):
        target = way[-1]
        if isinstance(target, Mapping) and key in target:
            way.append(target[key])
        elif isinstance(target, list) and key.isdecimal() and int(key) < len(target):
            way.append(target[int(key)])
        else:
            return []
    return way


class References:
    """The places in one schema that its references lead to."""

    def __init__(self, root: Schema) -> None:
        """Look references up in this schema."""
        self._root = root

    def way(self, reference: object) -> list[Any]:
        """Return the values that a reference leads through, the target last; none if it leads nowhere."""
        if not isinstance(reference, str):
            return []
        return passed_by(self._root, reference) or self._anchors.get(reference, [])

    def target(self, reference: object) -> Any:
        """Return the target of a reference, which is a pointer or an anchor, or None."""
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
