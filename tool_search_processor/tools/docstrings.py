"""Descriptions of a function and of its parameters, read from its docstring."""

from __future__ import annotations

import functools
import inspect
import logging
import re
from collections.abc import Callable
from typing import Any

logger = logging.getLogger(__name__)

_KEYWORDS = re.compile(r"^(?:Keyword Arg(?:ument)?s|Other Parameters):[ \t]*$", re.MULTILINE)
"""Sections of parameters in Google style that the reader doesn't know."""


def read_docstring(function: Callable[..., Any]) -> tuple[str, dict[str, str]]:
    """Return the text before the parameters, and each parameter's text (Google, NumPy, reST style)."""
    while isinstance(function, functools.partial):
        function = function.func
    text = inspect.getdoc(function) or "" if hasattr(function, "__name__") else _object_doc(function)
    if "\n" not in text:
        return text.strip(), {}
    import docstring_parser

    try:
        parsed = docstring_parser.parse(_KEYWORDS.sub("Params:", text))
    except Exception:  # noqa: BLE001  # it fails in several ways on docstrings such as ": : x"
        return text.strip(), {}
    texts = {
        name.strip(" *"): " ".join((p.description or "").split())
        for p in parsed.params
        for name in p.arg_name.split(",")  # NumPy style has `x, y : float`
    }
    parts = (parsed.short_description, parsed.long_description)
    separator = "\n\n" if parsed.blank_after_short_description else "\n"
    description = separator.join(part.strip() for part in parts if part)
    return description, texts


@functools.lru_cache(maxsize=1_000)
def tell_undescribed(function: str, tool: str) -> None:
    """Warn, once for each function, that a model and a search know no more of its tool than the name."""
    logger.warning(
        "the tool %r has no description, so that models and searches know its name only: write a docstring "
        "in %s, or give description=",
        tool,
        function,
    )


def _object_doc(function: Callable[..., Any]) -> str:
    call = getattr(function, "__call__", None)  # noqa: B004  # a callable object's method
    return inspect.cleandoc(getattr(call, "__doc__", None) or type(function).__doc__ or "")
