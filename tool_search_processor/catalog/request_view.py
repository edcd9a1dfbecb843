"""What one request sees of a catalog: the shared tools, followed by its own."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace

from tool_search_processor.catalog.indexes import NO_REQUESTS, IndexPool, SearchedTools
from tool_search_processor.catalog.learned import LearnedRequests
from tool_search_processor.catalog.toolsets import SUGGESTION_CUTOFF, ToolSet, labels_of
from tool_search_processor.errors import ConfigurationError
from tool_search_processor.search.index import SearchMode
from tool_search_processor.search.protocol import Hit
from tool_search_processor.tools import Tool
from tool_search_processor.tools.origins import Origin

Fetch = Callable[[str], Awaitable[Tool | None]]


@dataclass(eq=False, repr=False)
class CatalogView:
    """The tools of one request, found by name, by likeness and by search.

    Making one costs what the request's own tools cost, however many are shared.
    """

    shared: ToolSet
    """The tools that all requests see."""
    own: ToolSet
    """This request's tools; one hides a shared tool of the same name."""
    _: KW_ONLY
    indexes: IndexPool
    """Where to search."""
    lookup: Fetch | None = None
    """Looks a tool up if transforms have their own `get_tool`; None looks in the list."""
    held: Sequence[Tool] = ()
    """Changed tools that are not part of the view until they are accepted."""
    outages: Callable[[], Collection[Origin]] = tuple
    """Returns the origins of the tools that can't be reached now."""
    added: frozenset[str] = frozenset()
    """Names of the tools that `with_own` added."""
    learned: LearnedRequests = NO_REQUESTS
    """Requests that searches count for its tools."""

    def __len__(self) -> int:
        return len(self.shared) + sum(tool.name not in self.shared.by_name for tool in self.own)

    def __iter__(self) -> Iterator[Tool]:
        hidden = self.own.by_name
        yield from (tool for tool in self.shared if tool.name not in hidden) if hidden else self.shared
        yield from self.own

    @property
    def fingerprint(self) -> str:
        """A hash of the content of every tool, in order."""
        if not self.own:
            return self.shared.fingerprint
        return hashlib.sha256(f"{self.shared.fingerprint}{self.own.fingerprint}".encode()).hexdigest()

    def namespaces(self, *, without: Iterable[Tool] = ()) -> Mapping[str, int]:
        """Return how many tools each namespace holds, in order of appearance, without those in `without`."""
        return self._counts(self.shared.namespaces, _namespace_of, without)

    def labels(self, *, without: Iterable[Tool] = ()) -> Mapping[str, int]:
        """Return how many tools each tag or namespace holds; like `namespaces`."""
        return self._counts(self.shared.labels, labels_of, without)

    def labels_like(self, label: str) -> frozenset[str]:
        """Return this tag or namespace, if a tool has it, and others that are alike: see `ToolSet`."""
        return self.shared.labels_like(label) | self.own.labels_like(label)

    def get(self, name: str) -> Tool | None:
        """Return the tool with this exact name, otherwise the tool that has it as an alias."""
        found = self.own.by_name.get(name) or self.shared.by_name.get(name)
        if found is not None:
            return found
        meant = self.own.aliases.get(name) or self.shared.aliases.get(name)
        return None if meant is None else self.get(meant)

    def mark(self, name: str) -> str | None:
        """Return the mark of the tool with this name (see `ToolSet.mark`); None if there is no such tool."""
        tools = self.own if name in self.own.by_name else self.shared
        return tools.mark(name) if name in tools.by_name else None

    async def fetch(self, name: str) -> Tool | None:
        """Return the same as `get`, if every transform with its own `get_tool` agrees."""
        listed = self.get(name)
        if listed is None or self.lookup is None or listed.name in self.added:
            return listed
        return await self.lookup(listed.name)

    async def fetch_all(self, names: Iterable[str]) -> list[Tool]:
        """Return the tools with these names, in the order of the names; see `fetch`."""
        return [tool for name in names if (tool := await self.fetch(name)) is not None]

    def pinned(self, names: Iterable[str] = ()) -> list[Tool]:
        """Return the tools that are always listed: those with `pinned=True`, then those named here."""
        found = {tool.name: tool for tool in (*self._shared_only(self.shared.pinned), *self.own.pinned)}
        found |= {name: tool for name in names if (tool := self.get(name)) is not None}
        return list(found.values())

    def near(self, name: str) -> list[Tool]:
        """Return the tools whose name differs in nothing but case, separators and namespace."""
        return [*self._shared_only(self.shared.near(name)), *self.own.near(name)]

    def alike(self, name: str, *, at_least: float = SUGGESTION_CUTOFF) -> Iterator[Tool]:
        """Yield tools with a similar name, the request's own first, then the most similar."""
        yield from self.own.alike(name, at_least=at_least)
        yield from self._shared_only(self.shared.alike(name, at_least=at_least))

    def with_own(self, tools: Iterable[Tool]) -> CatalogView:
        """Return a view with more tools of this request, which hide tools of the same name."""
        more = {tool.name: tool for tool in tools}
        if not more:
            return self
        kept = (tool for tool in self.own if tool.name not in more)
        places = {name: place for name, place in self.own.places.items() if name not in more}
        own = ToolSet([*kept, *more.values()], places=places)
        return replace(self, own=own, added=self.added | more.keys())

    def with_requests(self, learned: LearnedRequests | None) -> CatalogView:
        """Return this view, whose searches count requests that were learned for its tools."""
        return self if learned is None else replace(self, learned=learned)

    @property
    def takes_pattern(self) -> bool:
        """Whether queries are patterns."""
        return self.indexes.takes_pattern

    def by_words(self) -> CatalogView:
        """Return this view with an index whose queries are words, not patterns."""
        indexes = self.indexes.by_words
        return self if indexes is self.indexes else self.searched_by(indexes)

    def searched_by(self, indexes: IndexPool) -> CatalogView:
        """Return this view, searched with other indexes."""
        return replace(self, indexes=indexes)

    async def searched_in(self, mode: SearchMode | None) -> CatalogView:
        """Return this view, searched only with the lists of a mode; None leaves it as it is.

        Raises:
            ConfigurationError: If the indexes don't have the mode.
        """
        indexes = self.indexes
        if mode is None:
            return self
        if mode not in indexes.modes:
            offered = ", ".join(map(repr, indexes.modes))
            raise ConfigurationError(
                f"mode is {mode!r:.80}, but this search has only {offered}: choose one of these, or use "
                'search="hybrid", which has all three'
            )
        # The whole index embeds in a thread; a list alone would do it on the event loop.
        await indexes.prepare(self.shared)
        return self if mode == "hybrid" else self.searched_by(indexes.lists[mode])

    async def search(
        self,
        query: str,
        *,
        limit: int | None = None,
        tags: frozenset[str] = frozenset(),
        without: frozenset[str] = frozenset(),
    ) -> list[Hit]:
        """Rank the tools for a query; see `IndexPool.search`."""
        return await self.indexes.search(query, limit=limit, **self._among(tags, without))

    async def count(
        self,
        query: str,
        *,
        min_score: float = 0.0,
        tags: frozenset[str] = frozenset(),
        without: frozenset[str] = frozenset(),
    ) -> int:
        """Return how many tools match with at least `min_score`."""
        return await self.indexes.count(query, min_score=min_score, **self._among(tags, without))

    def _among(self, tags: frozenset[str], without: frozenset[str]) -> SearchedTools:
        # A pattern would read out, letter by letter, what others have asked.
        is_told = self.learned is not NO_REQUESTS and self.takes_pattern
        learned = NO_REQUESTS if is_told else self.learned
        return {"shared": self.shared, "own": self.own, "learned": learned, "tags": tags, "without": without}

    def _counts(
        self, shared: Mapping[str, int], words: Callable[[Tool], Iterable[str]], without: Iterable[Tool]
    ) -> Mapping[str, int]:
        # Computed by difference, so that a request does not go through all shared tools.
        counts = Counter(shared)
        for tool in self.own:
            if hidden := self.shared.by_name.get(tool.name):
                counts.subtract(words(hidden))
            counts.update(words(tool))
        for tool in without:
            counts.subtract(words(tool))
        return +counts

    def _shared_only(self, tools: Iterable[Tool]) -> Sequence[Tool] | Iterator[Tool]:
        return (tool for tool in tools if tool.name not in self.own.by_name)


def _namespace_of(tool: Tool) -> Sequence[str]:
    return [tool.namespace] if tool.namespace else []
