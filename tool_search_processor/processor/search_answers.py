"""Answers to calls of the search tool."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tool_search_processor import telemetry
from tool_search_processor.catalog.finding import tools_of
from tool_search_processor.catalog.policy_view import Findings
from tool_search_processor.meta_tools import answers, reading, texts
from tool_search_processor.policy.admission import Admission
from tool_search_processor.processor.loading import LoadOutcome
from tool_search_processor.processor.step_view import StepView
from tool_search_processor.tools import ToolContext


@dataclass(frozen=True)
class SearchAnswers:
    """Answers calls of the search tool with what one step can see."""

    view: StepView

    async def answer(self, arguments: Mapping[str, Any], _: ToolContext) -> dict[str, Any]:
        """Answer a call of the search tool."""
        view = self.view
        call = reading.read_search(arguments, default_limit=view.options.top_k)
        if not call.queries:
            total = 0 if view.is_open else None
            return answers.search_answer((), total=total, message=texts.EMPTY_QUERY)
        asked = telemetry.search_attributes(call.queries)
        with view.admission() as admission, telemetry.span("tool_search.search", asked) as span:
            found = await view.search(call, admission, limit=reading.MAX_RESULTS)
            span.set({telemetry.HITS: len(found.ranked), telemetry.TOP_SCORE: found.top_score})
            tried, outcome = await self._auto_load(found, admission)
            message = found.problem or await self._message(found, outcome, admission)
            evicted = await view.usable(outcome.evicted, admission)
        await view.note(call.queries, [tool.name for tool in tools_of(found.ranked)])
        seen, detail = view.run.seen, view.options.result_detail
        needs_no_load = view.names.mode == "call"  # False would send a model to a tool that is not there
        return answers.search_answer(
            [
                answers.search_result(
                    tool, score=hit.score, loaded=needs_no_load or tool.name in seen, detail=detail
                )
                for hit, tool in found.ranked
            ],
            total=await view.count(found),
            message=f"{found.preface}{message}",
            receipt=view.loads.receipt(view.step, outcome, tried, evicted=evicted),
        )

    async def _auto_load(self, found: Findings, admission: Admission) -> tuple[list[str], LoadOutcome]:
        """In mode "auto_load", load the results; return the names that were tried, and the outcome."""
        view = self.view
        if view.names.mode != "auto_load":
            return [], LoadOutcome()
        loadable = [tool.name for tool in await admission.admit(tools_of(found.ranked), "load")]
        return loadable, await view.loads.add(view.step, loadable)

    async def _message(self, found: Findings, outcome: LoadOutcome, admission: Admission) -> str:
        view, call = self.view, found.call
        names = [tool.name for tool in tools_of(found.ranked)]
        asked = ("search", *sorted(query.casefold() for query in call.queries)), call.limit, call.tags
        if (verdict := view.run.guard.judge(asked, names)) is not None:
            callable_now = await self._callable(admission)
            told = texts.guard_text(
                verdict, found=names, loaded=callable_now, names=view.names, tags=call.tags
            )
            return f"{texts.OUTAGE} {told}" if not names and await view.has_outage(admission) else told
        if not names:
            listed = {tool.name: tool for tool in view.pinned if tool.name in view.listed}
            return await view.nothing_found_text(call, admission, listed=listed)
        loaded = await view.usable([name for name in names if name in view.run.seen], admission)
        return texts.found_text(
            view.names,
            found=len(names),
            newly_loaded=outcome.loaded,
            loaded=len(loaded),
            before=view.loads.had_before(view.step, names),
            full=outcome.refused,
            limit=view.options.max_loaded or 0,
            unavailable=bool(outcome.unavailable),
        )

    async def _callable(self, admission: Admission) -> list[str]:
        """Return the names of the loaded tools that the model can call."""
        # Mode "call" lists no loaded tool, not even a tool that this thread has loaded in another mode.
        seen = () if self.view.names.mode == "call" else tuple(self.view.run.seen)
        loaded = await self.view.catalog.fetch_all(seen)
        return [tool.name for tool in await admission.admit(loaded, "active")]
