"""`Gateway`: many MCP servers and APIs as one MCP server, with a REST endpoint and a page."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import asdict, replace
from typing import Any, Unpack

try:
    from starlette.applications import Starlette
    from starlette.requests import Request
except ImportError as exc:
    raise ImportError('Gateway needs Starlette: pip install "tool-search-processor[server]"') from exc

from tool_search_processor.catalog import CatalogStatus, ProviderStatus
from tool_search_processor.catalog.drift import OnChange
from tool_search_processor.catalog.serving import CatalogServer
from tool_search_processor.policy.filters import Filter
from tool_search_processor.providers.given import ToolSource
from tool_search_processor.search.strategies import Strategy
from tool_search_processor.server.access import TokenCheck
from tool_search_processor.server.apps import make_app
from tool_search_processor.server.hosts import names_for
from tool_search_processor.server.mcp import ToolServer
from tool_search_processor.server.mcp.registry import REGISTERED
from tool_search_processor.server.mcp.server_options import ToolServerOptions
from tool_search_processor.server.mcp.tool_modes import Mode
from tool_search_processor.server.options import MAX_CONNECTIONS
from tool_search_processor.server.protection import CALLER_KEY, Limits
from tool_search_processor.server.rest.app import OPEN_PATHS, RestEndpoints
from tool_search_processor.server.rest.letta import checked_fields
from tool_search_processor.server.rest.search_modes import ModeSearch
from tool_search_processor.server.serving import serve

logger = logging.getLogger(__name__)

PATH = "/mcp"
"""The MCP endpoint; the other paths are for people, and for programs that don't speak MCP."""

_MASKED = "it failed: the server's log says why"


