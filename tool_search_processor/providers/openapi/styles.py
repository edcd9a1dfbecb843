"""Values of parameters as text, in the styles of OpenAPI (https://spec.openapis.org/oas/v3.1.1, 4.8.12)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from tool_search_processor.providers.openapi.routes import Argument
from tool_search_processor.wire.plain import clean_text

_RESERVED = ":/?[]@!$'()*,;"
"""What `allowReserved` leaves as it is; `#`, `&`, `=` and `+` would end the value or change it."""
_DELIMITERS = {"form": ",", "spaceDelimited": "%20", "pipeDelimited": "%7C", "tabDelimited": "%09"}
_OPENERS = {"simple": ("", ","), "label": (".", "."), "matrix": (";", ";")}


def text_of_value(value: Any) -> str:
    """Return a value as the text that stands for it in a URL or a form; lists and objects as JSON."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, float) and value.is_integer():
        return str(int(value))  # a model's 2.0 is an integer to JSON Schema, and not to every server
    return json_text(value)


def json_text(value: Any) -> str:
    """Return a value as compact JSON."""
    return clean_text(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def path_text(argument: Argument, value: Any) -> str:
    """Return a parameter's part of the path, percent-encoded."""
    if argument.is_json:
        return _encoded(json_text(value))
    opener, separator = _OPENERS.get(argument.style, _OPENERS["simple"])
    name = _encoded(argument.wire_name)
    is_matrix = argument.style == "matrix"
    if isinstance(value, Mapping) and argument.explode:
        return opener + separator.join(f"{_encoded(k)}={_encoded(v)}" for k, v in value.items())
    items = [_encoded(item) for item in _items(value)]
    if is_matrix and argument.explode:
        return "".join(f";{name}={item}" for item in items)
    joined = (separator if argument.explode else ",").join(items)
    return f";{name}={joined}" if is_matrix else opener + joined


def header_text(argument: Argument, value: Any) -> str:
    """Return the value of a header."""
    if argument.is_json:
        return json_text(value)
    if isinstance(value, Mapping) and argument.explode:
        return ",".join(f"{key}={text_of_value(item)}" for key, item in value.items())
    return ",".join(map(text_of_value, _items(value)))


def cookie_text(argument: Argument, value: Any) -> str:
    """Return a cookie, name and value."""
    items = [json_text(value)] if argument.is_json else list(map(text_of_value, _items(value)))
    return f"{_encoded(argument.wire_name)}={','.join(map(_encoded, items))}"


def query_parts(argument: Argument, value: Any) -> list[str]:
    """Return the parts of a query for a parameter, percent-encoded, to be joined by `&`."""
    name = argument.wire_name
    safe = _RESERVED if argument.allow_reserved else ""
    if argument.is_json:
        return [_pair(name, json_text(value), safe)]
    if not isinstance(value, Mapping) and not _is_list(value):
        return [_pair(name, value, safe)]
    if argument.style == "deepObject":
        return _deep_parts(name, value, safe)
    if argument.explode and isinstance(value, Mapping):
        return [_pair(str(key), item, safe) for key, item in value.items() if item is not None]
    if argument.explode:
        return [_pair(name, item, safe) for item in value]
    items = [quote(text_of_value(item), safe=safe.replace(",", "")) for item in _items(value)]
    delimiter = _DELIMITERS.get(argument.style, ",")
    return [f"{_encoded(name)}={delimiter.join(items)}"] if items else []


def _deep_parts(name: str, value: Any, safe: str) -> list[str]:
    """Return the parts of an object or a list, however deep.

    The specification leaves lists open. `a[]` for each item and `a[0][b]` for objects is what PHP, Rails,
    Express and Stripe read.
    """
    if isinstance(value, Mapping):
        return [part for key, item in value.items() for part in _deep_parts(f"{name}[{key}]", item, safe)]
    if _is_list(value):
        return [
            part
            for place, item in enumerate(value)
            for part in _deep_parts(f"{name}[{place if isinstance(item, Mapping) else ''}]", item, safe)
        ]
    return [] if value is None else [_pair(name, value, safe)]


def _items(value: Any) -> Sequence[Any]:
    """Return the strings to join by delimiters: a list's items, or an object's names and values in turn."""
    if isinstance(value, Mapping):
        return [part for pair in value.items() for part in pair]
    return value if _is_list(value) else [value]


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)


def _pair(name: str, value: Any, safe: str) -> str:
    return f"{_encoded(name)}={quote(text_of_value(value), safe=safe)}"


def _encoded(value: Any) -> str:
    return quote(text_of_value(value), safe="")
