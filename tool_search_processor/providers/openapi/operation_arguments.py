"""Parameters and body of an operation as the arguments of one tool."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from tool_search_processor.errors import InvalidToolError
from tool_search_processor.providers.openapi import swagger
from tool_search_processor.providers.openapi.bodies import add_body, is_json
from tool_search_processor.providers.openapi.document_schemas import SchemaReader
from tool_search_processor.providers.openapi.documents import OpenAPIDocument
from tool_search_processor.providers.openapi.operations import OperationNode
from tool_search_processor.providers.openapi.routes import (
    DEFAULT_STYLES,
    VARIABLE,
    Argument,
    Place,
    Signature,
    split_path,
)
from tool_search_processor.providers.web import TOKEN
from tool_search_processor.tools.dialects import Converted
from tool_search_processor.wire.plain import items_of, mapping_of

logger = logging.getLogger(__name__)

Node = Mapping[str, Any]

_KNOWN_PLACES = frozenset({*DEFAULT_STYLES, "body", "formData"})

# The first three are what OpenAPI has ignored as parameters; the rest would change what request is read.
_NO_PARAMETERS = frozenset(
    {
        "accept", "authorization", "content-type", "connection", "content-length", "cookie", "expect", "host",
        "proxy-authorization", "te", "trailer", "transfer-encoding", "upgrade",
    }
)  # fmt: skip
_MOST_PARAMETERS = 1_000


def read_signature(reader: SchemaReader, node: OperationNode) -> Signature:
    """Return the arguments of an operation.

    They are in the order path, query, header, cookie, body. The properties of a body become arguments of
    their own where the body is an object with named properties only and none of these is named like a
    parameter; otherwise the argument `body` is the whole of it.

    Raises:
        InvalidToolError: If there are more parameters than anybody could mean.
    """
    document, signature = reader.document, Signature()
    parameters = _parameters(document, node)
    body, body_base = _request_body(document, node, parameters=parameters)
    if document.is_swagger:
        parameters = [(swagger.to_parameter(parameter), base) for parameter, base in parameters]
    path, query = split_path(node.operation.path)
    in_template = list(dict.fromkeys(VARIABLE.findall(path + query)))
    declared = {(str(one["name"]), one.get("in")) for one, _ in parameters}
    undeclared = [
        name
        for name in in_template
        if (name, "path") not in declared
        and (name in VARIABLE.findall(path) or (name, "query") not in declared)
    ]
    if len(parameters) > _MOST_PARAMETERS:
        raise InvalidToolError(f"it has {len(parameters):,} parameters: the most is {_MOST_PARAMETERS:,}")
    parameters += [({"name": n, "in": "path", "schema": {"type": "string"}}, node.base) for n in undeclared]
    for place in DEFAULT_STYLES:
        for parameter, base in parameters:
            name = str(parameter["name"])
            if parameter.get("in") != place:
                continue
            if place == "path" and name not in in_template:
                _warn(document, node, f"the path has no place for its parameter {name!r}")
            else:
                _add_parameter(signature, parameter, reader=reader, place=place, base=base)
    add_body(signature, body, reader=reader, base=body_base)
    return signature


def _parameters(document: OpenAPIDocument, node: OperationNode) -> list[tuple[Node, str]]:
    """Return the parameters of a path and of its operation, which count more, each with its base."""
    found: dict[tuple[str, object], tuple[Node, str]] = {}
    for holder, holder_base in ((node.item, node.item_base), (node.node, node.base)):
        for entry in items_of(holder.get("parameters")):
            parameter, base = document.follow(entry, base=holder_base)
            name, place = parameter.get("name"), parameter.get("in")
            if not isinstance(name, str) or not name or not isinstance(place, str):
                _warn(document, node, "a parameter without a name or a place is left out")
                continue
            if place == "querystring":
                parameter, place = _as_query(parameter), "query"
            if place not in _KNOWN_PLACES:
                _warn(document, node, f"its parameter {name!r} is left out: there is no place {place!r}")
            elif place != "header" or (TOKEN.fullmatch(name) and name.lower() not in _NO_PARAMETERS):
                found[name, place] = (parameter, base)
    return list(found.values())


def _warn(document: OpenAPIDocument, node: OperationNode, what: str) -> None:
    logger.warning("%s, %s: %s", document.label, node.operation.route, what)


def _as_query(parameter: Node) -> Node:
    """Return a parameter that stands for the whole query, in a form's encoding, as one in its parts."""
    content = mapping_of(parameter.get("content"))
    form = mapping_of(next(iter(content.values()), None))
    about = {key: value for key, value in parameter.items() if key not in ("in", "content", "style")}
    return {**about, "in": "query", "schema": form.get("schema"), "style": "form", "explode": True}


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
    """Return a parameter's own annotations of its value, which count more than its schema's."""
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
    document: OpenAPIDocument, node: OperationNode, *, parameters: Sequence[tuple[Node, str]]
) -> tuple[Node | None, str]:
    """Return the request body, if there is one, and its base."""
    if not document.is_swagger:
        body, base = document.follow(node.node.get("requestBody"), base=node.base)
        return (body or None), base
    consumes = items_of(node.node.get("consumes", document.root.get("consumes")))
    bases = [base for parameter, base in parameters if parameter.get("in") == "body"]
    given = swagger.to_request_body([parameter for parameter, _ in parameters], list(map(str, consumes)))
    return given, bases[0] if bases else node.base
