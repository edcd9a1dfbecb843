"""The indexes behind a catalog: one for what all requests share, a few for large lists of one request."""

from __future__ import annotations

import asyncio
import functools
import inspect
import threading
from collections.abc import Callable, Sequence

from cachetools import LRUCache

from tool_search_processor.search.base import CountingIndex, Document, Hit
from tool_search_processor.search.strategies import AnyIndex, Strategy, index_factory, is_index
from tool_search_processor.tools import Tool
from tool_search_processor.toolsets import ToolSet, bears_any

MAX_EXTRA = 256
"""The most tools of a request's own that are scored beside the shared index rather than indexed."""
_OWN_INDEXES = 16
_INLINE_DOCUMENTS = 500


class IndexPool:
    """Finds, for a view, the index that holds it, and searches it."""

    def __init__(self, strategy: Strategy) -> None:
        """Take a strategy; its index is made when it is first needed."""
        self._factory: Callable[[], AnyIndex] = index_factory(strategy)
        # An instance that was handed over can't be made twice: it holds the shared tools alone.
        self._can_make_more = isinstance(strategy, str | type) or not is_index(strategy)
        self._shared: _Holder | None = None
        self._own: LRUCache[str, _Holder] = LRUCache(_OWN_INDEXES)
        self._lock = threading.Lock()

    async def search(
        self,
        query: str,
        *,
        shared: ToolSet,
        own: Sequence[Tool] = (),
        limit: int | None = None,
        tags: frozenset[str] = frozenset(),
        without: frozenset[str] = frozenset(),
    ) -> list[Hit]:
        """Rank the shared tools and a request's own for a query.

        Args:
            query: What is looked for.
            shared: The tools that all requests see.
            own: This request's tools; one hides a shared tool of the same name.
            limit: The most hits to return; None returns all.
            tags: Only tools that bear any of these; empty asks nothing.
            without: Names to leave out.
        """
        holder, within, extra = await self._locate(shared, own, tags, without)
        return await holder.search(query, limit=limit, within=within, extra=extra)

    async def count(
        self,
        query: str,
        *,
        shared: ToolSet,
        own: Sequence[Tool] = (),
        min_score: float = 0.0,
        tags: frozenset[str] = frozenset(),
        without: frozenset[str] = frozenset(),
    ) -> int:
        """Return how many tools `search` finds with at least `min_score` when nothing is cut."""
        holder, within, extra = await self._locate(shared, own, tags, without)
        if isinstance(holder.index, CountingIndex):
            return holder.index.count(query, min_score=min_score, within=within, extra=extra)
        hits = await holder.search(query, limit=None, within=within, extra=extra)
        return sum(hit.score > 0 and hit.score >= min_score for hit in hits)

    async def prepare(self, shared: ToolSet) -> None:
        """Bring the shared index up to date, so that the first search needn't."""
        await self._shared_holder().hold(shared)

    async def _locate(
        self, shared: ToolSet, own: Sequence[Tool], tags: frozenset[str], without: frozenset[str]
    ) -> tuple[_Holder, frozenset[str] | None, Sequence[Document]]:
        if len(own) > MAX_EXTRA and self._can_make_more:
            names = {tool.name for tool in own}
            united = ToolSet([*(tool for tool in shared if tool.name not in names), *own])
            holder = await self._own_holder(united)
            return holder, united.select(tags=tags, without=without), ()
        holder = self._shared_holder()
        await holder.hold(shared)
        extra = ToolSet(t for t in own if t.name not in without and bears_any(t, tags)).documents
        hidden = frozenset(tool.name for tool in own if tool.name in shared.by_name)
        return holder, shared.select(tags=tags, without=without | hidden), extra

    def _shared_holder(self) -> _Holder:
        with self._lock:
            if self._shared is None:
                self._shared = _Holder(self._factory())
            return self._shared

    async def _own_holder(self, tools: ToolSet) -> _Holder:
        with self._lock:
            holder = self._own.get(tools.fingerprint)
            if holder is None:
                holder = self._own[tools.fingerprint] = _Holder(self._factory())
        await holder.hold(tools)
        return holder


class _Holder:
    """An index and the set of tools in it."""

    def __init__(self, index: AnyIndex) -> None:
        self.index = index
        self._held: ToolSet | None = None
        self._lock = threading.Lock()

    async def hold(self, tools: ToolSet) -> None:
        """Put a set of tools into the index, unless it or a later one is there."""
        if not self._is_older(tools):
            return
        if inspect.iscoroutinefunction(self.index.update):
            await self.index.update(tools.documents)
            self._held = tools
        elif len(tools) <= _INLINE_DOCUMENTS and not self._lock.locked():
            self._update(tools)
        else:
            await asyncio.to_thread(self._update, tools)

    def _update(self, tools: ToolSet) -> None:
        with self._lock:
            if self._is_older(tools):
                self.index.update(tools.documents)
                self._held = tools

    def _is_older(self, tools: ToolSet) -> bool:
        held = self._held
        return held is None or held.generation < tools.generation

    async def search(
        self, query: str, *, limit: int | None, within: frozenset[str] | None, extra: Sequence[Document]
    ) -> list[Hit]:
        """Search the index; one that says it is `blocking` is searched in a thread."""
        search = functools.partial(self.index.search, query, limit=limit, within=within, extra=extra)
        result = await asyncio.to_thread(search) if getattr(self.index, "blocking", False) else search()
        return await result if inspect.isawaitable(result) else result
