"""Caches an experience store in this process: read once, kept up to date, changed in atomic steps."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Coroutine, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, NamedTuple

from cachetools import LRUCache

from tool_search_processor.catalog.learned import LearnedRequests
from tool_search_processor.concurrency.patience import Patience
from tool_search_processor.concurrency.rare_warnings import RareWarnings
from tool_search_processor.search.experience.entries import Entry, Limits, Observation
from tool_search_processor.stores.experience.protocol import ExperienceStore

_RETRY_SECONDS = 30.0
_REFRESH_SECONDS = 1.0
"""How long what other processes have learned may go unnoticed."""
_SCOPES = 256
_ATTEMPTS = 20


class _Held(NamedTuple):
    text: str
    """The entry as the store has it."""
    entry: Entry


_NOTHING = _Held("", Entry())


class ChosenRequests(NamedTuple):
    """The requests that were last chosen for searches."""

    changes: int
    """After which change of the scope."""
    time: float
    """When, by the experience's clock."""
    place: object
    """For which tools."""
    requests: LearnedRequests | None


@dataclass(slots=True)
class KnownScope:
    """What this process knows of one scope."""

    tools: Mapping[str, _Held] = field(default_factory=dict)
    """What was learned of each tool. Replaced, never changed: other tasks and threads may be reading it."""
    size: int = 0
    """Bytes of all texts: their JSON is ASCII, so a character is a byte."""
    version: object = None
    read_at: float = -math.inf
    changes: int = 0
    made: ChosenRequests | None = None

    def hold(self, name: str, held: _Held | None) -> None:
        """Replace what was learned of a tool; None removes it."""
        # Adding up all texts with each call would take as long as the rest of it.
        self.size += len((held or _NOTHING).text) - len(self.tools.get(name, _NOTHING).text)
        if held is not None:
            self.tools = {**self.tools, name: held}
        else:
            self.tools = {other: kept for other, kept in self.tools.items() if other != name}

    def is_due(self) -> bool:
        """Return True if it is time to read the scope again, and take note that it is read now."""
        now = time.monotonic()
        is_due = now - self.read_at >= _REFRESH_SECONDS
        self.read_at = now if is_due else self.read_at
        return is_due

    def outdate(self) -> None:
        """Have it read again: somebody else has changed the scope."""
        self.read_at, self.version = -math.inf, object()


@dataclass(eq=False)
class KnownScopes:
    """The scopes of a store that this process has used most recently; its bounds are those of a scope."""

    store: ExperienceStore
    _: KW_ONLY
    limits: Limits
    max_tools: int
    max_bytes: int
    warnings: RareWarnings
    patience: Patience
    _scopes: LRUCache[str, KnownScope] = field(init=False, default_factory=lambda: LRUCache(_SCOPES))
    _lock: threading.Lock = field(init=False, default_factory=threading.Lock)
    _down_until: float = field(init=False, default=-math.inf)

    def clear(self) -> None:
        """Drop everything, so that it is read again when it is next needed."""
        with self._lock:
            self._scopes.clear()

    async def known(self, scope: str) -> KnownScope:
        """Return what is known of a scope, read again if another process has changed it.

        While the store is slow, it is what was known before.
        """
        known = self._find(scope)
        if known.is_due():
            await self.patience.wait_for(self._refresh(scope, known))
        return known

    def _find(self, scope: str) -> KnownScope:
        with self._lock:
            known = self._scopes.get(scope)
            if known is None:
                known = self._scopes[scope] = KnownScope()
            return known

    async def _refresh(self, scope: str, known: KnownScope) -> None:
        version = await self._asking(self.store.version(scope), failed=known.version)
        if known.version is None or version != known.version:
            texts = await self._asking(self.store.read(scope), failed=None)
            if texts is not None:
                self._take(known, texts)
                known.version = version

    def _take(self, known: KnownScope, texts: Mapping[str, str]) -> None:
        """Take over what the store holds; only what has changed is read."""
        old = known.tools
        tools = {
            name: held
            if (held := old.get(name, _NOTHING)).text == text
            else _Held(text, Entry.from_json(text))
            for name, text in texts.items()
        }
        if tools != old:
            known.tools, known.size = tools, sum(map(len, texts.values()))
            known.changes += 1

    async def add(self, scope: str, observation: Observation) -> bool:
        """Add an observation; return whether the store took it."""
        known, name = self._find(scope), observation.tool
        for _ in range(_ATTEMPTS):
            if known.is_due():
                await self._refresh(scope, known)
            if getattr(self.store, "read_only", False):
                return False
            held = known.tools.get(name)
            entry = (held or _NOTHING).entry.learned(observation, self.limits)
            text = entry.to_json()
            swap = self.store.swap(scope, name, None if held is None else held.text, text)
            answer = await self._asking(swap, failed=None)
            if answer is None:
                return False
            if answer:
                known.hold(name, _Held(text, entry))
                known.changes += 1
                await self._make_room(scope, known, observation)
                return True
            if known.tools.get(name) is held:  # another process changed it first
                known.outdate()
        return False

    async def _make_room(self, scope: str, known: KnownScope, latest: Observation) -> None:
        """If a scope is too large, forget tools; the one that was just called stays if it is not alone.

        First go those of which all has faded, then those that the fewest users, or threads, have called, and
        of these the tool that was called longest ago: one caller can't push out what many have taught.
        """
        faded = latest.time - self.limits.life_seconds

        def worth(item: tuple[str, _Held]) -> tuple[bool, bool, int, float]:
            name, entry = item[0], item[1].entry
            return name == latest.tool, entry.last_time >= faded, entry.voices, entry.last_time

        while known.tools and (len(known.tools) > self.max_tools or known.size > self.max_bytes):
            name, held = min(known.tools.items(), key=worth)
            if not await self._asking(self.store.swap(scope, name, held.text, None), failed=False):
                known.outdate()
            known.hold(name, None)

    async def _asking(self, answer: Coroutine[Any, Any, Any], *, failed: Any) -> Any:
        """Return the store's answer; if it fails, warn, return `failed`, and leave it alone for a while."""
        if time.monotonic() < self._down_until:
            answer.close()
            return failed
        try:
            return await answer
        except Exception:  # noqa: BLE001 - foreign code: a store that fails must cost no search and no call
            self._down_until = time.monotonic() + _RETRY_SECONDS
            self.warnings.warn("nothing is learned until the experience store answers again", exc_info=True)
            return failed