class Gateway(CatalogServer):
    """Serves what its upstreams offer, found by search: tools, and their resources and prompts.

    ```python
    gateway = Gateway(read_upstreams("servers.json"))
    asyncio.run(gateway.run_http())
    ```

    An upstream that is down or hangs is reported (`status`, `/health`, the log) and left out while the others
    are served; it is asked again until it is back. When an upstream's list changes, the clients are notified.
    What an upstream logs goes to the logger `tool_search_processor.providers.mcp.notices`, not to clients:
    they share one connection to it, and a line doesn't say whose call it is about.
    """

    def __init__(
        self,
        upstreams: ToolSource,
        *,
        name: str = "tool-search",
        mode: Mode = "discovery",
        search: Strategy = "bm25",
        token: TokenCheck | None = None,
        filter: Filter | None = None,  # noqa: A002 - as everywhere in this package
        on_change: OnChange = "warn",
        upstream_timeout_seconds: float | None = 10.0,
        tool_fields: Iterable[str] = (),
        **options: Unpack[ToolServerOptions],
    ) -> None:
        """Set up what is served; nothing is started yet.

        Args:
            upstreams: Providers, such as `read_upstreams` gives; tools and functions may stand between them.
            name: The server's name, as clients see it.
            mode: The mode of clients that don't ask for one; see `ToolServer`.
            search: How tools are searched; one index serves MCP and REST.
            token: The bearer token that HTTP clients need, or a function from a token to its user.
            filter: Who may find, be listed and call which tool; see `ToolServer`.
            on_change: "block" withholds a tool of an upstream whose definition has changed since it was
                first seen; "warn" serves it, and logs it.
            upstream_timeout_seconds: How long a client's first request waits for an upstream; the tools of a
                slower upstream are served as soon as it has answered.
            tool_fields: What else the REST endpoint shows of a tool; see `create_app`.
            options: Further options of `ToolServer`: `top_k`, `max_sessions`, `mask_error_details` …

        Raises:
            ConfigurationError: For an option that can't work; says what to do.
        """
        options.setdefault("search_when_empty", True)  # upstreams may come later
        self.server = ToolServer(
            upstreams,
            name=name,
            mode=mode,
            search=search,
            authenticate=token,
            filter=filter,
            on_change=on_change,
            provider_timeout_seconds=upstream_timeout_seconds,
            **options,
        )
        self.catalog = self.server.catalog
        self.search = ModeSearch(self.catalog, search, self.server.options)
        """Searches the same index for the REST endpoint."""
        self.tool_fields = checked_fields(tool_fields)
        self._token = token

    def __repr__(self) -> str:
        return f"<Gateway: {self.catalog!r}>"

    def status(self) -> CatalogStatus:
        """Return which upstreams are up, how many tools each has, and what was refused or has changed."""
        return self.catalog.status()

    def upstreams(self) -> list[ProviderStatus]:
        """Return the state of each upstream."""
        return [one for one in self.status().providers if one.name != REGISTERED]

    async def run_stdio(self, *, started: Callable[[], object] | None = None) -> None:
        """Serve the one client at standard input and output until it leaves; then close the upstreams.

        Args:
            started: Called once every upstream has answered or timed out.
        """
        async with self._started(started):
            await self.server.run_stdio()

    async def run_http(
        self,
        host: str = "127.0.0.1",
        port: int = 8000,
        *,
        ready: Callable[[str], object] | None = None,
        started: Callable[[], object] | None = None,
        grace_seconds: int = 10,
        max_connections: int = MAX_CONNECTIONS,
        **limits: Unpack[Limits],
    ) -> None:
        """Serve HTTP clients until SIGINT or SIGTERM, let calls end, and close the upstreams.

        Args:
            host: The address to bind to. One that other machines can reach needs a token.
            port: 0 takes a free one.
            ready: Called with the MCP endpoint's URL once it can be reached; None prints it.
            started: Called once every upstream has answered or timed out.
            grace_seconds: How long calls that are under way may go on after the signal.
            max_connections: The most open connections; further ones are closed at once.
            limits: What `Protection` takes: `allowed_hosts`, `max_body_bytes`, `requests_per_second` …

        Raises:
            ConfigurationError: When other machines could reach it without a token, or a limit can't work.
        """
        limits.setdefault("allowed_hosts", names_for(host, self._token, how="Gateway(token=...)"))
        await serve(
            self.http_app(started=started, **limits),
            host=host,
            port=port,
            path=PATH,
            ready=ready,
            stopping=self.server.end_streams,
            grace_seconds=grace_seconds,
            max_connections=max_connections,
        )

    def http_app(self, *, started: Callable[[], object] | None = None, **limits: Unpack[Limits]) -> Starlette:
        """Return an ASGI app, whose lifespan starts the upstreams and closes them.

        An app that mounts it has to enter its `router.lifespan_context(app)`: mounting alone starts nothing.

        `/mcp` speaks MCP; the rest is as `create_app` has it, over the same index, with the upstreams in
        `/health` to clients that have the token.

        Args:
            started: Called once every upstream has answered or timed out.
            limits: What `Protection` takes. Only clients that call the host by a loopback name are served,
                unless `allowed_hosts` says otherwise.

        Raises:
            ConfigurationError: For a limit that can't work.
        """
        limits.setdefault("open_paths", OPEN_PATHS)
        front = self.server.http_app(path=PATH, **limits)
        endpoints = GatewayEndpoints(self)

        @asynccontextmanager
        async def lifespan(_: Starlette) -> AsyncIterator[None]:
            async with front.router.lifespan_context(front), self._started(started):
                try:
                    yield
                finally:
                    await self.aclose()

        routes = [
            *endpoints.routes(has_token=self._token is not None),
            *front.routes,
        ]  # its own page, and not the front's greeting
        return make_app(routes, middleware=front.user_middleware, lifespan=lifespan)

    async def aclose(self) -> None:
        """Close the upstreams.

        Raises:
            ExceptionGroup: What the failing ones raised.
        """
        await self.server.aclose()

    @asynccontextmanager
    async def _started(self, started: Callable[[], object] | None) -> AsyncIterator[None]:
        """Start the upstreams while others are already served."""
        task = asyncio.create_task(self._start(started))
        try:
            yield
        finally:
            task.cancel()
            await asyncio.wait({task})

    async def _start(self, started: Callable[[], object] | None) -> None:
        try:
            view = await self.catalog.view()
            self.server.warn_of_missing(view)
            if started is not None:
                started()
            await self.catalog.indexes.prepare(view.shared)
        except Exception:  # foreign code of providers and indexes; the first request will meet it again
            logger.warning("the index could not be made ready", exc_info=True)


class GatewayEndpoints(RestEndpoints):
    """The REST endpoints of a gateway, whose health includes that of its upstreams."""

    def __init__(self, gateway: Gateway) -> None:
        """Serve the gateway's tools, and to callers with the token the state of its upstreams."""
        super().__init__(gateway.search, tool_fields=gateway.tool_fields, metrics=gateway.server.metrics)
        self._gateway = gateway

    def health(self, request: Request) -> dict[str, Any]:
        """Return that the gateway is up and, for callers with the token, the state of each upstream."""
        upstreams = self._gateway.upstreams()
        health = super().health(request)
        if any(one.up is False for one in upstreams):
            health["status"] = "degraded"
        if request.scope[CALLER_KEY] is not None:
            health["upstreams"] = [*map(asdict, map(self._shown, upstreams))]
        return health

    def _shown(self, upstream: ProviderStatus) -> ProviderStatus:
        """Return the state of an upstream, without its error where error details are masked."""
        is_masked = upstream.error is not None and self._gateway.server.options.mask_error_details
        return replace(upstream, error=_MASKED) if is_masked else upstream
