"""Writes chat messages in the shape of Anthropic's Messages API."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from tool_search_processor.wire.calls import fit_id, is_fit, name_and_arguments
from tool_search_processor.wire.content_blocks import (
    BLOCKS_OF_OPENAI,
    THINKING,
    block_text,
    kind_of,
    marked,
    marked_text,
    text_part,
)
from tool_search_processor.wire.notes import notes_of
from tool_search_processor.wire.plain import clean_text, items_of, mapping_of, sendable, text_of

_SIGNED = ("signature", "data")
_NOT_BLOCKS = BLOCKS_OF_OPENAI | {"", "input_text", "output_text", "input_image", "input_file"}


def as_anthropic(message: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return a message as Anthropic takes it back, or None if it is not in Anthropic's shape."""
    content = message.get("content")
    if message.get("role") not in ("user", "assistant") or not content:
        return None
    if message.get("tool_calls") or message.get("cache_control"):  # which only chat has there
        return None
    if not isinstance(content, str | list) or not all(map(_is_taken, items_of(content))):
        return None
    return {"role": message["role"], "content": content, **notes_of(message)}


def _is_taken(block: Any) -> bool:
    """Return True if Anthropic takes a block as it is."""
    kind = kind_of(block)
    if kind == "tool_use":
        is_whole = isinstance(block.get("input"), Mapping)
        return is_whole and is_fit(block.get("id")) and is_fit(block.get("name"))
    if kind == "tool_result":
        return is_fit(block.get("tool_use_id"))
    return kind not in _NOT_BLOCKS and (kind != "text" or _has_text(block))


def _has_text(block: Any) -> bool:
    """Return True if a text says something: Anthropic refuses a blank one."""
    return bool(str(block.get("text") or "").strip())


def anthropic_messages(messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return chat messages, without system messages, as Anthropic takes them.

    The results of one turn become one user message. Our notes stay in: see `without_notes`.
    """
    written: list[dict[str, Any]] = []
    for role, run in groupby(messages, key=lambda message: message.get("role")):
        if role == "tool":
            written.append({"role": "user", "content": [_result(message) for message in run]})
        else:
            written += filter(None, (_message(message) for message in run))
    return written


def _message(message: Mapping[str, Any]) -> dict[str, Any] | None:
    content = _assistant(message) if message.get("role") == "assistant" else _said(message)
    role = "assistant" if message.get("role") == "assistant" else "user"
    return {"role": role, "content": content, **notes_of(message)} if content else None


def _assistant(message: Mapping[str, Any]) -> str | list[dict[str, Any]]:
    thought = [
        sendable(block)
        for block in items_of(message.get("thinking_blocks"))
        if kind_of(block) in THINKING and any(block.get(key) for key in _SIGNED)
    ]
    said = _said(message)
    calls = [_call(call) for call in items_of(message.get("tool_calls"))]
    if isinstance(said, str) and not thought and not calls:
        return said
    texts = [text_part(said)] if isinstance(said, str) and said.strip() else items_of(said)
    return [*thought, *texts, *calls]


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    name, arguments = name_and_arguments(call)
    try:
        given = json.loads(arguments) if isinstance(arguments, str) else arguments
    except (ValueError, RecursionError):
        given = None
    return {
        "type": "tool_use",
        "id": fit_id(str(call.get("id"))),
        "name": name,
        "input": given if isinstance(given, dict) else {},
    }


def _result(message: Mapping[str, Any]) -> dict[str, Any]:
    call_id = fit_id(str(message.get("tool_call_id")))
    content = _content(message.get("content"))
    block = {"type": "tool_result", "tool_use_id": call_id, "content": content, **notes_of(message)}
    return marked(block, message)


def _said(message: Mapping[str, Any]) -> str | list[dict[str, Any]]:
    content = _content(message.get("content"))
    return marked_text(content, message) if isinstance(content, str) else content


def _content(content: Any) -> str | list[dict[str, Any]]:
    if not isinstance(content, list):
        return clean_text(text_of(content))
    blocks = (_block(part) for part in content)
    return [block for block in blocks if kind_of(block) != "text" or _has_text(block)]


def _block(part: Any) -> dict[str, Any]:
    kind = kind_of(part)
    if kind == "image_url":
        url = mapping_of(part.get("image_url")).get("url", part.get("image_url"))
        return marked({"type": "image", "source": _source(str(url))}, part)
    if kind == "file":
        return marked(_document(mapping_of(part.get("file"))), part)
    if isinstance(part, Mapping) and kind not in BLOCKS_OF_OPENAI:
        return dict(part)
    return text_part(block_text(part))


def _document(file: Mapping[str, Any]) -> dict[str, Any]:
    media_type = str(file.get("format") or "application/pdf")
    kind = "image" if media_type.startswith("image/") else "document"
    place = str(file.get("file_id"))
    if file.get("file_data"):
        source = _source(str(file["file_data"]), media_type)
    else:
        source = {"type": "url", "url": place} if "://" in place else {"type": "file", "file_id": place}
    named = {"title": file["filename"]} if kind == "document" and file.get("filename") else {}
    return {"type": kind, "source": source, **named}


def _source(place: str, media_type: str = "image/png") -> dict[str, Any]:
    """Return the source of a picture or a file from its address, or from a `data:` address that holds it."""
    head, comma, data = place.partition(",")
    if not place.startswith("data:") or not comma:
        return {"type": "url", "url": place}
    media_type = head.removeprefix("data:").partition(";")[0] or media_type
    return {"type": "base64", "media_type": media_type, "data": data}
