"""Reads the values of JSON, JSON Lines and YAML files, with clear errors."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tool_search_processor.errors import ConfigurationError, ToolSearchError
from tool_search_processor.wire.files import decoded, problem_in, read_text

STDIN = "-"
"""Stands for the standard input wherever a path does."""

_YAML = re.compile(r"\s*(?:#[^\n]*\n\s*|---\s*\n\s*)*[\"']?(?:openapi|swagger|tools)[\"']?\s*:")
_YAML_SUFFIXES = (".yaml", ".yml")


class DataError(ToolSearchError, ValueError):
    """A file that can't be read as tools or queries; the message names the place in one sentence.

    ```python
    load_tools("no_such_file.jsonl")  # raises DataError
    ```
    """


def label_of(path: str | Path) -> str:
    """Return the name of a path in messages."""
    return "the standard input" if str(path) == STDIN else str(path)


def read_values(path: str | Path) -> list[Any]:
    """Return the values in a file: one, or one for each line of JSON Lines; none if it is empty.

    Raises:
        DataError: If the file is missing, or is not JSON, JSON Lines or YAML in UTF-8.
    """
    text, label = _text(path), label_of(path)
    if label.endswith(_YAML_SUFFIXES) or _YAML.match(text):
        return [_yaml(text, label)]
    try:
        return _json_values(text, label)
    except RecursionError as exc:
        raise DataError(f"{label} is nested too deeply") from exc


def read_records(path: str | Path, noun: str, *, key: str) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the records with a `query` in JSON Lines or a JSON list, each with its place for errors.

    Args:
        path: The file.
        noun: What a record is called in errors.
        key: The key of the names of tools in it.

    Raises:
        DataError: If the file can't be read, or a record is not an object with a query.
    """
    records = read_values(path)
    if len(records) == 1 and isinstance(records[0], list):
        records = records[0]
    found = [(f"{label_of(path)}, {noun} {number}", record) for number, record in enumerate(records, start=1)]
    for place, record in found:
        if not isinstance(record, Mapping):
            raise DataError(f"{place}: it must be an object with 'query' and {key!r}, found {record!r:.60}")
        text = record.get("query")
        if not isinstance(text, str) or not text.strip():
            raise DataError(f"{place}: 'query' must be a string that is not empty, found {text!r:.60}")
    return found


def names_in(given: object, place: str, *, wanted: str) -> tuple[str, ...]:
    """Return the names of tools in a record: one name or a list.

    Args:
        given: What the record has.
        place: Where it is, for errors.
        wanted: What must be there.

    Raises:
        DataError: If something else is there.
    """
    names = [given] if isinstance(given, str) else given
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise DataError(f"{place}: {wanted}, found {given!r:.60}")
    return tuple(names)


def _text(path: str | Path) -> str:
    try:
        if str(path) == STDIN:
            return decoded(sys.stdin.buffer.read(), label=label_of(path))
        return read_text(path)
    except ConfigurationError as exc:
        raise DataError(str(exc)) from exc


def _json_values(text: str, label: str) -> list[Any]:
    if not text.strip():
        return []
    try:
        return [json.loads(text)]
    except ValueError as exc:
        whole = exc
    # Not splitlines(): JSON may hold U+2028 and similar characters unescaped.
    lines = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    values = []
    for number, line in lines:
        try:
            values.append(json.loads(line))
        except ValueError as exc:
            if not values and label.endswith(".py"):
                raise DataError(f"{label} is Python: name what is in it, module:attribute") from exc
            if not values:  # not even the first line is JSON, so the file is one document
                raise DataError(f"{label} is not JSON: {problem_in(whole)}") from exc
            raise DataError(f"{label}, line {number}, is not JSON: {problem_in(exc)}") from exc
    return values


def _yaml(text: str, label: str) -> Any:
    from tool_search_processor.providers.openapi.texts import parse_yaml

    try:
        return parse_yaml(text, label=label)
    except (ConfigurationError, ImportError) as exc:
        raise DataError(str(exc)) from exc
