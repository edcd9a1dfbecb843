"""Validators for foreign JSON Schemas whose patterns and references can't stall the caller.

Patterns run in linear time (RE2) and stay unchecked where RE2 can't read them, such as look-arounds and
backreferences. References are followed a bounded number of times a check.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from tool_search_processor.tools.loosening import UNEVALUATED, leave_out
from tool_search_processor.tools.patterns import matches
from tool_search_processor.tools.schema_walk import Schema, schemas_in

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

Failure = Any
"""A jsonschema `ValidationError`; its stubs type every attribute as possibly unset."""

_MAX_REFERENCES = 10_000
"""The most references that one check follows: 30 definitions, each with two to the next, mean 2^30 steps."""
_MAX_FOLLOWED_UNCOUNTED = 20
_FIRST_INEXACT = 2.0**53

_references_left: ContextVar[list[int]] = ContextVar("references_left")


class CostlySchemaError(Exception):
    """Applying the schema takes too long, so it checks nothing."""


def compiled_validator(schema: Schema) -> Validator:
    """Return a validator of a mended schema that fetches nothing."""
    from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]  # it has no stubs

    # A registry of our own, since the default one would fetch references over the network.
    return _safe_validator()(_without_uncounted(schema), registry=REGISTRY)


@contextmanager
def bounded_references() -> Iterator[None]:
    """Bound the references that are followed inside; beyond that `CostlySchemaError` is raised."""
    token = _references_left.set([_MAX_REFERENCES])
    try:
        yield
    finally:
        _references_left.reset(token)


def is_inexact(value: object) -> bool:
    """Return True for a float that may not be the integer that was written.

    From 2^53 on not every integer is a float: 9007199254740993.0 is read as 9007199254740992.
    """
    return isinstance(value, float) and math.isfinite(value) and abs(value) >= _FIRST_INEXACT


def _is_integer(checker: object, value: object) -> bool:
    if isinstance(value, float):
        return value.is_integer() and not is_inexact(value)
    return isinstance(value, int) and not isinstance(value, bool)


def unknown_fields(instance: Mapping[str, Any], schema: Mapping[str, Any]) -> list[str]:
    """Return the fields that neither `properties` nor, as far as RE2 can say, `patternProperties` has."""
    known = schema.get("properties", {})
    patterns = tuple(schema.get("patternProperties", ()))
    return [
        name
        for name in instance
        if name not in known and all(matches(pattern, name) is False for pattern in patterns)
    ]


def _without_uncounted(schema: Schema) -> Schema:
    """Drop `unevaluated…` where jsonschema would run patterns, or follow references, that nobody counts."""
    parts = tuple(schemas_in(schema))
    if all(UNEVALUATED.isdisjoint(part) for part in parts):
        return schema
    references = sum(not {"$ref", "$dynamicRef"}.isdisjoint(part) for part in parts)
    if references <= _MAX_FOLLOWED_UNCOUNTED and not any("patternProperties" in part for part in parts):
        return schema
    return leave_out(
        schema,
        lambda part: {key: value for key, value in part.items() if key not in UNEVALUATED},
        losing=[part for part in parts if not UNEVALUATED.isdisjoint(part)],
    )


@functools.cache
def _safe_validator() -> type[Validator]:
    """Return the validator with the keywords replaced whose cost a schema's author could drive up."""
    from jsonschema import Draft7Validator, Draft202012Validator, validators

    base = Draft202012Validator
    own = {
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "additionalProperties": _additional_properties,
        "uniqueItems": _unique_items,
        "required": _required,
        "dependentRequired": _dependent_required,
        "oneOf": _one_of,
        "dependencies": Draft7Validator.VALIDATORS["dependencies"],  # what two keywords became of
        **{keyword: _counted(base.VALIDATORS[keyword]) for keyword in ("$ref", "$dynamicRef")},
    }
    types = base.TYPE_CHECKER.redefine("integer", _is_integer)
    safe: type[Validator] = validators.extend(base, own, type_checker=types)  # type: ignore[no-untyped-call]  # its stubs leave it bare
    return safe


def _counted(follow: Callable[..., Any]) -> Callable[..., Iterator[Failure]]:
    def check(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Failure]:
        left = _references_left.get()
        left[0] -= 1
        if left[0] < 0:
            raise CostlySchemaError
        yield from follow(validator, value, instance, schema) or ()

    return check


def _failure(message: str, **fields: Any) -> Failure:
    from jsonschema import ValidationError

    failure = ValidationError(message)
    vars(failure).update(fields)
    return failure


def _pattern(validator: Any, value: Any, instance: Any, _: Any) -> Iterator[Failure]:
    if validator.is_type(instance, "string") and matches(value, instance) is False:
        yield _failure("does not match")


def _pattern_properties(validator: Any, value: Any, instance: Any, _: Any) -> Iterator[Failure]:
    if not validator.is_type(instance, "object"):
        return
    for pattern, schema in value.items():
        for name, item in instance.items():
            if matches(pattern, name):
                yield from validator.descend(item, schema, path=name, schema_path=pattern)


def _additional_properties(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Failure]:
    if not validator.is_type(instance, "object"):
        return
    unknown = unknown_fields(instance, schema)
    if validator.is_type(value, "object"):
        for name in unknown:
            yield from validator.descend(instance[name], value, path=name)
    elif not value and unknown:
        yield _failure("unknown fields")


def _required(validator: Any, value: Any, instance: Any, _: Any) -> Iterator[Failure]:
    if validator.is_type(instance, "object"):
        for name in value:
            if name not in instance:
                yield _failure("missing", field=name)


def _dependent_required(validator: Any, value: Any, instance: Any, _: Any) -> Iterator[Failure]:
    if not validator.is_type(instance, "object"):
        return
    for name, needed in value.items():
        for other in needed if name in instance else ():
            if other not in instance:
                yield _failure("missing", field=other, needed_by=name)


def _unique_items(validator: Any, value: Any, instance: Any, _: Any) -> Iterator[Failure]:
    if not value or not validator.is_type(instance, "array"):
        return
    # By hash: comparing each with each takes a minute for 50 kB of small objects.
    if len({_comparable(item) for item in instance}) < len(instance):
        yield _failure("has equal items")


def _one_of(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Failure]:
    from jsonschema import Draft202012Validator

    # Formats are not enforced, so a string fits each string branch; only a format could tell them apart.
    by_format = isinstance(instance, str) and any("format" in one for one in value if isinstance(one, dict))
    keyword = "anyOf" if by_format else "oneOf"
    yield from Draft202012Validator.VALIDATORS[keyword](validator, value, instance, schema) or ()


def _comparable(value: Any) -> Any:
    """Return a hashable form that is equal for what JSON Schema calls equal: 1 and 1.0, not 1 and true."""
    if isinstance(value, Mapping):
        return "object", frozenset((key, _comparable(item)) for key, item in value.items())
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return "array", tuple(map(_comparable, value))
    return (type(value) is bool, value)
