"""The operations of a document as tools, and how each is called."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tool_search_processor.errors import ConfigurationError, InvalidToolError
from tool_search_processor.providers.openapi import swagger
from tool_search_processor.providers.openapi.bodies import is_json
from tool_search_processor.providers.openapi.document_schemas import SchemaReader
from tool_search_processor.providers.openapi.documents import OpenAPIDocument
from tool_search_processor.providers.openapi.operation_arguments import read_signature
from tool_search_processor.providers.openapi.operations import Operation, OperationNode, list_operations
from tool_search_processor.providers.openapi.routes import Route
from tool_search_processor.tools import Tool
from tool_search_processor.tools.arguments import parse_arguments
from tool_search_processor.tools.dialects import Converted
from tool_search_processor.tools.foreign import (
    HIDDEN,
    foreign_requests,
    foreign_schema,
    foreign_tags,
    foreign_text,
    hidden_counted,
)
from tool_search_processor.wire.plain import items_of, mapping_of

logger = logging.getLogger(__name__)

_MAX_OUTPUT_SCHEMA = 4_000
"""Characters; a larger schema of answers is left out, since it is rarely worth its tokens."""
_READING = frozenset({"GET", "HEAD", "OPTIONS", "QUERY", "TRACE"})


@dataclass(frozen=True)
class OperationTool(Tool):
    """A tool that leaves out an optional parameter whose value is null: a URL or a header can't hold null.

    In a body null is a value, and is sent.
    """

    left_out_if_null: frozenset[str] = field(default=frozenset(), hash=False)

    def check_arguments(self, arguments: Mapping[str, Any] | str | None = None) -> Any:
        """Return the arguments as `Tool.check_arguments` does, without parameters that are null.

        Raises:
            ToolArgumentsError: If they do not fit.
        """
        given = parse_arguments(arguments)
        if isinstance(given, Mapping):
            given = {k: v for k, v in given.items() if v is not None or k not in self.left_out_if_null}
        return super().check_arguments(given)


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """An operation as a tool that nothing runs yet, and how it is called."""

    tool: OperationTool
    route: Route


def read_tools(document: OpenAPIDocument) -> list[Tool]:
    """Return a tool for each operation of a document, in its order; nothing runs them.

    Raises:
        ConfigurationError: If no operation can be read.
    """
    return [one.tool for one in read_definitions(document, list_operations(document))]


def read_definitions(
    document: OpenAPIDocument,
    nodes: Sequence[OperationNode],
    *,
    find_server: Callable[[OperationNode], str] | None = None,
    on_left_out: Callable[[Operation, str], object] | None = None,
) -> list[Definition]:
    """Return the definitions of operations, in order.

    An operation that can't be a tool is left out with a warning, so that the others still work.

    Args:
        document: The document that holds them.
        nodes: The operations.
        find_server: Returns the URL of an operation's server; None if nothing will be called.
        on_left_out: Gets each operation that is left out, and why.

    Raises:
        ConfigurationError: If no operation can be used.
    """
    reader = SchemaReader(document)
    found: list[Definition] = []
    faults: list[tuple[Operation, str]] = []
    for node in nodes:
        try:
            if node.fault is not None:
                raise InvalidToolError(node.fault)
            server = "" if find_server is None else find_server(node)
            with hidden_counted() as hidden:
                definition = _definition(reader, node, server=server)
            found.append(_with_hidden(definition, hidden, document) if hidden else definition)
        except InvalidToolError as exc:
            faults.append((node.operation, str(exc)))
        except RecursionError:
            faults.append((node.operation, "it is nested too deeply"))
        except (TypeError, AttributeError) as exc:  # a parsed document may hold what JSON can't
            faults.append((node.operation, f"it can't be read: {exc}"))
    if faults and not found:
        operation, reason = faults[0]
        raise ConfigurationError(
            f"{document.label}: none of its operations can be used. {operation.route}: {reason}"
        )
    for operation, reason in faults:
        logger.warning("an operation is left out: %s, %s: %s", document.label, operation.route, reason)
        if on_left_out is not None:
            on_left_out(operation, reason)
    return found


def _definition(reader: SchemaReader, node: OperationNode, *, server: str) -> Definition:
    operation = node.operation
    signature = read_signature(reader, node)
    kinds, output_schema = _answers(reader, node)
    original = operation.operation_id or operation.route
    tool = OperationTool(
        name=operation.name,
        description=foreign_text(_description(node.node)),
        parameters=_shown(reader.with_definitions(signature.schema()) or {}, operation.name),
        tags=foreign_tags(operation.tags),
        output_schema=_shown(output_schema, operation.name),
        annotations=_annotations(operation.method),
        example_requests=foreign_requests(node.node.get("x-example-requests")),
        metadata={
            "method": operation.method,
            "path": operation.path,
            **({} if original == operation.name else {"original_name": original}),
        },
        left_out_if_null=frozenset(
            one.name for one in signature.arguments if one.name not in signature.required
        ),
    )
    route = Route(
        method=operation.method,
        path=operation.path,
        server=server,
        arguments=tuple(signature.arguments),
        body=signature.body,
        accept=_accept(kinds),
        security=tuple(
            tuple(map(str, one))
            for one in items_of(node.node.get("security", reader.document.root.get("security")))
            if isinstance(one, Mapping)
        ),
    )
    return Definition(tool=tool, route=route)


def _with_hidden(definition: Definition, hidden: Mapping[str, int], document: OpenAPIDocument) -> Definition:
    """Warn of characters that were taken out of an operation, and note them in its tool."""
    tool, told = definition.tool, "%d hidden characters were taken out of an operation: %s, %r"
    logger.warning(told, hidden[HIDDEN], document.label, tool.name)
    return replace(definition, tool=tool.replace(metadata={**tool.metadata, **hidden}))


def _shown(schema: Any, name: str) -> Any:
    return foreign_schema(schema, tool=name, keep_names=True)


def _description(node: Mapping[str, Any]) -> str:
    summary, text = (str(node.get(key) or "").strip() for key in ("summary", "description"))
    said = text if not summary or text.startswith(summary) else f"{summary.rstrip('.')}. {text}".strip()
    said = said if text else summary
    return f"{said} (deprecated)".strip() if node.get("deprecated") is True else said


def _annotations(method: str) -> dict[str, bool]:
    """Return the Model Context Protocol's hints that a method's meaning in HTTP gives (RFC 9110, 9.2)."""
    if method in _READING:
        return {"readOnlyHint": True, "idempotentHint": True}
    hints = {"readOnlyHint": False}
    if method == "DELETE":
        return {**hints, "destructiveHint": True, "idempotentHint": True}
    return {**hints, "idempotentHint": True} if method == "PUT" else hints


def _answers(reader: SchemaReader, node: OperationNode) -> tuple[Sequence[str], Converted | None]:
    """Return the media types of the answers 2xx, and their schema if they have one.

    What they look like isn't needed to call the operation: a reference that is not followed costs only that.
    """
    try:
        responses = _success_responses(reader.document, node)
        kinds = dict.fromkeys(kind for content, _ in responses for kind in content)
        return list(kinds), _output_schema(reader, responses)
    except InvalidToolError as exc:
        told = "%s, %s: without an output schema: %s"
        logger.warning(told, reader.document.label, node.operation.route, exc)
        return (), None


def _success_responses(document: OpenAPIDocument, node: OperationNode) -> list[tuple[Mapping[str, Any], str]]:
    """Return the contents of the answers 2xx with their bases, 200 first."""
    given = mapping_of(node.node.get("responses"))
    if document.is_swagger:
        produces = items_of(node.node.get("produces", document.root.get("produces")))
        resolved = {code: document.follow(one, base=node.base)[0] for code, one in given.items()}
        given = swagger.to_responses(resolved, [str(kind) for kind in produces])
    found = []
    for code in sorted(map(str, given)):
        if code.upper().startswith("2"):
            response, base = document.follow(given[code], base=node.base)
            found.append((mapping_of(response.get("content")), base))
    return found


def _output_schema(
    reader: SchemaReader, responses: Sequence[tuple[Mapping[str, Any], str]]
) -> Converted | None:
    """Return the schema of the JSON answers if every success has it, and it is an object and not too large.

    An operation with an empty answer too, such as 204, promises nothing: a client would refuse that answer.
    """
    schemas = [_json_schema(reader, content, base=base) for content, base in responses]
    if not schemas or schemas[0] is None or any(schema != schemas[0] for schema in schemas):
        return None
    root = dict(reader.target(schemas[0], direction="response"))
    if root.get("type") != "object":
        return None
    return reader.with_definitions(root, direction="response", max_size=_MAX_OUTPUT_SCHEMA)


def _json_schema(reader: SchemaReader, content: Mapping[str, Any], *, base: str) -> Converted | None:
    for kind, media in content.items():
        given = mapping_of(media).get("schema")
        if is_json(str(kind)) and isinstance(given, dict):
            return reader.read(given, base=base, direction="response")
    return None


def _accept(kinds: Sequence[str]) -> str:
    """Return the `Accept` header of the request: JSON if the operation offers it."""
    json_kinds = [kind for kind in kinds if kind and is_json(kind) and "*" not in kind]
    if json_kinds:
        return ", ".join((*json_kinds, "*/*;q=0.1"))
    return ", ".join(filter(None, kinds)) or "*/*"
