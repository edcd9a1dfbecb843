"""Loaded tools in this process, with an idle time to live for each thread."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from cachetools import Cache, LRUCache, TTLCache

from tool_search_processor.errors import ConfigurationError
from tool_search_processor.stores.protocol import AddResult, LoadScope
from tool_search_processor.stores.store import Store
from tool_search_processor.wire.checks import check_callable, check_count, check_positive
from tool_search_processor.wire.plain import counted

_Key = tuple[str, str]


class _Thread(dict[str, int]):
    """A thread's loaded names in load order, each with the number of its last use."""

    renewed: float
    """When its time to live began, by the store's clock."""


class MemoryStore(Store):
    """Keeps loaded names in this process, until it ends.

    ```python
    search = ToolSearchProcessor([create_issue], store=MemoryStore(600, max_threads=1000))
    await search.load("create_issue", thread_id="t-42")
    await search.loaded("t-42")  # -> ['create_issue']
    ```

    Safe to use from any number of threads and event loops.
    """

    def __init__(
        self,
        ttl_seconds: float | None = 3600.0,
        *,
        max_threads: int = 10_000,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Make an empty store.

        Args:
            ttl_seconds: Idle seconds after which a thread is forgotten, enforced whenever it is asked
                for; every step and load begins it again. None keeps threads forever.
            max_threads: The most threads to keep; the least recently used goes first.
            clock: Returns the time in seconds.

        Raises:
            ConfigurationError: When `ttl_seconds` or `max_threads` is not positive.
        """
        check_positive("ttl_seconds", ttl_seconds, optional=True)
        check_count("max_threads", max_threads)
        check_callable("clock", clock, "() -> seconds")
        self._threads: Cache[_Key, _Thread] = (
            LRUCache(max_threads) if ttl_seconds is None else TTLCache(max_threads, ttl_seconds, timer=clock)
        )
        # cachetools breaks for good under unlocked use, reads included.
        self._lock = threading.Lock()
        self._clock = clock
        self._uses = 0

    def __repr__(self) -> str:
        with self._lock:
            return f"<MemoryStore: {counted(len(self._threads), 'thread')}>"

    async def loaded(self, scope: LoadScope) -> Sequence[str]:
        """Return the names in load order."""
        with self._lock:
            return tuple(self._threads.get(_key(scope), ()))

    async def add(
        self,
        scope: LoadScope,
        names: Sequence[str],
        *,
        max_loaded: int | None = None,
        keep: Collection[str] = frozenset(),
    ) -> AddResult:
        """Add names at the end, in one atomic step; see `LoadedToolStore.add`."""
        added: list[str] = []
        evicted: list[str] = []
        staying = {*keep, *names}
        with self._lock:
            key = _key(scope)
            thread = _Thread(self._threads.get(key, ()))
            for name in names:
                if name in thread:
                    thread[name] = self._use()
                    continue
                if max_loaded is not None and len(thread) >= max_loaded:
                    free = [other for other in thread if other not in staying]
                    victim = min(free, key=thread.__getitem__, default=None)
                    if victim is None:
                        continue
                    del thread[victim]
                    evicted.append(victim)
                thread[name] = self._use()
                added.append(name)
            self._keep(key, thread)
        return AddResult(added=tuple(added), evicted=tuple(evicted))

    async def touch(self, scope: LoadScope, names: Collection[str] = ()) -> None:
        """Renew the thread's life, and mark `names` as called just now."""
        with self._lock:
            key = _key(scope)
            thread = self._threads.get(key)
            if thread is not None:
                called = {name: self._use() for name in names if name in thread}
                self._keep(key, _Thread({**thread, **called}))

    async def remove(self, scope: LoadScope, names: Collection[str]) -> Sequence[str]:
        """Take names out, and return those that were there."""
        with self._lock:
            key = _key(scope)
            thread = _Thread(self._threads.get(key, ()))
            removed = tuple(name for name in names if thread.pop(name, None) is not None)
            if removed:
                self._keep(key, thread)
        return removed

    async def clear(self, scope: LoadScope) -> None:
        """Forget a thread, or all threads of the processor where `thread_id` is None."""
        with self._lock:
            if scope.thread_id is not None:
                self._threads.pop(_key(scope), None)
                return
            for key in [key for key in self._threads if key[0] == scope.processor_id]:
                self._threads.pop(key, None)

    async def stats(self) -> Mapping[str, Any]:
        """Return `threads`, `loaded` and `oldest_access` of the threads that have not expired."""
        with self._lock:
            # Read past the caches' own lookup: counting a thread doesn't count as using it.
            alive = [Cache.__getitem__(self._threads, key) for key in self._threads]
        oldest = min((thread.renewed for thread in alive), default=None)
        return {"threads": len(alive), "loaded": sum(map(len, alive)), "oldest_access": oldest}

    def _keep(self, key: _Key, thread: _Thread) -> None:
        if thread:
            # Setting it again restarts the time to live; reading does not.
            thread.renewed = self._clock()
            self._threads[key] = thread
        else:
            self._threads.pop(key, None)

    def _use(self) -> int:
        self._uses += 1
        return self._uses


def _key(scope: LoadScope) -> _Key:
    if scope.thread_id is None:
        raise ConfigurationError("this scope names no thread; only clear() takes one without")
    return scope.processor_id, scope.thread_id
