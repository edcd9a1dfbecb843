"""Fields that a schema demands although it gives them a default: the server fills them in.

Generators of schemas write such fields where they describe a value after it was read (zod's `io: "output"`).
"""

from __future__ import annotations

from tool_search_processor.tools.loosening import REFERENCES, leave_out
from tool_search_processor.tools.schema_walk import References, Schema, schemas_in
from tool_search_processor.wire.plain import items_of, mapping_of


def without_defaulted(schema: Schema) -> Schema:
    """Return the schema demanding no field that has a default; it accepts all that it accepted before."""
    references = References(schema)

    def defaulted(part: Schema) -> set[str]:
        properties = mapping_of(part.get("properties"))
        named = (name for name in items_of(part.get("required")) if isinstance(name, str))
        return {name for name in named if _has_default(properties.get(name), references)}

    def edit(part: Schema) -> Schema:
        gone = defaulted(part)
        return {**part, "required": [n for n in part["required"] if n not in gone]} if gone else part

    losing = [part for part in schemas_in(schema) if defaulted(part)]
    return leave_out(schema, edit, losing=losing) if losing else schema


def _has_default(part: object, references: References) -> bool:
    if not isinstance(part, dict):
        return False
    targets = (references.target(part[keyword]) for keyword in REFERENCES & part.keys())
    return any(isinstance(one, dict) and "default" in one for one in (part, *targets))
