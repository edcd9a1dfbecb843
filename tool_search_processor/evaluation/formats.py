"""Reads tool definitions in any common format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from tool_search_processor.errors import ConfigurationError, InvalidToolError
from tool_search_processor.evaluation.files import DataError
from tool_search_processor.tools import Tool
from tool_search_processor.tools.importers import ToolFields
from tool_search_processor.wire.plain import mapping_of

META_PREFIX = "tool-search/"
"""The prefix of our own fields in the `_meta` of an MCP definition."""
_LISTS = ("tags", "keywords", "example_requests")


def read_tools(values: list[Any], label: str) -> list[Tool]:
    """Return the tools in the values of a file, in order.

    Args:
        values: One document, or one value for each line.
        label: The name of the file in errors.

    Raises:
        DataError: If something in it is not a tool; the message says which.
    """
    tools: list[Tool] = []
    for value in values:
        about = mapping_of(value)
        # First: a file of servers may also name APIs, under "openapi".
        if "mcpServers" in about or isinstance(about.get("openapi"), Mapping):
            raise DataError(
                f"{label} names servers, not tools: `tool-search serve --config {label}` serves theirs"
            )
        if "openapi" in about or "swagger" in about:
            tools.extend(_operations(about, label))
            continue
        for record in _records(value):
            tools.append(_tool(record, f"{label}, tool {len(tools) + 1}"))
    return tools


def _operations(document: Mapping[str, Any], label: str) -> list[Tool]:
    from tool_search_processor.providers.openapi.document_tools import read_tools as read_openapi
    from tool_search_processor.providers.openapi.documents import OpenAPIDocument

    path = Path(label)
    try:
        return read_openapi(OpenAPIDocument(document, label=label, path=path if path.is_file() else None))
    except (ConfigurationError, ImportError) as exc:
        raise DataError(str(exc)) from exc


def _records(value: Any) -> Sequence[Any]:
    """Return the definitions in a list, a `tools/list` result or a request body, or a single definition."""
    listed = mapping_of(mapping_of(value).get("result", value)).get("tools", value)
    return listed if isinstance(listed, list) else [value]


def _tool(record: Any, place: str) -> Tool:
    if not isinstance(record, Mapping):
        raise DataError(f"{place}: a tool's definition must be an object, found {record!r:.60}")
    fields = _fields(record)
    try:
        if "input_schema" in record:
            return Tool.from_anthropic(record, **fields)
        if "inputSchema" in record:
            return Tool.from_mcp(record, **fields)
        return Tool.from_openai(record, **fields)
    except (InvalidToolError, RecursionError) as exc:
        raise DataError(f"{place}: {exc}") from exc


def _fields(record: Mapping[str, Any]) -> ToolFields:
    """Return the fields of a definition that its format doesn't define."""
    about = {
        key.removeprefix(META_PREFIX): value
        for key, value in mapping_of(record.get("_meta")).items()
        if isinstance(key, str) and key.startswith(META_PREFIX)
    }
    given = {**about, **mapping_of(record.get("function")), **record}
    found = {key: given[key] for key in _LISTS if given.get(key) is not None}
    namespace = given.get("namespace", given.get("server"))
    if namespace is not None:
        found["namespace"] = namespace
    if given.get("pinned") is True:
        found["pinned"] = True
    return cast("ToolFields", found)
