"""Patterns of foreign schemas, in linear time."""

from __future__ import annotations

import functools
from typing import Any

_PROGRAM_SIZE = 20_000
"""RE2's instructions of one pattern; nested counts such as `(a{9}){9}` multiply them."""
_PATTERNS_KEPT = 512


def is_readable(pattern: object) -> bool:
    """Return True if engines of linear time read the pattern; they refuse look-arounds, for example."""
    return isinstance(pattern, str) and _compiled_pattern(pattern) is not None


@functools.lru_cache(_PATTERNS_KEPT)
def _compiled_pattern(pattern: str) -> Any:
    import re2  # type: ignore[import-untyped]  # it brings no types

    options = re2.Options()
    options.log_errors = False
    try:
        compiled = re2.compile(pattern, options)
    except (re2.error, UnicodeEncodeError):
        return None
    return compiled if compiled.programsize <= _PROGRAM_SIZE else None


def matches(pattern: object, text: str) -> bool | None:
    """Return whether a pattern is found in a string; None if that takes more than linear time to say."""
    compiled = _compiled_pattern(pattern) if isinstance(pattern, str) else None
    if compiled is None:
        return None
    try:
        return compiled.search(text) is not None
    except UnicodeEncodeError:  # half a character, which no JSON text can carry either
        return None
