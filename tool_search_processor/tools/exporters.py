"""A tool's definition in the shapes of others: OpenAI's chat, Anthropic's Messages, and MCP."""

from __future__ import annotations

from typing import Any

from tool_search_processor.tools.dialects import object_schema
from tool_search_processor.tools.frozen import thaw
from tool_search_processor.tools.importers import MCP_PASSED_ON
from tool_search_processor.tools.schema_walk import Schema


def openai_definition(name: str, text: str, parameters: Schema, *, strict: object) -> dict[str, Any]:
    """Return a definition in OpenAI chat shape; `strict` is left out unless it is a boolean."""
    function: dict[str, Any] = {"name": name, "description": text, "parameters": parameters}
    if isinstance(strict, bool):
        function["strict"] = strict
    return {"type": "function", "function": function}


def anthropic_definition(name: str, text: str, parameters: Schema) -> dict[str, Any]:
    """Return a definition in the shape of Anthropic's Messages API."""
    return {"name": name, "description": text, "input_schema": parameters}


def mcp_definition(
    name: str,
    text: str,
    parameters: Schema,
    *,
    output_schema: Schema | None,
    annotations: Schema,
    metadata: Schema,
) -> dict[str, Any]:
    """Return a definition as an entry of an MCP `tools/list` result.

    Args:
        name: The tool's name.
        text: Its description as clients get it.
        parameters: A schema whose root is an object.
        output_schema: The schema of what it returns, if it has one.
        annotations: The tool's hints.
        metadata: Where the title, icons, `_meta` and the like are kept.
    """
    optional = {
        "title": metadata.get("title"),
        "outputSchema": output_schema,
        "annotations": annotations,
        **{key: metadata.get(key) for key in ((*MCP_PASSED_ON, "_meta") if metadata else ())},
    }
    given = {key: thaw(value) for key, value in optional.items() if value}
    return {"name": name, "description": text, "inputSchema": object_schema(thaw(parameters)), **given}
