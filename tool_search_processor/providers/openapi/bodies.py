"""The body of an operation as arguments: its fields one by one, or the whole of it as one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tool_search_processor.providers.openapi.document_schemas import SchemaReader
from tool_search_processor.providers.openapi.files import FileKind, file_fields, file_kind, file_schema
from tool_search_processor.providers.openapi.merging import Fields
from tool_search_processor.providers.openapi.routes import TAKEN, Body, BodyKind, Encoding, Signature
from tool_search_processor.tools.dialects import Converted
from tool_search_processor.tools.schema_walk import Schema
from tool_search_processor.tools.tool_names import make_property_name
from tool_search_processor.wire.plain import mapping_of

Node = Mapping[str, Any]

_MULTIPART = 4
_ANYTHING = ("", "*/*", "application/*")
_LINES = re.compile(r"ndjson|jsonl|json-seq|smile")
"""Forms of JSON that aren't one JSON value: their text is the caller's."""


def media_rank(media_type: str) -> int:
    """Return how readily a form of a body is taken: JSON first, then forms, then text, then the rest."""
    kind = _essence(media_type)
    ranks = {"application/json": 0, "application/merge-patch+json": 1, "multipart/form-data": _MULTIPART}
    if kind in ranks:
        return ranks[kind]
    if kind in _ANYTHING or ("json" in kind and not _LINES.search(kind)):
        return 2
    return 3 if kind == "application/x-www-form-urlencoded" else 5 if kind.startswith("text/") else 6


def is_json(media_type: str) -> bool:
    """Return True if a media type is a form of JSON, or stands for any type."""
    return media_rank(media_type) <= 2


def add_body(signature: Signature, body: Node | None, *, reader: SchemaReader, base: str) -> None:
    """Add the arguments of a request body, if there is one, and how it is sent.

    A body that doesn't say whether it is required is so where one of its fields is: documents leave that out
    far more often than they mean it.
    """
    media_type = _chosen_form(mapping_of(body.get("content")) if body else {}, reader, base)
    if body is None or media_type is None:
        return
    media = body["content"][media_type]
    schema = reader.read(media.get("schema"), base=base)
    kind = _body_kind(media_type, reader.target(schema))
    flat = None if kind == "raw" else reader.fields(schema)
    whole = reader.target(schema).get("required", ())
    needed = whole if flat is None else [name for name in flat[1] if name in flat[0]]
    stated = body.get("required")
    required = stated if isinstance(stated, bool) else bool(needed)
    sent = _sent(kind, media_type, media, reader, schema, required=required)
    fields = _names(flat, signature) if flat else None
    if flat is None or not fields:
        name = signature.free_name("body", "body")
        whole = _whole(reader, schema, kind, media_type, body.get("description"))
        signature.add(name, whole, required=required)
        signature.body = Body(**sent, argument=name)
        return
    for name, wire_name in fields.items():
        value = flat[0][wire_name]
        shown = file_schema(value) if wire_name in sent["files"] | sent["file_or_text"] else value
        signature.add(name, shown, required=required and wire_name in needed)
    optional = () if required else tuple(name for name, wire in fields.items() if wire in needed)
    signature.body = Body(**sent, argument=None, fields=fields, needed=optional)


def _chosen_form(content: Node, reader: SchemaReader, base: str) -> str | None:
    """Return the media type that a body is sent as: the preferred one, but multipart for files."""
    forms = sorted((kind for kind, media in content.items() if isinstance(media, Mapping)), key=media_rank)
    multipart = next((kind for kind in forms if media_rank(kind) == _MULTIPART), None)
    if not forms or multipart is None or media_rank(forms[0]) >= _MULTIPART:
        return forms[0] if forms else None
    given = content[forms[0]].get("schema") or content[multipart].get("schema")
    return multipart if file_fields(reader, reader.read(given, base=base), {}) else forms[0]


def _names(flat: Fields, signature: Signature) -> dict[str, str]:
    """Return the API's names of fields by those of arguments; nothing where two would have one name."""
    fields = {make_property_name(name): name for name in flat[0]}
    clash = fields.keys() & (signature.properties.keys() | TAKEN)
    return {} if clash or len(fields) < len(flat[0]) else fields


def _whole(
    reader: SchemaReader, schema: Converted, kind: BodyKind, media_type: str, text: object
) -> Converted:
    """Return the schema of an argument that is a whole body."""
    described = {"description": text} if isinstance(text, str) and text else {}
    if kind != "raw":
        return {**schema, **described}
    target = {**reader.target(schema), **described}
    if target.get("type") == "string":
        return file_schema(target) if file_kind(reader, target) is not FileKind.NONE else target
    # For XML and the like the schema describes what the text stands for; the model writes the text.
    said = str(target.get("description", "")).strip()
    return {"type": "string", "description": f"Text of the type {media_type}. {said}".strip()}


def _sent(
    kind: BodyKind, media_type: str, media: Node, reader: SchemaReader, schema: Converted, *, required: bool
) -> dict[str, Any]:
    """Return the media type, encodings and files of a body, whatever its arguments are."""
    encodings = {
        str(name): Encoding(
            content_type=given.get("contentType") if isinstance(given.get("contentType"), str) else None,
            style=given.get("style") if isinstance(given.get("style"), str) else None,
            explode=given.get("explode", given.get("style", "form") in ("form", "deepObject")) is True,
        )
        for name, given in mapping_of(media.get("encoding")).items()
        if isinstance(given, Mapping)
    }
    is_open = kind == "json" and "*" in media_type
    files = file_fields(reader, schema, encodings) if kind == "multipart" else {}
    return {
        "kind": kind,
        "media_type": "application/json" if _essence(media_type) in _ANYTHING or is_open else media_type,
        "required": required,
        "encodings": encodings,
        "files": frozenset(name for name, one in files.items() if one is FileKind.FILE),
        "file_or_text": frozenset(name for name, one in files.items() if one is FileKind.FILE_OR_TEXT),
    }


def _body_kind(media_type: str, schema: Schema) -> BodyKind:
    if _essence(media_type) == "application/octet-stream" and schema.get("type") in ("object", "array"):
        return "json"  # tools that convert documents write it where no media type was given
    kinds: dict[int, BodyKind] = {0: "json", 1: "json", 2: "json", 3: "form", _MULTIPART: "multipart"}
    return kinds.get(media_rank(media_type), "raw")


def _essence(media_type: str) -> str:
    return media_type.partition(";")[0].strip().lower()
