"""Foreign definitions made safe to show: what a server writes is data and may try to deceive."""

from __future__ import annotations

import json
import operator
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from tool_search_processor.errors import InvalidToolError
from tool_search_processor.wire.plain import clean_text, hidden_in, visible_text

MAX_DESCRIPTION = 10_000
"""Characters of a tool's description; a longer one is cut."""

MAX_PARAMETER_TEXT = 4_000
"""Characters of a description or title in a schema; a longer one is cut."""

MAX_SCHEMA = 500_000
"""Characters of one schema as JSON; a larger one is refused: it costs a model over 100,000 tokens."""

HIDDEN = "hidden_characters"
"""The key of a tool's metadata for the number of invisible characters in its definition, if any."""

_counter: ContextVar[Counter[str] | None] = ContextVar("hidden_characters", default=None)
_MAX_NAME = 1_000
_MAX_PARAMETER_NAME = 256
_MAX_TITLE = 200
_MAX_TAGS = 100
_MAX_TAG = 100
_TEXTS = frozenset({"description", "title"})


def foreign_text(text: str, *, limit: int = MAX_DESCRIPTION) -> str:
    """Return the visible part of a foreign string, cut to `limit` characters."""
    # More is not looked at: a string may hold megabytes that nobody sees.
    seen = _seen(text[: 4 * limit])
    return seen if len(seen) <= limit else f"{seen[: limit - 1].rstrip()}…"


def foreign_line(text: str, *, limit: int = _MAX_TITLE) -> str:
    """Return the visible part of a foreign string as one line."""
    return foreign_text(" ".join(foreign_text(text, limit=4 * limit).split()), limit=limit)


def foreign_tags(tags: Iterable[object]) -> frozenset[str]:
    """Return the tags that are strings of a tag's length, one line each, at most a hundred."""
    lines = (foreign_line(tag) for tag in tags if isinstance(tag, str) and len(tag) <= _MAX_TAG)
    return frozenset([line for line in lines if line][:_MAX_TAGS])


def foreign_json(value: Any) -> Any:
    """Return a foreign JSON value with only the visible part of each string; keys stay as they are."""
    if isinstance(value, str):
        return _seen(value)
    if isinstance(value, Mapping):
        return {key: foreign_json(item) for key, item in value.items()}
    return [foreign_json(item) for item in value] if isinstance(value, list | tuple) else value


def foreign_schema(schema: Any, *, tool: str, keep_names: bool = False) -> Any:
    """Return a foreign schema that means the same and hides nothing.

    Invisible characters are taken out of its strings; in patterns, where they mean something, they
    are written as escapes. Strings that are too long are cut.

    Args:
        schema: A JSON Schema; other values come back as they are.
        tool: The tool's name, for errors.
        keep_names: Whether parameters may have names that are too long or hold what can't be seen. They
            could not be called by others, so such a tool is refused otherwise.

    Raises:
        InvalidToolError: When it is larger than `MAX_SCHEMA`, or because of a parameter's name.
        RecursionError: When it holds itself, or is nested too deeply.
    """
    if not isinstance(schema, Mapping):
        return schema
    cleaned = _clean_schema(schema, None if keep_names else tool)
    size = _json_length(cleaned)
    if size > MAX_SCHEMA:
        raise InvalidToolError(
            f"a schema of the tool {tool!r:.100} has {size:,} characters as JSON: the most is {MAX_SCHEMA:,}"
        )
    return cleaned


def check_foreign_name(name: str) -> None:
    """Refuse a name that is too long to be one.

    Raises:
        InvalidToolError: When it is longer than a thousand characters.
    """
    if len(name) > _MAX_NAME:
        raise InvalidToolError(
            f"a tool's name has {len(name):,} characters, {name!r:.60}…: the most is {_MAX_NAME:,}"
        )


@contextmanager
def hidden_counted() -> Iterator[Counter[str]]:
    """Count the characters that are taken out of foreign strings inside, under the key `HIDDEN`."""
    counter: Counter[str] = Counter()
    token = _counter.set(counter)
    try:
        yield counter
    finally:
        _counter.reset(token)


def _seen(text: str) -> str:
    if text.isascii() and text.isprintable():
        return text  # quickly: a document of thousands of operations has a million such strings
    counter = _counter.get()
    if counter is not None and (hidden := hidden_in(text)):
        counter[HIDDEN] += hidden
    return visible_text(clean_text(text))


def _clean_schema(value: Any, tool: str | None, key: str = "") -> Any:
    """Return the value, safe; the same object if nothing changes, since large documents share parts."""
    if isinstance(value, str):
        if key in _TEXTS:
            return foreign_text(value, limit=MAX_PARAMETER_TEXT)
        return _escaped(value) if key == "pattern" else _seen(value)
    if isinstance(value, Mapping):
        cleaned = {
            _clean_key(name, tool, key): _clean_schema(item, tool, name) for name, item in value.items()
        }
        is_same = _are_same(cleaned, value) and _are_same(cleaned.values(), value.values())
        return value if is_same else cleaned
    if isinstance(value, list | tuple):
        items = [_clean_schema(item, tool) for item in value]
        return value if _are_same(items, value) else items
    return value


def _are_same(some: Collection[object], others: Collection[object]) -> bool:
    return len(some) == len(others) and all(map(operator.is_, some, others))


def _clean_key(name: Any, tool: str | None, parent: str) -> Any:
    if not isinstance(name, str) or (parent == "properties" and tool is None):
        return name
    if name.isascii() and name.isprintable() and len(name) <= _MAX_PARAMETER_NAME:
        return name
    name = clean_text(name)
    if parent == "patternProperties":
        return _escaped(name)
    seen = visible_text(name)
    if parent == "properties" and (seen != name or "\n" in name or len(name) > _MAX_PARAMETER_NAME):
        raise InvalidToolError(
            f"the tool {tool!r:.100} has a parameter {ascii(name)[:100]}, whose name is too long or holds "
            "what can't be seen: give it another"
        )
    return seen


def _escaped(pattern: str) -> str:
    """Return a regular expression with its invisible characters as escapes, which mean the same."""
    pattern = clean_text(pattern)
    if visible_text(pattern) == pattern:
        return pattern
    return "".join(
        character if visible_text(character) == character else _escape(ord(character))
        for character in pattern
    )


def _escape(code: int) -> str:
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def _json_length(value: Any) -> int:
    try:
        return len(json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str))
    except (TypeError, ValueError):  # keys of several kinds, or a circle: the tool itself refuses those
        return 0
