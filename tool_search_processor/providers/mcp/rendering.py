"""What a server answers, as the text that a model reads."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tool_search_processor.plain import clean_text

_BASE64_RATIO = 3 / 4


class MCPResult(str):
    """A result as the model reads it: a text, which also holds what the server sent.

    A gateway passes `content` and `structured_content` on as they came, pictures included.
    """

    __slots__ = ("content", "structured_content")

    content: Sequence[Mapping[str, Any]]
    """The blocks, as the protocol has them: `{"type": "text", "text": "…"}` and so on."""
    structured_content: Any
    """The structured result; None where the server sent none."""


def render_result(result: Any, *, limit: int | None) -> MCPResult:
    """Return a `CallToolResult` as text.

    Structured content stands for the texts beside it: the protocol has a server send the same twice. What
    is no text is named, with its kind and size.

    Args:
        result: Of the SDK.
        limit: The most characters; None for any number.
    """
    blocks = [_wire(block) for block in result.content]
    structured = result.structured_content
    if structured is None:
        parts = [block_text(block) for block in blocks]
    else:
        others = [block for block in blocks if block.get("type") != "text"]
        parts = [json.dumps(structured, ensure_ascii=False), *map(block_text, others)]
    rendered = MCPResult(cut("\n".join(parts), limit=limit))
    rendered.content = blocks
    rendered.structured_content = structured
    return rendered


def error_words(result: Any, *, limit: int | None) -> str:
    """Return what a result that is an error says."""
    words = cut("\n".join(block_text(_wire(block)) for block in result.content), limit=limit)
    return words.strip() or "the tool failed without saying why."


def contents_text(contents: Iterable[Mapping[str, Any]], *, limit: int | None) -> str:
    """Return the contents of a resource that was read."""
    return cut("\n".join(map(_resource_text, contents)), limit=limit)


def messages_text(messages: Iterable[Mapping[str, Any]], *, limit: int | None) -> str:
    """Return a prompt's messages, each after its role."""
    return cut("\n".join(f"{each['role']}: {block_text(each['content'])}" for each in messages), limit=limit)


def block_text(block: Mapping[str, Any]) -> str:
    """Return one block of content, in the protocol's form, as text."""
    kind = block.get("type")
    if kind == "text":
        return clean_text(str(block.get("text", "")))
    if kind == "resource":
        return _resource_text(block.get("resource") or {})
    if kind == "resource_link":
        described = f": {block['description']}" if block.get("description") else ""
        return clean_text(f"[resource {block.get('uri')} ({block.get('name')}){described}]")
    return f"[{kind}: {_binary(block, 'data')}, not shown]"


def cut(text: str, *, limit: int | None) -> str:
    """Return a text of at most `limit` characters, and behind it how much is missing."""
    if limit is None or len(text) <= limit:
        return text
    return f"{text[:limit]}\n[cut: {limit:,} of {len(text):,} characters]"


def wire_contents(contents: Iterable[Any]) -> list[dict[str, Any]]:
    """Return objects of the SDK in the protocol's form."""
    return [_wire(item) for item in contents]


def _resource_text(resource: Mapping[str, Any]) -> str:
    if isinstance(resource.get("text"), str):
        return clean_text(f"[resource {resource.get('uri')}]\n{resource['text']}")
    return clean_text(f"[resource {resource.get('uri')}: {_binary(resource, 'blob')}, not shown]")


def _binary(block: Mapping[str, Any], key: str) -> str:
    size = int(len(str(block.get(key, "")).rstrip("=")) * _BASE64_RATIO)
    return f"{block.get('mimeType') or 'unknown type'}, {size:,} bytes"


def _wire(item: Any) -> dict[str, Any]:
    wire: dict[str, Any] = item.model_dump(by_alias=True, mode="json", exclude_none=True)
    return wire
