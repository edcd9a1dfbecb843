"""The meta-tools: their schemas and descriptions, and how a step answers them."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tool_search_processor.meta_tools.meta_tool_names import MetaToolNames
from tool_search_processor.meta_tools.reading import MAX_RESULTS, as_object
from tool_search_processor.meta_tools.receipts import ReceiptKind
from tool_search_processor.meta_tools.texts import one_line
from tool_search_processor.tools import Tool, ToolContext
from tool_search_processor.wire.plain import visible_text

_LISTED_CHARACTERS = 85

Handler = Callable[[Mapping[str, Any], ToolContext], Awaitable[Any]]
Target = Callable[[Mapping[str, Any], ToolContext], Awaitable[tuple[Tool, Mapping[str, Any]] | None]]


@dataclass(frozen=True)
class MetaTool(Tool):
    """One of the processor's own tools, which answers a model's mistakes in words.

    A definition has no handler; `answered_by` gives a copy that can be called.
    """

    __hash__ = Tool.__hash__

    handler: Handler | None = field(default=None, repr=False, compare=False)
    proxy: Target | None = field(default=None, repr=False, compare=False)
    notes: ReceiptKind | None = field(default=None, repr=False, compare=False)
    """The kind of receipt that its answers may have; answers that hold another tool's words have none."""

    def answered_by(self, handler: Handler, *, proxy: Target | None = None) -> MetaTool:
        """Return a copy whose calls a handler answers.

        Args:
            handler: Answers a call.
            proxy: Returns the tool and the arguments that a call really runs; None if it runs no other tool.
        """
        self._wire  # noqa: B018  # kept with the definition, or each step's copy would make it again
        copy = object.__new__(MetaTool)
        # The definition was checked and frozen when it was made; each step needs a copy.
        copy.__dict__.update(self.__dict__, handler=handler, proxy=proxy)
        return copy

    async def call(self, arguments: Any = None, context: ToolContext | None = None) -> Any:
        """Answer a call, whatever the arguments are."""
        return await self.handler(as_object(arguments), context or ToolContext())  # type: ignore[misc]

    async def target(
        self, arguments: Any, context: ToolContext | None = None
    ) -> tuple[Tool, Mapping[str, Any]]:
        """Return the tool and arguments that a call stands for; this tool if it answers itself."""
        given = as_object(arguments)
        found = await self.proxy(given, context or ToolContext()) if self.proxy else None
        return found or (self, given)


def search_tool(
    names: MetaToolNames, *, inventory: str, takes_pattern: bool, default_limit: int, tags: Sequence[str] = ()
) -> MetaTool:
    """Return the search tool's definition.

    Args:
        names: What the meta-tools are called.
        inventory: A sentence about what it can find; may be empty.
        takes_pattern: Whether queries are regular expressions.
        default_limit: Results of a query unless the model asks for more.
        tags: The tags and namespaces that a search can be narrowed to; without any, it can't be.
    """
    what = {
        "load": f"Then make tools callable with {names.load}.",
        "auto_load": "The tools it returns become callable in your next step.",
        "call": f"Then run a tool with {names.call}.",
    }[names.mode]
    query = (
        "A case-insensitive regular expression over names, descriptions and parameters (RE2 syntax, at most "
        "200 characters), such as 'issue|ticket'."
        if takes_pattern
        else "What you need to do, in a few words, such as 'create github issue'; or a tool's name."
    )
    text = {"type": "string"}
    return MetaTool(
        name=names.search,
        description=" ".join(
            part for part in ("Find tools that are available but not listed.", inventory, what) if part
        ),
        parameters=_parameters(
            "query",
            query={
                "anyOf": [text, {"type": "array", "items": text}],
                "description": f"{query} A list asks several things at once.",
            },
            limit={
                "type": "integer",
                "minimum": 1,
                "maximum": MAX_RESULTS,
                "description": f"Results for each query, {default_limit} by default or more.",
            },
            **_tags_schema(tags),
        ),
        annotations={"readOnlyHint": True},
        pinned=True,
        notes="loaded" if names.search in names.loading else None,
    )


def load_tool(names: MetaToolNames) -> MetaTool:
    """Return the definition of the tool that loads tools by name."""
    return MetaTool(
        name=names.load,
        description=f"Load tools that {names.search} found, by name. They become callable in your next step.",
        parameters=_names_schema("Names of the tools to load, as the search gave them."),
        pinned=True,
        notes="loaded",
    )


def unload_tool(names: MetaToolNames) -> MetaTool:
    """Return the definition of the tool that unloads tools by name."""
    return MetaTool(
        name=names.unload,
        description="Unload tools that you no longer need. They stay findable and can be loaded again.",
        parameters=_names_schema("Names of the tools to unload."),
        pinned=True,
        notes="unloaded",
    )


def call_tool(names: MetaToolNames) -> MetaTool:
    """Return the definition of the tool that runs another tool by name."""
    return MetaTool(
        name=names.call,
        description=f"Run a tool that {names.search} found, with arguments that fit its parameters.",
        parameters=_parameters(
            "name",
            name={"type": "string", "description": "The tool's name, as the search gave it."},
            arguments={
                "type": "object",
                "description": "The tool's arguments, as its parameters describe them.",
                "additionalProperties": True,
            },
        ),
        pinned=True,
    )


def _tags_schema(tags: Sequence[str]) -> dict[str, Any]:
    if not tags:
        return {}
    # A longer list costs every step more than it helps. Foreign tags are shown unchanged or not at all, since
    # the model gives them back.
    is_listed = len(json.dumps(tags)) <= _LISTED_CHARACTERS and all(
        tag == one_line(visible_text(tag)) for tag in tags
    )
    items = {"type": "string", "enum": list(tags)} if is_listed else {"type": "string"}
    what = "these" if is_listed else "these tags or namespaces"
    return {"tags": {"type": "array", "items": items, "description": f"Only tools of {what}."}}


def _names_schema(description: str) -> dict[str, Any]:
    names = {"type": "array", "items": {"type": "string"}, "description": description}
    return _parameters("tool_names", tool_names=names)


def _parameters(required: str, **properties: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": [required]}
