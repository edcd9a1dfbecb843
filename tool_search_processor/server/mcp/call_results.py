"""What a tool returned or raised, as MCP carries it: content, structured content, or an error."""

from __future__ import annotations

import dataclasses
import functools
import json
import logging
from collections.abc import Mapping
from typing import Any, TypeVar

import mcp_types as types
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel

from tool_search_processor.errors import ToolArgumentsError, ToolCallError, ToolSearchError
from tool_search_processor.meta_tools import target_meta
from tool_search_processor.providers.mcp.rendering import MCPResult, MCPToolError
from tool_search_processor.server.mcp.links import linked_blocks
from tool_search_processor.session.tool_results import encode_result, error_text, innermost, told_text
from tool_search_processor.tools import Tool
from tool_search_processor.tools.arguments import ArgumentsCheck, problems_text, schema_check
from tool_search_processor.tools.outputs import RESULT, is_object_schema, served_output_schema
from tool_search_processor.tools.tool_names import title_of
from tool_search_processor.wire.plain import clean_text, sendable

logger = logging.getLogger(__name__)

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
    result = _with_object(tool, _result(tool, value))
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


def fitting(tool: Tool, result: types.CallToolResult) -> types.CallToolResult:
    """Return a result that fits the output schema of its tool's entry, or an error that holds it.

    A strict client refuses any other result, and then its model reads nothing.
    """
    if not tool.output_schema or result.is_error:
        return result
    if result.structured_content is None:
        problem = "It is not a JSON object."
    else:
        listed = json.dumps(served_output_schema(tool.output_schema))
        problem = problems_text(_output_check(listed)(result.structured_content).problems)
    if not problem:
        return result
    told = f"{tool.name} was run, but what it returned does not fit its output schema: {problem}"
    logger.warning("%s", told)
    content = [types.TextContent(text=clean_text(f"Error: {told}")), *result.content]
    return result.model_copy(update={"content": content, "structured_content": None, "is_error": True})


@functools.lru_cache(1_000)
def _output_check(schema: str) -> ArgumentsCheck:
    return schema_check(json.loads(schema))


def failure_text(error: BaseException, *, what: str, is_masked: bool) -> str:
    """Log what foreign code raised, and return what its client reads.

    Args:
        error: What was raised.
        what: What failed.
        is_masked: Whether the client reads no more than that; errors that are meant for it, those of this
            package and `MCPError`, are shown in any case, unless they are about other arguments
            than its own.
    """
    level = logging.DEBUG if isinstance(error, ToolSearchError) else logging.WARNING
    logger.log(level, "%s failed: %s", what, error_text(error).removeprefix("Error: "), exc_info=error)
    masked = f"Error: {what} failed; the server's log says why."
    if is_masked and isinstance(innermost(error), ToolArgumentsError):
        return masked  # problems of the client's own arguments don't come here
    return told_text(error, masked=masked if is_masked and not isinstance(error, MCPError) else None)


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
    return _data_result(tool, value)


def fit(result: _ResultT) -> _ResultT:
    """Return a result of the protocol as any wire carries it; see `sendable`.

    One half of a character would otherwise end the stream of its answer, and its client would wait.

    Raises:
        ToolCallError: If it is nested too deeply.
    """
    try:
        return type(result).model_validate(sendable(result.model_dump(by_alias=True, warnings=False)))
    except (ValueError, RecursionError) as exc:
        raise ToolCallError("what was answered can't be sent: it is nested too deeply") from exc


def text_result(text: str, *, is_error: bool = False, structured: Any = None) -> types.CallToolResult:
    """Return one text, and the data that it describes."""
    return types.CallToolResult(
        content=[types.TextContent(text=clean_text(text))], structured_content=structured, is_error=is_error
    )


def of_target(result: types.CallToolResult, tool: Tool) -> types.CallToolResult:
    """Return a result of a call through the proxy, which says what ran and with which hints."""
    return result.model_copy(update={"meta": {**(result.meta or {}), **target_meta(tool)}})


def wire_tool(tool: Tool) -> types.Tool:
    """Return a tool as an entry of a list, without what no client could read.

    One odd definition from somewhere else would otherwise make the whole list invalid.
    """
    entry = tool.to_mcp()
    if (schema := entry.get("outputSchema")) is not None:
        entry["outputSchema"] = served_output_schema(schema)
    if not isinstance(tool.annotations.get("title"), str):  # clients show this title if there is no other
        entry.setdefault("title", title_of(tool.name))
    entry = sendable(entry)
    try:
        return types.Tool.model_validate(entry)
    except ValueError:
        for key in ("title", "annotations", "icons", "execution", "_meta"):
            entry.pop(key, None)
        return types.Tool.model_validate(entry)


def _with_object(tool: Tool, result: types.CallToolResult) -> types.CallToolResult:
    """Return a result whose structured content is an object, as the listed output schema promises."""
    data = result.structured_content
    if data is None or (isinstance(data, dict) and (_promises_object(tool) or set(data) == {RESULT})):
        return result
    return _wrapping(result, data)


def _wrapping(result: types.CallToolResult, data: Any) -> types.CallToolResult:
    """Return a result with data in the property that stands for it; FastMCP's client unwraps it."""
    meta = result.meta or {}
    told = meta.get("fastmcp")
    told = {**(told if isinstance(told, dict) else {}), "wrap_result": True}
    return result.model_copy(update={"structured_content": {RESULT: data}, "meta": {**meta, "fastmcp": told}})


def _promises_object(tool: Tool) -> bool:
    return not tool.output_schema or is_object_schema(tool.output_schema)


def _data_result(tool: Tool, value: Any) -> types.CallToolResult:
    """Return data as text, and as data: an object, and where the tool tells what it returns, anything.

    What isn't promised as a string may also come as JSON text.
    """
    text = encode_result(value)
    result = types.CallToolResult(content=[types.TextContent(text=text)])
    if _promises_object(tool):
        is_object = isinstance(value, BaseModel | Mapping) or (
            dataclasses.is_dataclass(value) and not isinstance(value, type)
        )
        # As the text says it: a model's own way to write dates, enums and numbers holds for both.
        data = _decoded(text) if is_object or tool.output_schema else None
        return result.model_copy(update={"structured_content": data}) if isinstance(data, dict) else result
    kinds = (tool.output_schema or {}).get("type", "")
    data = text if isinstance(value, str) and (not kinds or "string" in kinds) else _decoded(text)
    # A function that is annotated `-> str`, and returns something else, keeps its promise by the text.
    return _wrapping(result, text if kinds == "string" and not isinstance(data, str) else data)


def _decoded(text: str) -> Any:
    """Return what JSON text says; text that isn't JSON as it is."""
    try:
        return sendable(json.loads(text))
    except (ValueError, RecursionError):
        return text
