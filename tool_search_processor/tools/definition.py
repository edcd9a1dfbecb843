"""A tool's definition, in the shapes of OpenAI's chat, Anthropic's Messages and MCP."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from typing import Any

from tool_search_processor.tools.dialects import object_schema
from tool_search_processor.tools.foreign import foreign_line
from tool_search_processor.tools.importers import MCP_PASSED_ON
from tool_search_processor.tools.schemas import WireSchema, wire_schema
from tool_search_processor.tools.tool_names import loses_letters
from tool_search_processor.wire.plain import copied


class ToolDefinition:
    """Base of `Tool`: its definition, in the shapes that models and clients take."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    output_schema: Mapping[str, Any] | None
    annotations: Mapping[str, Any]
    metadata: Mapping[str, Any]

    @property
    def original_name(self) -> str:
        """The name before an importer or a namespace changed it; otherwise `name`."""
        return str(self.metadata.get("original_name", self.name))

    @property
    def aliases(self) -> Sequence[str]:
        """Other names that loading, calling and searching know it by; policy is asked about `name` alone."""
        given = self.metadata.get("aliases")
        return tuple(map(str, given)) if isinstance(given, list | tuple) else ()

    @functools.cached_property
    def shown_description(self) -> str:
        """The description as models and searches get it.

        It begins with the original name where the name made from it lacks letters: nothing else says
        what `tool_3f2a9c1b` is called.
        """
        original = self.metadata.get("original_name")
        if not isinstance(original, str) or not loses_letters(original):
            return self.description
        seen = foreign_line(original)
        if seen in self.description:
            return self.description
        return f"{seen}: {self.description}" if self.description else seen

    @functools.cached_property
    def definition_json(self) -> str:
        """`to_openai()` as compact JSON: the text whose tokens are counted."""
        return json.dumps(self._openai(self._wire.schema), ensure_ascii=False, separators=(",", ":"))

    def wire_schema(self) -> dict[str, Any]:
        """Return the parameters as they are sent to a model: an object, whatever `parameters` is.

        A root that providers refuse is wrapped as one property; `call` unwraps it.
        """
        schema: dict[str, Any] = copied(self._wire.schema)
        return schema

    def to_openai(self) -> dict[str, Any]:
        """Return the definition in OpenAI chat shape."""
        return self._openai(self.wire_schema())

    def to_anthropic(self) -> dict[str, Any]:
        """Return the definition in the shape of Anthropic's Messages API."""
        return {"name": self.name, "description": self.shown_description, "input_schema": self.wire_schema()}

    def to_mcp(self) -> dict[str, Any]:
        """Return the definition as an entry of an MCP `tools/list` result."""
        parameters = self.parameters if self.parameters.get("type") == "object" else self._wire.schema
        metadata = self.metadata
        optional = {
            "title": metadata.get("title"),
            "outputSchema": self.output_schema,
            "annotations": self.annotations,
            **{key: metadata.get(key) for key in ((*MCP_PASSED_ON, "_meta") if metadata else ())},
        }
        return {
            "name": self.name,
            "description": self.shown_description,
            "inputSchema": object_schema(copied(parameters)),
            **{key: copied(value) for key, value in optional.items() if value},
        }

    def _openai(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        function: dict[str, Any] = {"name": self.name, "description": self.shown_description}
        function["parameters"] = parameters
        if isinstance(strict := self.metadata.get("strict"), bool):
            function["strict"] = strict
        return {"type": "function", "function": function}

    @functools.cached_property
    def _wire(self) -> WireSchema:
        return wire_schema(self.parameters)
