"""Reads files that a program or a command names; what can't be read is told in one sentence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tool_search_processor.errors import ConfigurationError


def read_text(path: str | Path) -> str:
    """Return the text of a file.

    Raises:
        ConfigurationError: If it can't be read, or is not UTF-8.
    """
    try:
        data = Path(path).read_bytes()
    except (OSError, ValueError) as exc:  # ValueError: a NUL in the path
        reason = getattr(exc, "strerror", None) or str(exc)
        raise ConfigurationError(f"can't read {path}: {reason}") from exc
    return decoded(data, label=str(path))


def read_json(path: str | Path) -> Any:
    """Return the value in a JSON file.

    Raises:
        ConfigurationError: If it can't be read, or is not JSON.
    """
    return json_in(read_text(path), label=str(path))


def json_in(text: str, *, label: str) -> Any:
    """Return the value of a string of JSON, which errors call `label`.

    Raises:
        ConfigurationError: If it is not JSON; says where it breaks.
    """
    try:
        return json.loads(text)
    except ValueError as exc:
        raise ConfigurationError(f"{label} is not JSON: {problem_in(exc)}") from exc
    except RecursionError as exc:
        raise ConfigurationError(f"{label} is nested too deeply") from exc


def decoded(data: bytes, *, label: str) -> str:
    """Return the text in the content of a file, which errors call `label`.

    Raises:
        ConfigurationError: If it is not UTF-8.
    """
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as exc:
        raise ConfigurationError(f"{label} is not UTF-8 text: byte {exc.start} can't be read") from exc


def problem_in(error: ValueError) -> str:
    """Return what is wrong with JSON, and where."""
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} (line {error.lineno}, column {error.colno})"
    return str(error)  # a number of too many digits
