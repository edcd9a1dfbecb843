"""Search by words, by meaning or by both, over one index that holds each document once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from tool_search_processor import telemetry
from tool_search_processor.catalog import Catalog
from tool_search_processor.catalog.finding import Ranked, Wanted
from tool_search_processor.catalog.indexes import IndexPool
from tool_search_processor.catalog.policy_view import PolicyOptions, PolicyView
from tool_search_processor.policy.admission import Admission
from tool_search_processor.providers.provider import Context
from tool_search_processor.search.index import ListName, SearchMode
from tool_search_processor.search.strategies import Strategy
from tool_search_processor.tools import Tool

RankBy = Literal["score", "hybrid", "fts", "vector"]
"""What people may rank by: the index's own score, or a search mode."""

K = 60
"""The constant of reciprocal rank fusion: the greater it is, the less the first places count."""

_LISTS: Mapping[SearchMode, tuple[ListName, ...]] = {
    "fts": ("fts",),
    "vector": ("vector",),
    "hybrid": ("fts", "vector"),
}
# How deep lists are fetched that are fused: twice the greatest limit, whatever the limit is, so that a
# greater limit only makes the answer longer.
_DEPTH = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One tool that a search found."""

    tool: Tool
    score: float = 0.0
    """See `fuse`; in answers of `RestView.judge`, how well the tool fits."""
    fts_rank: int | None = None
    """1-based place in the list by words, among what the caller may find."""
    vector_rank: int | None = None
    """1-based place in the list by meaning, among what the caller may find."""
    matched: tuple[str, ...] = ()
    fit: float = 0.0
    """The better of its scores in the lists, 0 to 1."""


class ModeSearch:
    """Searches a catalog in the modes that its index has lists for, under one filter.

    An index of two lists (`"hybrid"`) has all three modes, `"vector"` only that one, any other only `"fts"`.
    """

    def __init__(
        self,
        catalog: Catalog,
        search: Strategy,
        options: PolicyOptions,
    ) -> None:
        """Search with the catalog's own index if it has this strategy, otherwise with another one.

        What the options' `experience` has learned counts in every mode.

        Raises:
            ConfigurationError: If the strategy is unknown.
            ImportError: If the strategy needs an extra that is not installed.
        """
        self.catalog = catalog
        self.options = options
        own = catalog.indexes
        self.indexes = own if own.strategy is search or own.strategy == search else IndexPool(search)
        self.modes = self.indexes.modes
        self.default_mode: SearchMode = self.modes[-1]
        self.rankings: tuple[RankBy, ...] = (
            ("score", *self.modes[::-1]) if len(self.modes) > 1 else ("score",)
        )

    @property
    def has_vectors(self) -> bool:
        """Whether tools are embedded."""
        return "vector" in self.modes

    async def prepare(self) -> None:
        """Bring the index up to date, so that the first search doesn't have to."""
        view = await self.catalog.view()
        await self.indexes.prepare(view.shared)

    async def view(self, context: Context) -> RestView:
        """Return what a request can find."""
        seen = await self.catalog.view(context)
        if self.options.experience is not None:
            seen = await self.options.experience.applied(seen, context)
        return RestView(
            catalog=seen.searched_by(self.indexes), options=self.options, search_in=self, context=context
        )


@dataclass(frozen=True, kw_only=True)
class RestView(PolicyView):
    """What one request finds."""

    search_in: ModeSearch
    unsearched: frozenset[str] = frozenset()
    """Names that the request leaves out."""

    async def find(
        self, query: str, admission: Admission, *, mode: SearchMode, wanted: Wanted
    ) -> list[Found]:
        """Return the best tools for a query, best first.

        Each list is fetched deeper than the limit: a tool further down in both would be missed otherwise.
        """
        asked = {**telemetry.search_attributes([query]), "tool_search.mode": mode}
        with telemetry.span("tool_search.search", asked) as span:
            lists = await self._lists(query, admission, _LISTS[mode], wanted=wanted)
            found = fuse(lists, limit=wanted.limit)
            best = found[0].fit if found else 0.0
            span.set({telemetry.HITS: len(found), telemetry.TOP_SCORE: best})
        return found

    async def judge(
        self, query: str, admission: Admission, *, ranking: RankBy, wanted: Wanted
    ) -> list[Found]:
        """Return the best tools with the scores they are ranked by, 0 to 1, and their places in all lists.

        `"score"` ranks as a `ToolSearchProcessor` with this index does.
        """
        if ranking == "hybrid":
            return await self.find(query, admission, mode="hybrid", wanted=wanted)
        lists = await self._lists(query, admission, _LISTS[self.search_in.default_mode], wanted=wanted)
        known = {found.tool.name: found for found in fuse(lists)}
        if ranking == "score":
            ranked = await self.rank(query, admission, wanted=wanted)
        else:
            ranked = lists[ranking][: wanted.limit]
        return [replace(known.get(tool.name, Found(tool=tool)), score=hit.score) for hit, tool in ranked]

    async def listed(self, admission: Admission, *, wanted: Wanted) -> list[Found]:
        """Return the first tools in the catalog's order, as the answer to an empty query."""
        tools = await self.list_findable(admission, tags=wanted.tags, limit=wanted.limit)
        return [Found(tool=tool) for tool in tools]

    async def _lists(
        self, query: str, admission: Admission, names: Sequence[ListName], *, wanted: Wanted
    ) -> dict[ListName, Sequence[Ranked]]:
        deeper = wanted if len(names) == 1 else replace(wanted, limit=_DEPTH)
        return {name: await self.rank(query, admission, wanted=deeper, mode=name) for name in names}


def fuse(lists: Mapping[ListName, Sequence[Ranked]], *, limit: int | None = None) -> list[Found]:
    """Return the tools of all lists, best first; ties keep the lists' order.

    As Letta has it, the score is 1 / rank for one list; for several, the sum of weight / (60 + rank), the
    weights equal and together 1: Cormack, Clarke and Büttcher, SIGIR 2009,
    https://doi.org/10.1145/1571941.1572114.
    """
    deeper = 0 if len(lists) == 1 else K
    found: dict[str, Found] = {}
    for of, ranked in lists.items():
        for place, (hit, tool) in enumerate(ranked, 1):
            one = found.get(tool.name) or Found(tool=tool, matched=hit.matched)
            rank: dict[str, Any] = {f"{of}_rank": place}
            score = one.score + 1 / len(lists) / (deeper + place)
            found[tool.name] = replace(one, score=score, fit=max(one.fit, hit.score), **rank)
    return sorted(found.values(), key=lambda one: -one.score)[:limit]
