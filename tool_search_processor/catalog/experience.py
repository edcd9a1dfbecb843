"""Search that learns from use: which requests led to which tool, fed back as example requests."""

from __future__ import annotations

import hashlib
import json
import logging
import math
import re
import time
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, Literal

from tool_search_processor.catalog.known_scopes import ChosenRequests, KnownScopes
from tool_search_processor.catalog.learned import LearnedRequests
from tool_search_processor.catalog.learners import ContextFunction, Learners, stored_scope
from tool_search_processor.catalog.recent_requests import RecentRequests
from tool_search_processor.catalog.request_view import CatalogView
from tool_search_processor.concurrency.patience import Patience
from tool_search_processor.concurrency.rare_warnings import RareWarnings
from tool_search_processor.errors import ConfigurationError
from tool_search_processor.search.experience.entries import (
    ANY_MARK,
    Entry,
    Limits,
    Observation,
    chosen,
    hashed,
    request_text,
)
from tool_search_processor.stores.experience.memory import MemoryExperienceStore
from tool_search_processor.stores.experience.protocol import ExperienceStore
from tool_search_processor.tools import Tool
from tool_search_processor.wire.checks import (
    check_callable,
    check_choice,
    check_count,
    check_positive,
    refuse,
)

Keep = Literal["text", "terms"]

_DAY = 24 * 3600.0
_FADE_SECONDS = 60.0
_BUSY_SECONDS = 2.0
"""How long what was learned may wait to be used, where more than a few tools have been learned for."""
_QUICK_TOOLS = 20
_PATIENCE_SECONDS = 1.0
"""The longest that a search, or a call that is learned from, waits for the store."""
_SCHEMA = "_schema_hash"
_HASH = re.compile(r"[0-9a-f]{16}")


