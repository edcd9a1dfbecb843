"""Finding under policy: by query, by name, and what a wrong name may mean."""

from __future__ import annotations

import logging
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

from tool_search_processor.catalog.request_view import CatalogView
from tool_search_processor.catalog.toolsets import SUGGESTION_CUTOFF, has_any_label
from tool_search_processor.policy.admission import Admission
from tool_search_processor.policy.filters import Phase
from tool_search_processor.search.protocol import Hit
from tool_search_processor.search.text import name_parts
from tool_search_processor.tools import Tool
from tool_search_processor.tools.near_names import meant_name, spoken_names

Ranked = tuple[Hit, Tool]

_DEEPER = 8
_SPARE = 4
_MAX_SUGGESTIONS = 3
_MAX_SEARCHED = 10
"""For how many wrong names of one call suggestions are searched."""
_NAME_CHARACTERS = 200
_SLIP = 0.75
"""From this OSA similarity on, a name counts as a misspelling of the other."""
_SUGGESTED_SCORE = 0.1

logger = logging.getLogger(__name__)


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

    @classmethod
    def of(cls, hit: Hit, tool: Tool) -> ToolHit:
        """Return a hit of an index, with its tool."""
        return cls(
            name=hit.name,
            score=hit.score,
            text_rank=hit.text_rank,
            vector_rank=hit.vector_rank,
            matched=hit.matched,
            tool=tool,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is asked of a search besides its words."""

    limit: int
    """The most tools to return."""
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
    chosen: set[str] = set()
    looked_at = 0
    limit, min_score = wanted.limit, wanted.min_score
    depth = limit if admission.is_open else limit * _SPARE
    while True:
        hits = await view.search(query, limit=depth, tags=wanted.tags, without=wanted.without)
        # A deeper list begins with the previous one, unless the catalog changes meanwhile.
        fresh, looked_at = hits[looked_at:], len(hits)
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
        if admitted:
            chosen |= admitted.keys()
            found += [(hit, admitted.pop(hit.name)) for hit in fresh if hit.name in admitted]
        if len(found) >= limit or len(hits) < depth or hits[-1].score < min_score or admission.is_hung:
            return found[:limit]
        depth *= _DEEPER


def interleave(rankings: Sequence[Sequence[Ranked]], *, limit: int) -> list[Ranked]:
    """Merge the results of several queries: each query's best, then each second-best, no tool twice."""
    merged: dict[str, Ranked] = {}
    for row in zip_longest(*rankings):
        for ranked in row:
            if ranked is not None and len(merged) < limit:
                merged.setdefault(ranked[1].name, ranked)
    return list(merged.values())


async def list_findable(
    view: CatalogView,
    *,
    tags: frozenset[str],
    without: frozenset[str],
    admission: Admission,
    limit: int | None = None,
) -> list[Tool]:
    """Return the tools that phase `search` admits, in the catalog's order.

    Args:
        view: Where to look.
        tags: Only tools with any of these tags or namespaces; an empty set does not narrow the list.
        without: Names to leave out.
        admission: Asks the filter.
        limit: The most tools to return; None returns all.
    """
    tools = (tool for tool in view if tool.name not in without and has_any_label(tool, tags))
    return await admission.admit(tools, "search", limit=limit)


async def find_by_name(
    view: CatalogView, name: str, *, admission: Admission, without: Collection[str] = ()
) -> Tool | None:
    """Return the tool that a model means by a name, if phase `load` admits it.

    The exact name comes first, then the only admitted tool whose name differs in nothing but case, separators
    and namespace; among several, the only one with this original name. Then the same without what call
    formats put around a name (`spoken_names`). Denied tools, and those in `without`, are passed over as if
    they did not exist.
    """
    for spoken in spoken_names(name):
        exact = await view.fetch(spoken)
        if exact is not None and exact.name not in without and await admission.admits(exact, "load"):
            return exact
        passed = {spoken, *without}
        near = await admission.admit((tool for tool in view.near(spoken) if tool.name not in passed), "load")
        if len(near) > 1:
            near = [tool for tool in near if tool.metadata.get("original_name") == spoken]
            if not near:
                return None
        if near:
            return await view.fetch(near[0].name) if len(near) == 1 else None
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedTools:
    """What the names that a model gave stand for; each group in the names' order, nothing twice."""

    wanted: tuple[str, ...]
    """Tools to load, unless they are loaded already."""
    listed: tuple[str, ...]
    missing: Mapping[str, list[str]]
    """Unknown and denied names as they were written, each with its suggestions."""


async def find_named(
    view: CatalogView,
    names: Iterable[str],
    *,
    admission: Admission,
    listed: Collection[str],
    without: Collection[str],
) -> NamedTools:
    """Return what each name stands for; see `find_by_name`.

    Args:
        view: Where to look.
        names: What a model wrote.
        admission: Asks the filter.
        listed: Names that the step lists anyway.
        without: Names to pass over.
    """
    wanted: dict[str, None] = {}
    there: dict[str, None] = {}
    missing: dict[str, list[str]] = {}
    names = list(names)
    # Asked in one batch: all the tools that a policy is slow about cost one time limit together.
    exact = (name for name in names if name not in listed and name not in without)
    await admission.admit(await fetch_all(view, exact), "load")
    for name in names:
        if name in listed:
            there[name] = None
            continue
        tool = await find_by_name(view, name, admission=admission, without=without)
        if tool is None and (meant := meant_name(name, listed)) is not None:
            there[meant] = None
        elif tool is None:
            missing[name] = await suggest(
                view,
                name,
                admission=admission,
                without=without,
                is_searched=len(missing) < _MAX_SEARCHED,
            )
        else:
            (there if tool.name in listed else wanted)[tool.name] = None
    return NamedTools(wanted=tuple(wanted), listed=tuple(there), missing=missing)


async def suggest(
    view: CatalogView,
    name: str,
    *,
    admission: Admission,
    without: Collection[str] = (),
    is_searched: bool = True,
) -> list[str]:
    """Return up to three names of tools that a wrong name may mean, the likeliest first.

    Nearly equal spellings come first, then what a search for the name's words finds. Only if there is neither
    come loosely similar spellings: made-up names share words with the right tool, not letters.

    Args:
        view: Where to look.
        name: What a model wrote.
        admission: Asks the filter: phase `load` of each name, and `search` of what a search finds.
        without: Names to pass over.
        is_searched: Whether to search by the name's words as well.
    """
    passed = frozenset((name, *without))

    async def spelled(at_least: float) -> list[Tool]:
        alike = (tool for tool in view.alike(name, at_least=at_least) if tool.name not in passed)
        return await admission.admit(alike, "load", limit=_MAX_SUGGESTIONS)

    found = await spelled(_SLIP)
    if is_searched and len(found) < _MAX_SUGGESTIONS:
        found += await _found_by_words(view, name, admission=admission, without=passed)
    found = found or await spelled(SUGGESTION_CUTOFF)
    return list(dict.fromkeys(tool.name for tool in found))[:_MAX_SUGGESTIONS]


async def _found_by_words(
    view: CatalogView, name: str, *, admission: Admission, without: frozenset[str]
) -> list[Tool]:
    words = " ".join(name_parts(name[:_NAME_CHARACTERS]))
    if not words:
        return []
    try:
        ranked = await rank(
            view.by_words(),
            words,
            wanted=Wanted(
                limit=_MAX_SUGGESTIONS * (1 if admission.is_open else _SPARE),
                min_score=_SUGGESTED_SCORE,
                without=without,
            ),
            admission=admission,
            phase="load",
        )
    except Exception:  # foreign code: a failed suggestion must not fail the answer
        logger.warning("the search for tools to suggest failed", exc_info=True)
        return []
    return await admission.admit(tools_of(ranked), "search", limit=_MAX_SUGGESTIONS)


async def fetch_all(view: CatalogView, names: Iterable[str]) -> list[Tool]:
    """Return the catalog's tools with these names, in the order of the names."""
    return [tool for name in names if (tool := await view.fetch(name)) is not None]


def tools_of(ranked: Iterable[Ranked]) -> Iterator[Tool]:
    """Yield the tools of a ranking, best first."""
    return (tool for _, tool in ranked)
