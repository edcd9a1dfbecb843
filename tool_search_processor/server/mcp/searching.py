"""Answers to a call of the search tool."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tool_search_processor import telemetry
from tool_search_processor.catalog.policy_view import Findings
from tool_search_processor.meta_tools import SearchCall, found_text, read_search
from tool_search_processor.policy.admission import Admission
from tool_search_processor.search.protocol import Hit
from tool_search_processor.server.mcp.meta_tool_definitions import (
    BAD_CURSOR,
    listed_text,
    search_answer,
    search_result,
)
from tool_search_processor.server.mcp.paging import cursor_of, place_of
from tool_search_processor.server.mcp.server_options import MAX_LIMIT
from tool_search_processor.server.mcp.tool_view import ToolView
from tool_search_processor.tools import Tool

_DEEPEST = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchAnswer:
    """A search's answer, and the tools in it."""

    content: Mapping[str, Any]
    tools: Sequence[Tool] = ()
    top_score: float | None = None
    """The page's best score; None if there was no query or the cursor was wrong."""


@dataclass(frozen=True)
class FrontSearch:
    """Answers one request's calls of the search tool."""

    view: ToolView

    async def answer(self, arguments: Mapping[str, Any]) -> SearchAnswer:
        """Answer a call: ranked by the queries, or a list of everything if there is no query."""
        call = read_search(arguments, default_limit=self.view.options.top_k, max_limit=MAX_LIMIT)
        start = _start(arguments.get("cursor"), call)
        if start is None:
            content = search_answer((), total=None, next_cursor=None, message=BAD_CURSOR)
            return SearchAnswer(content=content)
        asked = telemetry.search_attributes(call.queries)
        with self.view.admission() as admission, telemetry.span("tool_search.search", asked) as span:
            answer = await (self._found if call.queries else self._listing)(call, admission, start=start)
            span.set({telemetry.HITS: len(answer.tools), telemetry.TOP_SCORE: answer.top_score or 0.0})
        return answer

    async def _found(self, call: SearchCall, admission: Admission, *, start: int) -> SearchAnswer:
        view, end = self.view, start + call.limit
        # One result more than is shown tells whether there is a next page.
        found = await view.search(replace(call, limit=end + 1), admission, limit=end + 1)
        await view.note(call.queries, [tool.name for _, tool in found.ranked])
        page, has_more = found.ranked[start:end], len(found.ranked) > end
        message = found.problem or await self._message(found, admission, shown=len(page))
        # The exact number for several queries would cost one more search of each.
        total = None if has_more and len(call.queries) > 1 else await view.count(found)
        return self._answer(
            page,
            total=total,
            next_cursor=cursor_of(end, within=_asked(call)) if has_more else None,
            message=f"{found.preface}{message}",
            top_score=max((hit.score for hit, _ in page), default=0.0),
        )

    async def _message(self, found: Findings, admission: Admission, *, shown: int) -> str:
        if found.ranked:
            return found_text(self.view.names, found=shown, newly_loaded=(), loaded=0)
        listed = {tool.name: tool for tool in await self.view.listed(admission)}
        return await self.view.nothing_found_text(found.call, admission, listed=listed)

    async def _listing(self, call: SearchCall, admission: Admission, *, start: int) -> SearchAnswer:
        view, end = self.view, start + call.limit
        narrowed, left_out = await view.narrow(call, admission)
        # All are listed where their number may be known.
        limit = None if view.is_open else end + 1
        tools = await view.list_findable(admission, tags=narrowed.tags, limit=limit)
        page = tools[start:end]
        return self._answer(
            [(None, tool) for tool in page],
            total=len(tools) if view.is_open else None,
            next_cursor=cursor_of(end, within=_asked(call)) if len(tools) > end else None,
            message=f"{left_out}{listed_text(view.names, found=len(page))}",
        )

    def _answer(
        self,
        page: Sequence[tuple[Hit | None, Tool]],
        *,
        total: int | None,
        next_cursor: str | None,
        message: str,
        top_score: float | None = None,
    ) -> SearchAnswer:
        result_format = self.view.options.result_format
        content = search_answer(
            [search_result(tool, hit, result_format=result_format) for hit, tool in page],
            total=total,
            next_cursor=next_cursor,
            message=message,
        )
        return SearchAnswer(content=content, tools=[tool for _, tool in page], top_score=top_score)


def _start(cursor: object, call: SearchCall) -> int | None:
    """Return where a page begins; None if the cursor is not from an answer to this search."""
    if cursor is None or cursor == "":
        return 0
    start = place_of(str(cursor), within=_asked(call))
    return start if start is not None and start <= _DEEPEST else None


def _asked(call: SearchCall) -> str:
    text = "\x1f".join((*call.queries, "\x1e", *sorted(call.tags)))
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:12]
