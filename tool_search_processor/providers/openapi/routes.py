"""Routes: everything needed to turn a tool's arguments into an HTTP request."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from tool_search_processor.tools.dialects import Converted
from tool_search_processor.tools.tool_names import MAX_NAME_LENGTH, make_property_name

Place = Literal["path", "query", "header", "cookie"]
BodyKind = Literal["json", "form", "multipart", "raw"]

VARIABLE = re.compile(r"\{([^{}]+)\}")
"""A variable in a path or in a server's URL; its group is the name."""


def split_path(template: str) -> tuple[str, str]:
    """Return path and query of a key of `paths`; the part after `#` is never sent."""
    path, _, query = template.partition("#")[0].partition("?")
    return path, query


DEFAULT_STYLES: Mapping[Place, str] = {
    "path": "simple", "query": "form", "header": "simple", "cookie": "form",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """Where one argument goes, and in which form."""

    name: str
    """As the model sees it."""
    wire_name: str
    """As the API calls it."""
    place: Place
    style: str
    """One of OpenAPI's styles, or `tabDelimited` of Swagger 2.0."""
    explode: bool
    allow_reserved: bool = False
    is_json: bool = False
    """Whether it is sent as JSON text, whatever it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoding:
    """How one field of a form is written."""

    content_type: str | None = None
    style: str | None = None
    """None: objects as JSON text, and lists as one field for each item."""
    explode: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """The body of a request."""

    kind: BodyKind
    media_type: str
    required: bool
    argument: str | None
    """The argument that is the whole body; None where `fields` make it up."""
    fields: Mapping[str, str] = field(default_factory=dict)
    """The API's names of arguments, by the arguments' names."""
    encodings: Mapping[str, Encoding] = field(default_factory=dict)
    """By the API's names."""
    files: frozenset[str] = frozenset()
    """The API's names of fields that are files."""
    file_or_text: frozenset[str] = frozenset()
    """Fields that are a file if a data: URL is given, and a string otherwise."""
    needed: tuple[str, ...] = ()
    """The arguments without which a body that may be left out can't be sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """An operation as it is called."""

    method: str
    path: str
    """A template such as `/pets/{id}`."""
    server: str
    """The URL that the path is put behind; empty where nothing will be called."""
    arguments: tuple[Argument, ...] = ()
    body: Body | None = None
    accept: str = "*/*"
    security: tuple[tuple[str, ...], ...] = ()
    """Alternatives, each the names of the security schemes that it takes together."""

    @property
    def label(self) -> str:
        """Method and path, which is what messages call it."""
        return f"{self.method} {self.path}"


TAKEN = frozenset({"operation_arguments"})
"""The name under which a tool's callable takes all arguments: no argument may have it."""


@dataclass(slots=True)
class Signature:
    """The arguments of a tool, and where each goes."""

    properties: dict[str, Any] = field(default_factory=dict)
    required: list[str] = field(default_factory=list)
    arguments: list[Argument] = field(default_factory=list)
    body: Body | None = None

    def schema(self) -> Converted:
        """Return the schema of the arguments; unknown ones are refused, so that a typo is reported."""
        schema: Converted = {"type": "object", "properties": self.properties}
        if self.required:
            schema["required"] = self.required
        return {**schema, "additionalProperties": False}

    def free_name(self, wire_name: str, place: str) -> str:
        """Return an argument's name: the API's own, followed by `__` and the place if that name is taken."""
        taken = self.properties.keys() | TAKEN
        name = make_property_name(wire_name)
        if name in taken:
            name = f"{name[: MAX_NAME_LENGTH - len(place) - 2]}__{place}"
        stem, number = name, 1
        while name in taken:
            number += 1
            name = f"{stem[: MAX_NAME_LENGTH - 4]}_{number}"
        return name

    def add(self, name: str, schema: Converted, *, required: bool) -> None:
        """Add an argument."""
        self.properties[name] = schema
        if required:
            self.required.append(name)
