"""The operations of an OpenAPI 3 document as tool definitions, to search and to measure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from tool_search_processor.errors import InvalidToolError
from tool_search_processor.evaluation.files import DataError
from tool_search_processor.tools import Tool
from tool_search_processor.tools.definitions import named
from tool_search_processor.tools.names import make_tool_name
from tool_search_processor.tools.schemas import edit_schemas, map_types, resolve_pointer

_METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace", "query")
_OUTSIDE_NAMES = re.compile(r"[^A-Za-z0-9_-]+")
_MAX_REF_DEPTH = 20

Node = Mapping[str, Any]


def read_operations(document: Node, label: str) -> list[Tool]:
    """Return one tool for each operation of an OpenAPI 3 document, in its order.

    The name is the `operationId`, or else made from method and path; the description is summary and
    description. The properties are the operation's parameters and those of its request body; a body that
    is no object is the property `body`, and a body's property that bears a parameter's name is
    `body_<name>`. Schemas that are referred to come along under `$defs`.

    Raises:
        DataError: If the document is of another version, has no paths, or an operation is malformed.
    """
    version = document.get("openapi")
    if not isinstance(version, str) or not version.startswith("3."):
        found = version if version is not None else document.get("swagger")
        raise DataError(
            f"{label} is an OpenAPI document of version {found!r}, and only 3.x is read: convert it first"
        )
    paths = document.get("paths")
    if not isinstance(paths, Mapping) or not paths:
        raise DataError(f"{label} is an OpenAPI document without paths")
    tools = []
    for path, method, item, operation in _operations(document, paths):
        try:
            tools.append(_tool(document, f"{method.upper()} {path}", item, operation))
        except (InvalidToolError, RecursionError) as exc:
            raise DataError(f"{label}, {method.upper()} {path}: {exc}") from exc
    return tools


def _operations(document: Node, paths: Node) -> Iterator[tuple[str, str, Node, Node]]:
    for path, listed in paths.items():
        item = _resolved(document, listed)
        for method in _METHODS:
            operation = item.get(method)
            if isinstance(operation, Mapping):
                yield str(path), method, item, operation


def _tool(document: Node, route: str, item: Node, operation: Node) -> Tool:
    given = operation.get("operationId")
    if isinstance(given, str) and given:
        fields = named(given)
    else:
        method, _, path = route.partition(" ")
        tidy = make_tool_name(_OUTSIDE_NAMES.sub("_", f"{method.lower()} {path}").strip("_"))
        fields = {"name": tidy, "metadata": {"original_name": route}}
    tags = operation.get("tags")
    return Tool(
        **fields,
        description=_description(operation),
        parameters=_parameters(document, item, operation),
        tags=frozenset(tag for tag in tags if isinstance(tag, str))
        if isinstance(tags, list)
        else frozenset(),
    )


def _description(operation: Node) -> str:
    summary, text = (str(operation.get(key) or "").strip() for key in ("summary", "description"))
    if not summary or text.startswith(summary):
        return text
    return f"{summary.rstrip('.')}. {text}".strip() if text else summary


def _parameters(document: Node, item: Node, operation: Node) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    required: list[str] = []
    for parameter in _listed(document, item, operation):
        name = parameter["name"]
        properties[name] = _parameter_schema(parameter)
        if parameter.get("required") is True:
            required.append(name)
    body_properties, body_required = _body(document, operation)
    for name, schema in body_properties.items():
        free = f"body_{name}" if name in properties else name
        properties[free] = schema
        if name in body_required:
            required.append(free)
    schema = {"type": "object", "properties": properties}
    return _with_definitions(document, {**schema, "required": required} if required else schema)


def _listed(document: Node, item: Node, operation: Node) -> list[Node]:
    """Return the parameters of a path and of its operation, which count more, resolved."""
    found: dict[tuple[str, object], Node] = {}
    for holder in (item, operation):
        listed = holder.get("parameters")
        for entry in listed if isinstance(listed, list) else ():
            parameter = _resolved(document, entry)
            name = parameter.get("name")
            if isinstance(name, str) and name:
                found[name, parameter.get("in")] = parameter
    return list(found.values())


def _parameter_schema(parameter: Node) -> dict[str, Any]:
    schema = parameter.get("schema")
    if not isinstance(schema, Mapping):
        schema = _media_schema(parameter.get("content"))
    schema = dict(schema) if isinstance(schema, Mapping) else {}
    text = parameter.get("description")
    return {**schema, "description": text} if isinstance(text, str) and text else schema


def _body(document: Node, operation: Node) -> tuple[Node, frozenset[str]]:
    """Return the properties of a request body, and which of them are required."""
    body = _resolved(document, operation.get("requestBody"))
    schema = _media_schema(body.get("content"))
    if not isinstance(schema, Mapping):
        return {}, frozenset()
    must = body.get("required") is True
    properties, required = _merged_properties(document, schema)
    if properties:
        return properties, frozenset(required if must else ())
    text = body.get("description")
    described = {**schema, "description": text} if isinstance(text, str) and text else schema
    return {"body": described}, frozenset(["body"] if must else ())


def _merged_properties(document: Node, schema: Any, depth: int = 0) -> tuple[dict[str, Any], list[str]]:
    """Return the properties of an object, those of its `allOf` included."""
    node = _resolved(document, schema)
    properties: dict[str, Any] = {}
    required: list[str] = []
    parts = node.get("allOf")
    for part in parts if isinstance(parts, list) and depth < _MAX_REF_DEPTH else ():
        inner, needed = _merged_properties(document, part, depth + 1)
        properties |= inner
        required += needed
    own, needed_here = node.get("properties"), node.get("required")
    properties |= own if isinstance(own, Mapping) else {}
    required += (
        [name for name in needed_here if isinstance(name, str)] if isinstance(needed_here, list) else []
    )
    return properties, required


def _media_schema(content: Any) -> Any:
    """Return the schema of a body's JSON form, or else of its first form."""
    if not isinstance(content, Mapping):
        return None
    forms = [form for form in content if "json" in str(form)] or list(content)
    media = content[forms[0]] if forms else None
    return media.get("schema", {}) if isinstance(media, Mapping) else None


def _resolved(document: Node, node: Any) -> Node:
    """Return what a node refers to, itself if to nothing, and {} where a reference leads nowhere."""
    for _ in range(_MAX_REF_DEPTH):
        if not isinstance(node, Mapping) or "$ref" not in node:
            break
        node = resolve_pointer(document, node["$ref"])
    return node if isinstance(node, Mapping) and "$ref" not in node else {}


def _with_definitions(document: Node, schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema with every reference into the document led to its own `$defs`."""
    names: dict[str, str] = {}
    waiting: list[str] = []

    def rebased(part: Node) -> Node:
        pointer = part.get("$ref")
        if not isinstance(pointer, str):
            return part
        if not isinstance(resolve_pointer(document, pointer), Mapping):
            return {key: value for key, value in part.items() if key != "$ref"}
        if pointer not in names:
            last = _OUTSIDE_NAMES.sub("_", pointer.rpartition("/")[2]) or "schema"
            names[pointer] = last if last not in names.values() else f"{last}_{len(names)}"
            waiting.append(pointer)
        return {**part, "$ref": f"#/$defs/{names[pointer]}"}

    rooted = dict(edit_schemas(schema, rebased))
    definitions: dict[str, Any] = {}
    while waiting:
        pointer = waiting.pop(0)
        definitions[names[pointer]] = edit_schemas(resolve_pointer(document, pointer), rebased)
    return dict(map_types({**rooted, "$defs": definitions} if definitions else rooted))
