"""Parameters and body of an operation as the arguments of one tool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tool_search_processor.errors import InvalidToolError
from tool_search_processor.plain import items_of, mapping_of
from tool_search_processor.providers.openapi import swagger
from tool_search_processor.providers.openapi.documents import Document
from tool_search_processor.providers.openapi.operations import OperationNode
from tool_search_processor.providers.openapi.routes import (
    DEFAULT_STYLES,
    VARIABLE,
    Argument,
    Body,
    BodyKind,
    Encoding,
    Place,
)
from tool_search_processor.providers.openapi.schemas import SchemaReader
from tool_search_processor.providers.web import HEADER_NAME
from tool_search_processor.tools.dialects import Converted
from tool_search_processor.tools.names import MAX_NAME_LENGTH, make_property_name
from tool_search_processor.tools.schemas import Schema

Node = Mapping[str, Any]

_PLACES: tuple[Place, ...] = ("path", "query", "header", "cookie")
_TAKEN = frozenset({"operation_arguments"})
"""The name under which a tool's callable takes all arguments: no argument may bear it."""

# The first three are what OpenAPI has ignored as parameters; the rest would change what request is read.
_NO_PARAMETERS = frozenset(
    {
        "accept", "authorization", "content-type", "connection", "content-length", "cookie", "expect", "host",
        "proxy-authorization", "te", "trailer", "transfer-encoding", "upgrade",
    }
)  # fmt: skip
_FLAT = frozenset(
    {
        "type", "properties", "required", "additionalProperties", "allOf", "title", "description", "examples",
        "default", "deprecated", "format",
    }
)  # fmt: skip
"""What may be said of a body whose properties become arguments: nothing that holds between them."""
_MOST_PARAMETERS = 1_000
_FILE_TEXT = "A text, or a data: URL for other content."


@dataclass(slots=True)
class Signature:
    """The arguments of a tool, and where each goes."""

    properties: dict[str, Any] = field(default_factory=dict)
    required: list[str] = field(default_factory=list)
    arguments: list[Argument] = field(default_factory=list)
    body: Body | None = None

    def schema(self) -> Converted:
        """Return the schema of the arguments; other ones are refused, so that a slip is told."""
        schema: Converted = {"type": "object", "properties": self.properties}
        if self.required:
            schema["required"] = self.required
        return {**schema, "additionalProperties": False}

    def free_name(self, wire_name: str, place: str) -> str:
        """Return the name that an argument gets: the API's own, with `__` and the place where it is taken."""
        taken = self.properties.keys() | _TAKEN
        name = make_property_name(wire_name)
        if name in taken:
            name = f"{name[: MAX_NAME_LENGTH - len(place) - 2]}__{place}"
        stem, number = name, 1
        while name in taken:
            number += 1
            name = f"{stem[: MAX_NAME_LENGTH - 4]}_{number}"
        return name

    def add(self, name: str, schema: Converted, *, required: bool) -> None:
        """Add an argument."""
        self.properties[name] = schema
        if required:
            self.required.append(name)


def read_signature(document: Document, reader: SchemaReader, node: OperationNode) -> Signature:
    """Return the arguments of an operation.

    They are in the order path, query, header, cookie, body. The properties of a body become arguments of
    their own where the body is an object with named properties only and none of these is named like a
    parameter; otherwise the argument `body` is the whole of it.

    Raises:
        InvalidToolError: If there are more parameters than anybody could mean.
    """
    signature = Signature()
    parameters = _parameters(document, node)
    body, body_base = _request_body(document, node, parameters=parameters)
    if document.is_swagger:
        parameters = [(swagger.to_parameter(parameter), base) for parameter, base in parameters]
    in_path = list(dict.fromkeys(VARIABLE.findall(node.operation.path)))
    known = {str(one["name"]) for one, _ in parameters if one.get("in") == "path"}
    undeclared = [name for name in in_path if name not in known]
    if len(parameters) > _MOST_PARAMETERS:
        raise InvalidToolError(f"it has {len(parameters):,} parameters: the most is {_MOST_PARAMETERS:,}")
    parameters += [({"name": n, "in": "path", "schema": {"type": "string"}}, node.base) for n in undeclared]
    for place in _PLACES:
        for parameter, base in parameters:
            name = str(parameter["name"])
            if parameter.get("in") == place and (place != "path" or name in in_path):
                _add_parameter(signature, parameter, reader=reader, place=place, base=base)
    _add_body(signature, body, reader=reader, base=body_base)
    return signature


