"""What tests of OpenAPI share: documents in a few words, and their tools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tool_search_processor.providers.openapi.document_tools import Definition, read_definitions
from tool_search_processor.providers.openapi.documents import OpenAPIDocument
from tool_search_processor.providers.openapi.operations import list_operations
from tool_search_processor.tools import Tool

SERVER = "https://api.example.com/v1"


def api(paths: Mapping[str, Any], *, version: str = "3.1.0", **parts: Any) -> dict[str, Any]:
    """Return a document; `parts` are those beside its paths."""
    base = {"swagger": "2.0"} if version == "2.0" else {"openapi": version, "servers": [{"url": SERVER}]}
    return {**base, "info": {"title": "Pets", "version": "1"}, "paths": dict(paths), **parts}


def definitions(paths: Mapping[str, Any], **parts: Any) -> list[Definition]:
    """Return the definitions of a document's operations."""
    document = OpenAPIDocument(api(paths, **parts), label="api")
    return list(read_definitions(document, list_operations(document)))


def tools(paths: Mapping[str, Any], **parts: Any) -> list[Tool]:
    """Return the tools of a document's operations."""
    return [one.tool for one in definitions(paths, **parts)]


def query(name: str, schema: Any = None, **more: Any) -> dict[str, Any]:
    """Return a parameter in the query."""
    return {"name": name, "in": "query", "schema": {"type": "string"} if schema is None else schema, **more}


def in_path(name: str, schema: Any = None, **more: Any) -> dict[str, Any]:
    """Return a parameter in the path."""
    return {**query(name, schema, **more), "in": "path", "required": True}


def body(
    schema: Any, *, kind: str = "application/json", required: bool = True, **media: Any
) -> dict[str, Any]:
    """Return the part of an operation that is its request body."""
    return {"requestBody": {"required": required, "content": {kind: {"schema": schema, **media}}}}


def converted(schema: Any, *, schemas: Mapping[str, Any] | None = None, version: str = "3.1.0") -> Tool:
    """Return a tool whose argument `a` has this schema."""
    parts = {"components": {"schemas": dict(schemas)}} if schemas else {}
    (tool,) = tools({"/p": {"get": {"parameters": [query("a", schema)]}}}, version=version, **parts)
    return tool
