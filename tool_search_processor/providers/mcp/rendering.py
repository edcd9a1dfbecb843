"""Turns what a server answers into the text that a model reads."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from tool_search_processor.errors import ToolCallError
from tool_search_processor.providers.mcp.media import byte_count, without_media
from tool_search_processor.tools.frozen import parts_of, values_in
from tool_search_processor.wire.plain import clean_text

_LEVELS = 2
_PROTOCOL = "io.modelcontextprotocol/"
_EMPTY = "The tool was run and returned nothing."
_NO_WORDS = "the tool failed without saying why."


class MCPResult(str):
    """A result as the model reads it: a string that also holds what the server sent.

    A gateway passes `content`, `structured_content` and `meta` on as they came, pictures included.
    """

    __slots__ = ("content", "meta", "structured_content")

    content: Sequence[Mapping[str, Any]]
    """The blocks, as the protocol has them: `{"type": "text", "text": "…"}` and so on."""
    structured_content: Any
    """The structured result; None if the server did not send one."""
    meta: Mapping[str, Any]
    """What the server sent for programs, `_meta` of the protocol."""


class MCPParts(list[dict[str, Any]]):
    """Contents of a resource or messages of a prompt in the protocol's form, and their `_meta`."""

    def __init__(self, parts: Iterable[Any] = (), *, meta: Mapping[str, Any] | None = None) -> None:
        """Convert objects of the SDK, and keep the `_meta` of their result."""
        super().__init__(wire_contents(parts))
        self.meta = own_meta(meta)


class MCPToolError(ToolCallError):
    """A server's tool says that it failed; the text is fit for the model."""

    def __init__(self, result: MCPResult) -> None:
        """Hold the result that the server sent."""
        super().__init__(str(result))
        self.result = result


def render_result(result: Any, *, limit: int | None) -> MCPResult:
    """Return a `CallToolResult` as text.

    Structured content comes first, then what else there is. By the protocol, a server sends both, so
    a text that says no more than the structured content is left out. What isn't text is named, with its kind
    and size.

    Args:
        result: Of the SDK.
        limit: The most characters; None for no limit.
    """
    blocks = [_wire(block) for block in result.content]
    structured = result.structured_content
    said = frozenset() if structured is None else _said_by(structured)
    parts = [block_text(block) for block in blocks if not _is_said(block, said)]
    is_empty = structured in (None, {}, [], "")
    if not is_empty or (structured is not None and not _has_words(parts)):
        parts.insert(0, json.dumps(without_media(structured), ensure_ascii=False))
    if not _has_words(parts):
        parts = [_NO_WORDS if result.is_error else _EMPTY]
    rendered = MCPResult(cut("\n".join(parts), limit=limit))
    rendered.content = blocks
    rendered.structured_content = structured
    rendered.meta = own_meta(result.meta)
    return rendered


def _has_words(parts: Iterable[str]) -> bool:
    return any(part.strip() for part in parts)


def _is_said(block: Mapping[str, Any], said: Collection[str]) -> bool:
    """Return True if a text block says no more than the structured content next to it."""
    if block.get("type") != "text" or not said:
        return False
    text = str(block.get("text", "")).strip()
    return text in said or _canonical_text(text) in said


def _said_by(structured: Any) -> frozenset[str]:
    """Return the texts that say no more than structured content: its strings, and its parts as JSON."""
    parts = [structured]
    for _ in range(_LEVELS):  # a list is often sent as {"result": […]} with a block of text for each item
        parts += [part for each in parts for part in parts_of(each)]
    strings = frozenset(one.strip() for one in values_in(structured) if isinstance(one, str))
    return strings | frozenset(map(_canonical, parts))


def _canonical_text(text: str) -> str:
    try:
        return _canonical(json.loads(text))
    except (ValueError, RecursionError):
        return text


def _canonical(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


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
    """Return at most `limit` characters of a string, followed by how much is missing."""
    if limit is None or len(text) <= limit:
        return text
    return f"{text[:limit]}\n[cut: {limit:,} of {len(text):,} characters]"


def wire_contents(contents: Iterable[Any]) -> list[dict[str, Any]]:
    """Return objects of the SDK in the protocol's form."""
    return [_wire(item) for item in contents]


def own_meta(meta: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Return `_meta` without the protocol's own keys, which each server of a chain writes for itself."""
    return {key: value for key, value in (meta or {}).items() if not key.startswith(_PROTOCOL)}


def _resource_text(resource: Mapping[str, Any]) -> str:
    if isinstance(resource.get("text"), str):
        return clean_text(f"[resource {resource.get('uri')}]\n{resource['text']}")
    return clean_text(f"[resource {resource.get('uri')}: {_binary(resource, 'blob')}, not shown]")


def _binary(block: Mapping[str, Any], key: str) -> str:
    return f"{block.get('mimeType') or 'unknown type'}, {byte_count(str(block.get(key, ''))):,} bytes"


def _wire(item: Any) -> dict[str, Any]:
    wire: dict[str, Any] = item.model_dump(by_alias=True, mode="json", exclude_none=True)
    return wire
