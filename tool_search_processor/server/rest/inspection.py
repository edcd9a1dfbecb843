"""Answers for the page for people: rankings, with what explains each place."""

from __future__ import annotations

import time
from collections import Counter
from typing import Annotated, Any

from pydantic import BaseModel, Field, StrictInt
from starlette.exceptions import HTTPException

from tool_search_processor.catalog import CatalogView
from tool_search_processor.catalog.finding import Wanted
from tool_search_processor.policy.admission import Admission
from tool_search_processor.server.rest.search_modes import Found, ModeSearch, RankBy
from tool_search_processor.tokens.counting import DefinitionCounter
from tool_search_processor.wire.plain import sendable

_DECIMALS = 4


class InspectRequest(BaseModel):
    """A search by a person."""

    query: str = ""
    ranking: RankBy = "score"
    tags: list[str] = []
    namespaces: list[str] = []
    limit: Annotated[StrictInt, Field(ge=1, le=100)] = 20


class Inspector:
    """Answers the searches of the page for people."""

    def __init__(self, search: ModeSearch) -> None:
        """Set the search that ranks the tools."""
        self._search = search
        self._counter = DefinitionCounter()

    async def facts(self, view: CatalogView, admission: Admission) -> dict[str, Any]:
        """Return what can be searched and how, counting only tools that may be found."""
        tools = await admission.admit(view, "search")
        return {
            "tools": len(tools),
            "tokens": self._counter.count(tools),
            "rankings": self._search.rankings,
            "namespaces": Counter(tool.namespace for tool in tools if tool.namespace),
            "tags": Counter(tag for tool in tools for tag in sorted(tool.tags)),
            "ready": self._search.is_ready,
        }

    async def answer(self, asked: InspectRequest, view: CatalogView, admission: Admission) -> dict[str, Any]:
        """Rank the tools, and explain each place.

        Raises:
            HTTPException: The index can't rank this way.
        """
        if asked.ranking not in self._search.rankings:
            raise HTTPException(400, f"this server can't rank by {asked.ranking!r}")
        spaces = frozenset(asked.namespaces)
        others = (tool.name for tool in view if tool.namespace not in spaces) if spaces else ()
        wanted = Wanted(limit=asked.limit, tags=frozenset(asked.tags), without=frozenset(others))
        started = time.perf_counter()
        if asked.query.strip():
            found = await self._search.judge(
                view, asked.query, ranking=asked.ranking, wanted=wanted, admission=admission
            )
        else:
            found = await self._search.listed(view, wanted=wanted, admission=admission)
        milliseconds = (time.perf_counter() - started) * 1000
        return {"milliseconds": round(milliseconds, 1), "results": [self._shown(one) for one in found]}

    def _shown(self, found: Found) -> dict[str, Any]:
        tool = found.tool
        shown = {
            "name": tool.name,
            "namespace": tool.namespace,
            "description": tool.shown_description,
            "tags": sorted(tool.tags),
            "score": round(found.score, _DECIMALS),
            "fts_rank": found.fts_rank,
            "vector_rank": found.vector_rank,
            "matched": found.matched,
            "tokens": self._counter.count([tool]),
            "requires_approval": tool.requires_approval,
            "parameters": tool.parameters,
        }
        return dict(sendable(shown))
