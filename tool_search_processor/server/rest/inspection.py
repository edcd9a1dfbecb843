"""Answers for the page for people: rankings, with what explains each place."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace
from typing import Annotated, Any

from pydantic import BaseModel, Field, StrictInt
from starlette.exceptions import HTTPException

from tool_search_processor.server.rest.search_modes import Found, RankBy, RestView
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

    def __init__(self) -> None:
        """Begin without counts of tokens, which are kept."""
        self._counter = DefinitionCounter()

    async def facts(self, view: RestView) -> dict[str, Any]:
        """Return what can be searched and how, counting only tools that may be found."""
        with view.admission() as admission:
            tools = await view.list_findable(admission)
        return {
            "tools": len(tools),
            "tokens": self._counter.count(tools),
            "rankings": view.search_in.rankings,
            "namespaces": Counter(tool.namespace for tool in tools if tool.namespace),
            "tags": Counter(tag for tool in tools for tag in sorted(tool.tags)),
            "ready": view.search_in.indexes.is_ready,
        }

    async def answer(self, asked: InspectRequest, view: RestView) -> dict[str, Any]:
        """Rank the tools, and explain each place.

        Raises:
            HTTPException: The index can't rank this way.
        """
        if asked.ranking not in view.search_in.rankings:
            raise HTTPException(400, f"this server can't rank by {asked.ranking!r}")
        spaces = frozenset(asked.namespaces)
        others = (tool.name for tool in view.catalog if tool.namespace not in spaces) if spaces else ()
        view = replace(view, unsearched=frozenset(others))
        wanted = view.wanted(limit=asked.limit, tags=frozenset(asked.tags))
        started = time.perf_counter()
        with view.admission() as admission:
            if asked.query.strip():
                found = await view.judge(asked.query, admission, ranking=asked.ranking, wanted=wanted)
            else:
                found = await view.listed(admission, wanted=wanted)
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
