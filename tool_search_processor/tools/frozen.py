"""JSON values that cannot be changed, and that readers can treat as plain dicts and lists."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NoReturn

from tool_search_processor.wire.plain import clean_text

_SCALARS = frozenset({str, int, float, bool, type(None)})

MAX_DEPTH = 200
"""The most nested containers; a deeper schema could be made, but would fail in the middle of a run."""


def _raise_frozen(self: object, *_args: object, **_kwargs: object) -> NoReturn:
    raise TypeError(
        "this value cannot be changed: take a copy with copy.deepcopy(value), change that, and if it belongs "
        "to a tool, make a new one with tool.replace(...)"
    )


_frozen: Any = _raise_frozen  # Any: it stands in for methods of many signatures


class FrozenDict(dict[str, Any]):
    """A dict that refuses to change; equal to a plain one, and written by `json` like one.

    `copy.copy`, `.copy()` and `copy.deepcopy` give plain dicts, which may be changed.
    """

    __slots__ = ()

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _frozen

    def __copy__(self) -> dict[str, Any]:
        return dict(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> dict[str, Any]:
        return {key: copy.deepcopy(value, memo) for key, value in self.items()}

    def __reduce__(self) -> tuple[type[FrozenDict], tuple[dict[str, Any]]]:
        return FrozenDict, (dict(self),)


class FrozenList(list[Any]):
    """A list that refuses to change; equal to a plain one, and written by `json` like one."""

    __slots__ = ()

    __setitem__ = __delitem__ = __iadd__ = __imul__ = _frozen
    append = clear = extend = insert = pop = remove = reverse = sort = _frozen

    def __copy__(self) -> list[Any]:
        return list(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> list[Any]:
        return [copy.deepcopy(value, memo) for value in self]

    def __reduce__(self) -> tuple[type[FrozenList], tuple[list[Any]]]:
        return FrozenList, (list(self),)


def freeze(value: Any, *, json_only: bool = False, depth: int = MAX_DEPTH) -> Any:
    """Return `value` with every mapping and sequence in it frozen.

    What is frozen already is returned unchanged. Mappings become `FrozenDict`, lists and tuples
    `FrozenList`, sets frozensets; other values are kept. Nothing of the caller's containers is shared.

    Args:
        value: What to freeze.
        json_only: Refuse what JSON cannot carry, mend half characters (lone surrogates) in strings, and
            write null for NaN and infinities.
        depth: The most containers nested in each other.

    Raises:
        RecursionError: If a container holds itself, or they are nested more deeply than that.
        TypeError: If `json_only` and there is something that JSON cannot carry.
    """
    kind = type(value)
    if kind is FrozenDict or kind is FrozenList:
        return value
    if depth < 1 and isinstance(value, Mapping | list | tuple):
        raise RecursionError
    less = depth - 1
    if kind is dict or isinstance(value, Mapping):
        items = {
            k: v
            if (t := type(v)) in _SCALARS and (v.isascii() if t is str else t is not float)
            else freeze(v, json_only=json_only, depth=less)
            for k, v in value.items()
        }
        if json_only and not all(type(k) is not str or k.isascii() for k in items):
            items = {clean_text(k) if isinstance(k, str) else k: v for k, v in items.items()}
        return FrozenDict(items)
    if kind is list or isinstance(value, list | tuple):
        return FrozenList(
            [
                v
                if (t := type(v)) in _SCALARS and (v.isascii() if t is str else t is not float)
                else freeze(v, json_only=json_only, depth=less)
                for v in value
            ]
        )
    if kind is str:
        return clean_text(value) if json_only else value
    if json_only and isinstance(value, float) and not math.isfinite(value):
        return None
    if json_only and not isinstance(value, str | int | float | None):
        raise TypeError(f"{value!r:.100} is not a value that JSON can carry")
    return frozenset(value) if isinstance(value, set) else value


def refuse_deep(value: Any) -> None:
    """Refuse a JSON value that is nested too deeply to walk through it later.

    Raises:
        RecursionError: If more than `MAX_DEPTH` containers are nested in each other.
    """
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        level = [v for item in level for v in parts_of(item) if isinstance(v, dict | list)]
        if not level:
            return
    raise RecursionError


def parts_of(value: Any) -> Iterable[Any]:
    """Return what a JSON value holds directly; nothing for a string or a number."""
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def values_in(value: Any) -> Iterator[Any]:
    """Yield a JSON value and every value in it, in no particular order."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        yield one
        waiting.extend(parts_of(one))
