"""The arguments of a tool as they are gathered, and where each goes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tool_search_processor.providers.openapi.routes import Argument, Body
from tool_search_processor.tools.dialects import Converted
from tool_search_processor.tools.tool_names import MAX_NAME_LENGTH, make_property_name

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
