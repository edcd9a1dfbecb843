"""Turns what a tool returned or raised into the text that the model reads."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Iterator
from itertools import islice
from typing import Any

from tool_search_processor.errors import (
    InvalidPatternError,
    ToolArgumentsError,
    ToolCallError,
    ToolNotCallableError,
    ToolUnavailableError,
)
from tool_search_processor.tools.execution import run_callable
from tool_search_processor.wire.plain import clean_text, safe_repr

RESULT_CHARACTERS = 200_000
"""The most characters of one result that a model gets by default: about 50,000 tokens."""
_LONGEST_ERROR = 1_000
_MOST_ITEMS = 10_000
_FIT_FOR_THE_MODEL = (
    ToolArgumentsError,
    ToolCallError,
    ToolUnavailableError,
    InvalidPatternError,
    ToolNotCallableError,
)


async def read_result(value: Any) -> Any:
    """Return a tool's result with its iterators read; this may run the tool's own code.

    A sync iterator is read in a thread, as a sync tool runs: if it waits, it would hold up the event loop,
    and no time limit could end it.

    Raises:
        Exception: What an iterator raises on the way.
    """
    if isinstance(value, AsyncIterator):
        return await _async_items(value)
    return await run_callable(_without_iterators, (value,), {}) if _holds_iterators(value) else value


def encode_result(value: Any) -> str:
    """Return what a tool returned as text: a string as it is, everything else as JSON.

    Never raises for what JSON cannot say: a cycle, or an object without fields, becomes its `repr`. Only the
    first ten thousand items of an iterator are taken, since it may have no end.

    Raises:
        Exception: What an iterator raises on the way.
    """
    if isinstance(value, str):
        return clean_text(value)
    value = _without_iterators(value)
    import pydantic_core

    for bytes_mode in ("utf8", "base64"):
        try:
            # NaN and infinities are written as such: models read them, and a null would be wrong
            encoded = pydantic_core.to_json(
                value, bytes_mode=bytes_mode, inf_nan_mode="constants", fallback=_fallback
            )
            return encoded.decode()
        except Exception:  # noqa: BLE001, S112 - foreign objects serialize themselves; the next way is tried
            continue
    try:
        return clean_text(json.dumps(value, ensure_ascii=False, default=safe_repr))
    except (TypeError, ValueError, RecursionError):
        return clean_text(safe_repr(value))


def cut_result(text: str, limit: int | None) -> str:
    """Return a result's text, cut to `limit` characters with a sentence that says how much was left out."""
    if limit is None or len(text) <= limit:
        return text
    left = len(text) - limit
    return f"{text[:limit]}\n… (cut: {left:,} more characters were left out. Ask for less at a time.)"


def _holds_iterators(value: Any) -> bool:
    held = value.values() if type(value) is dict else value if type(value) in (list, tuple) else (value,)
    return any(issubclass(kind, Iterator) for kind in set(map(type, held)))  # few types, however many items


def _without_iterators(value: Any) -> Any:
    """Return a value with iterators turned into lists, also those directly in a dict or list."""
    if not _holds_iterators(value):
        return value
    if isinstance(value, Iterator):
        return _items(value)
    if isinstance(value, dict):
        return {k: _items(v) if isinstance(v, Iterator) else v for k, v in value.items()}
    return [_items(item) if isinstance(item, Iterator) else item for item in value]


def _items(iterator: Iterator[Any]) -> list[Any]:
    return _bounded(list(islice(iterator, _MOST_ITEMS + 1)))


async def _async_items(iterator: AsyncIterator[Any]) -> list[Any]:
    items: list[Any] = []
    async for item in iterator:
        items.append(item)
        if len(items) > _MOST_ITEMS:
            break
    return _bounded(items)


def _bounded(items: list[Any]) -> list[Any]:
    return items if len(items) <= _MOST_ITEMS else [*items[:_MOST_ITEMS], "… and more"]


def error_text(error: BaseException) -> str:
    """Return an exception as one sentence for the model: its type and message, no traceback."""
    error = innermost(error)
    if is_fit_for_the_model(error):
        return clean_text(f"Error: {_message(error)}")
    message = " ".join(_message(error).split())
    if len(message) > _LONGEST_ERROR:
        message = message[:_LONGEST_ERROR] + "…"
    kind = type(error).__name__
    return clean_text(f"Error: {kind}: {message}" if message else f"Error: {kind}")


def told_text(error: BaseException, *, masked: str | None) -> str:
    """Return what a caller may read about an exception of foreign code.

    Args:
        error: What was raised.
        masked: Stands for an error that was not written for the caller, or that is about arguments other
            than the caller's; None masks nothing.
    """
    inner = innermost(error)
    is_of_another_call = isinstance(inner, ToolArgumentsError) and (inner.ran or inner is not error)
    if masked is None or (is_fit_for_the_model(error) and not is_of_another_call):
        return error_text(error)
    return masked


def is_fit_for_the_model(error: BaseException) -> bool:
    """Return True if an exception's text was written for the model."""
    return isinstance(innermost(error), _FIT_FOR_THE_MODEL)


def _fallback(value: Any) -> Any:
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    # numpy and array-likes give their numbers; they are neither imported nor named here
    return value.tolist() if hasattr(value, "tolist") else safe_repr(value)


def _message(error: BaseException) -> str:
    try:
        return str(error)
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 - foreign code
        return ""


def innermost(error: BaseException) -> BaseException:
    """Return the one exception inside a task group's wrapper, whose own text says nothing."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error
