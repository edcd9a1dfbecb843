"""Names that every model provider accepts, made from other names."""

from __future__ import annotations

import hashlib
import re
import unicodedata

MAX_NAME_LENGTH = 64
"""Characters; OpenAI, Anthropic and Bedrock all stop here."""

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_FOREIGN = re.compile(r"[^A-Za-z0-9_-]")
_MEANINGFUL = re.compile(r"[A-Za-z0-9]")
_HASH_LENGTH = 8

_WORD_EDGES = re.compile(r"[_-]+|(?<=[a-z0-9])(?=[A-Z])")
_PROPERTY_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")  # what the Messages API takes
_OUTSIDE_PROPERTY_NAMES = re.compile(r"[^A-Za-z0-9_.-]+")


def is_tool_name(name: str) -> bool:
    """Return True if every model provider accepts the name: `[A-Za-z0-9_-]{1,64}`."""
    return _NAME.fullmatch(name) is not None


def make_tool_name(original: str) -> str:
    """Return a valid name made from any string, always the same for the same string.

    A valid name comes back as it is. Accents are taken off; every other character outside the set
    becomes `_`; a name that is too long is cut and ends in a hash of the original, and a string
    without letters and digits becomes `tool_` and that hash. Two originals may get the same name: see
    `hashed_tool_name`.
    """
    if is_tool_name(original):
        return original
    decomposed = unicodedata.normalize("NFKD", original)
    name = _FOREIGN.sub("_", "".join(c for c in decomposed if not unicodedata.combining(c)))
    if not _MEANINGFUL.search(name):
        return hashed_tool_name("tool", original)
    return name if len(name) <= MAX_NAME_LENGTH else hashed_tool_name(name, original)


def loses_letters(original: str) -> bool:
    """Return True if a name made from a string lacks some of its letters, such as Chinese ones."""
    return not original.isascii() and any(
        character.isalnum() and not character.isascii()
        for character in unicodedata.normalize("NFKD", original)
    )


def title_of(name: str) -> str:
    """Return a title made from a name: `create_issue` and `createIssue` are "Create Issue"."""
    words = _WORD_EDGES.sub(" ", name).split()
    return " ".join(word[0].upper() + word[1:] for word in words) or name


def is_property_name(name: str) -> bool:
    """Return True if every model provider accepts the parameter's name: `[A-Za-z0-9_.-]{1,64}`."""
    return _PROPERTY_NAME.fullmatch(name) is not None


def make_property_name(original: str) -> str:
    """Return a valid name of a parameter: `filter[status]` is `filter_status`, `$top` is `top`."""
    if is_property_name(original):
        return original
    name = _OUTSIDE_PROPERTY_NAMES.sub("_", original)
    if name != original:
        name = name.strip("_")
    return name[:MAX_NAME_LENGTH] or "argument"


def hashed_tool_name(name: str, original: str) -> str:
    """Return `name`, cut to fit, with `_` and 8 hex digits of the SHA-256 of `original` behind it.

    Args:
        name: A valid tool name of any length, such as `make_tool_name` gives.
        original: The string that is hashed, to tell this name from others.
    """
    digest = hashlib.sha256(original.encode("utf-8", "surrogatepass")).hexdigest()[:_HASH_LENGTH]
    return f"{name[: MAX_NAME_LENGTH - _HASH_LENGTH - 1]}_{digest}"
