"""JSON, TOML, INI and XML documents, by `json`, `tomllib`, `configparser` and `xml.etree`."""

from __future__ import annotations

import configparser
import json
import re
import tomllib
from typing import Annotated, Any
from xml.etree import ElementTree as ET

from pydantic import Field, JsonValue

Document = Annotated[str, Field(max_length=200_000)]


def format_json(document: Document, indent: Annotated[int, Field(ge=0, le=8)] = 2) -> str:
    """Pretty-print a JSON document.

    Args:
        document: The JSON text.
        indent: Spaces a level.
    """
    return json.dumps(json.loads(document), indent=indent, ensure_ascii=False)


def minify_json(document: Document) -> str:
    """Write a JSON document as short as possible, without white space.

    Args:
        document: The JSON text.
    """
    return json.dumps(json.loads(document), separators=(",", ":"), ensure_ascii=False)


def sort_json_keys(document: Document) -> str:
    """Sort the keys of a JSON document at every level.

    Args:
        document: The JSON text.
    """
    return json.dumps(json.loads(document), sort_keys=True, ensure_ascii=False)


def check_json(document: Document) -> dict[str, Any]:
    """Check that a text is valid JSON; tells line, column and reason where it is not.

    Args:
        document: The JSON text.
    """
    try:
        json.loads(document)
    except json.JSONDecodeError as exc:
        return {"valid": False, "reason": exc.msg, "line": exc.lineno, "column": exc.colno}
    return {"valid": True}


def get_json_value(document: Document, path: list[str | int]) -> JsonValue:
    """Read one value out of a JSON document by its path.

    Args:
        document: The JSON text.
        path: Keys and list positions from the root, such as ["users", 0, "name"].
    """
    value = json.loads(document)
    for step in path:
        value = value[step]
    return value  # type: ignore[no-any-return]  # json.loads is untyped


def json_keys(document: Document) -> list[str]:
    """List the paths of all values in a JSON document, such as users.0.name.

    Args:
        document: The JSON text.
    """
    return [".".join(path) for path in _paths(json.loads(document), ())]


def _paths(value: JsonValue, above: tuple[str, ...]) -> list[tuple[str, ...]]:
    if isinstance(value, dict):
        return [path for key, child in value.items() for path in _paths(child, (*above, key))]
    if isinstance(value, list):
        return [path for n, child in enumerate(value) for path in _paths(child, (*above, str(n)))]
    return [above]


def merge_json(first: Document, second: Document) -> str:
    """Merge two JSON objects deeply; the second wins (JSON Merge Patch, RFC 7396).

    Args:
        first: A JSON object.
        second: The object to lay over it; null removes a key.
    """
    return json.dumps(_merge(json.loads(first), json.loads(second)), ensure_ascii=False)


def _merge(target: JsonValue, patch: JsonValue) -> JsonValue:
    if not isinstance(patch, dict):
        return patch
    merged = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = _merge(merged.get(key), value)
    return merged


def toml_to_json(document: Document) -> str:
    """Convert a TOML document, such as pyproject.toml, to JSON.

    Args:
        document: The TOML text.
    """
    return json.dumps(tomllib.loads(document), default=str, ensure_ascii=False)


def ini_to_json(document: Document) -> str:
    """Convert an INI (configuration) file to JSON.

    Args:
        document: The INI text.
    """
    parser = configparser.ConfigParser(interpolation=None)
    parser.read_string(document)
    return json.dumps({section: dict(parser[section]) for section in parser.sections()}, ensure_ascii=False)


def json_to_ini(document: Document) -> str:
    """Convert a JSON object of sections to an INI (configuration) file.

    Args:
        document: A JSON object of objects of texts.
    """
    sections = json.loads(document).items()
    lines = [
        [f"[{name}]", *(f"{key} = {value}" for key, value in values.items())] for name, values in sections
    ]
    return "\n\n".join("\n".join(section) for section in lines)


def _parse_xml(document: str) -> ET.Element:
    # Entities are how a small XML text grows to gigabytes: a document type is refused.
    if re.search(r"<!(DOCTYPE|ENTITY)", document, re.IGNORECASE):
        raise ValueError("XML with a DOCTYPE or ENTITY is not read: remove it")
    return ET.fromstring(document)


def xml_texts(document: Document, path: str) -> list[str]:
    """Read the texts of the XML elements at a path.

    Args:
        document: The XML text.
        path: A simple XPath below the root, such as "./book/title" or ".//title".
    """
    return ["".join(element.itertext()).strip() for element in _parse_xml(document).findall(path)]


def xml_attributes(document: Document, path: str) -> list[dict[str, str]]:
    """Read the attributes of the XML elements at a path.

    Args:
        document: The XML text.
        path: A simple XPath below the root, such as "./book".
    """
    return [dict(element.attrib) for element in _parse_xml(document).findall(path)]


def format_xml(document: Document) -> str:
    """Pretty-print an XML document.

    Args:
        document: The XML text.
    """
    root = _parse_xml(document)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode")


def escape_xml(text: str) -> str:
    """Escape a text for use inside an XML element or attribute.

    Args:
        text: The text.
    """
    from xml.sax.saxutils import escape

    return escape(text, {'"': "&quot;", "'": "&apos;"})
