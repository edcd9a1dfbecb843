"""A catalog's indexes: one for the tools that all requests share, a few for single requests' large lists."""

from __future__ import annotations

import asyncio
import inspect
import logging
import math
import threading
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Literal, Required, TypedDict, TypeVar, Unpack

from cachetools import LRUCache

from tool_search_processor.catalog.learned import LearnedRequests
from tool_search_processor.catalog.toolsets import NO_TOOLS, ToolSet, has_any_label
from tool_search_processor.concurrency.threads import Threads
from tool_search_processor.search.index import Index, ListName, SearchMode, adapted
from tool_search_processor.search.protocol import WORDS_ALONE, Document, Hit
from tool_search_processor.search.strategies import (
    IndexCache,
    Strategy,
    index_factory,
    is_index,
    needs_an_extra,
)

MAX_EXTRA = 256
"""The most tools of a request's own that are scored next to the shared index instead of being indexed."""
_OWN_INDEXES = 16
_INLINE_DOCUMENTS = 500
_RETRY_SECONDS = 30.0
_PROGRESS_SECONDS = 0.25
_ValueT = TypeVar("_ValueT")
NO_REQUESTS = LearnedRequests({})
logger = logging.getLogger(__name__)
_threads = Threads(32, name="tool-search-index")


@dataclass(frozen=True, slots=True, kw_only=True)
class WarmUpProgress:
    """How much of the work is done until a catalog is ready."""

    stage: Literal["providers", "index", "vectors"]
    done: int
    """How many of `total` are done: providers that were read, or tools."""
    total: int


class SearchedTools(TypedDict, total=False):
    """Which tools a search ranks; see `CatalogView` and `Wanted`."""

    shared: Required[ToolSet]
    own: ToolSet
    learned: LearnedRequests
    tags: frozenset[str]
    without: frozenset[str]


async def told(on_progress: Callable[[WarmUpProgress], object], progress: WarmUpProgress) -> None:
    """Tell a hook, sync or async, about progress; if it fails, the log says so."""
    try:
        answer = on_progress(progress)
        if inspect.isawaitable(answer):
            await answer
    except Exception:
        logger.exception("on_progress failed on %r", progress)


