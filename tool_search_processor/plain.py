"""Values of any origin as plain JSON containers and clean text."""

from __future__ import annotations

import base64
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

_ATOMS = frozenset({str, int, float, bool, type(None)})


def field_of(value: Any, name: str) -> Any:
    """Return a key of a mapping or an attribute of an object; None where there is none."""
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def plain(value: Any) -> Any:
    """Return a value as new JSON containers: mappings, SDK objects and dataclasses become dicts.

    Every container is copied, so that no later change of the one reaches the other.
    """
    # exact types first: a history is copied at every step, and this makes that three times cheaper
    kind = type(value)
    if kind in _ATOMS:
        return value
    if kind is dict:
        return {key if type(key) is str else str(key): plain(item) for key, item in value.items()}
    if kind is list:
        return [plain(item) for item in value]
    if isinstance(value, str | int | float):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    if isinstance(value, bytes | bytearray):
        return base64.b64encode(value).decode()
    if hasattr(value, "model_dump"):
        return plain(value.model_dump(exclude_none=True, warnings=False))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return plain(dataclasses.asdict(value))
    if hasattr(value, "__dict__"):
        return plain({key: item for key, item in vars(value).items() if not key.startswith("_")})
    return str(value)


def clean_text(text: str) -> str:
    """Replace lone surrogates, which no wire can carry."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode(errors="replace").decode()
    return text


def text_of(content: Any) -> str:
    """Return the text of a message's content: itself, or its text parts joined by line ends."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, Sequence):
        parts = [part if isinstance(part, str) else field_of(part, "text") for part in content]
        return "\n".join(part for part in parts if isinstance(part, str))
    return str(content)
