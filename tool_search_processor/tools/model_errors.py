"""Pydantic's errors in the words of JSON."""

from __future__ import annotations

import functools
import json
import re
import typing
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from tool_search_processor.tools.schema_walk import resolve_pointer
from tool_search_processor.tools.schemas import Path
from tool_search_processor.tools.wording import Problem, expected_text, found_text, unknown_text

if TYPE_CHECKING:
    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

_MAX_DETAILS = 1_000
"""Errors that are put into words, of a list with a hundred thousand wrong items, say."""

_PYTHON = re.compile(r"<class '|'\w+' instances ")

_CHOICES = ("literal_error", "enum")
_SCALAR = re.compile(r"-?(0|[1-9]\d{0,30})(\.\d{1,30})?|true|false", re.IGNORECASE)

_OF_A_KIND = frozenset(
    {
        "enum", "extra_forbidden", "is_instance_of", "is_subclass_of", "literal_error", "missing",
        "none_required", "unexpected_keyword_argument", "union_tag_invalid", "union_tag_not_found",
    }
)  # fmt: skip
"""Errors, besides those named `…_type` and `…_parsing`, that need JSON's words instead of pydantic's."""


def model_problems(
    error: ValidationError, arguments: Any, *, by_schema: Sequence[Problem], schema: Mapping[str, Any]
) -> Iterator[Problem]:
    """Return what pydantic found wrong in the words of the JSON Schema, which is what the caller knows.

    Args:
        error: What the model raised.
        arguments: What was checked.
        by_schema: The problems that the JSON Schema alone finds: their words are taken where the two
            agree on the place.
        schema: That JSON Schema.
    """
    for detail in islice(error.errors(include_url=False), _MAX_DETAILS):
        path, anchor, value = _places(detail, arguments)
        own = _own_text(detail)
        agreed = [p for p in by_schema if _is_prefix(p.path, anchor) or _is_prefix(anchor, p.path)]
        if own is None and agreed:
            yield from agreed
        else:
            text = own or _rule_text(detail) or _fallback_text(detail, path, schema, found=value)
            yield Problem(path, text)


def with_choices_read(error: ValidationError, arguments: Any) -> Any:
    """Return the arguments, with strings read as numbers or booleans if a choice does not take the strings.

    Returns:
        The same object if there is no such string.
    """
    for detail in islice(error.errors(include_url=False), _MAX_DETAILS):
        path, _, value = _places(detail, arguments)
        if detail["type"] in _CHOICES and isinstance(value, str) and _SCALAR.fullmatch(value.strip()):
            arguments = _replaced(arguments, path, json.loads(value.strip().lower()))
    return arguments


def _replaced(value: Any, path: Path, new: Any) -> Any:
    """Return a copy of a JSON value with another value at a path."""
    if not path:
        return new
    copy: Any = dict(value) if isinstance(value, Mapping) else list(value)
    copy[path[0]] = _replaced(value[path[0]], path[1:], new)
    return copy


@functools.cache
def _builtin_errors() -> frozenset[str]:
    from pydantic_core import core_schema

    return frozenset(typing.get_args(core_schema.ErrorType)) - {"value_error", "assertion_error"}


def _own_text(detail: ErrorDetails) -> str | None:
    """Return the text that the author of a type wrote for this error, if one did."""
    if detail["type"] in _builtin_errors():
        return None
    cause = detail.get("ctx", {}).get("error")
    text = str(cause) if isinstance(cause, Exception) else detail["msg"]
    if _PYTHON.search(text) and cause is None:  # pydantic's own, of what it checks in Python
        return None
    return f"is not valid: {text.strip().rstrip('.')}"


def _rule_text(detail: ErrorDetails) -> str | None:
    """Return pydantic's text where a value of the right kind breaks a rule that no JSON Schema has."""
    kind = detail["type"]
    is_of_a_kind = kind in _OF_A_KIND or kind.endswith(("_type", "_parsing"))
    if (is_of_a_kind and kind != "decimal_parsing") or _is_key(detail) or _PYTHON.search(detail["msg"]):
        return None
    return f"is not valid: {detail['msg'].strip().rstrip('.')}"


def _is_key(detail: ErrorDetails) -> bool:
    return bool(detail["loc"]) and detail["loc"][-1] == "[key]"


def _fallback_text(detail: ErrorDetails, path: Path, root: Mapping[str, Any], *, found: Any) -> str:
    if detail["type"] == "missing":
        return "is required but missing"
    if detail["type"] == "extra_forbidden":
        return unknown_text(str(path[-1]), ())
    if _is_key(detail):
        return "has a name that does not fit here"
    return f"must be {expected_text(_schema_at(root, path), root)}, found {found_text(found)}"


def _places(detail: ErrorDetails, arguments: Any) -> tuple[Path, Path, Any]:
    """Return the place of an error, the union above it, and the value at that place.

    Locations name the branches of unions too.
    """
    path: list[str | int] = []
    anchor: Path | None = None
    value = arguments
    for part in detail["loc"]:
        is_item = isinstance(value, list | tuple) and isinstance(part, int) and part < len(value)
        if is_item or (isinstance(value, Mapping) and part in value):
            value = value[part]
            path.append(part)
        elif detail["type"] == "missing" and part == detail["loc"][-1]:
            path.append(part)
        elif anchor is None:
            anchor = tuple(path)
    return tuple(path), tuple(path) if anchor is None else anchor, value


def _is_prefix(path: Path, other: Path) -> bool:
    return other[: len(path)] == path


def _schema_at(root: Mapping[str, Any], path: Path) -> Any:
    """Return the schema of a field, or None where more than one could be meant."""
    schema: Any = root
    for part in path:
        if isinstance(schema, Mapping) and "$ref" in schema:
            schema = resolve_pointer(root, schema["$ref"])
        if not isinstance(schema, Mapping):
            return None
        schema = schema.get("items") if isinstance(part, int) else schema.get("properties", {}).get(part)
    return schema
