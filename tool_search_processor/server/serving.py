"""Runs an ASGI app until it is stopped, and lets requests that are under way end."""

from __future__ import annotations

import asyncio
import signal
import socket
import sys
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from tool_search_processor.errors import RunningLoopError, ToolSearchError
from tool_search_processor.server.connections import limited_connection
from tool_search_processor.server.options import MAX_CONNECTIONS
from tool_search_processor.wire.checks import check_count

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_OF_ALL_ADDRESSES = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - looked up only


async def serve(
    app: ASGIApp,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    path: str = "",
    ready: Callable[[str], object] | None = None,
    stopping: Callable[[], object] | None = None,
    grace_seconds: int = 10,
    idle_seconds: float = 30.0,
    max_connections: int = MAX_CONNECTIONS,
) -> None:
    """Serve an app over HTTP until SIGINT, SIGTERM or cancellation.

    When stopped, it takes no more connections and waits for the requests that are under way.

    Args:
        app: What answers.
        host: The address to bind to.
        port: 0 takes a free one.
        path: What of it clients need, to be told with its URL.
        ready: Called with that URL once it can be reached; None prints it.
        stopping: Called when the server is about to stop: the place to end streams that have no end.
        grace_seconds: How long requests that are under way may go on then.
        idle_seconds: How long a client may take to send the head of a request, and how long it may read
            nothing of an answer.
        max_connections: The most open connections; further ones are closed at once.

    Raises:
        ConfigurationError: When `port` is not a port.
        OSError: When the address is in use, or is not one of this machine.
        ToolSearchError: When the app could not start; the log says why.
    """
    check_count("port", port, least=0, most=65535)
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        log_level="warning",
        lifespan="on",
        ws="none",
        http=limited_connection(idle_seconds=idle_seconds, max_connections=max_connections),
        timeout_graceful_shutdown=grace_seconds,
    )
    tell = ready or _print_url
    server = _Server(config, ready=lambda url: tell(f"{url}{path}"), stopping=stopping)
    # Bound here: uvicorn would end the process if the address is in use.
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.create_server((host, port), family=family, backlog=config.backlog)
    drop_the_vanished(listener, seconds=idle_seconds)
    # In a task of its own: a cancelled server would leave its sockets and its lifespan open.
    task = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        server.should_exit = True
        await task
        raise
    finally:
        listener.close()


def reachable_name(host: str) -> str:
    """Return the name, as URLs have it, by which a client on this machine reaches a host's server."""
    name = _OF_ALL_ADDRESSES.get(host, host)
    return f"[{name}]" if ":" in name else name


def _print_url(url: str) -> None:
    sys.stdout.write(f"Serving at {url} (Ctrl+C ends)\n")
    sys.stdout.flush()


def run_blocking(start: Callable[[], Coroutine[Any, Any, None]], *, door: str, instead: str) -> None:
    """Run a server in an event loop of its own until it ends; Ctrl+C ends it, too.

    Args:
        start: Makes the coroutine that runs it.
        door: What the user called, for the error.
        instead: What to write inside a running loop, for the error.

    Raises:
        RunningLoopError: The calling thread runs an event loop.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        with suppress(KeyboardInterrupt):
            asyncio.run(start())
        return
    raise RunningLoopError(f"{door} was called inside a running event loop: use {instead}")


def drop_the_vanished(listener: socket.socket, *, seconds: float) -> None:
    """Close connections whose client's network is gone: Linux itself would retry for a quarter of an hour.

    Until then the stream of such a client would stay open.
    """
    if hasattr(socket, "TCP_USER_TIMEOUT"):  # Linux; a connection has what its listener has
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(seconds * 1000))


class _Server(uvicorn.Server):
    """Reports its URL, and that it stops."""

    def __init__(
        self,
        config: uvicorn.Config,
        *,
        ready: Callable[[str], object],
        stopping: Callable[[], object] | None,
    ) -> None:
        super().__init__(config)
        self._ready = ready
        self._stopping = stopping

    # Why not uvicorn's own: it raises the signal again at the end, when the runner has things to close. And
    # nothing may be bound to the server here: sse-starlette would see it stop, and break off open answers.
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def stop(_signal: int, _frame: FrameType | None) -> None:
            self.should_exit = True

        before = {number: signal.signal(number, stop) for number in _SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    async def startup(self, sockets: Any = None) -> None:
        with suppress(SystemExit):  # raised by uvicorn when the app refused to start
            await super().startup(sockets)
        if not self.started:
            raise ToolSearchError("the app could not start: the log says why")
        port = self.servers[0].sockets[0].getsockname()[1]
        self._ready(f"http://{reachable_name(self.config.host)}:{port}")

    async def shutdown(self, sockets: Any = None) -> None:
        if self._stopping is not None:
            self._stopping()
        await super().shutdown(sockets)
