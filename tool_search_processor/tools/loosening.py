"""Leaving keywords out of a schema without making it accept less.

A schema that loses a keyword accepts more. Where it stands in `not`, `if`, `oneOf` or `contains`, the schema
around it would then accept less, so the keyword around it is loosened too.
"""

from __future__ import annotations

from collections.abc import Iterable

from tool_search_processor.tools.schema_walk import (
    DEFINITION_KEYWORDS,
    SAME_VALUE_KEYWORDS,
    Edit,
    References,
    Schema,
    branches,
    edit_schemas,
    schemas_in,
    subschemas,
)

REFERENCES = frozenset({"$ref", "$dynamicRef", "$recursiveRef"})
UNEVALUATED = frozenset({"unevaluatedItems", "unevaluatedProperties"})
_CONDITION = frozenset({"if", "then", "else"})


def leave_out(schema: Schema, edit: Edit, *, losing: Iterable[Schema]) -> Schema:
    """Return the schema with `edit` applied to it and to every schema in it, innermost first.

    The result accepts all that the schema accepts.

    Args:
        schema: What to edit.
        edit: Returns a schema that accepts the same or more.
        losing: The schemas that `edit` makes accept more.
    """
    around = ids_around(losing, schema, References(schema))
    edited: Schema = edit_schemas(schema, edit, first=lambda part: loosened(part, around))
    return edited


def ids_around(parts: Iterable[Schema], root: Schema, references: References) -> set[int]:
    """Return the ids of these schemas, and of all schemas that contain or refer to one of them."""
    outer: dict[int, list[int]] = {}
    for part in schemas_in(root):
        targets = [references.target(part[keyword]) for keyword in REFERENCES & part.keys()]
        inner = [inner for key, inner in subschemas(part) if key not in DEFINITION_KEYWORDS]
        for one in (*inner, *targets):
            outer.setdefault(id(one), []).append(id(part))
    found: set[int] = set()
    waiting = [id(part) for part in parts]
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            waiting.extend(outer.get(one, ()))
    return found


def loosened(part: Schema, losing: set[int]) -> Schema:
    """Return a schema without the keywords that would accept less once the schemas in them accept more.

    `oneOf` becomes `anyOf`.

    Args:
        part: The schema.
        losing: The ids of the schemas that accept more, as `ids_around` returns them.
    """
    gone: set[str] = set()
    if id(part.get("not")) in losing:
        gone.add("not")
    if id(part.get("if")) in losing:
        gone |= _CONDITION
    if any(id(branch) in losing for branch in branches(part, "oneOf")):
        gone.add("oneOf")
    if id(part.get("contains")) in losing:
        gone |= {"maxContains"} & part.keys()
    if id(part) in losing and _applies(part, losing):
        gone |= UNEVALUATED & part.keys()
    if not gone:
        return part
    rest = {key: value for key, value in part.items() if key not in gone}
    if "oneOf" not in gone:
        return rest
    if "anyOf" not in rest:
        return {**rest, "anyOf": part["oneOf"]}
    return {**rest, "allOf": [*branches(rest, "allOf"), {"anyOf": part["oneOf"]}]}


def _applies(part: Schema, losing: set[int]) -> bool:
    """Return True if a schema applies one of these to its own value, which may then evaluate less of it."""
    if not REFERENCES.isdisjoint(part):
        return True
    return any(id(inner) in losing for key, inner in subschemas(part) if key in SAME_VALUE_KEYWORDS)
