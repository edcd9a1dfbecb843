"""Describes problems with arguments to a model: paths, values and expectations in JSON's words."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tool_search_processor.tools.near_names import plain_form
from tool_search_processor.tools.schema_walk import resolve_pointer
from tool_search_processor.tools.schemas import Path

_PLAIN_KEY = re.compile(r"[\w$-]+")
_FORMAT = re.compile(r"[\w./+-]{1,40}")
_MAX_VALUE_LENGTH = 40
_MAX_CHOICES = 12
_MAX_REF_DEPTH = 8
_NEAR_SCORE = 60.0  # of 100 by rapidfuzz: "titel" for "title" is 80, "name" for "title" 22

_KINDS: dict[str, tuple[type[Any], ...]] = {
    "boolean": (bool,),  # before the numbers: a bool is an int
    "string": (str,),
    "number": (int, float),
    "object": (Mapping,),
    "array": (list, tuple),
}

_WITH_ARTICLE = {
    "object": "an object",
    "array": "an array",
    "string": "a string",
    "number": "a number",
    "integer": "an integer",
    "boolean": "a boolean",
    "null": "null",
}


_ENCODER = json.JSONEncoder(ensure_ascii=False, default=lambda _: "…")


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with arguments."""

    path: Path
    """Where it stands; for a missing or unknown field, the field's own path."""
    text: str
    """One sentence, without the path: it follows on it (`is required but missing`)."""

    def sentence(self) -> str:
        """Return the whole sentence."""
        return f"{path_text(self.path)} {self.text}."


def path_text(path: Path) -> str:
    """Return a path as the model sees it: `` `items[0].price` ``."""
    if not path:
        return "The arguments"
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        elif len(part) <= _MAX_VALUE_LENGTH and _PLAIN_KEY.fullmatch(part):
            text += f".{part}" if text else part
        else:
            text += f"[{value_text(part)}]"
    return f"`{text}`"


def found_text(value: Any) -> str:
    """Return a short description of a value: `the string "abc"`, `the number 3`, `null`."""
    if value is None:
        return "null"
    kind = next((word for word, kinds in _KINDS.items() if isinstance(value, kinds)), None)
    return f"the {kind} {value_text(value)}" if kind else "a value that JSON does not know"


def value_text(value: Any) -> str:
    """Return a value as JSON, cut to 40 characters."""
    if isinstance(value, str):
        value = value[: _MAX_VALUE_LENGTH + 1]
    text = ""
    try:
        # Piece by piece: only the beginning is shown, however large or deep the value is.
        for piece in _ENCODER.iterencode(value):
            text += piece
            if len(text) > _MAX_VALUE_LENGTH:
                break
    except (ValueError, RecursionError):  # it holds itself, or a number of thousands of digits
        text += "…"
    return text if len(text) <= _MAX_VALUE_LENGTH else f"{text[: _MAX_VALUE_LENGTH - 1]}…"


def choices_text(values: Iterable[Any]) -> str:
    """Return `"a", "b", "c"`, the first dozen of them."""
    listed = list(values)
    shown = ", ".join(map(value_text, listed[:_MAX_CHOICES]))
    return shown if len(listed) <= _MAX_CHOICES else f"{shown} and {len(listed) - _MAX_CHOICES} more"


def expected_text(schema: Any, root: Any, *, depth: int = 0) -> str:
    """Return what a schema wants, in a few words: `an integer or null`, `one of "a", "b"`."""
    if not isinstance(schema, Mapping) or depth > _MAX_REF_DEPTH:
        return "a valid value"
    if "$ref" in schema:
        return expected_text(resolve_pointer(root, schema["$ref"]), root, depth=depth + 1)
    if "const" in schema:
        return value_text(schema["const"])
    if isinstance(schema.get("enum"), list):
        values = schema["enum"]
        return value_text(values[0]) if len(values) == 1 else f"one of {choices_text(values)}"
    for keyword in ("anyOf", "oneOf"):
        if isinstance(schema.get(keyword), list):
            branches = (branch for branch in schema[keyword] if branch is not False)
            texts = (expected_text(branch, root, depth=depth + 1) for branch in branches)
            return " or ".join(dict.fromkeys(texts)) or "a valid value"
    if isinstance(schema.get("allOf"), list) and schema["allOf"]:
        return expected_text(schema["allOf"][0], root, depth=depth + 1)
    return _type_text(schema)


def _type_text(schema: Mapping[str, Any]) -> str:
    kinds = schema.get("type")
    words = [kinds] if isinstance(kinds, str) else kinds if isinstance(kinds, list) else []
    text = " or ".join(_WITH_ARTICLE.get(str(word), str(word)) for word in words) or "a valid value"
    given_format = schema.get("format")
    is_told = "string" in words and isinstance(given_format, str) and _FORMAT.fullmatch(given_format)
    return f"{text} in {given_format} format" if is_told else text


def unknown_text(name: str, known: Iterable[str]) -> str:
    """Return why a field cannot be there, with the near name or the names that can."""
    names = list(known)
    near = near_name(name, names)
    if near is not None:
        return f"is not a known field (did you mean `{near}`?)"
    if not names:
        return "is not a known field; none is expected here"
    return f"is not a known field; known are {choices_text(names)}"


def near_name(name: str, names: Sequence[str]) -> str | None:
    """Return the name that is nearest in spelling, or None if no name is near."""
    from rapidfuzz import fuzz, process

    found = process.extractOne(name, names, scorer=fuzz.ratio, processor=plain_form, score_cutoff=_NEAR_SCORE)
    return found[0] if found else None
