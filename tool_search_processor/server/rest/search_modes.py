"""Search by words, by meaning or by both, over one index that holds each document once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from tool_search_processor import telemetry
from tool_search_processor.catalog import Catalog, CatalogView
from tool_search_processor.catalog.finding import Ranked, Wanted, list_findable
from tool_search_processor.catalog.indexes import IndexPool
from tool_search_processor.catalog.queries import rank_query
from tool_search_processor.policy.admission import Admission
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
    """See `fuse`; in answers of `ModeSearch.judge`, how well the tool fits."""
    fts_rank: int | None = None
    """1-based place in the list by words, among what the caller may find."""
    vector_rank: int | None = None
    """1-based place in the list by meaning, among what the caller may find."""
    matched: tuple[str, ...] = ()
    fit: float = 0.0
    """The better of its scores in the lists, 0 to 1."""


class ModeSearch:
    """Searches a catalog in the modes that its index has lists for.

    An index of two lists (`"hybrid"`) has all three modes, `"vector"` only that one, any other only `"fts"`.
    """

    def __init__(self, catalog: Catalog, search: Strategy) -> None:
        """Search with the catalog's own index if it has this strategy, otherwise with another one.

        Raises:
            ConfigurationError: If the strategy is unknown.
            ImportError: If the strategy needs an extra that is not installed.
        """
        self.catalog = catalog
        own = catalog.indexes
        self._whole = own if own.strategy is search or own.strategy == search else IndexPool(search)
        self.modes = self._whole.modes
        self.default_mode: SearchMode = self.modes[-1]
        self.rankings: tuple[RankBy, ...] = (
            ("score", *self.modes[::-1]) if len(self.modes) > 1 else ("score",)
        )

    @property
    def is_ready(self) -> bool:
        """Whether everything that is built in the background is ready."""
        return self._whole.shared_index.ready

    @property
    def has_vectors(self) -> bool:
        """Whether tools are embedded."""
        return "vector" in self._whole.lists

    async def prepare(self) -> None:
        """Bring the index up to date, so that the first search doesn't have to."""
        view = await self.catalog.view()
        await self._whole.prepare(view.shared)

    async def find(
        self, view: CatalogView, query: str, *, mode: SearchMode, wanted: Wanted, admission: Admission
    ) -> list[Found]:
        """Return the best tools that may be found, best first.

        Each list is fetched deeper than the limit: a tool further down in both would be missed otherwise.
        """
        asked = {telemetry.QUERIES: 1, telemetry.QUERY_LENGTH: len(query), "tool_search.mode": mode}
        with telemetry.span("tool_search.search", asked) as span:
            lists = await self._rankings(view, query, _LISTS[mode], wanted=wanted, admission=admission)
            found = fuse(lists, limit=wanted.limit)
            best = found[0].fit if found else 0.0
            span.set({telemetry.HITS: len(found), telemetry.TOP_SCORE: best})
        return found

    async def judge(
        self, view: CatalogView, query: str, *, ranking: RankBy, wanted: Wanted, admission: Admission
    ) -> list[Found]:
        """Return the best tools with the scores they are ranked by, 0 to 1, and their places in all lists.

        `"score"` ranks as a `ToolSearchProcessor` with this index does.
        """
        if ranking == "hybrid":
            return await self.find(view, query, mode="hybrid", wanted=wanted, admission=admission)
        lists = await self._rankings(
            view, query, tuple(self._whole.lists), wanted=wanted, admission=admission
        )
        known = {found.tool.name: found for found in fuse(lists)}
        if ranking == "score":
            ranked = await _best(view, self._whole, query, wanted=wanted, admission=admission)
        else:
            ranked = lists[ranking][: wanted.limit]
        return [replace(known.get(tool.name, Found(tool=tool)), score=hit.score) for hit, tool in ranked]

    async def listed(self, view: CatalogView, *, wanted: Wanted, admission: Admission) -> list[Found]:
        """Return the first tools in the catalog's order, as the answer to an empty query."""
        tools = await list_findable(
            view, tags=wanted.tags, without=wanted.without, admission=admission, limit=wanted.limit
        )
        return [Found(tool=tool) for tool in tools]

    async def _rankings(
        self,
        view: CatalogView,
        query: str,
        names: Sequence[ListName],
        *,
        wanted: Wanted,
        admission: Admission,
    ) -> dict[ListName, list[Ranked]]:
        # The whole index is filled first, in a thread if it embeds: a list would do it on the event loop.
        await self._whole.prepare(view.shared)
        deeper = wanted if len(names) == 1 else replace(wanted, limit=_DEPTH)
        return {
            name: await _best(view, self._whole.lists[name], query, wanted=deeper, admission=admission)
            for name in names
        }


async def _best(
    view: CatalogView, indexes: IndexPool, query: str, *, wanted: Wanted, admission: Admission
) -> list[Ranked]:
    ranking = await rank_query(view.searched_by(indexes), query, wanted=wanted, admission=admission)
    if ranking.problem is not None:
        raise ranking.problem
    return list(ranking.ranked)


def fuse(lists: Mapping[ListName, Sequence[Ranked]], *, limit: int | None = None) -> list[Found]:
    """Return the tools of all lists, best first; ties keep the lists' order.

    As Letta has it, the score is 1 / rank for one list; for several, the sum of weight / (60 + rank), the
    weights equal and together 1: Cormack, Clarke and Büttcher, SIGIR 2009,
    https://doi.org/10.1145/1571941.1572114.
    """
    deeper = 0 if len(lists) == 1 else K
    scores: dict[str, float] = {}
    for ranked in lists.values():
        for place, (_, tool) in enumerate(ranked, 1):
            scores[tool.name] = scores.get(tool.name, 0.0) + 1 / len(lists) / (deeper + place)
    best = sorted(scores, key=lambda name: -scores[name])[:limit]
    ranks = {
        name: {tool.name: place for place, (_, tool) in enumerate(ranked, 1)}
        for name, ranked in lists.items()
    }
    return [_found(name, scores[name], lists, ranks) for name in best]


def _found(
    name: str,
    score: float,
    lists: Mapping[ListName, Sequence[Ranked]],
    ranks: Mapping[ListName, Mapping[str, int]],
) -> Found:
    """Put together what the lists say about a tool that at least one of them holds."""
    places = {of: ranks[of][name] for of in lists if name in ranks[of]}
    said = [lists[of][place - 1] for of, place in places.items()]
    return Found(
        tool=said[0][1],
        score=score,
        fts_rank=places.get("fts"),
        vector_rank=places.get("vector"),
        matched=said[0][0].matched,
        fit=max(hit.score for hit, _ in said),
    )
