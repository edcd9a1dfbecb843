"""What each thread has asked lately, until a call shows what it was looking for."""

from __future__ import annotations

import threading
from collections.abc import Iterable

from cachetools import LRUCache

from tool_search_processor.catalog.learners import Learner

_THREADS = 2_000
_ASKED = 8
"""The most requests of a thread that a call may still be credited to."""


class RecentRequests:
    """The latest searches of the threads that searched last, apart for each user and scope of a thread."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._asked: LRUCache[tuple[str, Learner], dict[str, frozenset[str]]] = LRUCache(_THREADS)
        self._lock = threading.Lock()

    def note(self, thread: str, learner: Learner, queries: Iterable[str], found: Iterable[str]) -> None:
        """Add searches, and the tools that they found."""
        names = frozenset(found)
        with self._lock:
            asked = self._asked.setdefault((thread, learner), {})
            for query in queries:
                asked.pop(query, None)
                asked[query] = names
            while len(asked) > _ASKED:
                del asked[next(iter(asked))]

    def before(self, thread: str, learner: Learner, tool: str) -> list[str]:
        """Return the searches that a call of a tool ends: those that found it, or else all."""
        with self._lock:
            asked = dict(self._asked.get((thread, learner), {}))
        return [query for query, names in asked.items() if tool in names] or list(asked)

    def forget(self, *, thread: str | None, user: str | None) -> None:
        """Drop the searches of a thread, and of a user (a hash)."""
        with self._lock:
            for key in list(self._asked):
                if key[0] == thread or (user and key[1].user == user):
                    del self._asked[key]
