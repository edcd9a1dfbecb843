"""Answers to a call of the search tool."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tool_search_processor import meta_tools, telemetry
from tool_search_processor.catalog.finding import interleave, narrow
from tool_search_processor.catalog.queries import Ranking, listed_fits, rank_query, said_of
from tool_search_processor.catalog.toolsets import has_any_label
from tool_search_processor.meta_tools import SearchCall
from tool_search_processor.policy.admission import Admission
from tool_search_processor.search.protocol import Hit
from tool_search_processor.server.mcp.meta_tool_definitions import (
    BAD_CURSOR,
    listed_text,
    more_text,
    search_answer,
    search_result,
)
from tool_search_processor.server.mcp.server_options import MAX_LIMIT
from tool_search_processor.server.mcp.tool_view import ToolView
from tool_search_processor.tools import Tool

_Found = tuple[Hit | None, Tool]
_DEEPEST = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchAnswer:
    """A search's answer, and the tools it tells of."""

    content: Mapping[str, Any]
    tools: Sequence[Tool]
    top_score: float | None = None
    """Of the page; None where nothing was asked for, or the cursor was wrong."""


async def search(view: ToolView, arguments: Mapping[str, Any]) -> SearchAnswer:
    """Answer a call of the search tool: ranked by the queries, or everything where nothing is asked for."""
    given = meta_tools.read_search(arguments, default_limit=view.options.top_k, max_limit=MAX_LIMIT)
    start = _start(arguments.get("cursor"), given)
    if start is None:
        content = search_answer((), total=None, next_cursor=None, message=BAD_CURSOR)
        return SearchAnswer(content=content, tools=())
    asked = {telemetry.QUERIES: len(given.queries), telemetry.QUERY_LENGTH: sum(map(len, given.queries))}
    with view.admission() as admission, telemetry.span("tool_search.search", asked) as span:
        call, left_out = await narrow(view.catalog, given, admission=admission, without=view.unsearched)
        found, rankings = await _find(view, call, admission, most=start + call.limit + 1)
        page = found[start : start + call.limit]
        fits = [] if found else await _listed_fits(view, call, admission)
        best = max((hit.score for hit, _ in page if hit is not None), default=0.0)
        span.set({telemetry.HITS: len(page), telemetry.TOP_SCORE: best})
    next_cursor = _cursor(start + call.limit, given) if len(found) > start + call.limit else None
    notes, problem = said_of(rankings)
    told = f"{left_out}{notes}{problem or _message(view, call, found=len(page), fits=fits)}"
    searched = replace(call, queries=tuple(ranking.query for ranking in rankings))
    results = [search_result(tool, hit, result_format=view.options.result_format) for hit, tool in page]
    content = search_answer(
        results,
        total=await _total(view, searched, found=found, is_all=next_cursor is None),
        next_cursor=next_cursor,
        message=more_text(told, next_cursor=next_cursor),
    )
    tools = [tool for _, tool in page]
    return SearchAnswer(content=content, tools=tools, top_score=best if call.queries else None)


async def _find(
    view: ToolView, call: SearchCall, admission: Admission, *, most: int
) -> tuple[Sequence[_Found], Sequence[Ranking]]:
    """Return the best tools, and what each query found."""
    if not call.queries:
        return [(None, tool) for tool in await _all(view, call, admission, most=most)], ()
    rankings = [
        await rank_query(
            view.catalog, query, admission=admission, limit=most, tags=call.tags, without=view.unsearched
        )
        for query in call.queries
    ]
    return interleave([ranking.ranked for ranking in rankings], limit=most), rankings


async def _listed_fits(view: ToolView, call: SearchCall, admission: Admission) -> list[str]:
    listed = {tool.name: tool for tool in await view.list_tools(admission)} if call.queries else {}
    return await listed_fits(view.catalog, call.queries, listed=listed)


async def _all(view: ToolView, call: SearchCall, admission: Admission, *, most: int | None) -> list[Tool]:
    candidates = (
        tool for tool in view.catalog if tool.name not in view.unsearched and has_any_label(tool, call.tags)
    )
    return await admission.admit(candidates, "search", limit=most)


async def _total(view: ToolView, call: SearchCall, *, found: Sequence[_Found], is_all: bool) -> int | None:
    """Return how many tools match; None where a count would tell what is hidden, or costs a search more."""
    if not view.is_open:
        return None
    if is_all:
        return len(found)
    if not call.queries:
        return len(await _all(view, call, view.admission(), most=None))
    if len(call.queries) > 1:
        return None
    return await view.catalog.count(call.queries[0], tags=call.tags, without=view.unsearched)


def _message(view: ToolView, call: SearchCall, *, found: int, fits: Sequence[str]) -> str:
    if not call.queries:
        return listed_text(view.options.names, found=found)
    if not found:
        return meta_tools.nothing_found_text(
            call.queries, tags=call.tags, listed=fits, has_outage=view.catalog.has_outage()
        )
    return meta_tools.found_text(view.options.names, found=found, newly_loaded=(), loaded=0)


def _cursor(start: int, call: SearchCall) -> str:
    return base64.urlsafe_b64encode(f"{start}:{_asked(call)}".encode()).decode()


def _start(cursor: object, call: SearchCall) -> int | None:
    """Return where a page begins; None for a cursor that no answer to this search gave."""
    if cursor is None or cursor == "":
        return 0
    try:
        start, _, asked = base64.urlsafe_b64decode(str(cursor)[:200]).decode().partition(":")
        place = int(start)
    except (ValueError, binascii.Error):
        return None
    return place if 0 <= place <= _DEEPEST and asked == _asked(call) else None


def _asked(call: SearchCall) -> str:
    text = "\x1f".join((*call.queries, "\x1e", *sorted(call.tags)))
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:12]
