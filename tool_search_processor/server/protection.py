"""What stands before a server's HTTP endpoints: who may ask, from where, how much and how often."""

from __future__ import annotations

import asyncio
import ipaddress
import json
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, MutableMapping
from typing import Any
from urllib.parse import urlsplit

from cachetools import LRUCache

from tool_search_processor.errors import ConfigurationError
from tool_search_processor.server.access import Access, Caller, TokenCheck

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
ASGIApp = Callable[[Scope, Receive, Send], Awaitable[None]]

LOOPBACK = ("localhost", "127.0.0.1", "::1")
"""The names by which a browser on this machine reaches a server on it."""

MAX_BODY_BYTES = 4 * 1024 * 1024
CALLER_KEY = "tool_search_processor.caller"
"""Where a request's scope holds its `Caller`, once it was let in."""

_MAX_CLIENTS = 10_000


class Protection:
    """ASGI middleware that refuses what no endpoint should have to deal with.

    In this order: a foreign `Host` (421) or `Origin` (403), which is how a web page would reach a server
    on its visitor's machine; too many requests at once (503) or of one client (429); a missing or wrong
    token (401); a body that is too large (413) or too slow (408). A body is handed on whole.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        token: TokenCheck | None = None,
        allowed_hosts: Collection[str] | None = LOOPBACK,
        allowed_origins: Collection[str] = (),
        open_paths: Collection[str] = (),
        max_body_bytes: int = MAX_BODY_BYTES,
        body_timeout_seconds: float = 30.0,
        max_concurrent: int = 1000,
        requests_per_second: float | None = 1000.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Put limits before an app.

        Args:
            app: What answers the requests that pass.
            token: The one token, or a function from a token to its user; None lets everybody in.
            allowed_hosts: Names that a `Host` header may bear, whatever its port; None allows any.
            allowed_origins: Origins of web pages, such as `https://example.com`, that may ask beside
                those that this server itself gave out.
            open_paths: Paths that ask for no token.
            max_body_bytes: The largest body.
            body_timeout_seconds: The longest that a body may take to come in.
            max_concurrent: The most requests that are answered at one time, open streams among them.
            requests_per_second: How often one address may ask in the long run, and at most twice as often
                in one second. None sets no limit, for where a proxy stands before it.
            clock: What the rate is measured on, in seconds.

        Raises:
            ConfigurationError: For a limit that lets nothing through, or a single text as hosts.
        """
        for name, value in (("max_body_bytes", max_body_bytes), ("max_concurrent", max_concurrent)):
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ConfigurationError(f"{name} is a whole number of at least 1, found {value!r}")
        if body_timeout_seconds <= 0:
            raise ConfigurationError(f"body_timeout_seconds is above 0, found {body_timeout_seconds!r}")
        self._app = app
        self._access = Access(token)
        self._hosts = None if allowed_hosts is None else _texts("allowed_hosts", allowed_hosts)
        self._origins = _texts("allowed_origins", allowed_origins)
        self._open_paths = frozenset(open_paths)
        self._max_body_bytes = max_body_bytes
        self._body_timeout_seconds = body_timeout_seconds
        self._max_concurrent = max_concurrent
        self._rate = None if requests_per_second is None else Rate(requests_per_second, clock=clock)
        self._in_flight = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one connection's request, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        refusal = self._foreign(headers)
        if refusal is None and self._in_flight >= self._max_concurrent:
            refusal = (503, "too many requests at once")
        if refusal is not None:
            await refuse(send, *refusal)
            return
        self._in_flight += 1
        try:
            await self._admitted(headers, scope, receive, send)
        finally:
            self._in_flight -= 1

    async def _admitted(self, headers: dict[str, str], scope: Scope, receive: Receive, send: Send) -> None:
        address = (scope.get("client") or ("",))[0]
        # Counted before the token is checked, so that guessing is limited as well.
        if self._rate is not None and not self._rate.admits(address):
            await refuse(send, 429, "too many requests")
            return
        caller = await self._access.admit(headers.get("authorization"))
        if caller is None and scope["path"] not in self._open_paths:
            await refuse(send, 401, "a bearer token is needed", ("www-authenticate", "Bearer"))
            return
        scope[CALLER_KEY] = caller or Caller()
        try:
            length = int(headers.get("content-length", "0"))
        except ValueError:
            length = 0
        if length > self._max_body_bytes:
            await refuse(send, 413, f"a body is at most {self._max_body_bytes} bytes")
            return
        await self._with_body(scope, receive, send)

    async def _with_body(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            async with asyncio.timeout(self._body_timeout_seconds):
                body = await read_body(receive, limit=self._max_body_bytes)
        except TimeoutError:
            await refuse(send, 408, "the body took too long")
        except OverflowError:
            await refuse(send, 413, f"a body is at most {self._max_body_bytes} bytes")
        else:
            if body is not None:  # the client is gone otherwise
                await self._app(scope, replay(body, receive), send)

    def _foreign(self, headers: dict[str, str]) -> tuple[int, str] | None:
        host = headers.get("host", "")
        if self._hosts is not None and host_name(host) not in self._hosts:
            return 421, "this host is not served here"
        origin = headers.get("origin")
        if origin is None or origin in self._origins:
            return None
        netloc = _netloc(origin)
        # The scheme may differ, where a proxy in front speaks TLS.
        if netloc and netloc == host:
            return None
        # A page of this machine may ask a server of this machine, whatever their ports.
        if self._hosts is not None and is_loopback(host_name(netloc)):
            return None
        return 403, "this origin may not ask"


class Rate:
    """A bucket of tokens for each client: so many requests a second, and at most twice as many at once."""

    def __init__(self, per_second: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        """Take the rate.

        Raises:
            ConfigurationError: When it is not above 0.
        """
        if not per_second > 0:
            raise ConfigurationError(f"requests_per_second is above 0 or None, found {per_second!r}")
        self._per_second = per_second
        self._most = max(1.0, 2 * per_second)
        self._clock = clock
        self._buckets: LRUCache[str, tuple[float, float]] = LRUCache(_MAX_CLIENTS)

    def admits(self, client: str) -> bool:
        """Take one token of a client; False where it has none left."""
        now = self._clock()
        left, at = self._buckets.get(client, (self._most, now))
        left = min(self._most, left + (now - at) * self._per_second)
        admitted = left >= 1
        self._buckets[client] = (left - 1 if admitted else left, now)
        return admitted


async def read_body(receive: Receive, *, limit: int) -> bytes | None:
    """Return a request's whole body; None where the client went before it was complete.

    Raises:
        OverflowError: When it is longer than `limit` bytes.
    """
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        part = message.get("body", b"")
        size += len(part)
        if size > limit:
            raise OverflowError
        parts.append(part)
        if not message.get("more_body", False):
            return b"".join(parts)


def replay(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that gives the body at once, and then what comes after it."""
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


async def refuse(send: Send, status: int, problem: str, *headers: tuple[str, str]) -> None:
    """Answer a request with a status and one sentence, as JSON."""
    body = json.dumps({"error": problem}).encode()
    given = [("content-type", "application/json"), ("content-length", str(len(body))), *headers]
    if status in (429, 503):
        given.append(("retry-after", "1"))
    encoded = [(name.encode(), value.encode()) for name, value in given]
    await send({"type": "http.response.start", "status": status, "headers": encoded})
    await send({"type": "http.response.body", "body": body})


def host_name(netloc: str) -> str:
    """Return the host of `host:port` without the port and without the brackets of an IPv6 address."""
    if netloc.startswith("["):
        return netloc[1:].partition("]")[0].lower()
    return netloc.partition(":")[0].lower()


def is_loopback(host: str) -> bool:
    """Tell whether a host's name or address can only be reached from this machine."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def check_binding(host: str, token: TokenCheck | None) -> None:
    """Refuse to be reached from other machines without a token.

    Raises:
        ConfigurationError: For another host than one of this machine alone, where nobody needs a token.
    """
    if not is_loopback(host) and token is None:
        raise ConfigurationError(
            f"{host!r} can be reached from other machines: give a token, or bind to 127.0.0.1"
        )


def _netloc(origin: str) -> str:
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return ""


def _texts(name: str, values: Iterable[str]) -> frozenset[str]:
    if isinstance(values, str):
        raise ConfigurationError(f"{name} is a collection of texts, found the single text {values!r}")
    return frozenset(value.lower() for value in values)
