"""A pydantic-ai agent's own tools, as a searcher sees them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic_ai.tools import ToolDefinition

from tool_search_processor.adapters.framework_tools import FrameworkTools
from tool_search_processor.session.foreign_tools import ForeignTool
from tool_search_processor.tools import Tool

_AGENT_ITSELF = "<agent>"


class OwnTools:
    """Converts an agent's definitions, which pydantic-ai makes again at each step."""

    def __init__(self, *, proxied: bool = False) -> None:
        """Begin without tools.

        Args:
            proxied: Whether hidden tools are called through a call tool.
        """
        self._proxied = proxied
        self._tools = FrameworkTools(_tool_of, content=lambda known: (known.definition.name, known))

    def of(self, definitions: Iterable[ToolDefinition], *, always: Collection[str] = ()) -> list[ForeignTool]:
        """Return the tools of these definitions; those named in `always` are never hidden."""
        return self._tools.of([self._known(one, listed=one.name in always) for one in definitions])

    def _known(self, definition: ToolDefinition, *, listed: bool) -> KnownTool:
        # a tool that runs outside of the agent can only be called by its own name
        listed = listed or (self._proxied and definition.kind == "external")
        return KnownTool(definition, listed=listed, proxied=self._proxied and not listed)


@dataclass(frozen=True)
class KnownTool:
    """A definition, and how it is listed: the `original` of the agent's own tools."""

    definition: ToolDefinition
    listed: bool
    proxied: bool


@dataclass(frozen=True)
class _ValidatedTool(ForeignTool):
    """A tool whose arguments pydantic-ai has validated before the call gets here."""

    __hash__ = Tool.__hash__

    def check_arguments(self, arguments: Any = None) -> Any:
        """Return the arguments unchanged: they may hold objects that JSON Schema can't describe."""
        return arguments


def _tool_of(known: KnownTool) -> ForeignTool:
    definition = known.definition
    kind = ForeignTool if known.proxied else _ValidatedTool
    annotations = (definition.metadata or {}).get("annotations")
    return kind(
        definition.name,
        definition.description or "",
        definition.parameters_json_schema,
        namespace=None if definition.toolset_id == _AGENT_ITSELF else definition.toolset_id,
        annotations=annotations if isinstance(annotations, Mapping) else {},
        pinned=known.listed,
        requires_approval=definition.kind == "unapproved",
        original=known,
    )
