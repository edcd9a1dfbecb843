"""Notifies each client when its own list has changed, and only then."""

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
"""The most streams of changes that are open at one time; further ones are refused."""

POLL_SECONDS = 1.0
"""How often providers are checked for changes of their own."""

Mark = Callable[[FrontRequest, Kind], Awaitable[str]]
"""Returns a mark of the list that a request would get now: equal for equal lists."""

Tell = Callable[[ServerEvent], Awaitable[object]]
"""Notifies a client that a list has changed."""

_Event = ToolsListChanged | ResourcesListChanged | PromptsListChanged

_EVENTS: Mapping[type[_Event], tuple[Kind, ...]] = {
    ToolsListChanged: ("tool",),
    ResourcesListChanged: ("resource", "resource_template"),
    PromptsListChanged: ("prompt",),
}
"""The notification for a change in each list."""


@dataclass(eq=False, slots=True)
class _Watched:
    """One client, and a mark of the last list of each kind that it knows of."""

    request: FrontRequest
    tell: Tell
    marks: dict[Kind, str]
    is_due: bool = False
    look: asyncio.Task[None] | None = None
    """The check under way; a slow client keeps no other waiting."""


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
        """Watch the clients until the block is left."""
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
        """Schedule a check of every client's lists; from any thread."""
        with contextlib.suppress(RuntimeError):  # the loop has ended, and its clients with it
            self._loop.call_soon_threadsafe(self._changed.set)

    async def watch(self, request: FrontRequest, tell: Tell) -> None:
        """Begin to notify a new session of changes to the tools that it would be listed now.

        Of resources and prompts it hears once it has listed them: what nobody asks for is not read.
        """
        mark = await self._mark(request, "tool")
        watched = self._watched.setdefault(request.session, _Watched(request, tell, {}))
        watched.marks.setdefault("tool", mark)

    def listed(self, request: FrontRequest, tell: Tell, *, kind: Kind, mark: str) -> None:
        """Notify a session of changes to the list that it is getting."""
        earlier = self._drop(request.session)
        watched = _Watched(request, tell, {**(earlier.marks if earlier else {}), kind: mark})
        self._watched[request.session] = watched
        if earlier is not None and earlier.look is not None:
            self._look_at(watched)  # the other lists, whose check was under way

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

        Changes of a single resource's content are not sent; the stream begins with the changes it covers.

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
                    await asyncio.sleep(0)  # lets requests be answered between two clients

    def _look_at(self, watched: _Watched) -> None:
        watched.is_due = True
        if watched.look is None:
            watched.look = asyncio.create_task(self._keep_up(watched))

    async def _keep_up(self, watched: _Watched) -> None:
        """Check a client's lists, and again if another check was asked for meanwhile."""
        try:
            while watched.is_due:
                watched.is_due = False
                for event, kinds in _EVENTS.items():
                    await self._keep_up_with(kinds, event, watched)
        except Exception:  # a provider or a hook failed
            logger.warning("a client could not be notified of a change", exc_info=True)
        finally:
            watched.look = None

    async def _keep_up_with(self, kinds: tuple[Kind, ...], event: type[_Event], watched: _Watched) -> None:
        """Check the lists of one notification, and send it before other lists are read."""
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
    """Return a mark of a list, given one string for each item: equal for equal lists."""
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()


def _kinds(wanted: SubscriptionFilter) -> Iterator[Kind]:
    """Yield the kinds of change that a stream asks for."""
    asked = (wanted.tools_list_changed, wanted.resources_list_changed, wanted.prompts_list_changed)
    return (
        kind for is_asked, kinds in zip(asked, _EVENTS.values(), strict=True) if is_asked for kind in kinds
    )
