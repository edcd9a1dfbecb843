"""The shapes that Letta's client sends and reads."""

from __future__ import annotations

import uuid
from functools import lru_cache
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StrictInt

from tool_search_processor.plain import sendable
from tool_search_processor.search.base import Document
from tool_search_processor.server.rest.modes import Found, Mode
from tool_search_processor.tools import Tool

_KEPT_IDS = 1 << 16
_SHOWN_METADATA = ("original_name", "title")


class SearchRequest(BaseModel):
    """What is looked for."""

    query: str | None = Field(None, description="Words to search by. Without any, tools are listed in order.")
    search_mode: Mode | None = Field(
        None,
        description="By words (fts), by meaning (vector) or by both (hybrid). "
        "Unless given, by all that the server's index has. JSON null is the same as leaving it out.",
    )
    tags: list[str] | None = Field(None, description="Only tools with any of these tags or namespaces.")
    tool_types: list[str] | None = Field(None, description="Only tools of any of these types.")
    limit: Annotated[StrictInt, Field(ge=1, le=100, description="The most results to return.")] = 50


class ToolOut(BaseModel):
    """A tool."""

    model_config = ConfigDict(title="Tool")

    id: str = Field(description="`tool-` and a UUID that is made of the name: the same on every server.")
    name: str
    description: str
    tool_type: str
    tags: list[str]
    json_schema: dict[str, Any] = Field(description="The function as it is sent to a model.")
    args_json_schema: dict[str, Any] = Field(description="The JSON Schema of its parameters.")
    default_requires_approval: bool
    metadata_: dict[str, Any] = Field(
        description="`namespace`, `original_name` and `title`, where it has any."
    )


class SearchResult(BaseModel):
    """One tool that was found."""

    tool: ToolOut
    embedded_text: str | None = Field(description="What of the tool was embedded; null on a server without.")
    fts_rank: int | None = Field(description="Place in the list by words, from 1; null if it isn't there.")
    vector_rank: int | None = Field(
        description="Place in the list by meaning, from 1; null if it isn't there."
    )
    combined_score: float = Field(
        description="Reciprocal rank fusion, in every mode: the mean of 1 / (60 + rank) over the lists that "
        "were searched, 0 for one that doesn't hold the tool. 1/61 is first in all of them, so scores of all "
        "modes compare. 0 where nothing was searched for."
    )


def search_result(found: Found, *, embeds: bool) -> SearchResult:
    """Return a tool that was found as Letta's client reads it."""
    return SearchResult(
        tool=tool_out(found.tool),
        embedded_text=embedded_text(found.tool) if embeds else None,
        fts_rank=found.fts_rank,
        vector_rank=found.vector_rank,
        combined_score=found.score,
    )


def tool_out(tool: Tool) -> ToolOut:
    """Return a tool as Letta's client reads it; its code and its other metadata stay here."""
    definition = tool.to_openai()["function"]
    about = {"namespace": tool.namespace, **{key: tool.metadata.get(key) for key in _SHOWN_METADATA}}
    fields = {
        "id": tool_id(tool.name),
        "name": tool.name,
        "description": tool.shown_description,
        "tool_type": tool.tool_type,
        "tags": sorted(tool.tags),
        "json_schema": definition,
        "args_json_schema": definition["parameters"],
        "default_requires_approval": tool.requires_approval,
        "metadata_": {key: value for key, value in about.items() if value is not None},
    }
    return ToolOut(**sendable(fields))


@lru_cache(_KEPT_IDS)
def tool_id(name: str) -> str:
    """Return the id of the tool of this name, in the form of Letta's."""
    return f"tool-{uuid.uuid5(uuid.NAMESPACE_OID, name)}"


def embedded_text(tool: Tool) -> str:
    """Return what of a tool a vector index embeds."""
    from tool_search_processor.search.vector import document_text

    return document_text(Document(name=tool.name, description=tool.shown_description))
