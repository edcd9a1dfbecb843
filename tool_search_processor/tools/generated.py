"""JSON Schemas that pydantic makes of Python types."""

from __future__ import annotations

import functools
from typing import Any


@functools.cache
def schema_generator() -> type[Any]:
    """Return the class by which pydantic makes schemas here: without titles, and without warnings."""
    from pydantic.json_schema import GenerateJsonSchema, JsonSchemaWarningKind

    class Generator(GenerateJsonSchema):
        ignored_warning_kinds: set[JsonSchemaWarningKind] = {  # noqa: RUF012 - as the base declares it
            "skipped-choice",
            "non-serializable-default",
        }

        def field_title_should_be_set(self, schema: Any) -> bool:
            return False

        def dataclass_schema(self, schema: Any) -> dict[str, Any]:
            """Return a dataclass's schema, closed to other fields, as pydantic makes it from 2.14 on."""
            made = super().dataclass_schema(schema)
            if schema.get("config", {}).get("extra_fields_behavior") == "forbid":
                made.setdefault("additionalProperties", False)
            return made

    return Generator


def without_titles(schema: dict[str, Any]) -> dict[str, Any]:
    """Drop the titles that only repeat a class name; titles that somebody wrote stay."""
    definitions = {
        key: {k: v for k, v in value.items() if not (k == "title" and key.endswith(str(v)))}
        for key, value in schema.get("$defs", {}).items()
    }
    root = {key: value for key, value in schema.items() if key not in ("title", "$defs")}
    return {**root, "$defs": definitions} if definitions else root
