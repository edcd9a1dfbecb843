"""The shapes that Letta's client sends and reads."""

from __future__ import annotations

import inspect
import uuid
from collections.abc import Collection, Iterable
from functools import lru_cache
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StrictInt, ValidationError

from tool_search_processor.errors import ConfigurationError
from tool_search_processor.search.index import SearchMode
from tool_search_processor.search.protocol import Document
from tool_search_processor.server.rest.search_modes import Found
from tool_search_processor.tools import Tool
from tool_search_processor.wire.checks import as_names
from tool_search_processor.wire.plain import sendable

_KEPT_IDS = 1 << 16
_SHOWN_METADATA = ("original_name", "title")
_LIMIT = 50


class SearchRequest(BaseModel):
    """What is looked for."""

    query: str | None = Field(None, description="Words to search by. Without any, tools are listed in order.")
    search_mode: SearchMode | None = Field(
        None,
        description="By words (fts), by meaning (vector) or by both (hybrid). "
        "Unless given, by all that the server's index has. JSON null is the same as leaving it out.",
    )
    tags: list[str] | None = Field(None, description="Only tools with any of these tags or namespaces.")
    tool_types: list[str] | None = Field(None, description="Only tools of any of these types.")
    limit: Annotated[
        Annotated[StrictInt, Field(ge=1, le=100)] | None,
        Field(description=f"The most results to return; null stands for {_LIMIT}."),
    ] = _LIMIT

    @property
    def most(self) -> int:
        """The most results to return."""
        return _LIMIT if self.limit is None else self.limit


class ToolMore(BaseModel):
    """What of a tool is left out unless the server shows it and the tool has it."""

    source_code: str | None = None
    source_type: str | None = None
    return_char_limit: int | None = None
    pip_requirements: list[dict[str, Any]] | None = None
    npm_requirements: list[dict[str, Any]] | None = None
    enable_parallel_execution: bool | None = None
    created_by_id: str | None = None
    last_updated_by_id: str | None = None
    project_id: str | None = None


TOOL_FIELDS = ("metadata", *ToolMore.model_fields)
"""Fields of a tool that are shown only if the server is set up to."""


class ToolOut(ToolMore):
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
        description="`namespace`, `original_name` and `title`, where it has any; all that the tool has where "
        "the server shows `metadata`."
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
        description="1 / rank where one list was searched (fts, vector). Of hybrid, reciprocal rank fusion: "
        "the mean of 1 / (60 + rank) over both lists, 0 for a list without the tool. 0 where nothing "
        "was searched for."
    )


def checked_fields(names: Iterable[str]) -> frozenset[str]:
    """Return the further fields that a server is set up to show.

    Raises:
        ConfigurationError: When one is not in `TOOL_FIELDS`.
    """
    given = as_names(names, what="tool_fields")
    if unknown := [name for name in given if name not in TOOL_FIELDS]:
        raise ConfigurationError(
            f"tool_fields holds {unknown[0]!r:.80}: choose from {', '.join(TOOL_FIELDS)}"
        )
    return frozenset(given)


def search_result(found: Found, *, embeds: bool, fields: Collection[str] = ()) -> SearchResult:
    """Return a tool that was found as Letta's client reads it; for `fields` see `tool_out`."""
    return SearchResult(
        tool=tool_out(found.tool, fields=fields),
        embedded_text=embedded_text(found.tool) if embeds else None,
        fts_rank=found.fts_rank,
        vector_rank=found.vector_rank,
        combined_score=found.score,
    )


def tool_out(tool: Tool, *, fields: Collection[str] = ()) -> ToolOut:
    """Return a tool as Letta's client reads it.

    Args:
        tool: The tool.
        fields: Which of `TOOL_FIELDS` to show. What the tool's metadata doesn't hold, or holds in
            another type, is left out.
    """
    definition = tool.to_openai()["function"]
    shown = (
        tool.metadata if "metadata" in fields else {key: tool.metadata.get(key) for key in _SHOWN_METADATA}
    )
    about = {"namespace": tool.namespace, **shown}
    told = {
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
    more = _more(tool, fields) if fields else {}
    return ToolOut(**sendable({**told, **more}))


def _more(tool: Tool, fields: Collection[str]) -> dict[str, Any]:
    """Return the fields of a tool that are shown only if a server is set up to."""
    held: dict[str, Any] = sendable(dict(tool.metadata))
    if "source_code" in fields and "source_code" not in held:
        held["source_code"] = _source_code(tool)
    return {key: held[key] for key in fields if key in ToolMore.model_fields and _fits(key, held.get(key))}


def _fits(key: str, value: object) -> bool:
    try:
        ToolMore.model_validate({key: value}, strict=True)
    except ValidationError:
        return False
    return value is not None


def _source_code(tool: Tool) -> str | None:
    """Return the code of the tool's own function, where Python can find it."""
    try:
        return inspect.getsource(inspect.unwrap(tool.execute)) if tool.execute is not None else None
    except (OSError, TypeError, ValueError):
        return None


@lru_cache(_KEPT_IDS)
def tool_id(name: str) -> str:
    """Return the id of the tool of this name, in the form of Letta's."""
    return f"tool-{uuid.uuid5(uuid.NAMESPACE_OID, name)}"


def embedded_text(tool: Tool) -> str:
    """Return the text of a tool that a vector index embeds."""
    from tool_search_processor.search.vector.texts import document_text

    return document_text(Document(name=tool.name, description=tool.shown_description))
