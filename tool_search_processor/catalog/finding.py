"""Finding by query under policy: a model's queries are ranked, and what it may not find is left out."""

from __future__ import annotations

import contextlib
import logging
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import zip_longest

from tool_search_processor.catalog.request_view import CatalogView
from tool_search_processor.errors import InvalidPatternError
from tool_search_processor.meta_tools.texts import literal_text
from tool_search_processor.policy.admission import Admission
from tool_search_processor.policy.filters import Phase
from tool_search_processor.search.protocol import Hit
from tool_search_processor.tools import Tool

logger = logging.getLogger(__name__)

Ranked = tuple[Hit, Tool]

SPARE = 4
"""How much deeper than its limit a ranking is fetched at first where a filter may deny some of it."""
_DEEPER = 8
_LISTED_DEPTH = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolHit(Hit):
    """One ranked tool, with the tool itself.

    ```python
    hits = await search.search("create_issue")
    hits[0].tool.description  # -> 'Creates an issue.'
    ```
    """

    tool: Tool = field(compare=False, repr=False)
    """The tool as the request sees it."""

    @staticmethod
    def of(hit: Hit, tool: Tool) -> ToolHit:
        """Return a hit of an index, with its tool.

        Made without calling the constructor, which for a frozen class takes three times as long.
        """
        made = _new(ToolHit)
        _set_name(made, hit.name)
        _set_score(made, hit.score)
        _set_text_rank(made, hit.text_rank)
        _set_vector_rank(made, hit.vector_rank)
        _set_matched(made, hit.matched)
        _set_tool(made, tool)
        return made


_new = object.__new__
_set_name, _set_score, _set_text_rank, _set_vector_rank, _set_matched, _set_tool = (
    getattr(ToolHit, field.name).__set__ for field in fields(ToolHit)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a search asks for besides its words."""

    limit: int
    tags: frozenset[str] = frozenset()
    """Only tools with any of these tags or namespaces; an empty set does not narrow the search."""
    without: frozenset[str] = frozenset()
    """Names to leave out."""
    min_score: float = 0.0
    """The lowest score of a result, which has to be above 0 in any case."""


async def rank(
    view: CatalogView, query: str, *, wanted: Wanted, admission: Admission, phase: Phase = "search"
) -> list[Ranked]:
    """Return the best tools for a query that a phase admits, best first.

    The filter is asked after ranking and before the cut, so a denied tool takes no place: the list is
    fetched deeper until enough are admitted.

    Raises:
        InvalidPatternError: If the strategy takes patterns and the query is not a valid one.
    """
    found: list[Ranked] = []
    looked_at = 0
    limit, min_score = wanted.limit, wanted.min_score
    depth = limit if admission.is_open else limit * SPARE
    while True:
        hits = await view.search(query, limit=depth, tags=wanted.tags, without=wanted.without)
        # A deeper list begins with the previous one, unless the catalog changes meanwhile.
        fresh, looked_at = hits[looked_at:], len(hits)
        chosen = {tool.name for _, tool in found}
        candidates = (
            tool
            for hit in fresh
            if 0 < hit.score < math.inf
            and hit.score >= min_score
            and (tool := view.get(hit.name)) is not None
            and hit.name not in chosen
        )
        admitted = {
            tool.name: tool for tool in await admission.admit(candidates, phase, limit=limit - len(found))
        }
        found += [(hit, admitted.pop(hit.name)) for hit in fresh if hit.name in admitted]
        if len(found) >= limit or len(hits) < depth or hits[-1].score < min_score or admission.is_hung:
            return found[:limit]
        depth *= _DEEPER


async def guess(
    view: CatalogView, text: str, *, wanted: Wanted, admission: Admission, purpose: str
) -> list[Tool]:
    """Return the tools that fit the words of a text and that phase `load` admits, best first.

    Empty if the search fails: a guess must neither fail an answer nor end a run.
    """
    try:
        ranked = await rank(view.by_words(), text, wanted=wanted, admission=admission, phase="load")
    except Exception:  # foreign code
        logger.warning("the search for tools to %s failed", purpose, exc_info=True)
        return []
    return list(tools_of(ranked))


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedQuery:
    """What one query found."""

    query: str
    """The query that was really searched for."""
    ranked: Sequence[Ranked] = ()
    note: str = ""
    """A sentence to put before the answer; empty if the query was searched for as it was written."""
    problem: InvalidPatternError | None = None
    """Why nothing could be found."""


async def rank_query(view: CatalogView, query: str, *, wanted: Wanted, admission: Admission) -> RankedQuery:
    """Rank the tools for a query.

    Where the strategy takes patterns, a query that is not a valid pattern, or matches nothing as a pattern,
    is searched for as plain text: `C++`, or `price ($)`.
    """
    ranked: list[Ranked] = []
    problem = None
    try:
        ranked = await rank(view, query, wanted=wanted, admission=admission)
    except InvalidPatternError as exc:
        problem = exc
    if ranked or not view.takes_pattern or (literal := re.escape(query)) == query:
        return RankedQuery(query=query, ranked=ranked, problem=problem)
    with contextlib.suppress(InvalidPatternError):  # escaped, it is too long
        ranked = await rank(view, literal, wanted=wanted, admission=admission)
    if not ranked:
        return RankedQuery(query=query, problem=problem)
    return RankedQuery(query=literal, ranked=ranked, note=literal_text(query, is_pattern=problem is None))


def interleave(rankings: Sequence[Sequence[Ranked]], *, limit: int) -> list[Ranked]:
    """Merge the results of several queries: each query's best, then each second-best, no tool twice."""
    merged: dict[str, Ranked] = {}
    for row in zip_longest(*rankings):
        for ranked in row:
            if ranked is not None and len(merged) < limit:
                merged.setdefault(ranked[1].name, ranked)
    return list(merged.values())


async def listed_fits(
    view: CatalogView, queries: Sequence[str], *, listed: Mapping[str, Tool], min_score: float = 0.0
) -> list[str]:
    """Return the names of listed tools that queries find, each query's best first.

    Args:
        view: Where to search; the listed tools are part of it.
        queries: What is looked for.
        listed: The tools that the request may call and that its searches leave out.
        min_score: The lowest score of a tool that fits.
    """
    found: dict[str, None] = {}
    for query in queries if any(view.get(name) is not None for name in listed) else ():
        with contextlib.suppress(InvalidPatternError):
            hits = await view.search(query, limit=_LISTED_DEPTH)
            fits = (hit.name for hit in hits if hit.score > 0 and hit.score >= min_score)
            found |= dict.fromkeys(name for name in fits if name in listed)
    return list(found)


def tools_of(ranked: Iterable[Ranked]) -> Iterator[Tool]:
    """Yield the tools of a ranking, best first."""
    return (tool for _, tool in ranked)
