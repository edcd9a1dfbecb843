"""The tool of an operation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from tool_search_processor.providers.openapi.routes import Route
from tool_search_processor.tools import Tool
from tool_search_processor.tools.arguments import parse_arguments
from tool_search_processor.wire.plain import items_of

_FIELDS = tuple(one.name for one in fields(Tool))


@dataclass(frozen=True)
class OperationTool(Tool):
    """A tool that leaves out an optional parameter whose value is null: a URL or a header can't hold null.

    In a body null is a value, and is sent.
    """

    left_out_if_null: frozenset[str] = field(default=frozenset(), hash=False)

    def check_arguments(self, arguments: Mapping[str, Any] | str | None = None) -> Any:
        """Return the arguments as `Tool.check_arguments` does, without parameters that are null.

        Raises:
            ToolArgumentsError: If they do not fit.
        """
        given = parse_arguments(arguments)
        if isinstance(given, Mapping):
            given = {k: v for k, v in given.items() if v is not None or k not in self.left_out_if_null}
        return super().check_arguments(given)


def operation_tool(tool: Tool, route: Route, **changes: Any) -> OperationTool:
    """Return a tool with some fields changed, whose optional parameters may be null."""
    required = items_of(tool.parameters.get("required"))
    return OperationTool(
        **{name: getattr(tool, name) for name in _FIELDS} | changes,
        left_out_if_null=frozenset(one.name for one in route.arguments if one.name not in required),
    )
