"""Reads the items of OpenAI's Responses API as chat messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tool_search_processor.wire.content_blocks import kind_of, text_part
from tool_search_processor.wire.notes import notes_of
from tool_search_processor.wire.plain import items_of, mapping_of, text_of

_PARTS = frozenset({"input_text", "output_text", "input_image", "input_file"})
_OTHER_ITEMS = frozenset(
    {"reasoning", "compaction", "item_reference", "mcp_list_tools", "mcp_approval_request", "program"}
)
CALLS = frozenset({"function_call", "custom_tool_call"})
"""Items that are calls of the caller's own tools."""
RESULTS = frozenset({"function_call_output", "custom_tool_call_output"})
"""Items that answer those calls."""
_DECLARING = frozenset({"tool_addition", "tool_removal"})
_ENDINGS = ("_call", "_output", "_tools", "_response")


def is_item(message: Any) -> bool:
    """Return True if a message, as plain data, has a shape that only the Responses API has."""
    kind, found = kind_of(message), mapping_of(message)
    if "role" not in found or kind == "additional_tools":
        return kind in _OTHER_ITEMS or (kind.endswith(_ENDINGS) and kind != "tool_call")
    if kind == "message" and "status" in found:
        return True
    return any(kind_of(part) in _PARTS for part in items_of(found.get("content")))


def is_declaration(message: Mapping[str, Any]) -> bool:
    """Return True if a message only declares or withdraws tools, in the shape of a provider."""
    if message.get("role") not in ("system", "developer"):
        return False
    kinds = {kind_of(block) for block in items_of(message.get("content"))}
    return kind_of(message) == "additional_tools" or (bool(kinds) and kinds <= _DECLARING)


def opens_turn(message: Any) -> bool:
    """Return True if calls that follow a message as separate items belong to its turn."""
    found = mapping_of(message)
    return bool(found.get("role") == "assistant") and not items_of(found.get("tool_calls"))


def is_of_the_model(item: Mapping[str, Any]) -> bool:
    """Return True for an item of the model's turn; False for a result, or what somebody else said."""
    if "role" in item:
        return bool(item["role"] == "assistant")
    return kind_of(item) not in RESULTS


def turn_message(items: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the items of one turn of the model as a chat message; none if chat has no counterpart."""
    texts = [text_of(_chat_content(item.get("content"))) for item in items if "role" in item]
    message: dict[str, Any] = {"role": "assistant", "content": "\n".join(filter(None, texts)) or None}
    thought = [dict(item) for item in items if kind_of(item) == "reasoning"]
    calls = [_chat_call(item) for item in items if kind_of(item) in CALLS]
    optional = {"reasoning_items": thought, "tool_calls": calls}
    message |= {key: value for key, value in optional.items() if value}
    message |= {key: note for item in items for key, note in notes_of(item).items()}
    return [message] if texts or thought or calls else []


def item_message(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return an item that is not of the model's turn as a chat message."""
    if "role" in item:
        rest = {key: value for key, value in item.items() if key not in ("type", "id", "status")}
        return {**rest, "content": _chat_content(item.get("content"))}
    call_id = {"tool_call_id": str(item.get("call_id") or ""), **notes_of(item)}
    return {"role": "tool", **call_id, "content": _chat_content(item.get("output"))}


def _chat_call(item: Mapping[str, Any]) -> dict[str, Any]:
    call_id, name = str(item.get("call_id") or ""), str(item.get("name") or "")
    if kind_of(item) == "custom_tool_call":
        return {"id": call_id, "type": "custom", "custom": {"name": name, "input": item.get("input")}}
    function = {"name": name, "arguments": item.get("arguments")}
    return {"id": call_id, "type": "function", "function": function}


def _chat_content(content: Any) -> Any:
    if not isinstance(content, list):
        return content if isinstance(content, str) else ""
    parts = [_chat_part(part) for part in content]
    return parts if any(kind_of(part) != "text" for part in parts) else text_of(parts)


def _chat_part(part: Any) -> Any:
    kind = kind_of(part)
    if kind in ("input_text", "output_text"):
        return text_part(str(part.get("text") or ""))
    if kind == "input_image":
        if part.get("image_url"):
            return {"type": "image_url", "image_url": {"url": part["image_url"]}}
        return {"type": "file", "file": {"file_id": part.get("file_id")}}
    if kind == "input_file":
        found = {key: part.get(key) for key in ("file_id", "file_data", "filename")}
        found["file_id"] = found["file_id"] or part.get("file_url")
        return {"type": "file", "file": {key: value for key, value in found.items() if value}}
    return part
