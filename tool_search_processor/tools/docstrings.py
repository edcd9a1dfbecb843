"""What a docstring says of a function and of its parameters."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any


def read_docstring(function: Callable[..., Any]) -> tuple[str, dict[str, str]]:
    """Return the text before the parameters, and each parameter's text (Google, NumPy, reST style)."""
    while isinstance(function, functools.partial):
        function = function.func
    text = inspect.getdoc(function) or "" if hasattr(function, "__name__") else _object_doc(function)
    if "\n" not in text:
        return text.strip(), {}
    import docstring_parser

    try:
        parsed = docstring_parser.parse(text)
    except Exception:  # noqa: BLE001  # it fails in several ways on texts such as ": : x"
        return text.strip(), {}
    texts = {p.arg_name: " ".join((p.description or "").split()) for p in parsed.params}
    parts = (parsed.short_description, parsed.long_description)
    separator = "\n\n" if parsed.blank_after_short_description else "\n"
    description = separator.join(part.strip() for part in parts if part)
    return description, {name.lstrip("*"): text for name, text in texts.items()}


def _object_doc(function: Callable[..., Any]) -> str:
    call = getattr(function, "__call__", None)  # noqa: B004  # a callable object's method
    return inspect.cleandoc(getattr(call, "__doc__", None) or type(function).__doc__ or "")
