"""Checks of what a program passes as options."""

from __future__ import annotations

from collections.abc import Iterable

from tool_search_processor.errors import ConfigurationError


def as_names(names: str | Iterable[str], *, what: str = "names") -> tuple[str, ...]:
    """Return the names, or other words, that a program gave, each once.

    Raises:
        ConfigurationError: For something else than a text or texts.
    """
    if isinstance(names, str):
        return (names,)
    found = tuple(names) if isinstance(names, Iterable) else (names,)
    if not all(isinstance(name, str) for name in found):
        raise ConfigurationError(f"{what} is a text or a list of texts, found {names!r:.80}")
    return tuple(dict.fromkeys(found))
