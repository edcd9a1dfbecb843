"""Tells clients that what they were listed has changed: each one, and only when its own list has."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    PromptsListChanged,
    ResourcesListChanged,
    ServerEvent,
    ToolsListChanged,
)
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    SubscriptionFilter,
    SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
)

from tool_search_processor.server.mcp.client_requests import FrontRequest
from tool_search_processor.server.mcp.sessions import Session
from tool_search_processor.transforms.transform import Kind

logger = logging.getLogger(__name__)

MAX_STREAMS = 1024
"""Streams of changes that are open at one time; a client that asks for one more is refused."""

POLL_SECONDS = 1.0
"""How often it is looked whether a provider has changed by itself."""

Mark = Callable[[FrontRequest, Kind], Awaitable[str]]
"""Returns a mark of what a request would be listed now: equal for equal lists."""

Tell = Callable[[ServerEvent], Awaitable[object]]
"""Tells a client that a list has changed."""

_Event = ToolsListChanged | ResourcesListChanged | PromptsListChanged

_EVENTS: Mapping[type[_Event], tuple[Kind, ...]] = {
    ToolsListChanged: ("tool",),
    ResourcesListChanged: ("resource", "resource_template"),
    PromptsListChanged: ("prompt",),
}
"""What is told of a change in which lists."""


@dataclass(eq=False, slots=True)
class _Watched:
    """One client, and a mark of the last list of each kind that it was told of."""

    request: FrontRequest
    tell: Tell
    marks: dict[Kind, str]
    is_due: bool = False
    look: asyncio.Task[None] | None = None
    """Under way; a client that is slow to be looked at or told keeps nobody else waiting."""


class Hub:
    """The clients of one connection or of one HTTP app, watched for changes of their lists."""

    def __init__(self, session: Session, *, mark: Mark, version: Callable[[], object]) -> None:
        """Begin without clients.

        Args:
            session: That of a connection which is one session; HTTP has one for each client.
            mark: Returns a mark of what a request is listed of one kind.
            version: Returns a cheap mark of the catalog.
        """
        self.session = session
        self._mark = mark
        self._version = version
        self._loop = asyncio.get_running_loop()
        self._changed = asyncio.Event()
        self._watched: dict[object, _Watched] = {}
        self._streams: set[ListenHandler] = set()

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Look after the clients until the block is left."""
        task = asyncio.create_task(self._run())
        try:
            yield
        finally:
            self.close()
            tasks = {task, *(each.look for each in self._watched.values() if each.look is not None)}
            for each in tasks:
                each.cancel()
            await asyncio.wait(tasks)

    def changed(self) -> None:
        """Have every client's list looked at again, soon; from any thread."""
        with contextlib.suppress(RuntimeError):  # the loop has ended, and its clients with it
            self._loop.call_soon_threadsafe(self._changed.set)

    async def watch(self, request: FrontRequest, tell: Tell) -> None:
        """Tell a session that has just begun of changes to the tools that it would be listed now.

        Of resources and prompts it hears once it has listed them: what nobody asks for is not read.
        """
        mark = await self._mark(request, "tool")
        watched = self._watched.setdefault(request.session, _Watched(request, tell, {}))
        watched.marks.setdefault("tool", mark)

    def listed(self, request: FrontRequest, tell: Tell, *, kind: Kind, mark: str) -> None:
        """Tell a session of changes to what it is being listed."""
        earlier = self._drop(request.session)
        watched = _Watched(request, tell, {**(earlier.marks if earlier else {}), kind: mark})
        self._watched[request.session] = watched
        if earlier is not None and earlier.look is not None:
            self._look_at(watched)  # at the other lists, for which it was under way

    def forget(self, session: Session) -> None:
        """Stop watching a session that has ended."""
        self._drop(session)

    async def listen(
        self,
        request: FrontRequest,
        ctx: ServerRequestContext[Any, Any],
        params: SubscriptionsListenRequestParams,
    ) -> SubscriptionsListenResult:
        """Serve one stream of changes, as clients without a handshake ask for it.

        Of a single resource's content none is told; the stream begins with what it will tell of.

        Raises:
            MCPError: When too many are open.
        """
        if len(self._streams) >= MAX_STREAMS:
            raise MCPError(INTERNAL_ERROR, "Too many streams of changes are open")
        heard = params.notifications.model_copy(update={"resource_subscriptions": None})
        params = params.model_copy(update={"notifications": heard})
        bus = InMemorySubscriptionBus()
        stream = ListenHandler(bus)
        marks = {kind: await self._mark(request, kind) for kind in _kinds(params.notifications)}
        self._watched[stream] = _Watched(request, bus.publish, marks)
        self._streams.add(stream)
        try:
            return await stream(ctx, params)
        finally:
            self._streams.discard(stream)
            self._drop(stream)

    def close(self) -> None:
        """End the streams of changes, so that nothing waits for them."""
        for stream in tuple(self._streams):
            stream.close()

    async def _run(self) -> None:
        seen = self._version()
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(POLL_SECONDS):
                    await self._changed.wait()
            version = self._version()
            if version == seen and not self._changed.is_set():
                continue
            seen = version
            self._changed.clear()
            for client, watched in tuple(self._watched.items()):
                if self._watched.get(client) is watched:
                    self._look_at(watched)
                    await asyncio.sleep(0)  # requests are answered between one client's lists and the next

    def _look_at(self, watched: _Watched) -> None:
        watched.is_due = True
        if watched.look is None:
            watched.look = asyncio.create_task(self._keep_up(watched))

    async def _keep_up(self, watched: _Watched) -> None:
        """Look at a client's lists, and once more where they were to be looked at meanwhile."""
        try:
            while watched.is_due:
                watched.is_due = False
                for event, kinds in _EVENTS.items():
                    await self._keep_up_with(kinds, event, watched)
        except Exception:  # a provider or a hook failed
            logger.warning("a client could not be told of a change", exc_info=True)
        finally:
            watched.look = None

    async def _keep_up_with(self, kinds: tuple[Kind, ...], event: type[_Event], watched: _Watched) -> None:
        """Look at the lists that one message tells of, and tell before others are read."""
        marks = {kind: await self._mark(watched.request, kind) for kind in kinds if kind in watched.marks}
        if any(mark != watched.marks[kind] for kind, mark in marks.items()):
            await watched.tell(event())
            watched.marks.update(marks)

    def _drop(self, client: object) -> _Watched | None:
        watched = self._watched.pop(client, None)
        if watched is not None and watched.look is not None:
            watched.look.cancel()
        return watched


def mark_of(texts: Iterable[str]) -> str:
    """Return a mark of a list, each item of which is told by one text: equal for equal lists."""
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()


def _kinds(wanted: SubscriptionFilter) -> Iterator[Kind]:
    """Yield what a stream is asked to tell of."""
    if wanted.tools_list_changed:
        yield from _EVENTS[ToolsListChanged]
    if wanted.resources_list_changed:
        yield from _EVENTS[ResourcesListChanged]
    if wanted.prompts_list_changed:
        yield from _EVENTS[PromptsListChanged]
