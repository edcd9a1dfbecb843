"""Files among the fields of a form, including those in lists, behind references and optional ones."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto
from typing import Any

from tool_search_processor.providers.openapi.document_schemas import SchemaReader
from tool_search_processor.providers.openapi.routes import Encoding
from tool_search_processor.tools.dialects import Converted
from tool_search_processor.tools.schema_walk import Schema, branches
from tool_search_processor.wire.plain import mapping_of

_FILE_TEXT = "Text, or a data: URL for other content."
_WRITTEN = ("text/", "application/x-www-form-urlencoded")
_MAX_DEPTH = 20


class FileKind(Enum):
    """Whether a value is the content of a file."""

    NONE = auto()
    FILE = auto()
    FILE_OR_TEXT = auto()
    """A file in some of its alternatives, a string in others."""


def file_fields(
    reader: SchemaReader, schema: Schema, encodings: Mapping[str, Encoding], *, depth: int = 0
) -> dict[str, FileKind]:
    """Return the properties of a converted object that are files, those in its combinators included."""
    found: dict[str, FileKind] = {}
    schema = mapping_of(reader.target(schema))
    if depth > _MAX_DEPTH:
        return found
    for part in branches(schema, "allOf", "anyOf"):
        found |= file_fields(reader, mapping_of(part), encodings, depth=depth + 1)
    for name, value in mapping_of(schema.get("properties")).items():
        kind = file_kind(reader, value)
        if kind is FileKind.NONE and _is_encoded_as_file(reader, value, encodings.get(name)):
            kind = FileKind.FILE
        if kind is not FileKind.NONE:
            found[name] = kind
    return found


def file_kind(reader: SchemaReader, value: object, *, depth: int = 0) -> FileKind:
    """Return how far a converted schema stands for a file, or for a list of files."""
    if not isinstance(value, dict) or depth > _MAX_DEPTH:
        return FileKind.NONE
    schema = reader.target(value)
    # OpenAPI 3.1 says it with a media type and no encoding.
    media_type = schema.get("contentMediaType")
    if schema.get("format") == "binary" or (
        media_type is not None and "contentEncoding" not in schema and "json" not in media_type
    ):
        return FileKind.FILE
    if "items" in schema:
        return file_kind(reader, schema["items"], depth=depth + 1)
    parts = [file_kind(reader, part, depth=depth + 1) for part in branches(schema, "allOf")]
    choices = [
        file_kind(reader, choice, depth=depth + 1)
        for choice in branches(schema, "anyOf")
        if choice != {"type": "null"}
    ]
    if FileKind.FILE in parts or (choices and set(choices) == {FileKind.FILE}):
        return FileKind.FILE
    return FileKind.FILE_OR_TEXT if {*parts, *choices} - {FileKind.NONE} else FileKind.NONE


def file_schema(schema: Any) -> Converted:
    """Return the schema of a file with a description that says how to write its content."""
    text = str(mapping_of(schema).get("description", "")).strip().rstrip(".")
    return {**mapping_of(schema), "description": f"{text}. {_FILE_TEXT}" if text else _FILE_TEXT}


def _is_encoded_as_file(reader: SchemaReader, value: object, encoding: Encoding | None) -> bool:
    """Return True if the media type that a form gives for a field makes it a file."""
    if encoding is None or encoding.content_type is None:
        return False
    schema = reader.target(mapping_of(value))
    schema = mapping_of(reader.target(mapping_of(schema["items"]))) if "items" in schema else schema
    is_string = schema.get("type", "string") == "string" and "properties" not in schema
    kinds = [kind.strip().lower() for kind in encoding.content_type.split(",")]
    return is_string and not any(
        kind.startswith(_WRITTEN) or "json" in kind or "xml" in kind for kind in kinds
    )
