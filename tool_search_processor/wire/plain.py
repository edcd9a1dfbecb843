"""Converts values of any origin to plain JSON containers and clean text."""

from __future__ import annotations

import base64
import dataclasses
import math
import operator
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, TypeGuard

_ATOMS = frozenset({str, int, float, bool, type(None)})

_LINE_ENDS = re.compile("\r\n?|[\x85\u2028\u2029]")
# What models see but readers don't: controls, marks that turn the direction of text, tags and the
# selectors that can spell whole sentences, letters and blanks without a shape.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_SHAPE = "[^\x00-\x7f\u200c\u200d\ufe0e\ufe0f]"
# Joiners and the two selectors of emoji: they stay between characters that they can join or shape, where
# Persian, Indic scripts and emoji need them, one at a time.
_IDLE = re.compile(
    f"(?<!{_SHAPE})(?<!{_SHAPE}\ufe0f)[\u200c\u200d]|[\u200c\u200d](?!{_SHAPE})"
    f"|(?<!{_SHAPE})(?<![0-9#*])[\ufe0e\ufe0f]|(?<=[0-9#*])[\ufe0e\ufe0f](?!\u20e3)"
)


def field_of(value: Any, name: str) -> Any:
    """Return the value of a mapping's key or of an object's attribute; None if there is none."""
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def is_number(value: object) -> TypeGuard[float]:
    """Return True if a value is a number; True and False are not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def plain(value: Any) -> Any:
    """Return a value as new JSON containers: mappings, SDK objects and dataclasses become dicts.

    Every container is copied, so a later change to the value or to the copy does not affect the other.
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


def copied(value: Any) -> Any:
    """Return a value with its dicts and lists copied, frozen ones as plain ones; all else is shared."""
    if isinstance(value, Mapping):
        return {key: item if type(item) in _ATOMS else copied(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [item if type(item) in _ATOMS else copied(item) for item in value]
    return value


def sendable(value: Any) -> Any:
    """Return `plain(value)`, safe to send anywhere: strings cleaned, and None for NaN and infinities.

    A value that is nested too deeply to copy becomes None.
    """
    try:
        return _fit(plain(value))
    except RecursionError:
        return None


def _fit(value: Any) -> Any:
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, dict):
        return {clean_text(key): _fit(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_fit(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def clean_text(text: str) -> str:
    """Return a string without lone surrogates, which no wire can carry.

    Two halves side by side, such as an emoji that a stream cut in the middle, become one character.
    """
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def visible_text(text: str) -> str:
    """Return the visible part of a string: no controls or invisible characters, line ends as line feeds.

    Blanks, tabs and line feeds stay, and so do the joiners that scripts and emoji need.
    """
    if text.isascii() and text.isprintable():
        return text
    seen = _UNSEEN.sub("", _LINE_ENDS.sub("\n", text))
    return seen if seen.isascii() else _IDLE.sub("", seen)


def hidden_in(text: str) -> int:
    """Return how many characters `visible_text` removes; other kinds of line ends don't count."""
    if text.isascii() and text.isprintable():
        return 0
    ended = _LINE_ENDS.sub("\n", clean_text(text))
    return len(ended) - len(visible_text(ended))


def items_of(value: Any) -> Sequence[Any]:
    """Return a list's items; an empty list for anything that is not a list."""
    return value if isinstance(value, list | tuple) else ()


def mapping_of(value: Any) -> Mapping[str, Any]:
    """Return a mapping as it is; an empty one for anything else."""
    return value if isinstance(value, Mapping) else {}


def are_same(some: Collection[object], others: Collection[object]) -> bool:
    """Return True if two collections hold the same objects in the same order."""
    return len(some) == len(others) and all(map(operator.is_, some, others))


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


def safe_repr(value: Any) -> str:
    """Return `repr(value)`, or the type's name where that raises."""
    try:
        return repr(value)
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 - foreign code
        return f"<{type(value).__name__}>"


def counted(count: int, noun: str) -> str:
    """Return a count with its noun, such as "1 query" and "2 queries"."""
    if count == 1:
        return f"1 {noun}"
    return f"{count:,} {noun[:-1]}ies" if noun.endswith("y") else f"{count:,} {noun}s"
