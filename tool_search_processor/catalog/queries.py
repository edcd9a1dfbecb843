"""Queries of a model, ranked: where patterns are searched for, a text that is none is tried as it stands."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tool_search_processor.catalog.finding import Ranked, rank
from tool_search_processor.catalog.request_view import CatalogView
from tool_search_processor.errors import InvalidPatternError
from tool_search_processor.meta_tools import literal_text
from tool_search_processor.tools import Tool

_LISTED_DEPTH = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """What one query found."""

    query: str
    """As it was searched for."""
    ranked: Sequence[Ranked] = ()
    note: str = ""
    """A sentence for before the answer; empty where the query was searched for as it was written."""
    problem: InvalidPatternError | None = None
    """Why nothing could be found."""


async def rank_query(view: CatalogView, query: str, **options: Any) -> Ranking:
    """Rank the tools for a query.

    Where the strategy takes patterns, one that is no pattern, or matches nothing as one, is searched for as
    it stands: `C++`, or `price ($)`.

    Args:
        view: Where to search.
        query: What is looked for.
        **options: Those of `rank`.
    """
    ranked: list[Ranked] = []
    problem = None
    try:
        ranked = await rank(view, query, **options)
    except InvalidPatternError as exc:
        problem = exc
    literal = re.escape(query)
    if ranked or not view.takes_pattern or literal == query:
        return Ranking(query=query, ranked=ranked, problem=problem)
    try:
        ranked = await rank(view, literal, **options)
    except InvalidPatternError:  # with its escapes it is too long
        ranked = []
    if not ranked:
        return Ranking(query=query, problem=problem)
    return Ranking(query=literal, ranked=ranked, note=literal_text(query, is_pattern=problem is None))


def said_of(rankings: Sequence[Ranking]) -> tuple[str, str | None]:
    """Return what goes before an answer to several queries, and what is wrong with the first bad one."""
    problem = next((str(ranking.problem) for ranking in rankings if ranking.problem), None)
    return "".join(ranking.note for ranking in rankings), problem


async def listed_fits(
    view: CatalogView, queries: Sequence[str], *, listed: Mapping[str, Tool], min_score: float = 0.0
) -> list[str]:
    """Return the names of listed tools that queries find, each query's best first.

    Args:
        view: Where to search; it holds the listed tools, too.
        queries: What is looked for.
        listed: The tools that the request may call, and that its searches leave out.
        min_score: The least score.
    """
    found: dict[str, None] = {}
    for query in queries if any(view.get(name) is not None for name in listed) else ():
        with contextlib.suppress(InvalidPatternError):
            hits = await view.search(query, limit=_LISTED_DEPTH)
            fits = (hit.name for hit in hits if hit.score > 0 and hit.score >= min_score)
            found |= dict.fromkeys(name for name in fits if name in listed)
    return list(found)
