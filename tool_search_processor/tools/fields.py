"""Checks and freezes a tool's fields, or refuses them with an error that names the tool."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping

from tool_search_processor.errors import InvalidToolError
from tool_search_processor.tools.frozen import FrozenDict, freeze
from tool_search_processor.tools.schemas import EMPTY_PARAMETERS
from tool_search_processor.tools.tool_names import make_tool_name
from tool_search_processor.wire.plain import clean_text

MAX_REQUESTS = 100
"""The most example requests of a tool."""

MAX_REQUEST_CHARACTERS = 500
"""The most characters of an example request."""

NOTHING: FrozenDict = freeze({})
_DEFAULTS: dict[str, FrozenDict | None] = {
    "parameters": EMPTY_PARAMETERS,
    "annotations": NOTHING,
    "metadata": NOTHING,
    "output_schema": None,
}


def wrong_name(name: object) -> InvalidToolError:
    """Return the error for a name that no provider accepts."""
    if callable(name):
        return InvalidToolError(
            f"Tool(...) takes a name first, found {name!r:.100}: use Tool.from_function(...)"
        )
    like = f"use a name such as {make_tool_name(name)!r}" if name and isinstance(name, str) else "give it one"
    return InvalidToolError(
        f"a tool's name is 1 to 64 of the characters A-Z a-z 0-9 _ -, found {name!r:.100}: {like}, or import "
        "a definition with Tool.from_openai, from_anthropic or from_mcp, which keep the original"
    )


def wrong_field(tool: str, field: str, value: object, *, wanted: str) -> InvalidToolError:
    """Return the error for a tool's field that holds something other than what is wanted."""
    return InvalidToolError(f"{field} of the tool {tool!r} is {wanted}, found {value!r:.100}")


def _is_string(value: object) -> bool:
    return isinstance(value, str)


def _is_flag(value: object) -> bool:
    return isinstance(value, bool)  # a string such as "no" would count as true


_PLAIN: Mapping[str, tuple[Callable[[object], bool], str]] = {
    "description": (_is_string, "a string"),
    "namespace": (lambda value: value is None or _is_string(value), "a string or None"),
    "execute": (lambda value: value is None or callable(value), "a function or None"),
    "pinned": (_is_flag, "True or False"),
    "requires_approval": (_is_flag, "True or False"),
    "tool_type": (lambda value: _is_string(value) and value != "", "a string that is not empty"),
}


def check_plain(tool: str, values: Mapping[str, object]) -> None:
    """Refuse fields that are not collections if a value has the wrong type.

    Raises:
        InvalidToolError: Names the first such field.
    """
    for field, (fits, wanted) in _PLAIN.items():
        if not fits(values[field]):
            raise wrong_field(tool, field, values[field], wanted=wanted)


def words_of(tool: str, field: str, words: object) -> Iterable[str]:
    """Return the strings of a field, cleaned.

    Raises:
        InvalidToolError: If it is not a collection of strings.
    """
    if isinstance(words, str) or not isinstance(words, Iterable):
        raise wrong_field(tool, field, words, wanted="a collection of strings, such as {'github'}")
    texts = tuple(words)
    if not all(isinstance(text, str) for text in texts):
        raise wrong_field(tool, field, words, wanted="a collection of strings only")
    return map(clean_text, texts)


def requests_of(tool: str, requests: object) -> tuple[str, ...]:
    """Return example requests, cleaned, each once and in order.

    Raises:
        InvalidToolError: If it is not a collection of strings, or holds too many, too long or blank ones.
    """
    # A set has another order in each process.
    given = sorted(requests, key=str) if isinstance(requests, set | frozenset) else requests
    texts = tuple(dict.fromkeys(words_of(tool, "example_requests", given)))
    if len(texts) > MAX_REQUESTS:
        raise InvalidToolError(
            f"the tool {tool!r} has {len(texts):,} example_requests: the most is {MAX_REQUESTS}, "
            "so keep those that differ most"
        )
    for text in texts:
        if not text.strip() or len(text) > MAX_REQUEST_CHARACTERS:
            raise InvalidToolError(
                f"an example request of the tool {tool!r} is one to {MAX_REQUEST_CHARACTERS} characters, "
                f"found {len(text):,}: {text!r:.60}"
            )
    return texts


COLLECTIONS: Mapping[str, Callable[[str, object], Collection[str]]] = {
    "tags": lambda name, given: frozenset(words_of(name, "tags", given)),
    "keywords": lambda name, given: tuple(words_of(name, "keywords", given)),
    "example_requests": requests_of,
}
"""Collections of strings, and what reads each of them."""


def frozen_field(tool: str, field: str, value: object) -> FrozenDict | None:
    """Return a mapping frozen; the field's default for None, and for a schema that is only true or false.

    Raises:
        InvalidToolError: If it is not a mapping, contains itself, or holds something that JSON can't carry.
    """
    if value is None or (isinstance(value, bool) and field == "parameters"):
        return _DEFAULTS[field]
    if not isinstance(value, Mapping):
        raise wrong_field(tool, field, value, wanted="a mapping (for parameters: a JSON Schema object)")
    try:
        frozen: FrozenDict = freeze(value, json_only=field in ("parameters", "output_schema"))
    except TypeError as exc:
        raise InvalidToolError(f"{field} of the tool {tool!r} is a JSON Schema, but {exc}") from exc
    except RecursionError as exc:
        raise InvalidToolError(
            f"{field} of the tool {tool!r} holds itself or is nested too deeply: use $ref and $defs"
        ) from exc
    return frozen
