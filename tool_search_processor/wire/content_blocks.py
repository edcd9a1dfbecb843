"""Converts content blocks of any provider to OpenAI's parts or to text."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tool_search_processor.wire.plain import field_of, mapping_of, text_of

THINKING = frozenset({"thinking", "redacted_thinking"})
_OPENAI_PARTS = frozenset({"text", "refusal", "image_url", "input_audio", "file", "video_url"})
_MEDIA_PARTS = _OPENAI_PARTS - {"text", "refusal"}
BLOCKS_OF_OPENAI = _OPENAI_PARTS - {"text"}
"""Types of parts that only OpenAI's chat shape has."""
_MEDIA_TYPES = {"image": "image/png", "document": "application/pdf"}
# No user message in OpenAI's shape has these; any other type may be a part that some server knows.
_NOT_A_USERS = frozenset(
    {
        *THINKING, "tool_use", "tool_result", "server_tool_use", "image", "document", "search_result",
        "resource", "resource_link",
    }
)  # fmt: skip
_CALLS = ("tool_use", "server_tool_use", "mcp_tool_use")
# Keys under which blocks keep readable text, in reading order.
_TELLING = (
    "title", "name", "tool_name", "source", "uri", "url", "context", "description",
    "text", "refusal", "content", "resource", "json", "stdout", "stderr", "error_code",
)  # fmt: skip
_BINARY = ("data", "blob", "bytes")
_NOT_READ = frozenset({"type", "cache_control", "citations", "signature", *_BINARY})


def is_openai_content(content: Any, *, role: str) -> bool:
    """Return True if a message of this role can hold the content as it is in OpenAI's chat shape."""
    if not isinstance(content, list):
        return role != "tool" or isinstance(content, str)
    kinds = {kind_of(part) for part in content}
    if role == "user":
        return not kinds & _NOT_A_USERS
    return kinds <= _OPENAI_PARTS


def kind_of(block: Any) -> str:
    """Return the type that a block names; an empty string if it names none."""
    kind = field_of(block, "type")
    return kind if isinstance(kind, str) else ""


def text_part(text: str) -> dict[str, Any]:
    """Return a string as a part of a message's content."""
    return {"type": "text", "text": text}


def user_parts(blocks: Sequence[Any]) -> list[dict[str, Any]]:
    """Return the parts of a user's message, without the tool results among its blocks."""
    parts = [_user_part(block) for block in blocks if kind_of(block) not in ("tool_result", *_CALLS)]
    return [part for part in parts if part is not None]


def assistant_text(blocks: Sequence[Any]) -> str | None:
    """Return an assistant's text, with results of tools that its provider ran; None if there is none."""
    said = [block_text(block) for block in blocks if block and kind_of(block) not in (*THINKING, *_CALLS)]
    return "\n".join(text for text in said if text) or None


def result_content(content: Any) -> str | list[dict[str, Any]]:
    """Return the content of a tool's result: text, or parts if it has pictures or files."""
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list):
        return block_text(content)
    parts = [_result_part(block) for block in content if block is not None]
    if any(part["type"] in _MEDIA_PARTS for part in parts):
        return parts
    return text_of(parts)


def block_text(block: Any) -> str:
    """Return the content of any block as text; data that is not text is named by its type only."""
    try:
        return _told(block)
    except RecursionError:
        return "[nested too deeply]"


def marked(part: dict[str, Any], block: Any) -> dict[str, Any]:
    """Return a part with the block's prompt cache mark, if it has one."""
    mark = field_of(block, "cache_control")
    return {**part, "cache_control": mark} if mark else part


def marked_text(text: str, message: Any) -> str | list[dict[str, Any]]:
    """Return a message's string as its content: as a part if the message has a cache mark for it."""
    return [marked(text_part(text), message)] if text and field_of(message, "cache_control") else text


def _told(block: Any) -> str:
    if isinstance(block, str):
        return block
    told = "\n".join(_lines(block))
    if told or kind_of(block) == "text":
        return told
    rest = block
    if isinstance(block, Mapping):
        rest = {key: value for key, value in block.items() if value and key not in _NOT_READ}
    return json.dumps(rest, ensure_ascii=False, default=str) if rest else f"[{kind_of(block) or 'nothing'}]"


def _lines(block: Any) -> Iterator[str]:
    """Yield the strings in a block, key by key."""
    found = mapping_of(block)
    for key in _TELLING:
        value = found.get(key)
        if key == "json" and key in found:
            yield json.dumps(value, ensure_ascii=False, default=str)
        elif isinstance(value, str | list | Mapping):
            items = value if isinstance(value, list) else [value] if value else ()
            yield from filter(None, map(_told, items))
    data = next((found[key] for key in _BINARY if found.get(key)), None)
    if data is not None:
        kind = found.get("media_type") or found.get("mimeType") or kind_of(block) or "data"
        yield str(data) if kind_of(block) == "text" or kind == "text/plain" else f"[{kind}, not shown]"


def _user_part(block: Any) -> dict[str, Any] | None:
    if isinstance(block, str):
        return text_part(block)
    kind = kind_of(block)
    if not isinstance(block, Mapping) or kind in THINKING:
        return None
    if kind == "text":
        return marked(text_part(str(block.get("text") or "")), block)
    if kind in _MEDIA_TYPES:
        part = _media_part(block)
        return None if part is None else marked(part, block)
    return marked(text_part(block_text(block)), block) if kind in _NOT_A_USERS else dict(block)


def _result_part(block: Any) -> dict[str, Any]:
    part = dict(block) if kind_of(block) in _MEDIA_PARTS else _media_part(block)
    return marked(part or text_part(block_text(block)), block)


def _media_part(block: Any) -> dict[str, Any] | None:
    """Return an image or a document as a part that LiteLLM accepts; None if it has no content."""
    kind = kind_of(block)
    if kind not in _MEDIA_TYPES:
        return None
    source = mapping_of(block.get("source") or {**block, "media_type": block.get("mimeType")})
    data, url, file_id = source.get("data"), source.get("url"), source.get("file_id")
    if source.get("type") in ("text", "content"):
        return text_part(block_text(block))
    media_type = source.get("media_type") or _MEDIA_TYPES[kind]
    title = block.get("title")
    named = {"filename": title} if isinstance(title, str) and title else {}
    if file_id:
        return {"type": "file", "file": {"file_id": file_id, "format": media_type, **named}}
    place = f"data:{media_type};base64,{data}" if data else url
    if not place:
        return None
    if kind == "image":
        return {"type": "image_url", "image_url": {"url": place}}
    return {"type": "file", "file": {"file_data" if data else "file_id": place, **named}}
