"""Writes chat messages as input items of OpenAI's Responses API."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tool_search_processor.wire.calls import fit_id, is_custom_call, is_fit, name_and_arguments
from tool_search_processor.wire.content_blocks import assistant_text, kind_of
from tool_search_processor.wire.notes import notes_of
from tool_search_processor.wire.plain import items_of, mapping_of, sendable, text_of
from tool_search_processor.wire.response_items import CALLS, RESULTS, is_item

_OUTPUT_ONLY = ("parsed", "parsed_arguments", "created_by")
"""Fields that SDKs and servers add to items of a reply, but refuse in input."""
_ROLES = ("user", "assistant", "system", "developer")


def as_responses_input(item: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return an item as the API takes it back, or None if it is not in the API's shape."""
    if is_item(item):
        if not _is_taken(item):
            return None
        return {key: value for key, value in item.items() if key not in _OUTPUT_ONLY}
    role, content = item.get("role"), item.get("content")
    if role not in _ROLES or item.get("tool_calls") or not isinstance(content, str):
        return None
    return {"role": role, "content": content, **notes_of(item)}


def _is_taken(item: Mapping[str, Any]) -> bool:
    """Return True for an item that the API takes back as it is, as far as calls and their results go."""
    kind = item.get("type")
    if kind in CALLS:
        return is_fit(item.get("call_id")) and is_fit(item.get("name"))
    return kind not in RESULTS or (is_fit(item.get("call_id")) and item.get("output") is not None)


def responses_input(
    messages: Sequence[Mapping[str, Any]], *, conversation: Sequence[Mapping[str, Any]] | None = None
) -> list[dict[str, Any]]:
    """Return chat messages as input items; our notes stay in: see `without_notes`.

    Args:
        messages: What to write.
        conversation: Where the calls stand whose results are among the messages; `messages` if None.
    """
    custom = _custom_results(messages if conversation is None else conversation)
    return [item for message in messages for item in _items(message, is_custom=id(message) in custom)]


def _custom_results(conversation: Sequence[Mapping[str, Any]]) -> set[int]:
    """Return the identities of the messages that answer calls of custom tools."""
    kinds: dict[str, bool] = {}
    found: set[int] = set()
    for message in conversation:
        kinds |= {str(call.get("id")): is_custom_call(call) for call in items_of(message.get("tool_calls"))}
        if message.get("role") == "tool" and kinds.get(str(message.get("tool_call_id"))):
            found.add(id(message))
    return found


def _items(message: Mapping[str, Any], *, is_custom: bool) -> Iterator[dict[str, Any]]:
    role, content = message.get("role"), message.get("content")
    if role == "tool":
        kind = "custom_tool_call_output" if is_custom else "function_call_output"
        call_id = fit_id(str(message.get("tool_call_id")))
        output = content if isinstance(content, str) else _parts(content)
        yield {"type": kind, "call_id": call_id, "output": output, **notes_of(message)}
        return
    if role != "assistant":
        said = _parts(content) if isinstance(content, list) else text_of(content)
        yield {"role": "developer" if role == "system" else str(role), "content": said}
        return
    notes = notes_of(message)
    for item in _turn(message):
        yield {**item, **notes}
        notes = {}


def _turn(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    yield from (sendable(item) for item in items_of(message.get("reasoning_items")))
    content = message.get("content")
    said = assistant_text(content) if isinstance(content, list) else text_of(content)
    if said:
        yield {"role": "assistant", "content": said}
    for call in items_of(message.get("tool_calls")):
        name, arguments = name_and_arguments(call)
        item = {"call_id": fit_id(str(call.get("id"))), "name": name}
        if is_custom_call(call):
            yield {"type": "custom_tool_call", **item, "input": str(arguments["input"] or "")}
            continue
        text = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
        yield {"type": "function_call", **item, "arguments": text}


def _parts(content: Any) -> list[dict[str, Any]]:
    return [_part(part) for part in items_of(content)]


def _part(part: Any) -> dict[str, Any]:
    kind = kind_of(part)
    if kind == "image_url":
        image = part.get("image_url")
        found = mapping_of(image) or {"url": image}
        return {"type": "input_image", "image_url": found.get("url"), "detail": found.get("detail") or "auto"}
    if kind == "file":
        file = mapping_of(part.get("file"))
        place = file.get("file_id")
        known = {key: file[key] for key in ("file_data", "filename") if file.get(key)}
        if place:
            known["file_url" if "://" in str(place) else "file_id"] = place
        return {"type": "input_file", **known}
    if kind in ("text", "refusal") or not isinstance(part, Mapping):
        return {"type": "input_text", "text": text_of([part]) or str(part.get("refusal") or "")}
    return dict(part)
