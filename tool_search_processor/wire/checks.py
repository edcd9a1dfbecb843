"""Checks options that a program passes, with one wording for each kind of mistake.

Every check names the option, says what it must be, and shows what was found.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import NoReturn

from tool_search_processor.errors import ConfigurationError
from tool_search_processor.wire.plain import is_number


def check_string(option: str, value: object, *, hint: str = "") -> None:
    """Refuse anything but a string that is not blank.

    Raises:
        ConfigurationError: Names the option.
    """
    if not isinstance(value, str) or not value.strip():
        refuse(option, "a string that is not blank", value, hint=hint)


def check_positive(option: str, value: object, *, optional: bool = False, finite: bool = False) -> None:
    """Refuse anything but a number above 0, such as a time limit in seconds.

    Args:
        option: The option's name.
        value: What was given.
        optional: Whether None is allowed.
        finite: Whether infinity is refused.

    Raises:
        ConfigurationError: Names the option.
    """
    if optional and value is None:
        return
    if not (is_number(value) and value > 0 and (value < math.inf or not finite)):
        kind = "a finite number" if finite and value == math.inf else "a number"
        refuse(option, f"{kind} above 0", value, optional=optional)


def check_count(
    option: str, value: object, *, least: int = 1, most: int | None = None, optional: bool = False
) -> None:
    """Refuse anything but a whole number within bounds.

    Args:
        option: The option's name.
        value: What was given.
        least: The smallest number allowed.
        most: The largest number allowed; None sets no bound.
        optional: Whether None is allowed.

    Raises:
        ConfigurationError: Names the option.
    """
    if optional and value is None:
        return
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    if not (is_whole and least <= value and (most is None or value <= most)):  # type: ignore[operator]
        bounds = f"of at least {least}" if most is None else f"from {least} to {most}"
        refuse(option, f"a whole number {bounds}", value, optional=optional)


def check_fraction(option: str, value: object) -> None:
    """Refuse anything but a number from 0 to 1.

    Raises:
        ConfigurationError: Names the option.
    """
    if not (is_number(value) and 0 <= value <= 1):
        refuse(option, "a number from 0 to 1", value)


def check_callable(option: str, value: object, shape: str, *, optional: bool = False) -> None:
    """Refuse anything that can't be called.

    Args:
        option: The option's name.
        value: What was given.
        shape: What is called with what, such as `(context) -> mode`.
        optional: Whether None is allowed.

    Raises:
        ConfigurationError: Names the option.
    """
    if isinstance(value, type) and any("__call__" in vars(kind) for kind in value.__mro__):
        raise ConfigurationError(f"{option} is the class {value.__name__}: create it, {value.__name__}(...)")
    if not callable(value) and not (optional and value is None):
        refuse(option, f"a function {shape}", value, optional=optional)


def check_flags(**flags: object) -> None:
    """Refuse options that are not True or False: a string such as "no" would count as true.

    Raises:
        ConfigurationError: Names the first such option.
    """
    for option, value in flags.items():
        if not isinstance(value, bool):
            refuse(option, "True or False", value)


def check_choice(option: str, value: object, allowed: Iterable[object]) -> None:
    """Refuse a value that is not one of a few.

    Raises:
        ConfigurationError: Names the option and what it can be.
    """
    *others, last = allowed
    if value != last and value not in others:
        refuse(option, f"{', '.join(map(repr, others))} or {last!r}", value)


def check_types(what: str, values: Mapping[str, object], types: Mapping[str, tuple[type, ...]]) -> None:
    """Refuse values of another type: a file may say `hide: "false"`, which is true.

    Raises:
        ConfigurationError: Names the first such value.
    """
    for key, allowed in types.items():
        if not isinstance(values[key], allowed):
            names = " or ".join("None" if one is type(None) else one.__name__ for one in allowed)
            raise ConfigurationError(f"{key} of {what} is {names}, found {values[key]!r:.80}")


def as_names(names: str | Iterable[str], *, what: str = "names") -> tuple[str, ...]:
    """Return the names, or other strings, that a program gave, each once; one string is a list of one.

    Raises:
        ConfigurationError: For anything but a string or strings.
    """
    if isinstance(names, str):
        return (names,)
    found = tuple(names) if isinstance(names, Iterable) else (names,)
    if not all(isinstance(name, str) for name in found):
        refuse(what, "a string or a list of strings", names)
    return tuple(dict.fromkeys(found))


def as_strings(option: str, given: Iterable[str]) -> frozenset[str]:
    """Return a set of strings, refusing a single string, which is probably a mistake.

    Raises:
        ConfigurationError: For a single string, or anything but strings.
    """
    single = isinstance(given, str) or not isinstance(given, Iterable)
    found = () if single else tuple(given)
    if single or not all(isinstance(each, str) for each in found):
        refuse(option, "a collection of strings", given, hint=": write ['a', 'b']")
    return frozenset(found)


def refuse(option: str, wanted: str, found: object, *, optional: bool = False, hint: str = "") -> NoReturn:
    """Raise for an option that is not what it must be.

    Raises:
        ConfigurationError: Always.
    """
    or_none = " or None" if optional else ""
    raise ConfigurationError(f"{option} must be {wanted}{or_none}, found {found!r:.80}{hint}")
