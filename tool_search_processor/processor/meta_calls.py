"""Answers to calls of the meta-tools, and to calls of tools that a step does not list."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from tool_search_processor import meta_tools, telemetry
from tool_search_processor.catalog.views import CatalogView
from tool_search_processor.errors import InvalidPatternError, ToolArgumentsError, ToolUnavailableError
from tool_search_processor.filters import Admission
from tool_search_processor.guarded import GuardedTool, guard
from tool_search_processor.meta_tools import MetaTool, MetaToolNames, SearchCall
from tool_search_processor.processor.discovery import (
    Ranked,
    fetch_all,
    find_by_name,
    find_named,
    interleave,
    rank,
    suggest,
    tools_of,
)
from tool_search_processor.processor.loading import LoadedTools, LoadOutcome
from tool_search_processor.processor.options import Options
from tool_search_processor.steps import InputStep
from tool_search_processor.tools import Tool, ToolContext

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class StepCalls:
    """Answers the calls that a model makes after one step, with what that step could see."""

    step: InputStep
    catalog: CatalogView
    view: CatalogView
    """What can be found: the catalog, and the step's own tools where those are searched."""
    own: Sequence[Tool]
    """The step's own tools that it lists."""
    pinned: Sequence[Tool]
    """The catalog's tools that are listed at every step where phase `active` admits them."""
    options: Options
    loads: LoadedTools

    @property
    def names(self) -> MetaToolNames:
        """What the meta-tools are called."""
        return self.options.names

    @cached_property
    def unsearched(self) -> frozenset[str]:
        """Names that searches leave out: what is listed anyway."""
        return frozenset((*self.names.present, *(tool.name for tool in (*self.own, *self.pinned))))

    @cached_property
    def listed(self) -> dict[str, Tool]:
        """The tools that this step lists whatever is loaded; pinned ones once they are admitted."""
        return {tool.name: tool for tool in self.own}

    @property
    def absent(self) -> frozenset[str]:
        """Pinned tools that this step does not list: phase `active` denies them, and loading won't help."""
        return frozenset(tool.name for tool in self.pinned if tool.name not in self.listed)

    async def list_pinned(self, admission: Admission) -> list[GuardedTool]:
        """Return the pinned tools to list, less those that the step's own tools hide."""
        visible = (tool for tool in self.pinned if tool.name not in self.listed)
        pinned = [self.guard(tool) for tool in await admission.admit(visible, "active")]
        self.listed.update((tool.name, tool) for tool in pinned)
        return pinned

    async def best(self, query: str, limit: int, admission: Admission) -> list[str]:
        """Return the names of the best tools for a query that phase `load` admits."""
        ranked: list[Ranked] = []
        try:
            ranked = await rank(
                self.view,
                query,
                admission=admission,
                limit=limit,
                phase="load",
                min_score=self.options.min_score,
                without=self.unsearched,
            )
        except InvalidPatternError:
            logger.debug("a user message is no pattern: nothing is preloaded")
        except Exception:  # an index is anybody's code: a guess that fails must not end the run
            logger.warning("the search for tools to preload failed", exc_info=True)
        return [tool.name for tool in tools_of(ranked)]

    def admission(self) -> Admission:
        """Return a new request to the filter."""
        return Admission(
            self.options.filter,
            context=self.step.context,
            thread_id=self.step.thread_id,
            timeout_seconds=self.options.filter_timeout_seconds,
        )

    def tools(self, inventory: str) -> list[MetaTool]:
        """Return the meta-tools, bound to this step."""
        names = self.names
        found: dict[str, MetaTool] = {
            names.search: meta_tools.search_tool(
                names,
                inventory=inventory,
                takes_pattern=self.options.takes_pattern,
                default_limit=self.options.top_k,
                handler=self.search,
            )
        }
        if names.load in names.present:
            found[names.load] = meta_tools.load_tool(names, handler=self.load)
        if names.call in names.present:
            found[names.call] = meta_tools.call_tool(names, handler=self.call, proxy=self.proxied)
        if names.allow_unload:
            found[names.unload] = meta_tools.unload_tool(names, handler=self.unload)
        return [found[name] for name in names.present]

    # -- search

    async def search(self, arguments: Mapping[str, Any], _: ToolContext) -> dict[str, Any]:
        """Answer a call of the search tool."""
        call = meta_tools.read_search(arguments, default_limit=self.options.top_k)
        if not call.queries:
            return meta_tools.search_answer((), total=self._total(0), message=meta_tools.EMPTY_QUERY)
        asked = {telemetry.QUERIES: len(call.queries), telemetry.QUERY_LENGTH: sum(map(len, call.queries))}
        with self.admission() as admission, telemetry.span("tool_search.search", asked) as span:
            rankings, problem = await self._rank(call, admission)
            ranked = interleave(rankings, limit=meta_tools.MAX_RESULTS)
            best = max((hit.score for hit, _ in ranked), default=0.0)
            span.set({telemetry.HITS: len(ranked), telemetry.TOP_SCORE: best})
            tried, outcome = await self._auto_load(ranked, admission)
            message = problem or await self._search_text(call, ranked, outcome, admission=admission)
        seen = self.loads.run(self.step).seen
        results = [
            meta_tools.search_result(
                tool,
                score=hit.score,
                loaded=tool.name in seen,
                detail=self.options.result_detail,
            )
            for hit, tool in ranked
        ]
        return meta_tools.search_answer(
            results,
            total=self._total(await self._count(call, rankings)),
            message=message,
            receipt=self.loads.receipt(outcome, tried, evicted=await self._usable(outcome.evicted)),
        )

    async def _rank(self, call: SearchCall, admission: Admission) -> tuple[list[list[Ranked]], str | None]:
        """Rank each query; a pattern that does not compile finds nothing and leaves a sentence."""
        rankings: list[list[Ranked]] = []
        problem: str | None = None
        for query in call.queries:
            try:
                ranked = await rank(
                    self.view,
                    query,
                    admission=admission,
                    limit=call.limit,
                    min_score=self.options.min_score,
                    tags=call.tags,
                    without=self.unsearched,
                )
            except InvalidPatternError as exc:
                ranked, problem = [], problem or str(exc)
            rankings.append(ranked)
        return rankings, problem

    async def _auto_load(
        self, ranked: Sequence[Ranked], admission: Admission
    ) -> tuple[list[str], LoadOutcome]:
        """Load what was found, where a search does so; returns the names tried, and what came of it."""
        if self.names.mode != "auto_load":
            return [], LoadOutcome()
        loadable = [tool.name for tool in await admission.admit(tools_of(ranked), "load")]
        return loadable, await self.loads.add(self.step, loadable)

    async def _count(self, call: SearchCall, rankings: Sequence[Sequence[Ranked]]) -> int:
        """Return how many tools match any of the queries."""
        if self.options.filter is not None:
            return 0
        if all(len(ranked) < call.limit for ranked in rankings):
            return len({tool.name for ranked in rankings for tool in tools_of(ranked)})
        if len(call.queries) == 1:
            return await self.view.count(
                call.queries[0],
                min_score=self.options.min_score,
                tags=call.tags,
                without=self.unsearched,
            )
        whole = SearchCall(queries=call.queries, limit=len(self.view) or 1, tags=call.tags)
        every, _ = await self._rank(whole, self.admission())
        return len({tool.name for ranked in every for tool in tools_of(ranked)})

    def _total(self, count: int) -> int | None:
        # With a filter, a count would tell how much is hidden.
        return count if self.options.filter is None else None

    async def _search_text(
        self, call: SearchCall, ranked: Sequence[Ranked], outcome: LoadOutcome, *, admission: Admission
    ) -> str:
        run = self.loads.run(self.step)
        found = [tool.name for tool in tools_of(ranked)]
        asked = tuple(sorted(query.casefold() for query in call.queries)), call.limit, call.tags
        verdict = run.guard.judge(asked, found)
        if verdict is not None:
            loaded = await admission.admit(await fetch_all(self.view, tuple(run.seen)), "active")
            return meta_tools.guard_text(verdict, loaded=[tool.name for tool in loaded], names=self.names)
        if not found:
            return meta_tools.nothing_found_text(call.queries, tags=call.tags)
        return meta_tools.found_text(
            self.names,
            found=len(found),
            newly_loaded=outcome.loaded,
            loaded=sum(name in run.seen for name in found),
            before=self.loads.had_before(self.step, found),
            unavailable=bool(outcome.unavailable),
        )

    # -- load and unload

    async def load(self, arguments: Mapping[str, Any], _: ToolContext) -> dict[str, Any]:
        """Answer a call of the load tool."""
        names = meta_tools.read_names(arguments)
        if not names:
            return meta_tools.load_answer(message=meta_tools.NO_NAMES)
        most = meta_tools.MAX_NAMES
        asked = {telemetry.REQUESTED: len(names)}
        with self.admission() as admission, telemetry.span("tool_search.load", asked) as span:
            answer = await self.load_names(names[:most], admission)
            span.set({telemetry.LOADED: len(answer["loaded"])})
        left = meta_tools.left_text(len(names) - most, limit=most)
        return {**answer, "message": f"{answer['message']}{left}"}

    async def load_names(self, names: Sequence[str], admission: Admission) -> dict[str, Any]:
        """Load tools by the names that somebody gave, and tell what came of it."""
        found = await find_named(
            self.view,
            names,
            admission=admission,
            listed={*self.listed, *self.names.present},
            without=self.absent,
        )
        outcome = await self.loads.add(self.step, found.wanted)
        if outcome.loaded:
            self.loads.run(self.step).guard.used()
        already = (*found.listed, *outcome.already_loaded)
        evicted = await self._usable(outcome.evicted)
        return meta_tools.load_answer(
            loaded=outcome.loaded,
            already_loaded=already,
            not_found=[
                {"name": meta_tools.clip(name), "suggestions": alike} for name, alike in found.missing.items()
            ],
            message=meta_tools.loaded_text(
                loaded=outcome.loaded,
                already=already,
                missing=tuple(found.missing),
                full=outcome.refused,
                limit=self.options.max_loaded or 0,
                evicted=evicted,
                unavailable=outcome.unavailable,
            ),
            receipt=self.loads.receipt(outcome, found.wanted, evicted=evicted),
        )

    async def unload(self, arguments: Mapping[str, Any], _: ToolContext) -> dict[str, Any]:
        """Answer a call of the unload tool."""
        names = meta_tools.read_names(arguments)
        if not names:
            return meta_tools.unload_answer(message=meta_tools.NO_NAMES)
        most = meta_tools.MAX_NAMES
        given = names[:most]
        unloaded = await self.loads.remove(self.step, await self._usable(given))
        missing = [name for name in given if name not in unloaded]
        text = meta_tools.unloaded_text(unloaded=unloaded, missing=missing)
        return meta_tools.unload_answer(
            unloaded=unloaded,
            not_loaded=[meta_tools.clip(name) for name in missing],
            message=f"{text}{meta_tools.left_text(len(names) - most, limit=most)}",
            receipt=meta_tools.receipt(unloaded, kind="unloaded")
            if unloaded and self.loads.writes_receipts
            else None,
        )

    async def _usable(self, names: Sequence[str]) -> Sequence[str]:
        """Return those of the names that may be told of: a denied tool is as one that isn't there."""
        if self.options.filter is None:
            return names
        with self.admission() as admission:
            tools = await admission.admit(await fetch_all(self.view, names), "active")
        return [tool.name for tool in tools]

    # -- calls

    async def call(self, arguments: Mapping[str, Any], context: ToolContext) -> Any:
        """Answer a call of the call tool."""
        name, given = meta_tools.read_call(arguments)
        if self._is_meta_tool(name):
            return f"Error: {meta_tools.meta_tool_refused_text(name, names=self.names)}"
        tool = await self._callable(name)
        if tool is None:
            return f"Error: {await self.missing_text(name)}"
        return await tool.call(given, context)

    async def proxied(
        self, arguments: Mapping[str, Any], _: ToolContext
    ) -> tuple[Tool, Mapping[str, Any]] | None:
        """Return the tool and the arguments that a call of the call tool really runs."""
        name, given = meta_tools.read_call(arguments)
        tool = None if self._is_meta_tool(name) else await self._callable(name)
        return None if tool is None else (tool, given)

    async def unlisted(self, name: str) -> GuardedTool | None:
        """Return a tool that the step does not list, if phases `load` and `active` admit it."""
        tool = await self.view.fetch(name)
        if tool is None:
            return None
        with self.admission() as admission:
            return self._unlisted(tool) if await admission.admits(tool, "load", "active") else None

    def guard(self, tool: Tool) -> GuardedTool:
        """Return a listed tool's copy, whose every call asks phase `active` again."""
        return guard(tool, self._run)

    async def missing_text(self, name: str) -> str:
        """Return the sentence for a tool that is unknown or denied: the same for both."""
        with self.admission() as admission:
            alike = await suggest(self.view, name, admission=admission)
        search = None if self.loads.run(self.step).passed_through else self.names.search
        return meta_tools.missing_tool_text(name, suggestions=alike, search=search)

    def _is_meta_tool(self, name: str) -> bool:
        # Another searcher's too: a proxy behind a proxy would hide whose approval is needed.
        return name in self.names.present or isinstance(self.listed.get(name), MetaTool)

    async def _callable(self, name: str) -> Tool | None:
        if name in self.listed:
            return self.listed[name]
        with self.admission() as admission:
            tool = await find_by_name(self.view, name, admission=admission)
            if tool is None or not await admission.admits(tool, "active"):
                return None
        return self._unlisted(tool)

    def _unlisted(self, tool: Tool) -> GuardedTool:
        return guard(tool, self._run_unlisted, explain=partial(self._explain, tool))

    async def _run(self, tool: Tool, arguments: Any, context: ToolContext | None) -> Any:
        """Run a listed tool, if the policy of this moment allows it."""
        await self._check_active(tool)
        await self.loads.called(self.step, tool.name)
        return await self._call(tool, arguments, context)

    async def _run_unlisted(self, tool: Tool, arguments: Any, context: ToolContext | None) -> Any:
        """Run a tool whose parameters the model may not have seen, and list it from now on."""
        await self._take_in(tool)
        try:
            return await self._call(tool, arguments, context)
        except ToolArgumentsError as exc:
            return self._explained(tool, exc)

    async def _call(self, tool: Tool, arguments: Any, context: ToolContext | None) -> Any:
        with telemetry.span(f"execute_tool {tool.name}", telemetry.call_attributes(tool.name)):
            return await tool.call(arguments, context or self._context())

    async def _explain(self, tool: Tool, problem: ToolArgumentsError) -> dict[str, Any]:
        """Answer a call that is not run, since its arguments don't fit, as if it had been tried."""
        await self._take_in(tool)
        return self._explained(tool, problem)

    async def _take_in(self, tool: Tool) -> None:
        await self._check_active(tool)
        if self.names.mode != "call":
            await self.loads.add(self.step, (tool.name,))
        await self.loads.called(self.step, tool.name)

    def _explained(self, tool: Tool, problem: ToolArgumentsError) -> dict[str, Any]:
        loaded = tool.name in self.loads.run(self.step).seen
        return meta_tools.invalid_arguments_answer(tool, problem=str(problem), loaded=loaded)

    async def _check_active(self, tool: Tool) -> None:
        with self.admission() as admission:
            if await admission.admits(tool, "active"):
                return
        raise ToolUnavailableError(await self.missing_text(tool.name))

    def _context(self) -> ToolContext:
        return ToolContext(thread_id=self.step.thread_id, run_id=self.step.run_id, context=self.step.context)
