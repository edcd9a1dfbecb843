"""Parts of a Swagger 2.0 document in the shape that OpenAPI 3 gives them.

No maintained Python library converts documents of version 2.0; what differs is little enough.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tool_search_processor.wire.plain import items_of, mapping_of

Node = Mapping[str, Any]

_NO_SCHEMA = frozenset({"name", "in", "required", "description", "collectionFormat", "allowEmptyValue"})
_FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")
_STYLES = {"ssv": "spaceDelimited", "pipes": "pipeDelimited", "tsv": "tabDelimited"}
_FLOWS = {"basic": {"type": "http", "scheme": "basic"}}


def to_parameter(parameter: Node) -> Node:
    """Return a parameter with its type as `schema`, and `collectionFormat` as style."""
    schema = {key: value for key, value in parameter.items() if key not in _NO_SCHEMA}
    rest = {key: value for key, value in parameter.items() if key in _NO_SCHEMA}
    return {**rest, **_style(parameter), "schema": schema}


def to_request_body(parameters: Sequence[Node], consumes: Sequence[str]) -> Node | None:
    """Return the request body that parameters in `body` or `formData` stand for, if there are any."""
    whole = next((one for one in parameters if one.get("in") == "body"), None)
    if whole is not None:
        media = {"schema": whole.get("schema", {})}
        content = dict.fromkeys(consumes or ["application/json"], media)
        stated = {key: whole[key] for key in ("required", "description") if key in whole}
        return {"content": content, **stated}
    fields = {str(one.get("name")): one for one in parameters if one.get("in") == "formData"}
    return _form(fields, consumes) if fields else None


def to_responses(responses: object, produces: Sequence[str]) -> Node:
    """Return responses whose schemas stand below a media type."""
    return {
        code: {"content": {kind: {"schema": response["schema"]} for kind in produces or ["application/json"]}}
        for code, response in mapping_of(responses).items()
        if isinstance(response, Mapping) and "schema" in response
    }


def to_servers(root: Node, node: Node) -> list[Node]:
    """Return the servers that host, base path and schemes stand for."""
    base, host = str(root.get("basePath") or "/"), root.get("host")
    if not host:
        return [{"url": base}]
    schemes = items_of(node.get("schemes")) or items_of(root.get("schemes")) or ("https",)
    web = [scheme for scheme in ("https", "http") if scheme in schemes]
    return [{"url": f"{scheme}://{host}{base}"} for scheme in web or ("https",)]


def to_security_schemes(root: Node) -> Node:
    """Return the security definitions in OpenAPI 3's terms."""
    definitions = mapping_of(root.get("securityDefinitions"))
    return {name: _FLOWS.get(str(mapping_of(one).get("type")), one) for name, one in definitions.items()}


def _form(fields: Mapping[str, Node], consumes: Sequence[str]) -> Node:
    has_file = any(field.get("type") == "file" for field in fields.values())
    kinds = [kind for kind in consumes if kind in _FORMS] or [_FORMS[has_file]]
    parameters = {name: to_parameter(field) for name, field in fields.items()}
    properties = {name: _field_schema(one) for name, one in parameters.items()}
    required = [name for name, field in fields.items() if field.get("required") is True]
    schema = {"type": "object", "properties": properties, "required": required}
    encoding = {name: _style(field) for name, field in fields.items() if field.get("type") == "array"}
    kind = _FORMS[1] if has_file else kinds[0]
    return {"content": {kind: {"schema": schema, "encoding": encoding}}, "required": bool(required)}


def _field_schema(parameter: Node) -> Node:
    schema = dict(parameter["schema"])
    if schema.get("type") == "file":
        schema = {**schema, "type": "string", "format": "binary"}
    text = parameter.get("description")
    return {**schema, "description": text} if text else schema


def _style(parameter: Node) -> Node:
    """Return style and explode for a parameter's collection format; nothing if it is not a list."""
    if parameter.get("type") != "array":
        return {}
    given = parameter.get("collectionFormat", "csv")
    if given == "multi":
        return {"style": "form", "explode": True}
    if parameter.get("in") in ("query", "formData"):
        return {"style": _STYLES.get(str(given), "form"), "explode": False}
    return {"style": "simple", "explode": False}
