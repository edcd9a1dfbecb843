"""The two meta-tools as MCP lists them, and the shape and text of a search's answer."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tool_search_processor import meta_tools
from tool_search_processor.meta_tools import MetaToolNames
from tool_search_processor.search.protocol import Hit
from tool_search_processor.server.mcp.call_results import wire_tool
from tool_search_processor.server.mcp.server_options import MAX_LIMIT
from tool_search_processor.server.options import ResultFormat
from tool_search_processor.tools import Tool

_DESCRIPTION_CHARACTERS = 1000

SEARCH_FAILED = "Error: the search does not work right now. Try once more later."
BAD_CURSOR = "This cursor belongs to another query: search again without one."

_SCORE = {"type": "number", "description": "From 0 to 1; 1 without a query."}
_ANNOTATIONS = {"type": "object", "description": "readOnlyHint, destructiveHint …"}
_RESULT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "title": {"type": ["string", "null"]},
        "description": {"type": "string"},
        "namespace": {"type": ["string", "null"]},
        "score": _SCORE,
        "parameters": {"type": "object", "description": "JSON Schema of the arguments."},
        "annotations": _ANNOTATIONS,
    },
    "required": ["name", "title", "description", "namespace", "score", "parameters", "annotations"],
}
_MCP_RESULT: dict[str, Any] = {
    "type": "object",
    "description": "An entry of tools/list.",
    "properties": {
        "name": {"type": "string"},
        "title": {"type": "string"},
        "description": {"type": "string"},
        "inputSchema": {"type": "object", "description": "JSON Schema of the arguments."},
        "outputSchema": {"type": "object", "description": "JSON Schema of the structured content."},
        "annotations": _ANNOTATIONS,
        "_meta": {
            "type": "object",
            "properties": {
                "score": _SCORE,
                "namespace": {"type": ["string", "null"]},
                "tags": {"type": "array", "items": {"type": "string"}},
            },
            "required": ["score", "namespace", "tags"],
        },
    },
    "required": ["name", "description", "inputSchema", "_meta"],
}


def _answer_schema(result_format: ResultFormat) -> dict[str, Any]:
    results = {
        "type": "array",
        "description": "The tools, best first.",
        "items": _MCP_RESULT if result_format == "mcp" else _RESULT,
    }
    return {
        "type": "object",
        "properties": {
            "results": results,
            "total": {
                "type": ["integer", "null"],
                "description": "How many match; null if unknown.",
            },
            "next_cursor": {"type": ["string", "null"], "description": "For the results after these."},
            "message": {"type": "string"},
        },
        "required": ["results", "total", "next_cursor", "message"],
    }


def search_tool(base: Tool, *, default_limit: int, result_format: ResultFormat) -> Tool:
    """Return the definition that `meta_tools.search_tool` gives, for answers of several pages."""
    properties = base.parameters["properties"]
    query = properties["query"]
    return base.replace(
        parameters={
            "type": "object",
            "properties": {
                **properties,
                "query": {**query, "description": f"{query['description']} Without one, all are listed."},
                "limit": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": MAX_LIMIT,
                    "description": f"Results, {default_limit} by default or more.",
                },
                "cursor": {
                    "type": "string",
                    "description": "next_cursor of the previous answer to the same query.",
                },
            },
        },
        output_schema=_answer_schema(result_format),
        annotations={"title": "Search tools", "readOnlyHint": True, "openWorldHint": False},
        metadata={"title": "Search tools"},
    )


def call_tool(names: MetaToolNames) -> Tool:
    """Return the definition of the tool that runs another, which may do anything."""
    return meta_tools.call_tool(names).replace(
        annotations={
            "title": "Call a tool",
            "readOnlyHint": False,
            "destructiveHint": True,
            "idempotentHint": False,
            "openWorldHint": True,
        },
        metadata={"title": "Call a tool"},
    )


def search_result(tool: Tool, hit: Hit | None, *, result_format: ResultFormat) -> dict[str, Any]:
    """Return one tool of an answer; without a hit, as an answer to an empty query lists it."""
    found = meta_tools.search_result(tool, score=hit.score if hit else 1.0, loaded=False, detail="schema")
    if result_format == "mcp":
        return _mcp_result(tool, score=found["score"])
    return {
        "name": tool.name,
        "title": _title(tool),
        "description": meta_tools.cut(tool.shown_description, _DESCRIPTION_CHARACTERS),
        "namespace": tool.namespace,
        "score": found["score"],
        "parameters": found["parameters"],
        "annotations": tool.to_mcp().get("annotations", {}),
    }


def _mcp_result(tool: Tool, *, score: float) -> dict[str, Any]:
    """Return a tool's entry in `tools/list`, with its score, namespace and tags."""
    entry = wire_tool(tool).model_dump(mode="json", by_alias=True, exclude_none=True)
    about = {"score": score, "namespace": tool.namespace, "tags": sorted(tool.tags)}
    return {**entry, "_meta": {**entry.get("_meta", {}), **about}}


def search_answer(
    results: Sequence[Mapping[str, Any]], *, total: int | None, next_cursor: str | None, message: str
) -> dict[str, Any]:
    """Return the answer of a search, which always has this shape."""
    more = " There are more: pass next_cursor as cursor." if next_cursor else ""
    return {
        "results": list(results),
        "total": total,
        "next_cursor": next_cursor,
        "message": f"{message}{more}",
    }


def listed_text(names: MetaToolNames, *, found: int) -> str:
    """Return the sentence that goes with the answer to an empty query."""
    if not found:
        return "There are no more tools."
    tools = "1 tool" if found == 1 else f"{found} tools"
    return f"Listed {tools}, unranked: add a query to rank them. Run one with {names.call}."


def markdown(answer: Mapping[str, Any], tools: Sequence[Tool]) -> str:
    """Return a search's answer as Markdown, which takes a third of the JSON."""
    parts = [
        "\n".join(_markdown_tool(found, tool)) for found, tool in zip(answer["results"], tools, strict=True)
    ]
    cursor = [f"next_cursor: {answer['next_cursor']}"] if answer["next_cursor"] else []
    return "\n\n".join([answer["message"], *parts, *cursor])


def _markdown_tool(found: Mapping[str, Any], tool: Tool) -> Iterator[str]:
    yield f"### {found['name']}"
    # Headings are names of tools: a description must not look like one.
    if text := meta_tools.one_line(found["description"]).lstrip("# "):
        yield text
    yield _code(meta_tools.signature(tool))
    for name, schema in found["parameters"].get("properties", {}).items():
        described = schema if isinstance(schema, Mapping) else {}
        about = meta_tools.one_line(str(described.get("description", "")))
        # The signature shows the type of a plain value, but not what is inside an object.
        inside = f" {_code(_compact(schema))}" if _is_nested(described) else ""
        if about or inside:
            yield f"- {meta_tools.one_line(name)}: {about}{inside}"
    if "$defs" in found["parameters"]:
        yield f"- $defs: {_code(_compact(found['parameters']['$defs']))}"


def _code(text: str) -> str:
    """Return a string as inline code that no backtick in it can end."""
    fence = "`"
    while fence in text:
        fence += "`"
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{' '.join(text.splitlines())}{pad}{fence}"


def _is_nested(schema: Mapping[str, Any]) -> bool:
    text = _compact(schema)
    return '"properties"' in text or '"$ref"' in text


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)


def _title(tool: Tool) -> str | None:
    title = tool.metadata.get("title")
    return title if isinstance(title, str) else None
