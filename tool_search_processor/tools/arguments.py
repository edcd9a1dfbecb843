"""Reads arguments as models write them, checks them against a schema, and says what is wrong."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeAlias

from tool_search_processor.errors import ToolArgumentsError
from tool_search_processor.tools.dialects import NOTHING_FITS, without_booleans
from tool_search_processor.tools.frozen import MAX_DEPTH, refuse_deep, values_in
from tool_search_processor.tools.schema_walk import Schema, edit_schemas
from tool_search_processor.tools.schemas import Path, mend_schema
from tool_search_processor.tools.unsent import without_unreadable
from tool_search_processor.tools.validators import (
    Failure,
    bounded_references,
    compiled_validator,
    is_inexact,
    unknown_fields,
)
from tool_search_processor.tools.wording import (
    Problem,
    choices_text,
    expected_text,
    found_text,
    unknown_text,
    value_text,
)

_MAX_PROBLEMS = 5
_MAX_FAILURES = 1_000
"""The most failures that are looked at: a sentence for each of 100,000 wrong items would take seconds."""
_MAX_WORDED = 20
_MAX_DECODE_ROUNDS = 4
_EXACTLY = ", which may not be exact: write it without a decimal point and exponent"

_LIMITS: dict[str, str] = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "exclusiveMinimum": "greater than {}",
    "exclusiveMaximum": "less than {}",
    "multipleOf": "a multiple of {}",
    "minLength": "a string of at least {} characters",
    "maxLength": "a string of at most {} characters",
    "pattern": "a string that matches the pattern {}",
    "minItems": "an array of at least {} items",
    "maxItems": "an array of at most {} items",
    "minProperties": "an object with at least {} fields",
    "maxProperties": "an object with at most {} fields",
    "uniqueItems": "an array without repeated items",
    "contains": "an array that holds what is asked for",
    "minContains": "an array that holds what is asked for",
    "maxContains": "an array that holds fewer of one kind",
    "not": "something else",
}


@dataclass(frozen=True, slots=True)
class Checked:
    """The result of a check: the value to go on with, and the problems, if any."""

    value: Any
    problems: tuple[Problem, ...] = ()


ArgumentsCheck: TypeAlias = Callable[[Any], Checked]
"""Checks arguments, and may turn them into richer values."""


def parse_arguments(arguments: Any) -> Any:
    """Return arguments as a JSON value: a string is decoded; None and a blank string mean no arguments.

    Raises:
        ToolArgumentsError: If a string is not JSON; says where it breaks.
    """
    if arguments is None:
        return {}
    if not isinstance(arguments, str | bytes | bytearray):
        return dict(arguments) if isinstance(arguments, Mapping) else arguments
    decoded = _decoded(arguments)
    # Some models encode the whole object twice.
    return _decoded(decoded) if isinstance(decoded, str) else decoded


def _decoded(text: str | bytes | bytearray) -> Any:
    try:
        text = text if isinstance(text, str) else bytes(text).decode()
        # Not strict: models put raw line breaks into strings.
        decoded = json.loads(text, strict=False) if text.strip() else {}
        if text.count("[") + text.count("{") > MAX_DEPTH:
            refuse_deep(decoded)
        return decoded
    except json.JSONDecodeError as exc:
        problem = exc.msg.removesuffix(" at")
        position = f"at line {exc.lineno}, column {exc.colno}"
        raise ToolArgumentsError(f"The arguments are not valid JSON: {problem} {position}.") from exc
    except RecursionError as exc:
        raise ToolArgumentsError("The arguments are nested too deeply.") from exc
    except ValueError as exc:  # bytes that are not UTF-8, or a number of thousands of digits
        raise ToolArgumentsError("The arguments are not valid JSON: a number or text is unreadable.") from exc


def checked_arguments(
    arguments: Any, check: ArgumentsCheck, *, shown: Callable[[Path], Path] = lambda path: path
) -> Any:
    """Return the arguments as `check` gives them back.

    Where they do not fit, objects and arrays that came encoded as JSON strings are decoded, if that makes
    them fit.

    Args:
        arguments: What the model wrote, decoded.
        check: Judges them.
        shown: Turns a path in them into the path that the model sees.

    Raises:
        ToolArgumentsError: If they do not fit; one sentence for each problem.
    """
    first = checked = check(arguments)
    rounds = 0
    while checked.problems:
        decoded = functools.reduce(_decoded_at, (p.path for p in checked.problems), arguments)
        if decoded is arguments or rounds == _MAX_DECODE_ROUNDS:
            seen = (Problem(shown(problem.path), problem.text) for problem in first.problems)
            raise ToolArgumentsError(problems_text(seen))
        arguments, rounds = decoded, rounds + 1
        checked = check(arguments)
    return checked.value


def problems_text(problems: Iterable[Problem]) -> str:
    """Return a sentence for each of the first five problems, and the count of the rest."""
    sentences = list(dict.fromkeys(problem.sentence() for problem in problems))
    rest = len(sentences) - _MAX_PROBLEMS
    return " ".join(sentences[:_MAX_PROBLEMS] + ([f"And {rest} more."] if rest > 0 else []))


def _decoded_at(value: Any, path: Path) -> Any:
    """Return `value` with the JSON string at `path`, or at the way there, decoded; else the same object."""
    if isinstance(value, str):
        return _decoded_container(value)
    if not path:
        return value
    key, rest = path[0], path[1:]
    if isinstance(value, Mapping) and key in value:
        inner = _decoded_at(value[key], rest)
        return value if inner is value[key] else {**value, key: inner}
    if isinstance(value, list) and isinstance(key, int) and key < len(value):
        inner = _decoded_at(value[key], rest)
        return value if inner is value[key] else [*value[:key], inner, *value[key + 1 :]]
    return value


def _decoded_container(text: str) -> Any:
    if not text.lstrip().startswith(("{", "[")):
        return text
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return text


def schema_check(schema: Schema) -> ArgumentsCheck:
    """Return a check of arguments against a JSON Schema of the draft 2020-12, or an older one.

    Broken parts of a schema check nothing: a tool with an odd schema stays callable. Formats are not
    enforced, and nothing is fetched from the network.
    """
    schema = without_unreadable(edit_schemas(mend_schema(schema), without_booleans))
    try:
        validator = compiled_validator(schema)
    except Exception:  # noqa: BLE001  # a foreign schema may be broken in any way
        return Checked  # checks nothing

    def check(arguments: Any) -> Checked:
        try:
            with bounded_references():
                errors = list(islice(validator.iter_errors(arguments), _MAX_FAILURES))
        except Exception:  # noqa: BLE001  # as above: many a fault shows only when the schema is applied
            return Checked(arguments)
        return Checked(arguments, tuple(_problems(errors, schema)))

    return check


def inexact_problems(arguments: Any, check: ArgumentsCheck) -> tuple[Problem, ...]:
    """Return the problems of floats that may not be the integer that was written; see `is_inexact`."""
    if not any(map(is_inexact, values_in(arguments))):
        return ()
    return tuple(p for p in check(arguments).problems if is_inexact(_value_at(arguments, p.path)))


def _value_at(value: Any, path: Path) -> Any:
    for key in path:
        try:
            value = value[key]
        except (KeyError, IndexError, TypeError):
            return None
    return value


def both_checks(first: ArgumentsCheck, second: ArgumentsCheck) -> ArgumentsCheck:
    """Return a check that asks `second` about what `first` lets through."""

    def check(arguments: Any) -> Checked:
        checked = first(arguments)
        return checked if checked.problems else second(checked.value)

    return check


def _problems(errors: Iterable[Failure], root: Schema) -> Iterator[Problem]:
    for error in errors:
        path: Path = tuple(error.absolute_path)
        if error.validator in ("anyOf", "oneOf") and error.context:
            yield from _branch_problems(error, path, root)
        elif _is_never(error):
            yield Problem(path, "is not allowed here")
        elif error.validator == "required":
            yield Problem((*path, error.field), "is required but missing")
        elif error.validator == "dependentRequired":
            text = f"is required where `{error.needed_by}` is given, but missing"
            yield Problem((*path, error.field), text)
        elif error.validator in ("additionalProperties", "unevaluatedProperties"):
            yield from _unknown(error, path)
        else:
            hint = _EXACTLY if error.validator == "type" and is_inexact(error.instance) else ""
            found = found_text(error.instance)
            yield Problem(path, f"must be {_expected(error, root)}, found {found}{hint}")


def _expected(error: Failure, root: Schema) -> str:
    keyword, value = str(error.validator), error.validator_value
    if keyword in _LIMITS:
        return _LIMITS[keyword].format(value_text(value))
    if keyword == "oneOf":
        return "of one kind only"
    if keyword in ("type", "enum", "const"):
        return expected_text({keyword: value}, root)
    return expected_text(error.schema, root)


def _branch_problems(error: Failure, path: Path, root: Schema) -> Iterator[Problem]:
    """Return the problems of the branch that was meant, or what all branches want if that is unclear."""
    branches: dict[Any, list[Failure]] = {}
    for inner in error.context or ():
        branches.setdefault(inner.schema_path[0], []).append(inner)
    meant = [errors for errors in branches.values() if not any(_is_other_kind(e) for e in errors)]
    tags = [e for errors in branches.values() for e in errors if _is_other_tag(e)]
    if len(meant) == 1 or (meant and isinstance(error.instance, Mapping)):
        fewest: list[Failure] = min(meant, key=len)
        yield from _problems(fewest, root)
    elif tags:
        wanted = choices_text(tag.validator_value for tag in tags)
        found = found_text(tags[0].instance)
        yield Problem(tuple(tags[0].absolute_path), f"must be one of {wanted}, found {found}")
    else:
        values = [branch for branch in error.validator_value if branch != NOTHING_FITS]
        wanted = expected_text({error.validator: values}, root)
        yield Problem(path, f"must be {wanted}, found {found_text(error.instance)}")


def _is_other_kind(error: Failure) -> bool:
    """Return True if the branch of this error was not meant: its type or tag differs, or nothing fits it."""
    if error.relative_path:
        return _is_other_tag(error)
    return error.validator in ("type", "const") or _is_never(error)


def _is_never(error: Failure) -> bool:
    return error.validator == "not" and bool(error.validator_value == {})


def _is_other_tag(error: Failure) -> bool:
    return error.validator == "const" and len(error.relative_path) == 1


def _unknown(error: Failure, path: Path) -> Iterator[Problem]:
    schema = error.schema if isinstance(error.schema, Mapping) else {}
    known = tuple(schema.get("properties", ()))
    missing = [name for name in known if name not in error.instance]
    for place, name in enumerate(unknown_fields(error.instance, schema)):
        # A near name is looked for among all names, so only for as many fields as will be reported.
        text = unknown_text(name, missing or known) if place < _MAX_WORDED else "is not a known field"
        yield Problem((*path, name), text)
