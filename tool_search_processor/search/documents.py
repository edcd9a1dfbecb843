"""The searchable text of a tool."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tool_search_processor.search.protocol import Document
from tool_search_processor.tools import Tool
from tool_search_processor.tools.schema_walk import (
    LIST_KEYWORDS,
    MAP_KEYWORDS,
    SINGLE_KEYWORDS,
    resolve_pointer,
)
from tool_search_processor.wire.plain import is_number

_TEXTS = frozenset({"description", "title"})


def document_of(tool: Tool) -> Document:
    """Return the document that search sees of a tool.

    Parameters are read at any depth: nested properties, array items, branches of `anyOf`, `oneOf` and
    `allOf`, `$defs` and what `$ref` points to, each once. A title counts if it says more than the
    parameter's name. A foreign original name, the title of an MCP tool and aliases join the keywords.
    """
    reader = _SchemaReader(tool.parameters)
    keywords = tool.keywords
    for word in (tool.metadata.get("original_name"), tool.metadata.get("title"), *tool.aliases):
        if isinstance(word, str) and not _is_same(word, tool.name) and word not in keywords:
            keywords = (*keywords, word)
    return Document(
        name=tool.name,
        namespace=tool.namespace,
        description=tool.shown_description,
        tags=tuple(sorted(tool.tags)),
        keywords=keywords,
        parameter_names=tuple(reader.names),
        parameter_texts=tuple(text for text in reader.texts if text != tool.shown_description),
        # A line break would part a request into several ways of asking.
        example_requests=tuple(" ".join(request.split()) for request in tool.example_requests),
    )


def _is_same(title: str, name: str) -> bool:
    return title == name or title.replace(" ", "_").lower() == name.lower()


class _SchemaReader:
    """Collects the names and texts of one schema; dicts serve as ordered sets."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self.root = schema
        self.names: dict[str, None] = {}
        self.texts: dict[str, None] = {}
        self._seen: set[int] = set()
        later: list[Any] = []
        for key, value in schema.items():
            if key in ("$defs", "definitions") and isinstance(value, dict):
                later.extend(value.values())
            elif key != "title":  # of the root: a class's name
                self._keyword(key, value, "")
        for definition in later:
            self._read(definition, "")

    def _read(self, schema: Any, name: str) -> None:
        if isinstance(schema, dict):
            for key, value in schema.items():
                self._keyword(key, value, name)

    def _keyword(self, key: str, value: Any, name: str) -> None:
        if key == "type":
            return
        if key in _TEXTS:
            if isinstance(value, str) and value and not (key == "title" and _is_same(value, name)):
                self.texts[value] = None
        elif key == "properties" and isinstance(value, dict):
            for inner, schema in value.items():
                self.names[inner] = None
                self._read(schema, inner)
        elif key in ("enum", "const"):
            self._values(value if isinstance(value, list) else [value])
        elif key == "$ref":
            self._reference(value)
        else:
            self._subschemas(key, value, name)

    def _subschemas(self, key: str, value: Any, name: str) -> None:
        if key in MAP_KEYWORDS and isinstance(value, dict):
            for schema in value.values():
                self._read(schema, "")
        elif key in LIST_KEYWORDS or key in SINGLE_KEYWORDS:
            for schema in value if isinstance(value, list) else [value]:
                self._read(schema, name)

    def _values(self, values: list[Any]) -> None:
        for value in values:
            if isinstance(value, str) or is_number(value):
                self.texts[str(value)] = None

    def _reference(self, pointer: object) -> None:
        """Follow a reference to a place that the walk does not reach by itself."""
        if (
            not isinstance(pointer, str)
            or pointer == "#"
            or pointer.startswith(("#/$defs/", "#/definitions/"))
        ):
            return
        target = resolve_pointer(self.root, pointer)
        if id(target) not in self._seen:
            self._seen.add(id(target))
            self._read(target, "")
