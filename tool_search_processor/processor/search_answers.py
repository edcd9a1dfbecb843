"""Answers to calls of the search tool."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tool_search_processor import meta_tools, telemetry
from tool_search_processor.catalog.finding import Ranked, fetch_all, interleave, narrow, rank, tools_of
from tool_search_processor.catalog.queries import Ranking, listed_fits, rank_query, said_of
from tool_search_processor.meta_tools import SearchCall
from tool_search_processor.policy.admission import Admission
from tool_search_processor.processor.frames import StepFrame
from tool_search_processor.processor.loading import LoadOutcome
from tool_search_processor.tools import ToolContext

logger = logging.getLogger(__name__)


async def answer_search(frame: StepFrame, arguments: Mapping[str, Any], _: ToolContext) -> dict[str, Any]:
    """Answer a call of the search tool."""
    call = meta_tools.read_search(arguments, default_limit=frame.options.top_k)
    if not call.queries:
        return meta_tools.search_answer((), total=_total(frame, 0), message=meta_tools.EMPTY_QUERY)
    asked = {telemetry.QUERIES: len(call.queries), telemetry.QUERY_LENGTH: sum(map(len, call.queries))}
    with frame.admission() as admission, telemetry.span("tool_search.search", asked) as span:
        call, left_out = await narrow(frame.view, call, admission=admission, without=frame.unsearched)
        asked_for = await _rank(frame, call, admission=admission)
        rankings = [ranking.ranked for ranking in asked_for]
        notes, problem = said_of(asked_for)
        searched = replace(call, queries=tuple(ranking.query for ranking in asked_for))
        ranked = interleave(rankings, limit=meta_tools.MAX_RESULTS)
        best = max((hit.score for hit, _ in ranked), default=0.0)
        span.set({telemetry.HITS: len(ranked), telemetry.TOP_SCORE: best})
        tried, outcome = await _auto_load(frame, ranked, admission=admission)
        message = problem or await _message(frame, call, ranked=ranked, outcome=outcome, admission=admission)
        evicted = await frame.usable(outcome.evicted, admission=admission)
    seen = frame.run.seen
    results = [
        meta_tools.search_result(
            tool,
            score=hit.score,
            loaded=tool.name in seen,
            detail=frame.options.result_detail,
        )
        for hit, tool in ranked
    ]
    return meta_tools.search_answer(
        results,
        total=_total(frame, await _count(frame, searched, rankings=rankings)),
        message=f"{left_out}{notes}{message}",
        receipt=frame.loads.receipt(frame.step, outcome, tried, evicted=evicted),
    )


async def best_names(frame: StepFrame, query: str, *, limit: int, admission: Admission) -> list[str]:
    """Return the names of the best tools for a query that phase `load` admits."""
    ranked: list[Ranked] = []
    try:
        ranked = await rank(
            frame.view.by_words(),
            query,
            admission=admission,
            limit=limit,
            phase="load",
            min_score=frame.options.min_score,
            without=frame.unsearched,
        )
    except Exception:  # an index is anybody's code: a guess that fails must not end the run
        logger.warning("the search for tools to preload failed", exc_info=True)
    return [tool.name for tool in tools_of(ranked)]


async def _rank(frame: StepFrame, call: SearchCall, *, admission: Admission) -> list[Ranking]:
    """Rank each query."""
    return [
        await rank_query(
            frame.view,
            query,
            admission=admission,
            limit=call.limit,
            min_score=frame.options.min_score,
            tags=call.tags,
            without=frame.unsearched,
        )
        for query in call.queries
    ]


async def _auto_load(
    frame: StepFrame, ranked: Sequence[Ranked], *, admission: Admission
) -> tuple[list[str], LoadOutcome]:
    """Load what was found, where a search does so; returns the names tried, and what came of it."""
    if frame.names.mode != "auto_load":
        return [], LoadOutcome()
    loadable = [tool.name for tool in await admission.admit(tools_of(ranked), "load")]
    return loadable, await frame.loads.add(frame.step, loadable)


async def _count(frame: StepFrame, call: SearchCall, *, rankings: Sequence[Sequence[Ranked]]) -> int:
    """Return how many tools match any of the queries."""
    if frame.options.filter is not None:
        return 0
    if all(len(ranked) < call.limit for ranked in rankings):
        return len({tool.name for ranked in rankings for tool in tools_of(ranked)})
    if len(call.queries) == 1:
        return await frame.view.count(
            call.queries[0],
            min_score=frame.options.min_score,
            tags=call.tags,
            without=frame.unsearched,
        )
    whole = SearchCall(queries=call.queries, limit=len(frame.view) or 1, tags=call.tags)
    every = await _rank(frame, whole, admission=frame.admission())
    return len({tool.name for ranking in every for tool in tools_of(ranking.ranked)})


def _total(frame: StepFrame, count: int) -> int | None:
    # With a filter, a count would tell how much is hidden.
    return count if frame.options.filter is None else None


async def _message(
    frame: StepFrame,
    call: SearchCall,
    *,
    ranked: Sequence[Ranked],
    outcome: LoadOutcome,
    admission: Admission,
) -> str:
    run = frame.run
    found = [tool.name for tool in tools_of(ranked)]
    asked = ("search", *sorted(query.casefold() for query in call.queries)), call.limit, call.tags
    verdict = run.guard.judge(asked, found)
    if verdict is not None:
        # in mode "call" nothing is listed for being loaded, as in another mode of this thread it may be
        seen = () if frame.names.mode == "call" else tuple(run.seen)
        callable_now = await admission.admit(await fetch_all(frame.view, seen), "active")
        loaded = [tool.name for tool in callable_now]
        told = meta_tools.guard_text(verdict, found=found, loaded=loaded, names=frame.names, tags=call.tags)
        return f"{meta_tools.OUTAGE} {told}" if not found and frame.view.has_outage() else told
    if not found:
        listed = {tool.name: tool for tool in frame.pinned if tool.name in frame.listed}
        fits = await listed_fits(frame.view, call.queries, listed=listed, min_score=frame.options.min_score)
        return meta_tools.nothing_found_text(
            call.queries, tags=call.tags, listed=fits, has_outage=frame.view.has_outage()
        )
    return meta_tools.found_text(
        frame.names,
        found=len(found),
        newly_loaded=outcome.loaded,
        loaded=len(await frame.usable([name for name in found if name in run.seen], admission=admission)),
        before=frame.loads.had_before(frame.step, found),
        full=outcome.refused,
        limit=frame.options.max_loaded or 0,
        unavailable=bool(outcome.unavailable),
    )
