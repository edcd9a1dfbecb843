"""What a tool returned or raised, as MCP carries it: content, structured content, or an error."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any, TypeVar

import mcp_types as types
from pydantic import BaseModel

from tool_search_processor.errors import ToolCallError
from tool_search_processor.plain import clean_text, sendable
from tool_search_processor.providers.mcp.rendering import MCPResult, MCPToolError
from tool_search_processor.results import encode_result, innermost
from tool_search_processor.server.front.links import linked_blocks
from tool_search_processor.tools import Tool

TARGET_META = "tool-search-processor/target"
"""The `_meta` key that tells, in the result of a call through the proxy, which tool ran."""

_ResultT = TypeVar("_ResultT", bound=BaseModel)

_CONTENT = (
    types.TextContent,
    types.ImageContent,
    types.AudioContent,
    types.EmbeddedResource,
    types.ResourceLink,
)


def tool_result(tool: Tool, value: Any) -> types.CallToolResult:
    """Return what a tool gave: results and content blocks of MCP as they are, data as text and as data.

    Only the URIs of links and of embedded resources become those that are listed here.

    Raises:
        ToolCallError: For what no wire can carry; see `fit`.
    """
    result = _result(tool, value)
    return result.model_copy(update={"content": linked_blocks(result.content, tool)})


def error_result(tool: Tool, error: BaseException, told: str) -> types.CallToolResult:
    """Return the answer for what a tool raised: what a server upstream sent as it came, else one text."""
    error = innermost(error)
    if isinstance(error, MCPToolError):
        result = tool_result(tool, error.result)
        if result.content:
            return result.model_copy(update={"is_error": True})
        text = text_result(told, is_error=True, structured=result.structured_content)
        return text.model_copy(update={"meta": result.meta})
    return text_result(told, is_error=True)


def _result(tool: Tool, value: Any) -> types.CallToolResult:
    if isinstance(value, types.CallToolResult):
        return fit(value)
    if isinstance(value, MCPResult):
        given = {"content": value.content, "structuredContent": value.structured_content}
        return types.CallToolResult.model_validate(sendable({**given, "_meta": value.meta or None}))
    if isinstance(value, _CONTENT):
        return fit(types.CallToolResult(content=[value]))
    if isinstance(value, list | tuple) and value and all(isinstance(item, _CONTENT) for item in value):
        return fit(types.CallToolResult(content=list(value)))
    text = encode_result(value)
    return types.CallToolResult(
        content=[types.TextContent(text=text)], structured_content=_structured(tool, value, text)
    )


def fit(result: _ResultT) -> _ResultT:
    """Return a result of the protocol as any wire carries it; see `sendable`.

    One half of a character would otherwise end the stream of its answer, and its client would wait.

    Raises:
        ToolCallError: For what is nested too deeply.
    """
    try:
        return type(result).model_validate(sendable(result.model_dump(by_alias=True, warnings=False)))
    except (ValueError, RecursionError) as exc:
        raise ToolCallError("what was answered can't be sent: it is nested too deeply") from exc


def text_result(text: str, *, is_error: bool = False, structured: Any = None) -> types.CallToolResult:
    """Return one text, and the data that it tells of."""
    return types.CallToolResult(
        content=[types.TextContent(text=clean_text(text))], structured_content=structured, is_error=is_error
    )


def of_target(result: types.CallToolResult, tool: Tool) -> types.CallToolResult:
    """Return a result of a call through the proxy, which tells what ran and with which hints."""
    target = {"name": tool.name, "annotations": sendable(tool.annotations)}
    return result.model_copy(update={"meta": {**(result.meta or {}), TARGET_META: target}})


def wire_tool(tool: Tool) -> types.Tool:
    """Return a tool as an entry of a list, without what no client could read.

    One odd definition from somewhere else would otherwise make the whole list invalid.
    """
    entry = tool.to_mcp()
    if entry.get("outputSchema", {}).get("type", "object") != "object":
        del entry["outputSchema"]
    entry = sendable(entry)
    try:
        return types.Tool.model_validate(entry)
    except ValueError:
        for key in ("title", "annotations", "icons", "execution", "_meta"):
            entry.pop(key, None)
        return types.Tool.model_validate(entry)


def _structured(tool: Tool, value: Any, text: str) -> dict[str, Any] | None:
    """Return an object as data; where an object is promised, also one that came as JSON text."""
    if isinstance(value, BaseModel | Mapping) or (
        dataclasses.is_dataclass(value) and not isinstance(value, type)
    ):
        # As the text says it: a model's own way to write dates, enums and numbers holds for both.
        return _object(text)
    return _object(text) if tool.output_schema is not None else None


def _object(text: str) -> dict[str, Any] | None:
    try:
        decoded = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return sendable(decoded) if isinstance(decoded, dict) else None
