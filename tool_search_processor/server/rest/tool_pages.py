"""The list of tools, page by page, as Letta's client asks for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from tool_search_processor.policy.admission import Admission
from tool_search_processor.server.rest.letta import tool_id
from tool_search_processor.server.rest.search_modes import RestView
from tool_search_processor.tools import Tool


class ListRequest(BaseModel):
    """Which tools are to be listed, and which page of them."""

    after: str | None = Field(None, description="Id of the tool that the page begins after.")
    before: str | None = Field(None, description="Id of the tool that the page ends before.")
    limit: Annotated[int, Field(ge=1, le=1000, description="The most tools of a page.")] = 50
    order: Literal["asc", "desc"] = Field("asc", description="In the catalog's order, or from its end.")
    name: str | None = Field(None, description="Only the tool of this name.")
    names: list[str] = Field([], description="Only tools of these names.")
    tool_ids: list[str] = Field([], description="Only tools of these ids.")
    search: str | None = Field(None, description="Only tools whose name holds this, whatever its case.")
    tool_types: list[str] = Field([], description="Only tools of these types.")
    exclude_tool_types: list[str] = Field([], description="No tools of these types.")
    return_only_letta_tools: bool = Field(
        default=False, description="Only tools whose type begins with `letta_`."
    )


async def list_page(view: RestView, asked: ListRequest) -> list[Tool]:
    """Return a page of the tools that may be found.

    Raises:
        HTTPException: When a cursor is the id of no such tool.
    """
    tools = [*filter(_wanted(asked), view.catalog)]
    step = -1 if asked.before is not None and asked.after is None else 1  # counted from the page's end
    if asked.order == "desc":
        tools.reverse()
    with view.admission() as admission:
        if asked.after is not None:
            tools = tools[await _place(tools, asked.after, admission) + 1 :]
        if asked.before is not None:
            tools = tools[: await _place(tools, asked.before, admission)]
        return (await admission.admit(tools[::step], "search", limit=asked.limit))[::step]


async def find_by_id(view: RestView, wanted: str) -> Tool:
    """Return the tool of an id, if it may be found.

    Raises:
        HTTPException: When it may not, or is not there, which look the same.
    """
    tools: list[Tool] = [*view.catalog]
    with view.admission() as admission:
        return tools[await _place(tools, wanted, admission)]


async def _place(tools: Sequence[Tool], wanted: str, admission: Admission) -> int:
    for place, tool in enumerate(tools):
        if tool_id(tool.name) == wanted and await admission.admits(tool, "search"):
            return place
    raise HTTPException(404, f"there is no tool with the id {wanted!r:.80}")


def _wanted(asked: ListRequest) -> Callable[[Tool], bool]:
    names, ids = frozenset(asked.names), frozenset(asked.tool_ids)
    types, others = frozenset(asked.tool_types), frozenset(asked.exclude_tool_types)

    def is_wanted(tool: Tool) -> bool:
        return (
            (asked.name is None or tool.name == asked.name)
            and (not names or tool.name in names)
            and (not ids or tool_id(tool.name) in ids)
            and (not asked.search or asked.search.casefold() in tool.name.casefold())
            and (not types or tool.tool_type in types)
            and tool.tool_type not in others
            and (not asked.return_only_letta_tools or tool.tool_type.startswith("letta_"))
        )

    return is_wanted
