"""How a front runs, over standard input and output or over HTTP, and what its clients hear meanwhile."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Literal, Unpack

from mcp.server.stdio import stdio_server
from starlette.applications import Starlette

from tool_search_processor.catalog.serving import CatalogServer
from tool_search_processor.errors import ConfigurationError
from tool_search_processor.server.access import TokenCheck
from tool_search_processor.server.hosts import names_for
from tool_search_processor.server.mcp.handlers import ALL_CHANGES, FrontHandlers, ProtocolServer
from tool_search_processor.server.mcp.http import Sessions, http_app
from tool_search_processor.server.mcp.hub import Hub
from tool_search_processor.server.mcp.rules import SessionRules, UserRules
from tool_search_processor.server.mcp.server_options import FrontOptions
from tool_search_processor.server.mcp.sessions import Session, SessionTable
from tool_search_processor.server.mcp.stdio import MendedMessages
from tool_search_processor.server.options import MAX_CONNECTIONS
from tool_search_processor.server.protection import Limits
from tool_search_processor.server.serving import run_blocking, serve

if TYPE_CHECKING:
    from tool_search_processor.server.metrics import ServerMetrics

logger = logging.getLogger(__name__)

Transport = Literal["stdio", "http"]


class HttpOptions(Limits, total=False):
    """The options of `run_http`, which explains them."""

    host: str
    port: int
    path: str
    ready: Callable[[str], object] | None
    grace_seconds: int
    max_connections: int


class Runner(CatalogServer):
    """Runs a front, notifies its clients of changes, and closes it at the end."""

    options: FrontOptions
    lowlevel: ProtocolServer
    _handlers: FrontHandlers
    _token: TokenCheck | None
    _clock: Callable[[], float]

    def __init__(self) -> None:
        """Begin without clients."""
        self._hubs: set[Hub] = set()
        self._closing = asyncio.Event()
        self.metrics: ServerMetrics | None = None
        """Figures of the searches and calls, once there is an HTTP app that shows them."""

    def run(self, transport: Transport = "stdio", **options: Unpack[HttpOptions]) -> None:
        """Serve until the client leaves, or until SIGINT or SIGTERM: the last line of a script.

        ```python
        if __name__ == "__main__":
            server.run("http", port=8000)
        ```

        Args:
            transport: The one client at standard input and output, or many over HTTP.
            options: What `run_http` takes.

        Raises:
            ConfigurationError: For another transport, and what `run_http` refuses.
            RunningLoopError: Inside a running event loop, where `run_stdio` and `run_http` are awaited.
        """
        if transport == "stdio" and not options:
            run_blocking(self.run_stdio, door="ToolServer.run", instead="await server.run_stdio()")
        elif transport == "http":
            run_blocking(
                lambda: self.run_http(**options), door="ToolServer.run", instead="await server.run_http(...)"
            )
        else:
            raise ConfigurationError(
                f"transport is 'stdio', which takes no options, or 'http', found {transport!r} with "
                f"{', '.join(options) or 'none'}"
            )

    async def run_stdio(self) -> None:
        """Serve the one client at standard input and output until it leaves; then close the providers."""
        options = self.lowlevel.create_initialization_options(ALL_CHANGES)
        try:
            async with self, stdio_server() as (read_stream, write_stream):
                await self.lowlevel.run(MendedMessages(read_stream), write_stream, options)
        except* BrokenPipeError:
            logger.debug("the client left without waiting for its answers")

    async def run_http(
        self,
        host: str = "127.0.0.1",
        port: int = 8000,
        *,
        path: str = "/mcp",
        ready: Callable[[str], object] | None = None,
        grace_seconds: int = 10,
        max_connections: int = MAX_CONNECTIONS,
        **limits: Unpack[Limits],
    ) -> None:
        """Serve HTTP clients until SIGINT or SIGTERM, let calls end, and close the providers.

        If a client's connection breaks during a call, the call ends: its result could not be delivered.

        Args:
            host: The address to bind to. One that other machines can reach needs `authenticate`.
            port: 0 takes a free one.
            path: Where the endpoint is.
            ready: Called with the endpoint's URL once it can be reached; None prints it.
            grace_seconds: How long calls that are under way may go on after the signal.
            max_connections: The most open connections; a client that waits for changes keeps one open.
            limits: What `Protection` takes: `allowed_hosts`, `max_body_bytes`, `requests_per_second` …

        Raises:
            ConfigurationError: When other machines could reach it without a token, or a limit can't work.
        """
        limits.setdefault("allowed_hosts", names_for(host, self._token, how="ToolServer(authenticate=...)"))
        async with self:
            await serve(
                self.http_app(path=path, **limits),
                host=host,
                port=port,
                path=path,
                ready=ready,
                stopping=self.end_streams,
                grace_seconds=grace_seconds,
                max_connections=max_connections,
            )

    def notify_changed(self) -> None:
        """Notify the clients whose list has changed; from any thread.

        The server itself notices what is registered, what a session's rules switch, and, within a second,
        that a provider's version has moved. Call this after any other change, such as of a policy.
        """
        for hub in tuple(self._hubs):
            hub.changed()

    def http_app(self, *, path: str = "/mcp", **limits: Unpack[Limits]) -> Starlette:
        """Return an ASGI app with a lifespan, for a server of your own, which also has to call `aclose`.

        Besides the endpoint it has `/metrics`, figures of the searches and calls for Prometheus, and `/`,
        which shows people where the endpoint is.
        An app that mounts it has to enter its `router.lifespan_context(app)`: mounting alone starts nothing.

        Args:
            path: Where the endpoint is.
            limits: What `Protection` takes. Only clients that call the host by a loopback name are
                served, unless `allowed_hosts` says otherwise.

        Raises:
            ConfigurationError: For a limit that can't work.
        """
        from tool_search_processor.server.metrics import ServerMetrics  # needs a package that stdio doesn't

        limits.setdefault("open_paths", ("/",))
        self.metrics = self.metrics or ServerMetrics()
        self._closing = asyncio.Event()
        return http_app(
            self.lowlevel,
            self._sessions(),
            path=path,
            closing=self._closing,
            metrics=self.metrics,
            token=self._token,
            limits=limits,
        )

    def end_streams(self) -> None:
        """End the streams that have no end, so that a server of your own can stop at once."""
        self._closing.set()
        for hub in tuple(self._hubs):
            hub.close()

    async def aclose(self) -> None:
        """Close the providers.

        Raises:
            ExceptionGroup: What the failing ones raised.
        """
        if self.options.experience is not None:
            await self.options.experience.aclose()
        await self.catalog.aclose()

    def _sessions(self) -> Sessions:
        options, clock, changed = self.options, self._clock, self.notify_changed
        ttl_seconds = options.session_ttl_seconds
        has_users = self._token is not None
        return Sessions(
            options=options,
            table=SessionTable(ttl_seconds, ended=self._forget, clock=clock) if options.has_table else None,
            changed=changed,
            users=UserRules(ttl_seconds, changed=changed, clock=clock) if has_users else None,
        )

    def _forget(self, session: Session) -> None:
        for hub in tuple(self._hubs):
            hub.forget(session)

    @asynccontextmanager
    async def _lifespan(self, _: Any) -> AsyncIterator[Hub]:
        """Run a hub for one connection, or for one HTTP app."""
        rules = SessionRules(holds_for="session", changed=self.notify_changed)
        session = Session(mode=self.options.mode, rules=rules, id=uuid.uuid4().hex)
        hub = Hub(session, mark=self._handlers.mark, version=self.catalog.marks)
        async with hub.running():
            self._hubs.add(hub)
            try:
                yield hub
            finally:
                self._hubs.discard(hub)
