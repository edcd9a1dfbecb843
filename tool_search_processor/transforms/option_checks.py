"""Options of transforms, checked."""

from __future__ import annotations

from collections.abc import Mapping

from tool_search_processor.errors import ConfigurationError


def require_types(what: str, values: Mapping[str, object], types: Mapping[str, tuple[type, ...]]) -> None:
    """Refuse values of another type: a file may say `hide: "false"`, which is true.

    Raises:
        ConfigurationError: Names the first such value.
    """
    for key, allowed in types.items():
        if not isinstance(values[key], allowed):
            names = " or ".join("None" if one is type(None) else one.__name__ for one in allowed)
            raise ConfigurationError(f"{key} of {what} is {names}, found {values[key]!r:.80}")
