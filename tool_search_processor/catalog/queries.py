"""Ranking a model's queries; where the strategy takes patterns, plain text works as well."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tool_search_processor.catalog.finding import Ranked, Wanted, rank
from tool_search_processor.catalog.request_view import CatalogView
from tool_search_processor.errors import InvalidPatternError
from tool_search_processor.meta_tools import literal_text
from tool_search_processor.policy.admission import Admission
from tool_search_processor.tools import Tool

_LISTED_DEPTH = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedQuery:
    """What one query found."""

    query: str
    """The query that was searched for in the end."""
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
    literal = re.escape(query)
    if ranked or not view.takes_pattern or literal == query:
        return RankedQuery(query=query, ranked=ranked, problem=problem)
    try:
        ranked = await rank(view, literal, wanted=wanted, admission=admission)
    except InvalidPatternError:  # escaped, it is too long
        ranked = []
    if not ranked:
        return RankedQuery(query=query, problem=problem)
    return RankedQuery(query=literal, ranked=ranked, note=literal_text(query, is_pattern=problem is None))


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
