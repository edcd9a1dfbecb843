"""Fields of stored messages that only this package reads, and that no provider is sent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tool_search_processor.wire.plain import items_of

NOTES = ("receipt", "declared")
"""`receipt` says what a call has loaded; `declared` what was declared just before the model spoke."""
_FAMILY = "tool-search/"


def notes_of(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return our notes in a message, block or item."""
    return {key: message[key] for key in NOTES if key in message and _is_ours(message[key])}


def without_notes(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return a message or item as a provider is sent it: without our notes, also in its blocks."""
    cleaned = _cleaned(message)
    blocks = items_of(message.get("content"))
    if any(isinstance(block, Mapping) and notes_of(block) for block in blocks):
        cleaned["content"] = [_cleaned(item) if isinstance(item, Mapping) else item for item in blocks]
    return cleaned


def _cleaned(item: Mapping[str, Any]) -> dict[str, Any]:
    noted = notes_of(item)
    return {key: value for key, value in item.items() if key not in noted}


def _is_ours(note: Any) -> bool:
    return isinstance(note, Mapping) and str(note.get("type")).startswith(_FAMILY)
