"""Ways to run a front: over standard input and output, and over HTTP."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, Self, Unpack

from tool_search_processor.errors import ConfigurationError
from tool_search_processor.server.hosts import names_for
from tool_search_processor.server.mcp.handlers import ALL_CHANGES, ProtocolServer
from tool_search_processor.server.protection import Limits
from tool_search_processor.server.serving import MAX_CONNECTIONS, run_blocking, serve

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from tool_search_processor.server.access import TokenCheck

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


class Runner(ABC):
    """Runs a front, and closes it at the end."""

    lowlevel: ProtocolServer
    _token: TokenCheck | None

    @abstractmethod
    def http_app(self, *, path: str, **limits: Unpack[Limits]) -> Starlette:
        """Return an ASGI app with a lifespan."""

    @abstractmethod
    def end_streams(self) -> None:
        """End the streams that have no end."""

    @abstractmethod
    async def aclose(self) -> None:
        """Close the providers."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

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
        from mcp.server.stdio import stdio_server

        from tool_search_processor.server.mcp.stdio import MendedMessages

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
