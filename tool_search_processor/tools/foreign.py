"""Makes foreign definitions safe to show: what a server writes is data, and may try to deceive."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from tool_search_processor.errors import InvalidToolError
from tool_search_processor.tools.fields import MAX_REQUEST_CHARACTERS, MAX_REQUESTS
from tool_search_processor.tools.schema_walk import INNER_KEYWORDS, MAP_KEYWORDS, Schema, edit_schemas
from tool_search_processor.wire.plain import are_same, clean_text, hidden_in, visible_text

MAX_DESCRIPTION = 10_000
"""The most characters of a tool's description; the rest is cut off."""

MAX_PARAMETER_TEXT = 4_000
"""The most characters of a description or title in a schema; the rest is cut off."""

MAX_SCHEMA = 500_000
"""The most characters of a schema as JSON; a larger schema is refused: it costs over 100,000 tokens."""

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
    # The rest is not looked at: a string may hold megabytes of invisible characters.
    seen = _seen(text[: 4 * limit])
    return seen if len(seen) <= limit else f"{seen[: limit - 1].rstrip()}…"


def foreign_line(text: str, *, limit: int = _MAX_TITLE) -> str:
    """Return the visible part of a foreign string as one line."""
    return foreign_text(" ".join(foreign_text(text, limit=4 * limit).split()), limit=limit)


def foreign_tags(tags: Iterable[object]) -> frozenset[str]:
    """Return the tags that are strings, and not too long, as one line each, at most a hundred."""
    lines = (foreign_line(tag) for tag in tags if isinstance(tag, str) and len(tag) <= _MAX_TAG)
    return frozenset([line for line in lines if line][:_MAX_TAGS])


def foreign_requests(requests: object) -> tuple[str, ...]:
    """Return the requests that are strings, and not too long, as one line each, at most a hundred."""
    given = requests if isinstance(requests, list | tuple) else ()
    lines = (
        foreign_line(request, limit=MAX_REQUEST_CHARACTERS)
        for request in given
        if isinstance(request, str) and len(request) <= MAX_REQUEST_CHARACTERS
    )
    return tuple(dict.fromkeys(line for line in lines if line))[:MAX_REQUESTS]


def foreign_json(value: Any) -> Any:
    """Return a foreign JSON value with only the visible part of each string; keys stay as they are."""
    if isinstance(value, str):
        return _seen(value)
    if isinstance(value, Mapping):
        return {key: foreign_json(item) for key, item in value.items()}
    return [foreign_json(item) for item in value] if isinstance(value, list | tuple) else value


def foreign_schema(schema: Any, *, tool: str, keep_names: bool = False) -> Any:
    """Return a foreign schema that means the same and hides nothing; the same object if nothing changes.

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
    owner = None if keep_names else tool

    def clean(part: Schema) -> Schema:
        cleaned: Schema = _clean_items(part, lambda key: _clean_value(key, part[key], owner))
        return cleaned

    cleaned = edit_schemas(schema, clean)
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


def _clean_value(keyword: str, value: Any, tool: str | None) -> Any:
    """Return a keyword's value, safe; the schemas in it are safe already."""
    if isinstance(value, str):
        if keyword in _TEXTS:
            return foreign_text(value, limit=MAX_PARAMETER_TEXT)
        return _escaped(value) if keyword == "pattern" else _seen(value)
    if keyword not in INNER_KEYWORDS:
        return _clean_data(value)
    if isinstance(value, Mapping) and keyword in MAP_KEYWORDS:
        return _clean_items(
            value, lambda name: _clean_inner(value[name]), name=lambda name: _clean_name(name, tool, keyword)
        )
    return _clean_list(value, _clean_inner) if isinstance(value, list) else _clean_inner(value)


def _clean_inner(value: Any) -> Any:
    """Return a value in the place of a schema, made safe; a schema there is safe already."""
    return value if isinstance(value, dict) else _clean_data(value)


def _clean_data(value: Any) -> Any:
    """Return JSON data, safe; no key in it is a keyword."""
    if isinstance(value, str):
        return _seen(value)
    if isinstance(value, Mapping):
        return _clean_items(value, lambda key: _clean_data(value[key]))
    return _clean_list(value, _clean_data) if isinstance(value, list | tuple) else value


def _clean_items(
    given: Mapping[Any, Any], clean: Callable[[Any], Any], *, name: Callable[[Any], Any] | None = None
) -> Any:
    """Return a mapping with its keys and values cleaned; the same object if nothing changes."""
    name = name or _visible_key
    cleaned = {name(key): clean(key) for key in given}
    is_same = are_same(cleaned, given) and are_same(cleaned.values(), given.values())
    return given if is_same else cleaned


def _clean_list(given: Sequence[Any], clean: Callable[[Any], Any]) -> Any:
    items = [clean(item) for item in given]
    return given if are_same(items, given) else items


def _visible_key(key: Any) -> Any:
    return visible_text(clean_text(key)) if isinstance(key, str) else key


def _clean_name(name: Any, tool: str | None, keyword: str) -> Any:
    """Return a name in a keyword's mapping, safe; a parameter's name is refused where it can't be."""
    if not isinstance(name, str) or (keyword == "properties" and tool is None):
        return name
    name = clean_text(name)
    if keyword == "patternProperties":
        return _escaped(name)
    seen = visible_text(name)
    if keyword == "properties" and (seen != name or "\n" in name or len(name) > _MAX_PARAMETER_NAME):
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
