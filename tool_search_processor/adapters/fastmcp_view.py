"""What one caller of a FastMCP server can find and call, and the answers of the meta-tools."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from fastmcp.server.context import Context
from fastmcp.server.dependencies import get_access_token, get_http_headers
from fastmcp.tools.base import Tool, ToolResult
from mcp_types import ToolAnnotations
from starlette.datastructures import Headers

from tool_search_processor import meta_tools
from tool_search_processor.catalog.policy_view import Findings, PolicyView
from tool_search_processor.meta_tools import MetaTool, MetaToolNames
from tool_search_processor.policy.admission import Admission
from tool_search_processor.processor.processor_options import Options
from tool_search_processor.session.tool_results import encode_result
from tool_search_processor.tools import Tool as CatalogTool
from tool_search_processor.tools.tool_names import make_tool_name

Handler = Callable[[Mapping[str, Any]], Awaitable[ToolResult]]

ANSWER_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "results": {"type": "array", "items": {"type": "object"}, "description": "The tools, best first."},
        "total": {"type": ["integer", "null"], "description": "How many match; null if unknown."},
        "message": {"type": "string"},
    },
    "required": ["results", "total", "message"],
}


@dataclass(frozen=True, kw_only=True)
class CallerView(PolicyView):
    """What one caller can find and call."""

    options: Options
    originals: Mapping[str, Tool]

    @property
    def names(self) -> MetaToolNames:
        """What the meta-tools are called."""
        return self.options.names

    @cached_property
    def unsearched(self) -> frozenset[str]:
        """The names that searches leave out, since they are listed anyway."""
        return frozenset(map(make_tool_name, self.options.pinned))

    def result(self, tool: CatalogTool, *, score: float) -> dict[str, Any]:
        """Return one result of a search, under the server's own name, by which clients can call it too."""
        found = meta_tools.search_result(tool, score=score, loaded=True, detail=self.options.result_detail)
        return {**found, "name": tool.original_name}

    async def message(self, found: Findings, admission: Admission) -> str:
        """Return the sentence that goes with the results, or that says why there are none."""
        if found.ranked:
            return meta_tools.found_text(self.names, found=len(found.ranked), newly_loaded=(), loaded=0)
        pinned = [tool for name in self.unsearched if (tool := self.catalog.get(name)) is not None]
        listed = {tool.name: tool for tool in await admission.admit(pinned, "active")}
        return await self.nothing_found_text(found.call, admission, listed=listed)


class ListedMetaTool(Tool):
    """A meta-tool as the server lists it: a model's mistakes are answered in words, not by pydantic."""

    _handler: Handler

    def __init__(
        self, made: MetaTool, handler: Handler, *, title: str, output_schema: dict[str, Any] | None = None
    ) -> None:
        super().__init__(
            name=made.name,
            title=title,
            description=made.description,
            parameters=made.to_mcp()["inputSchema"],
            annotations=ToolAnnotations(**made.annotations),
            output_schema=output_schema,
        )
        self._handler = handler

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        """Answer a call."""
        return await self._handler(arguments)


def listed_meta_tools(
    options: Options, *, takes_pattern: bool, search: Handler, call: Handler
) -> Mapping[str, ListedMetaTool]:
    """Return the meta-tools by name.

    They say nothing of what can be found, so they are the same for every caller.

    Args:
        options: Names, and the number of results.
        takes_pattern: Whether queries are patterns.
        search: Answers calls of the search tool.
        call: Answers calls of the call tool.
    """
    searching = meta_tools.search_tool(
        options.names, inventory="", takes_pattern=takes_pattern, default_limit=options.top_k
    ).replace(annotations={"readOnlyHint": True, "openWorldHint": False})
    calling = meta_tools.call_tool(options.names).replace(
        annotations={"readOnlyHint": False, "destructiveHint": True, "openWorldHint": True}
    )
    return {
        searching.name: ListedMetaTool(searching, search, title="Search tools", output_schema=ANSWER_SCHEMA),
        calling.name: ListedMetaTool(calling, call, title="Call a tool"),
    }


def request_context(ctx: Context) -> Mapping[str, Any]:
    """Return what the filter knows of a request by default; see `ToolSearchTransform`."""
    return {
        "user": get_access_token(),
        "headers": Headers(get_http_headers(include_all=True)),
        "session_id": session_id(ctx),
        "client_id": ctx.client_id,
    }


def session_id(ctx: Context) -> str | None:
    """Return the id of the session, or None if there is none."""
    try:
        return str(ctx.session_id)
    except RuntimeError:
        return None


def answer(content: dict[str, Any]) -> ToolResult:
    """Return a search's answer, as text and as structured content."""
    return ToolResult(content=encode_result(content), structured_content=content)


def error(text: str) -> ToolResult:
    """Return a failure as a result: models read results, but not protocol errors."""
    return ToolResult(content=text, is_error=True)


def explained(tool: CatalogTool, problem: str) -> ToolResult:
    """Return why arguments don't fit, with the parameters: a result may not have shown them."""
    return error(encode_result(meta_tools.invalid_arguments_answer(tool, problem=problem, loaded=False)))