class Experience:
    """What a search has learned from use: the requests after which a tool was called with success.

    ```python
    experience = Experience(scope=lambda context: context.get("tenant"))
    search = ToolSearchProcessor([create_issue], experience=experience)
    ```

    It learns the queries of the search tool and the user's turn. They count as example requests of the tool
    (`Tool.example_requests`) in searches only, and no model and no user is ever sent any of it. What they can
    add to a tool is limited: all that one thread asks counts as one request, and all requests together add no
    more than a perfect answer has. Whatever is learned, the filter decides what is found.

    A tool whose parameters or origin have changed starts from nothing. A store that fails causes a warning,
    and no search or call fails; a store that hangs holds one up for a second, and then nobody.
    """

    def __init__(
        self,
        store: ExperienceStore | None = None,
        *,
        scope: ContextFunction | None = None,
        user: ContextFunction | None = None,
        keep: Keep = "text",
        half_life_seconds: float = 30 * _DAY,
        max_requests: int = 20,
        max_tools: int = 200,
        max_bytes: int = 2_000_000,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Choose what is learned, from whom, and where it is kept.

        Args:
            store: Where it is kept; in this process by default.
            scope: Returns, from a request's context, who learns together, such as the tenant; by default all
                requests do. It may be async, and returns a string, a whole number, a UUID, or a tuple of
                these. If it fails or returns None or anything else, the request neither learns nor uses
                what was learned.
            user: Returns, from a request's context, its user, as `scope` does; by default the context's
                `user`, or its `id` (of a token's claims, their `sub`). Where several users have taught, all
                that one user asks counts as one request for a tool, and `forget(user=...)` forgets it. If it
                fails, nothing is learned from the request. None is a user who is unknown: each thread counts.
            keep: "text" keeps requests as they were asked; "terms" only their words, sorted, so that no
                sentence can be read.
            half_life_seconds: The time after which a request counts half.
            max_requests: The most requests of a tool, at most 100.
            max_tools: The most tools of a scope, at most 256; those that most users or threads called stay.
            max_bytes: The most bytes of a scope; the tools that the fewest have called go first.
            clock: Returns the time in seconds.

        Raises:
            ConfigurationError: If an option can't work.
        """
        check_callable("scope", scope, "(context) -> scope", optional=True)
        check_callable("user", user, "(context) -> user", optional=True)
        check_callable("clock", clock, "() -> seconds")
        check_choice("keep", keep, ("text", "terms"))
        check_positive("half_life_seconds", half_life_seconds, finite=True)
        check_count("max_requests", max_requests, most=100)
        check_count("max_tools", max_tools, most=256)
        check_count("max_bytes", max_bytes)
        if store is not None and (isinstance(store, type) or not isinstance(store, ExperienceStore)):
            raise ConfigurationError(
                f"store must have the methods of ExperienceStore, found {store!r:.80}: "
                "create one, such as MemoryExperienceStore()"
            )
        self.store: ExperienceStore = store or MemoryExperienceStore()
        self._warnings = RareWarnings(logging.getLogger(__name__))
        self._learners = Learners(scope, user, warnings=self._warnings)
        self._recent = RecentRequests()
        self._as_terms = keep == "terms"
        self._limits = Limits(half_life_seconds=half_life_seconds, max_requests=max_requests)
        self._max_tools = max_tools
        self._clock = clock
        self._patience = Patience(_PATIENCE_SECONDS)
        self._scopes = KnownScopes(
            self.store,
            limits=self._limits,
            max_tools=max_tools,
            max_bytes=max_bytes,
            warnings=self._warnings,
            patience=self._patience,
        )

    # -- what searches use

    async def applied(self, view: CatalogView, context: Mapping[str, Any]) -> CatalogView:
        """Return a view whose searches count what was learned in the request's scope."""
        try:
            return await self._applied(view, context)
        except Exception:  # noqa: BLE001 - nothing in the store may make a search fail
            self._warnings.warn("what was learned can't be used", exc_info=True)
            return view

    async def _applied(self, view: CatalogView, context: Mapping[str, Any]) -> CatalogView:
        scope = await self._learners.scope(context)
        if scope is None:
            return view
        known = await self._scopes.known(scope)
        now, place = self._clock(), (view.shared.generation, view.own.generation)
        made = known.made
        # Requests fade over days, so a choice made a minute ago still holds if nothing was learned since.
        # Taking in each call of a busy catalog at once would cost more than the searches.
        age = math.inf if made is None else abs(now - made.time)
        is_new = made is not None and made.changes != known.changes
        if (
            made is None
            or made.place != place
            or age > _FADE_SECONDS
            or (is_new and (len(known.tools) <= _QUICK_TOOLS or age > _BUSY_SECONDS))
        ):
            changes = known.changes
            valid = {
                name: held.entry
                for name, held in known.tools.items()
                if (tool := view.get(name)) is not None and held.entry.mark in (ANY_MARK, _mark(tool, view))
            }
            requests = chosen(valid, now, self._limits, max_tools=self._max_tools)
            learned = LearnedRequests(requests) if requests else None
            made = known.made = ChosenRequests(changes, now, place, learned)
        return view.with_requests(made.requests)

    # -- what is learned

    async def note(
        self,
        thread: str | None,
        queries: Iterable[str],
        found: Iterable[str],
        *,
        context: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        """Remember what a thread has searched for, and the tools that it found."""
        learner = None if thread is None else await self._learners.learner(context)
        if thread is not None and learner is not None:
            self._recent.note(thread, learner, filter(None, map(self._request, queries)), found)

    async def learn(
        self, tool: Tool, view: CatalogView, *, thread: str | None, context: Mapping[str, Any], turn: str = ""
    ) -> None:
        """Learn from a successful call: the searches that found its tool, and the user's turn.

        If no search found the tool, the thread's latest searches are learned instead.

        Args:
            tool: The catalog's tool that was called.
            view: What the request sees.
            thread: The thread, or the run of a caller without one.
            context: The request's own data.
            turn: The last message of the user.
        """
        await self._patience.wait_for(self._learned(tool, view, thread, context, turn))

    async def _learned(
        self, tool: Tool, view: CatalogView, thread: str | None, context: Mapping[str, Any], turn: str
    ) -> None:
        try:
            await self._learn(tool, view, thread, context, turn)
        except Exception:  # noqa: BLE001 - the call succeeded, and must not fail because of this
            self._warnings.warn("a call could not be learned from", exc_info=True)

    async def _learn(
        self, tool: Tool, view: CatalogView, thread: str | None, context: Mapping[str, Any], turn: str
    ) -> None:
        if thread is None or view.get(tool.name) is None:
            return
        learner = await self._learners.learner(context)
        if learner is None:
            return
        asked = self._recent.before(thread, learner, tool.name)
        lines = tuple(dict.fromkeys(text for text in (*asked, self._request(turn)) if text))
        if lines:
            seen = Observation(
                lines=lines,
                tool=tool.name,
                mark=_mark(tool, view),
                thread=hashed(thread),
                user=learner.user,
                time=self._clock(),
            )
            await self._scopes.add(learner.scope, seen)

    def _request(self, text: str) -> str:
        return request_text(text, as_terms=self._as_terms)

    # -- for programs

    async def forget(
        self, *, tool: str | None = None, thread_id: str | None = None, user: object = None
    ) -> int:
        """Forget, in every scope, what was learned of a tool, or from a thread or a user.

        Returns:
            How many tools' experience has changed.

        Raises:
            ConfigurationError: If nothing says what to forget.
            Exception: What the store raises, so that nobody takes for forgotten what is still there.
        """
        if tool is None and thread_id is None and user is None:
            raise ConfigurationError("say what to forget: tool=, thread_id= or user=")
        thread, whose = hashed(thread_id) or None, hashed(user) or None
        self._recent.forget(thread=thread_id, user=whose)
        changed = 0
        for scope in await self.store.scopes():
            for name, text in (await self.store.read(scope)).items():
                if tool is not None and name != tool:
                    continue
                changed += await self._forgotten(scope, name, text, thread=thread, user=whose)
        self._scopes.clear()
        if (purge := getattr(self.store, "purge", None)) is not None:
            await purge()
        return changed

    async def export(self) -> list[dict[str, Any]]:
        """Return everything that is known, as plain dicts: one for each request, tool and thread.

        Threads and users are hashes. Written as JSON Lines it is a file for `tool-search eval --history`, and
        `load` takes it back.
        """
        records: list[dict[str, Any]] = []
        for scope in await self.store.scopes():
            for name, text in sorted((await self.store.read(scope)).items()):
                entry = Entry.from_json(text)
                for thread, asked in entry.threads.items():
                    common = {"tool": name, "mark": entry.mark, "thread": thread, "user": asked.user}
                    records += [
                        {"query": line, **common, "time": asked.time, "scope": scope} for line in asked.lines
                    ]
        return records

    async def load(self, records: Iterable[Mapping[str, Any]]) -> int:
        """Learn what `export` returned, or `tool-search learn` wrote; return how many requests were learned.

        A record needs `query` and `tool` (or `tools`). Without a `mark` it holds for any tool of that name. A
        `thread` or `user` that is not a hash yet becomes one.
        """
        taken = 0
        for number, record in enumerate(records):
            names = record.get("tools") or [record.get("tool")]
            request = request_text(str(record.get("query") or ""), as_terms=self._as_terms)
            for name in names if isinstance(names, list | tuple) else [names]:
                if not request or not isinstance(name, str):
                    continue
                observation = Observation(
                    lines=(request,),
                    tool=name,
                    mark=str(record.get("mark", ANY_MARK)),
                    thread=_hash_of(record.get("thread")) or hashed(f"record {number}"),
                    user=_hash_of(record.get("user")),
                    time=_time_of(record, latest=self._clock()),
                )
                taken += await self._scopes.add(stored_scope(str(record.get("scope") or "")), observation)
        return taken

    async def aclose(self) -> None:
        """Close the store."""
        await self._patience.finish()
        await self.store.aclose()

    # -- the store

    async def _forgotten(
        self, scope: str, name: str, text: str | None, *, thread: str | None, user: str | None
    ) -> bool:
        while text is not None:
            old = Entry.from_json(text)
            is_whole = thread is None and user is None
            entry = Entry() if is_whole else old.without(thread=thread, user=user)
            if entry == old:
                return False
            if await self.store.swap(scope, name, text, entry.to_json() if entry.threads else None):
                return True
            text = (await self.store.read(scope)).get(name)
        return False


def _hash_of(given: object) -> str:
    """Return a thread or a user of a record as a hash, so that `forget` finds it; empty for none."""
    if given is None or given == "":
        return ""
    return given if isinstance(given, str) and _HASH.fullmatch(given) else hashed(given)


def _time_of(record: Mapping[str, Any], *, latest: float) -> float:
    """Return when a record was made; `latest` if it doesn't say, or counts in other units than seconds."""
    time = record.get("time")
    return float(time) if isinstance(time, int | float) and 0 < time < latest else latest


def _mark(tool: Tool, view: CatalogView) -> str:
    """Return a hash of a tool's schema, and where it comes from."""
    schema = tool.__dict__.get(_SCHEMA)
    if schema is None:
        text = json.dumps(tool.parameters, sort_keys=True, default=repr)
        schema = tool.__dict__[_SCHEMA] = hashlib.sha256(text.encode()).hexdigest()[:16]
    return f"{schema}{view.mark(tool.name) or ''}"


def check_experience(experience: object) -> None:
    """Refuse anything but an `Experience` or None.

    Raises:
        ConfigurationError: If it is neither an `Experience` nor None.
    """
    if experience is not None and not isinstance(experience, Experience):
        refuse("experience", "an Experience(...)", experience, optional=True)
