"""One request's view of a catalog under policy: what it can find, and what its answers may say."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tool_search_processor.catalog.experience import Experience, check_experience
from tool_search_processor.catalog.finding import (
    Ranked,
    RankedQuery,
    Wanted,
    interleave,
    listed_fits,
    rank_query,
    tools_of,
)
from tool_search_processor.catalog.lookups import find_by_name, suggest
from tool_search_processor.catalog.request_view import CatalogView
from tool_search_processor.catalog.toolsets import has_any_label
from tool_search_processor.errors import ConfigurationError
from tool_search_processor.meta_tools.meta_tool_names import MetaToolNames
from tool_search_processor.meta_tools.reading import SearchCall
from tool_search_processor.meta_tools.texts import (
    inventory_text,
    meta_tool_refused_text,
    missing_tool_text,
    nothing_found_text,
    unknown_tags_text,
)
from tool_search_processor.policy.admission import Admission
from tool_search_processor.policy.filters import Filter, require_filter
from tool_search_processor.search.index import SearchMode
from tool_search_processor.tools import Tool
from tool_search_processor.tools.near_names import meant_name
from tool_search_processor.tools.origins import origin_of
from tool_search_processor.tools.tool_names import is_tool_name
from tool_search_processor.wire.checks import check_fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What a search with one or several queries found."""

    call: SearchCall
    """The search, with the tags that tools have."""
    rankings: Sequence[RankedQuery]
    ranked: Sequence[Ranked]
    """The best of all queries."""
    preface: str
    """Sentences to put before the answer: on tags left out, and on queries read as plain text."""

    @property
    def problem(self) -> str | None:
        """What is wrong with the first bad pattern; None if all are good."""
        return next((str(ranking.problem) for ranking in self.rankings if ranking.problem), None)

    @property
    def top_score(self) -> float:
        """The best score; 0 if nothing was found."""
        return max((hit.score for hit, _ in self.ranked), default=0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyOptions:
    """What is the same for all requests of whatever serves tools; its own options extend these.

    Raises:
        ConfigurationError: An option can't work; says what was found.
    """

    names: MetaToolNames | None = None
    """What the meta-tools are called; None where there are none."""
    filter: Filter | None = None
    filter_timeout_seconds: float | None = None
    min_score: float = 0.0
    """The lowest score of a result, which has to be above 0 in any case."""
    experience: Experience | None = None

    def __post_init__(self) -> None:
        """Check the options."""
        require_filter(self.filter, timeout_seconds=self.filter_timeout_seconds)
        check_fraction("min_score", self.min_score)
        check_experience(self.experience)
        names = self.names.present if self.names is not None else ()
        for name in names:
            if not isinstance(name, str) or not is_tool_name(name):
                raise ConfigurationError(
                    f"a meta-tool can't be named {name!r}: use 1 to 64 of the characters A-Z a-z 0-9 _ -"
                )
            if names.count(name) > 1:
                raise ConfigurationError(
                    f"the meta-tools need different names, found {name!r} twice: change search_tool_name, or "
                    "the option that names the other one"
                )


@dataclass(frozen=True, kw_only=True)
class PolicyView(ABC):
    """One request's view of a catalog under policy.

    What serves tools subclasses it, and says what searches leave out (`unsearched`). A denied tool gets the
    same answers as a tool that doesn't exist.
    """

    catalog: CatalogView
    """The tools that can be found, by query or by name."""
    options: PolicyOptions
    context: Mapping[str, Any]
    thread_id: str | None = None
    learner: str | None = None
    """Whose searches and calls belong together, to learn from them; None if nobody can tell."""

    @property
    @abstractmethod
    def unsearched(self) -> frozenset[str]:
        """The names that searches leave out, since they are listed anyway."""

    @property
    def is_open(self) -> bool:
        """Whether this request may know about every tool."""
        return self.options.filter is None

    @property
    def filter(self) -> Filter | None:
        """What this request's tools must pass."""
        return self.options.filter

    @property
    def turn(self) -> str:
        """The last message of the user, if it is known."""
        return ""

    def admission(self) -> Admission:
        """Return a new request to the filter."""
        return Admission(
            self.filter,
            context=self.context,
            thread_id=self.thread_id,
            timeout_seconds=self.options.filter_timeout_seconds,
        )

    async def note(self, queries: Iterable[str], found: Iterable[str]) -> None:
        """Remember a search, to learn from the call that follows it."""
        if self.options.experience is not None:
            await self.options.experience.note(self.learner, queries, found, context=self.context)

    async def learn(self, tool: Tool) -> None:
        """Learn from a successful call."""
        if self.options.experience is not None:
            await self.options.experience.learn(
                tool, self.catalog, thread=self.learner, context=self.context, turn=self.turn
            )

    def wanted(self, *, limit: int, tags: frozenset[str] = frozenset()) -> Wanted:
        """Return what a search of this request asks for besides its words."""
        return Wanted(limit=limit, tags=tags, without=self.unsearched, min_score=self.options.min_score)

    # -- finding

    async def rank(
        self, query: str, admission: Admission, *, wanted: Wanted, mode: SearchMode | None = None
    ) -> Sequence[Ranked]:
        """Rank the tools for one query by a mode's lists; None ranks as the strategy does.

        Raises:
            ConfigurationError: If the strategy doesn't have the mode.
            InvalidPatternError: If the strategy takes patterns, the query is not a valid one, and no tool
                has it as plain text.
        """
        searched = await self.catalog.searched_in(mode)
        ranking = await rank_query(searched, query, wanted=wanted, admission=admission)
        if ranking.problem is not None:
            raise ranking.problem
        return ranking.ranked

    async def narrow(self, call: SearchCall, admission: Admission) -> tuple[SearchCall, str]:
        """Return a search with the tags and namespaces that its tags mean, and a sentence about unknown tags.

        A tag means itself, or else the tags that differ only in case and separators. Each spelling counts
        only if there is a tool with it that phase `search` admits and that is not listed anyway: an answer
        never shows the spelling of a denied tool.
        """
        if not call.tags:
            return call, ""
        meant = {tag: await self._labels_meant(tag, admission) for tag in call.tags}
        unknown = [tag for tag, labels in meant.items() if not labels]
        return replace(call, tags=frozenset().union(*meant.values())), unknown_tags_text(unknown)

    async def _labels_meant(self, tag: str, admission: Admission) -> set[str]:
        """Return the tag itself if a tool with it can be found, otherwise the other spellings that can."""
        alike = self.catalog.labels_like(tag)
        for spellings in (alike & {tag}, sorted(alike - {tag})):
            found = {
                label
                for label in spellings
                if await self.list_findable(admission, tags=frozenset((label,)), limit=1)
            }
            if found:
                return found
        return set()

    async def search(self, call: SearchCall, admission: Admission, *, limit: int) -> Findings:
        """Rank the findable tools for each query of a call, and merge the best.

        Args:
            call: What a model asked for; `call.limit` is the most results of one query.
            admission: Asks the filter.
            limit: The most results of all queries together.
        """
        narrowed, left_out = await self.narrow(call, admission)
        rankings = await self._rankings(narrowed, admission)
        notes = "".join(ranking.note for ranking in rankings)
        return Findings(
            call=narrowed,
            rankings=rankings,
            ranked=interleave([ranking.ranked for ranking in rankings], limit=limit),
            preface=f"{left_out}{notes}",
        )

    async def count(self, findings: Findings) -> int | None:
        """Return how many tools match any of the queries; None if that would reveal how much is hidden."""
        if not self.is_open:
            return None
        call, rankings = findings.call, findings.rankings
        if any(len(ranking.ranked) >= call.limit for ranking in rankings):
            if len(rankings) == 1:
                query, min_score = rankings[0].query, self.options.min_score
                return await self.catalog.count(
                    query, min_score=min_score, tags=call.tags, without=self.unsearched
                )
            rankings = await self._rankings(replace(call, limit=len(self.catalog)), self.admission())
        return len({tool.name for ranking in rankings for tool in tools_of(ranking.ranked)})

    async def _rankings(self, call: SearchCall, admission: Admission) -> Sequence[RankedQuery]:
        wanted = self.wanted(limit=call.limit, tags=call.tags)
        return [
            await rank_query(self.catalog, query, wanted=wanted, admission=admission)
            for query in call.queries
        ]

    async def list_findable(
        self, admission: Admission, *, tags: frozenset[str] = frozenset(), limit: int | None = None
    ) -> list[Tool]:
        """Return the tools that phase `search` admits and that are not listed anyway, in the catalog's order.

        Args:
            admission: Asks the filter.
            tags: Only tools with any of these tags or namespaces; an empty set does not narrow the list.
            limit: The most tools to return; None returns all.
        """
        tools = (tool for tool in self.findable() if has_any_label(tool, tags))
        return await admission.admit(tools, "search", limit=limit)

    def findable(self) -> Iterator[Tool]:
        """Yield the tools that searches don't leave out, whether policy admits them or not."""
        unsearched = self.unsearched
        return (tool for tool in self.catalog if tool.name not in unsearched)

    async def meant(self, name: str, admission: Admission) -> Tool | None:
        """Return the tool that a model means by a name, if phases `load` and `active` admit it."""
        tool = await find_by_name(self.catalog, name, admission=admission)
        return tool if tool is not None and await admission.admits(tool, "active") else None

    async def proxied(self, name: str, admission: Admission) -> Tool | str:
        """Return the tool that a call through the call tool means, or the sentence that refuses the call."""
        names = self.options.names
        if (tool := await self.meant(name, admission)) is not None:
            return tool
        if names is not None and meant_name(name, names.present) is not None:
            return meta_tool_refused_text(name, names=names)
        return await self.missing_text(name, admission)

    # -- what answers may say

    async def usable(self, names: Sequence[str], admission: Admission) -> Sequence[str]:
        """Return the names that an answer may mention: those of tools that phase `active` admits."""
        if admission.is_open:
            return names
        admitted = await admission.admit(await self.catalog.fetch_all(names), "active")
        return [tool.name for tool in admitted]

    async def suggest(self, name: str, admission: Admission) -> list[str]:
        """Return up to three names of tools that a wrong name may mean."""
        return await suggest(self.catalog, name, admission=admission)

    async def missing_text(self, name: str, admission: Admission) -> str:
        """Return the sentence for a tool that is unknown or denied, the same for both."""
        alike = await self.suggest(name, admission)
        # The meta-tools are listed only where they can find something.
        is_searched = await self.list_findable(admission, limit=1)
        return missing_tool_text(name, suggestions=alike, names=self.options.names if is_searched else None)

    async def has_outage(self, admission: Admission) -> bool:
        """Return True if some tools can't be reached now, and the request may know of it.

        Under policy it may if phase `search` admits a tool of a provider that is down, as last listed.
        """
        down = self.catalog.outages()
        if not down or self.is_open:
            return bool(down)
        unreached = (tool for tool in self.catalog if origin_of(tool) in down)
        return bool(await admission.admit(unreached, "search", limit=1))

    async def nothing_found_text(
        self, call: SearchCall, admission: Admission, *, listed: Mapping[str, Tool]
    ) -> str:
        """Return the sentence for a search without results.

        Args:
            call: What was searched for.
            admission: Asks the filter.
            listed: The tools that the request may call and that searches leave out: one may fit.
        """
        fits = await listed_fits(self.catalog, call.queries, listed=listed, min_score=self.options.min_score)
        has_outage = await self.has_outage(admission)
        return nothing_found_text(call.queries, tags=call.tags, listed=fits, has_outage=has_outage)

    def inventory(self) -> tuple[str, Sequence[str]]:
        """Return the sentence about what can be found, and its tags and namespaces.

        Both are empty if they would reveal what is hidden.
        """
        names = self.unsearched
        listed = [tool for name in names if (tool := self.catalog.get(name)) is not None]
        return self._inventory(self.catalog, listed=listed)

    def _inventory(self, catalog: CatalogView, *, listed: Sequence[Tool]) -> tuple[str, Sequence[str]]:
        if not self.is_open:
            return "", ()
        text = inventory_text(len(catalog) - len(listed), catalog.namespaces(without=listed))
        return text, tuple(catalog.labels(without=listed))