class IndexPool:
    """Finds, for a view, the index that holds it, and searches it."""

    def __init__(self, strategy: Strategy, *, index_cache: IndexCache | None = None) -> None:
        """Set the strategy; its index is made when it is first needed.

        Args:
            strategy: What to search with.
            index_cache: A folder for what the shared index is made of. Indexes of single requests keep
                nothing: they would push it out.

        Raises:
            ConfigurationError: For what `index_factory` refuses.
            ImportError: When the strategy needs an extra that is not installed.
        """
        self.strategy = strategy
        self.index_cache = index_cache
        self._factory = index_factory(strategy)
        self._shared_factory = index_factory(strategy, index_cache=index_cache)
        # An instance that was handed over can't be made twice: it holds the shared tools alone.
        self._can_make_more = isinstance(strategy, str | type) or not is_index(strategy)
        self._shared: _Holder | None = None
        self._own: LRUCache[tuple[str, str], _Holder] = LRUCache(_OWN_INDEXES)
        self._lock = threading.Lock()
        self._words_until = -math.inf
        if needs_an_extra(strategy):
            self._shared_holder()

    @cached_property
    def by_words(self) -> IndexPool:
        """This pool, or a pool that ranks by words if the strategy of this one takes patterns."""
        return self._instead if self.takes_pattern else self

    @property
    def takes_pattern(self) -> bool:
        """Whether queries are patterns."""
        return self.shared_index.takes_pattern

    @cached_property
    def _instead(self) -> IndexPool:
        return IndexPool("bm25", index_cache=self.index_cache)

    @property
    def shared_index(self) -> Index:
        """The index of what all requests share, made when it is first asked for."""
        return self._shared_holder().index

    @property
    def is_ready(self) -> bool:
        """Whether the shared index is made, its vectors included."""
        holder = self._shared
        return holder is not None and holder.held is not None and holder.index.ready

    @cached_property
    def lists(self) -> Mapping[ListName, IndexPool]:
        """The lists of the shared index, each of which can be searched alone once the index is prepared."""
        return {name: IndexPool(index) for name, index in self.shared_index.lists().items()}

    @property
    def modes(self) -> tuple[SearchMode, ...]:
        """The search modes that the lists allow: each list alone, and `"hybrid"` if there are two."""
        return (*self.lists, "hybrid") if len(self.lists) > 1 else tuple(self.lists)

    async def search(
        self, query: str, *, limit: int | None = None, **among: Unpack[SearchedTools]
    ) -> list[Hit]:
        """Rank tools for a query.

        Args:
            query: What is looked for.
            limit: The most hits to return; None returns all.
            among: Which tools.
        """
        hits: list[Hit] = await self._ask(among, lambda index: partial(index.search, query, limit=limit))
        return hits

    async def count(self, query: str, *, min_score: float = 0.0, **among: Unpack[SearchedTools]) -> int:
        """Return how many tools `search` finds with at least `min_score` when nothing is cut."""
        found: int = await self._ask(among, lambda index: partial(index.count, query, min_score=min_score))
        return found

    async def _ask(self, among: SearchedTools, question: Callable[[Index], Callable[..., Any]]) -> Any:
        async def asked(pool: IndexPool) -> Any:
            holder, within, extra = await pool._locate(**among)
            return await holder.ask(partial(question(holder.index), within=within, extra=extra))

        return await self._answered(asked)

    async def prepare(self, shared: ToolSet) -> None:
        """Bring the shared index up to date, so that the first search doesn't have to."""
        await self._answered(lambda pool: pool._shared_holder().hold(shared))  # noqa: SLF001 - of this class

    async def make_ready(
        self, shared: ToolSet, *, wait_for_vectors: bool, on_progress: Callable[[WarmUpProgress], object]
    ) -> bool:
        """Bring the shared index up to date; return whether all of it is ready. See `Catalog.make_ready`."""
        self._words_until = -math.inf  # whoever asks for all of it wants another attempt now
        await told(on_progress, WarmUpProgress(stage="index", done=0, total=len(shared)))
        await self.prepare(shared)
        await told(on_progress, WarmUpProgress(stage="index", done=len(shared), total=len(shared)))
        index = self.shared_index
        while wait_for_vectors and (building := index.building) is not None:
            done, total = building
            await told(on_progress, WarmUpProgress(stage="vectors", done=done, total=total))
            await _threads.run(partial(index.wait, _PROGRESS_SECONDS))
        if wait_for_vectors and index.ready and "vector" in index.lists():
            await told(on_progress, WarmUpProgress(stage="vectors", done=len(shared), total=len(shared)))
        return index.ready

    async def _answered(self, ask: Callable[[IndexPool], Awaitable[_ValueT]]) -> _ValueT:
        """Return the answer of this pool, or of a pool that ranks by words while an embedder fails."""
        if time.monotonic() >= self._words_until:
            try:
                return await ask(self)
            except Exception:  # an embedder may be down, slow, or answer no vectors
                index = self.shared_index
                if not index.has_words_instead:
                    raise
                index.warn(WORDS_ALONE)
                # The next search would wait for the same tools again.
                is_empty = self._shared_holder().held is None
                self._words_until = time.monotonic() + _RETRY_SECONDS if is_empty else -math.inf
        return await ask(self._instead)

    async def _locate(
        self,
        shared: ToolSet,
        own: ToolSet = NO_TOOLS,
        learned: LearnedRequests = NO_REQUESTS,
        tags: frozenset[str] = frozenset(),
        without: frozenset[str] = frozenset(),
    ) -> tuple[_Holder, frozenset[str] | None, Sequence[Document]]:
        if len(own) > MAX_EXTRA and self._can_make_more:
            holder, ranked = await self._own_holder(shared, own)
            own = NO_TOOLS
        else:
            holder, ranked = self._shared_holder(), shared
            await holder.hold(shared)
        mine: Sequence[Document] = ()
        if own:
            mine = ToolSet(t for t in own if t.name not in without and has_any_label(t, tags)).documents
            # A document of the request hides the stored one of its name.
            without |= own.by_name.keys() & shared.by_name.keys()
        extra = learned.documents(ranked, tags=tags, without=without)
        if mine:
            extra = (*map(learned.added_to, mine), *extra)
        return holder, ranked.select(tags=tags, without=without), extra

    def _shared_holder(self) -> _Holder:
        with self._lock:
            if self._shared is None:
                self._shared = _Holder(adapted(self._shared_factory()))
            return self._shared

    async def _own_holder(self, shared: ToolSet, own: ToolSet) -> tuple[_Holder, ToolSet]:
        """Return the index of both sets, and the set of equal content that it was made from."""
        key = (shared.fingerprint, own.fingerprint)
        with self._lock:
            holder = self._own.get(key)
            if holder is None:
                holder = self._own[key] = _Holder(adapted(self._factory()))
        united = holder.held
        if united is None:
            united = ToolSet([*(tool for tool in shared if tool.name not in own.by_name), *own])
            await holder.hold(united)
        return holder, holder.held or united


class _Holder:
    """An index and the set of tools in it."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self.held: ToolSet | None = None
        self._lock = threading.Lock()
        self._under_way: Future[None] | None = None

    async def hold(self, tools: ToolSet) -> None:
        """Put a set of tools into the index, unless that set or a later one is there."""
        if not self._is_older(tools):
            return
        if self.index.is_outside:
            await self._update_outside(tools)
        elif len(tools) <= _INLINE_DOCUMENTS and not self._lock.locked() and not self.index.blocking:
            self._update(tools)
        else:
            await _threads.run(lambda: self._update(tools))

    def _update(self, tools: ToolSet) -> None:
        with self._lock:
            if self._is_older(tools):
                self.index.update(tools.documents)
                self.held = tools

    async def _update_outside(self, tools: ToolSet) -> None:
        """Update an engine outside, one update at a time; waiting tasks may be of several event loops."""
        while self._is_older(tools):
            with self._lock:
                other, mine = self._under_way, Future[None]()
                self._under_way = other or mine
            if other is not None:
                # How it went shows in what is held then.
                await asyncio.shield(asyncio.wrap_future(other))
                continue
            try:
                await self.ask(partial(self.index.update, tools.documents))
                self.held = tools
            finally:
                self._under_way = None
                mine.set_result(None)

    def _is_older(self, tools: ToolSet) -> bool:
        held = self.held
        return held is None or held.generation < tools.generation

    async def ask(self, question: Callable[[], Any]) -> Any:
        """Return the index's answer to a question, asked in a thread if it is `blocking`."""
        answer = await _threads.run(question) if self.index.blocking else question()
        # Nearly every answer is a list, and isawaitable takes a microsecond.
        return answer if type(answer) is list or not inspect.isawaitable(answer) else await answer
