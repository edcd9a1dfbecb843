"""Messages, specs and results of Strands, as this package reads and writes them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tool_search_processor.tools.tool_names import make_tool_name
from tool_search_processor.wire.calls import CallRequest, openai_call

if TYPE_CHECKING:
    from strands.types.content import Message, SystemPrompt
    from strands.types.tools import ToolResult, ToolSpec, ToolUse

    from tool_search_processor.session.prepared_calls import ToolOutcome
    from tool_search_processor.tools import Tool


def to_openai(messages: Sequence[Message], *, receipts: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return messages of Strands in OpenAI chat shape, as far as a searcher reads them.

    Args:
        messages: The agent's messages.
        receipts: Receipts by call id, for the results of those calls.
    """
    read: list[dict[str, Any]] = []
    for message in messages:
        blocks = message["content"]
        text = "".join(block["text"] for block in blocks if "text" in block)
        calls = [_call(block["toolUse"]) for block in blocks if "toolUse" in block]
        results = [block["toolResult"] for block in blocks if "toolResult" in block]
        for result in results:
            call_id = result["toolUseId"]
            told = {"role": "tool", "tool_call_id": call_id, "content": _text(result)}
            read.append({**told, "receipt": receipts.get(call_id)})
        if text or calls or not results:
            read.append({"role": message["role"], "content": text, "tool_calls": calls})
    return read


def _call(use: ToolUse) -> dict[str, Any]:
    arguments = json.dumps(use["input"], default=str)
    return openai_call(CallRequest(id=use["toolUseId"], name=use["name"], arguments=arguments))


def _text(result: ToolResult) -> str:
    return "".join(
        part["text"] if "text" in part else json.dumps(part.get("json")) for part in result["content"]
    )


def tool_result(outcome: ToolOutcome) -> ToolResult:
    """Return the outcome of a call as Strands keeps it."""
    status: Any = "error" if outcome.is_error else "success"
    return {"toolUseId": outcome.call_id, "status": status, "content": [{"text": outcome.text}]}


def listed_spec(tool: Tool, theirs: Mapping[str, ToolSpec]) -> ToolSpec:
    """Return a listed tool as Strands sends it: its own spec for an own tool, by the name we know."""
    own = theirs.get(getattr(getattr(tool, "original", None), "tool_name", ""))
    if own is not None and make_tool_name(own["name"]) == tool.name:
        return {**own, "name": tool.name}
    schema = {"json": dict(tool.wire_schema())}
    return {"name": tool.name, "description": tool.shown_description, "inputSchema": schema}


def with_instructions(prompt: SystemPrompt, text: str) -> SystemPrompt:
    """Return a system prompt with text appended."""
    if not text:
        return prompt
    if isinstance(prompt, list):
        return [*prompt, {"text": text}]
    return f"{prompt}\n\n{text}" if prompt else text
