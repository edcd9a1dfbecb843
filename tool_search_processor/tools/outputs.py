"""Schemas of what tools return: of a function's return annotation, and as the protocol lists them."""

from __future__ import annotations

import typing
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from typing import Any

from tool_search_processor.tools.frozen import FrozenDict, freeze
from tool_search_processor.tools.generated import schema_generator, without_titles
from tool_search_processor.tools.schema_walk import resolve_pointer
from tool_search_processor.tools.schemas import wrapped_root

RESULT = "result"
"""The property that holds a value that is not an object."""

_WRAPPED = "x-fastmcp-wrap-result"
"""By this keyword FastMCP's client knows that the value is inside."""

_READ_TO_LISTS = (Iterator, AsyncIterator, AsyncGenerator)
_CONTENT_MODULES = ("mcp", "mcp_types", "fastmcp")
"""Packages whose types are sent as they are, next to the data or instead of it."""


def output_schema_of(annotation: Any) -> FrozenDict | None:
    """Return the JSON Schema of a return annotation; None if it says nothing about the data.

    That is a missing annotation, an annotation without a schema, and an annotation that the protocol's
    content fits, such as a list of anything.
    """
    from pydantic import TypeAdapter

    if annotation is None or _holds_content(annotation):
        return None
    if typing.get_origin(annotation) in _READ_TO_LISTS:
        annotation = list[typing.get_args(annotation)[0]]  # type: ignore[misc]  # at run time a type
    try:
        schema = TypeAdapter(annotation).json_schema(
            mode="serialization", schema_generator=schema_generator()
        )
    except Exception:  # noqa: BLE001 - a type's own code; a tool works without
        return None
    if not schema or schema.get("items", True) == {} or {} in schema.get("anyOf", ()):
        return None
    frozen: FrozenDict = freeze(without_titles(schema))
    return frozen


def is_object_schema(schema: Mapping[str, Any]) -> bool:
    """Return True if a schema is that of an object and of nothing else, itself or by its reference."""
    target: Any = schema
    for _ in range(10):  # a reference may lead to another, or to itself
        if not isinstance(target, Mapping):
            return False
        if "type" in target:
            return bool(target["type"] == "object")
        if "$ref" not in target:
            return "properties" in target
        target = resolve_pointer(schema, target["$ref"])
    return False


def served_output_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return an output schema as the protocol lists it, which is always of an object.

    The schema of anything else becomes that of an object's property `result`.
    """
    if is_object_schema(schema):
        return {"type": "object", **schema}
    return {**wrapped_root(schema, RESULT), _WRAPPED: True}


def _holds_content(annotation: Any) -> bool:
    """Return True if a type is, or has in it, one of the protocol's own."""
    package = str(getattr(annotation, "__module__", "")).partition(".")[0]
    return package in _CONTENT_MODULES or any(map(_holds_content, typing.get_args(annotation)))
