"""Replaces base64 inside data with its kind and size, since a model can't read it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_DATA_URI = re.compile(r"data:([\w.+-]+/[\w.+-]+)(?:;[\w.+-]+=[\w.+-]+)*;base64,([A-Za-z0-9+/_-]+={0,2})")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]+={0,2}\s*")
_MEDIA_KINDS = ("image", "audio", "video", "blob", "base64")
_TYPE_KEYS = ("mimeType", "mime_type", "mediaType", "media_type", "contentType", "content_type")
_TEXT_TYPE = re.compile(r"text/|application/.*(json|xml|yaml|csv|javascript)")
_SIGNATURES = {
    "iVBORw0KGgo": "image/png",
    "/9j/": "image/jpeg",
    "R0lGODlh": "image/gif",
    "R0lGODdh": "image/gif",
    "UklGR": "a RIFF file",
    "JVBERi0": "application/pdf",
    "UEsDB": "application/zip",
    "H4sI": "application/gzip",
    "SUQz": "audio/mpeg",
    "T2dnU": "audio/ogg",
}
"""How the base64 of common files begins, whatever the key that holds it is called."""
_SHORTEST_SIGNED = 200
"""Characters; a shorter text may begin like that by chance."""


def without_media(value: Any) -> Any:
    """Return data with the base64 in it, at any depth, replaced by its kind and size.

    What stands next to it, such as a caption, stays.
    """
    if isinstance(value, Mapping):
        keys = _media_keys(value)
        return {
            key: media_note(keys[key], item) if key in keys else without_media(item)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [without_media(item) for item in value]
    return _without_files(value) if isinstance(value, str) else value


def media_note(kind: str, encoded: str) -> str:
    """Return the note that replaces base64."""
    return f"[{kind}, {byte_count(encoded):,} bytes, not shown]"


def byte_count(encoded: str) -> int:
    """Return how many bytes a base64 string encodes."""
    return len(encoded.rstrip().rstrip("=")) * 3 // 4


def _media_keys(value: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the keys of a block that hold base64, with the kind of data that it encodes."""
    given = (value.get(key) for key in _TYPE_KEYS)
    declared = next((kind for kind in given if isinstance(kind, str) and "/" in kind), "")
    named = value.get("type") if value.get("type") in _MEDIA_KINDS else ""
    kinds = {
        "data": "" if _TEXT_TYPE.match(declared) else declared or named,
        "blob": declared or named or ("unknown type" if "uri" in value else ""),
    }
    return {key: str(kind) for key, kind in kinds.items() if kind and _is_base64(value.get(key))}


def _is_base64(value: Any) -> bool:
    return isinstance(value, str) and _BASE64.fullmatch(value) is not None


def _without_files(text: str) -> str:
    """Return a string without data URIs, or a note in its place if it is a whole file."""
    if len(text) >= _SHORTEST_SIGNED and _is_base64(text):
        for start, kind in _SIGNATURES.items():
            if text.startswith(start):
                return media_note(kind, text)
    if "data:" not in text:
        return text
    return _DATA_URI.sub(lambda match: media_note(match[1], match[2]), text)
