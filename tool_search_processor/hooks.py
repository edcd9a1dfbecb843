"""Functions that a user supplies and this package calls."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any


def takes_one(hook: Callable[..., Any]) -> bool:
    """Tell whether a function can be called with one argument; of one that doesn't say, it is supposed."""
    try:
        signature = inspect.signature(hook)
    except (TypeError, ValueError):  # some callables of C have no signature
        return True
    try:
        signature.bind(None)
    except TypeError:
        return False
    return True