def media_rank(media_type: str) -> int:
    """Return how readily a form of a body is taken: JSON first, then forms, then text, then the rest."""
    kind = _essence(media_type)
    ranks = {"application/json": 0, "application/merge-patch+json": 1, "multipart/form-data": 4}
    if kind in ranks:
        return ranks[kind]
    if "json" in kind or kind in ("*/*", "application/*"):
        return 2
    return 3 if kind == "application/x-www-form-urlencoded" else 5 if kind.startswith("text/") else 6


def is_json(media_type: str) -> bool:
    """Tell whether a media type is one of JSON, or stands for all."""
    return media_rank(media_type) <= 2


def _parameters(document: Document, node: OperationNode) -> list[tuple[Node, str]]:
    """Return the parameters of a path and of its operation, which count more, each with its base."""
    found: dict[tuple[str, object], tuple[Node, str]] = {}
    for holder in (node.item, node.node):
        for entry in items_of(holder.get("parameters")):
            parameter, base = document.follow(entry, base=node.base)
            name, place = parameter.get("name"), parameter.get("in")
            if not isinstance(name, str) or not name or not isinstance(place, str):
                continue
            if place != "header" or (HEADER_NAME.fullmatch(name) and name.lower() not in _NO_PARAMETERS):
                found[name, place] = (parameter, base)
    return list(found.values())


def _add_parameter(
    signature: Signature, parameter: Node, *, reader: SchemaReader, place: Place, base: str
) -> None:
    wire_name = str(parameter["name"])
    content = mapping_of(parameter.get("content"))
    kind = next(iter(content), None)
    given = parameter.get("schema") if kind is None else mapping_of(content[kind]).get("schema")
    schema = {**reader.read(given, base=base), **_annotations(parameter)}
    name = signature.free_name(wire_name, place)
    signature.add(name, schema, required=place == "path" or parameter.get("required") is True)
    style = str(parameter.get("style") or DEFAULT_STYLES[place])
    explode = parameter.get("explode")
    signature.arguments.append(
        Argument(
            name=name,
            wire_name=wire_name,
            place=place,
            style=style,
            explode=explode if isinstance(explode, bool) else style in ("form", "deepObject"),
            allow_reserved=parameter.get("allowReserved") is True,
            is_json=kind is not None and is_json(kind),
        )
    )


def _annotations(node: Node) -> Converted:
    """Return what a parameter itself says of its value, which counts more than its schema's."""
    found: Converted = {}
    text = node.get("description")
    if isinstance(text, str) and text:
        found["description"] = text
    if node.get("deprecated") is True:
        found["deprecated"] = True
    given = map(mapping_of, mapping_of(node.get("examples")).values())
    values = [example["value"] for example in given if "value" in example]
    if "example" in node or values:
        found["examples"] = [node["example"]] if "example" in node else values
    return found


def _request_body(
    document: Document, node: OperationNode, *, parameters: Sequence[tuple[Node, str]]
) -> tuple[Node | None, str]:
    """Return the request body, if there is one, and its base."""
    if not document.is_swagger:
        body, base = document.follow(node.node.get("requestBody"), base=node.base)
        return (body or None), base
    consumes = items_of(node.node.get("consumes", document.root.get("consumes")))
    bases = [base for parameter, base in parameters if parameter.get("in") == "body"]
    given = swagger.to_request_body([parameter for parameter, _ in parameters], list(map(str, consumes)))
    return given, bases[0] if bases else node.base


def _add_body(signature: Signature, body: Node | None, *, reader: SchemaReader, base: str) -> None:
    content = mapping_of(body.get("content")) if body else {}
    forms = [kind for kind, media in content.items() if isinstance(media, Mapping)]
    if body is None or not forms:
        return
    media_type = min(forms, key=media_rank)
    media = content[media_type]
    kind = _body_kind(media_type)
    required = body.get("required") is True
    schema = reader.read(media.get("schema"), base=base)
    flat = None if kind == "raw" else _flat(reader, schema, set())
    fields = {make_property_name(name): name for name in flat[0]} if flat else {}
    clash = fields.keys() & (signature.properties.keys() | _TAKEN)
    if not flat or not fields or len(fields) < len(flat[0]) or clash:
        name = signature.free_name("body", "body")
        signature.add(name, _whole(schema, kind, media_type, body.get("description")), required=required)
        properties = mapping_of(reader.target(schema).get("properties"))
        signature.body = _body(kind, media_type, media, properties, required=required, argument=name)
        return
    properties, needed = flat
    for name, wire_name in fields.items():
        value = mapping_of(properties[wire_name])
        shown = _file_schema(value) if kind == "multipart" and _is_file(value) else properties[wire_name]
        signature.add(name, shown, required=required and wire_name in needed)
    signature.body = _body(kind, media_type, media, properties, required=required, fields=fields)


def _whole(schema: Converted, kind: BodyKind, media_type: str, text: object) -> Converted:
    """Return the schema of an argument that is a whole body."""
    if isinstance(text, str) and text:
        schema = {**schema, "description": text}
    if kind != "raw":
        return schema
    if schema.get("type") == "string":
        return _file_schema(schema) if _is_file(schema) else schema
    # Of XML and the like the schema tells what the text stands for: the model writes the text.
    said = str(schema.get("description", "")).strip()
    return {"type": "string", "description": f"A text of the type {media_type}. {said}".strip()}


def _body(
    kind: BodyKind, media_type: str, media: Node, properties: Schema, *, required: bool, **where: Any
) -> Body:
    encodings = {
        str(name): Encoding(
            content_type=given.get("contentType") if isinstance(given.get("contentType"), str) else None,
            style=given.get("style") if isinstance(given.get("style"), str) else None,
            explode=given.get("explode", given.get("style", "form") in ("form", "deepObject")) is True,
        )
        for name, given in mapping_of(media.get("encoding")).items()
        if isinstance(given, Mapping)
    }
    return Body(
        kind=kind,
        media_type="application/json" if kind == "json" and "*" in media_type else media_type,
        required=required,
        encodings=encodings,
        files=frozenset(name for name, value in properties.items() if _is_file(value)),
        **{"argument": None, **where},
    )


def _body_kind(media_type: str) -> BodyKind:
    kinds: dict[int, BodyKind] = {0: "json", 1: "json", 2: "json", 3: "form", 4: "multipart"}
    return kinds.get(media_rank(media_type), "raw")


def _flat(reader: SchemaReader, schema: Schema, seen: set[str]) -> tuple[dict[str, Any], list[str]] | None:
    """Return properties and required names of a body that says nothing else, its `allOf` merged."""
    reference = schema.get("$ref")
    if isinstance(reference, str):
        if reference in seen:  # a part that is merged already adds nothing
            return {}, []
        seen.add(reference)
    schema = reader.target(schema)
    kind = schema.get("type", "object")
    is_object = kind == "object" or (isinstance(kind, list) and set(kind) == {"object", "null"})
    if not is_object or schema.keys() - _FLAT or schema.get("additionalProperties", False) is not False:
        return None
    properties, required = dict(schema.get("properties", {})), list(schema.get("required", ()))
    for part in schema.get("allOf", ()):
        inner = _flat(reader, part, seen) if isinstance(part, Mapping) else None
        if inner is None or any(properties.get(name, value) != value for name, value in inner[0].items()):
            return None
        properties |= inner[0]
        required += inner[1]
    return properties, required


def _is_file(schema: Any) -> bool:
    schema = mapping_of(schema)
    if schema.get("type") == "array":
        return _is_file(schema.get("items"))
    # OpenAPI 3.1 says it with a media type and no encoding
    return schema.get("format") == "binary" or (
        "contentMediaType" in schema and "contentEncoding" not in schema
    )


def _file_schema(schema: Any) -> Converted:
    text = str(schema.get("description", "")).strip().rstrip(".")
    return {**schema, "description": f"{text}. {_FILE_TEXT}" if text else _FILE_TEXT}


def _essence(media_type: str) -> str:
    return media_type.partition(";")[0].strip().lower()
