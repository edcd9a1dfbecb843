"""Protects a server's HTTP endpoints: who may send requests, from where, how large and how often."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from typing import TypedDict, Unpack

from cachetools import LRUCache
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tool_search_processor.server.access import Access, Caller, TokenCheck
from tool_search_processor.server.apps import problem, refusal
from tool_search_processor.server.hosts import LOOPBACK, HostCheck
from tool_search_processor.wire.checks import check_count, check_positive

MAX_BODY_BYTES = 4 * 1024 * 1024
CALLER_KEY = "tool_search_processor.caller"
"""Where a request's scope holds its `Caller`; None for an open path without a valid token."""
BODY_KEY = "tool_search_processor.body"
"""Where a request's scope holds its whole body, for what looks at it before the app that is asked."""

_MAX_CLIENTS = 10_000


class Limits(TypedDict, total=False):
    """The limits that a server passes on to its `Protection`, which says what each of them means."""

    allowed_hosts: Collection[str] | None
    allowed_origins: Collection[str]
    open_paths: Collection[str]
    max_body_bytes: int
    body_timeout_seconds: float
    max_concurrent: int
    requests_per_second: float | None
    clock: Callable[[], float]


class Protection:
    """ASGI middleware that refuses requests before they reach an endpoint.

    It checks in this order: a foreign `Host` (421) or `Origin` (403), by which a web page would reach a
    server on its visitor's machine; too many requests at once (503) or from one client (429); a missing or
    wrong token (401); a body that is too large (413) or too slow (408). The app gets a body as one message.
    """

    # Why not a library's: uvicorn's limit_concurrency counts idle connections as well, older releases of
    # Starlette have no body limit, the SDK's guards its own endpoint alone, and none limits the time that a
    # body takes.

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
            token: The token, or a function from a token to its user; None lets everyone in.
            allowed_hosts: Names that a `Host` header may have, with any port; None allows any name.
            allowed_origins: Origins of web pages, such as `https://example.com`, that may send requests and
                read the answers (CORS). Pages of this server, and with `allowed_hosts` those of this
                machine, may send requests without being named.
            open_paths: Paths that need no token, without the path that the app is mounted at.
            max_body_bytes: The largest body.
            body_timeout_seconds: How long a body may take to arrive.
            max_concurrent: The most requests that are answered at one time, including open streams.
            requests_per_second: How many requests one address may send on average; twice as many in a single
                second. None sets no limit, such as behind a proxy.
            clock: What the rate is measured on, in seconds.

        Raises:
            ConfigurationError: For a limit that lets nothing through, or a single string as hosts.
        """
        check_count("max_body_bytes", max_body_bytes)
        check_count("max_concurrent", max_concurrent)
        check_positive("body_timeout_seconds", body_timeout_seconds)
        check_positive("requests_per_second", requests_per_second, optional=True)
        self._app = app
        self._access = Access(token)
        self._hosts = HostCheck(allowed_hosts, allowed_origins)
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
        headers = joined_headers(scope["headers"])
        send = granting(send, self._hosts.grant(headers))
        if (foreign := self._hosts.refusal(headers)) is not None:
            await problem(*foreign)(scope, receive, send)
        elif self._in_flight >= self._max_concurrent:
            await problem(503, "too many requests at once")(scope, receive, send)
        elif preflight := self._hosts.preflight(scope["method"], headers):
            await Response(status_code=204, headers=preflight)(scope, receive, send)
        else:
            self._in_flight += 1
            try:
                await self._serve(headers, scope, receive, send)
            finally:
                self._in_flight -= 1

    async def _serve(self, headers: Mapping[str, str], scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._let_in(headers, scope)
            body = scope[BODY_KEY] = await self._body(headers, scope, receive)
        except ClientDisconnect:
            return
        except HTTPException as exc:
            await refusal(exc)(scope, receive, send)
            return
        await self._app(scope, replay(body, receive), send)

    async def _let_in(self, headers: Mapping[str, str], scope: Scope) -> None:
        """Note who is asking.

        Raises:
            HTTPException: The client asks too often, or without a valid token.
        """
        address = (scope.get("client") or ("",))[0]
        # Counted before the token is checked, so that guessing is limited as well.
        if self._rate is not None and not self._rate.admits(address):
            raise HTTPException(429, "too many requests")
        caller = await self._access.admit(headers.get("authorization"))
        if caller is None and path_in_app(scope) not in self._open_paths:
            raise HTTPException(
                401,
                "this needs a valid token: send the header Authorization: Bearer …",
                {"www-authenticate": "Bearer"},
            )
        scope[CALLER_KEY] = caller

    async def _body(self, headers: Mapping[str, str], scope: Scope, receive: Receive) -> bytes:
        """Return a request's whole body.

        Raises:
            ClientDisconnect: The client left before it was complete.
            HTTPException: It is too large, or takes too long.
        """
        too_large = HTTPException(413, f"a body holds at most {self._max_body_bytes:,} bytes")
        with suppress(ValueError):
            if int(headers.get("content-length", "0")) > self._max_body_bytes:
                raise too_large
        body = bytearray()
        try:
            async with asyncio.timeout(self._body_timeout_seconds):
                async for part in Request(scope, receive).stream():
                    body += part
                    if len(body) > self._max_body_bytes:
                        raise too_large
        except TimeoutError:
            raise HTTPException(408, "the body took too long") from None
        return bytes(body)


def protection(*, token: TokenCheck | None = None, **limits: Unpack[Limits]) -> Middleware:
    """Return `Protection` for a Starlette app, with options that were checked.

    Raises:
        ConfigurationError: For an option that can't work; Starlette would find out at the first request.
    """
    Protection(Response(), token=token, **limits)
    return Middleware(Protection, token=token, **limits)


# Why not a library: neither uvicorn nor Starlette limits rates, and slowapi would be one more dependency.
class Rate:
    """Limits how many requests each client may send per second, with a token bucket of twice that size."""

    def __init__(self, per_second: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        """Allow `per_second` requests, above 0, for each client."""
        self._per_second = per_second
        self._most = max(1.0, 2 * per_second)
        self._clock = clock
        self._buckets: LRUCache[str, tuple[float, float]] = LRUCache(_MAX_CLIENTS)

    def admits(self, client: str) -> bool:
        """Use one token of a client's allowance; return False if none is left."""
        now = self._clock()
        left, at = self._buckets.get(client, (self._most, now))
        left = min(self._most, left + (now - at) * self._per_second)
        admitted = left >= 1
        self._buckets[client] = (left - 1 if admitted else left, now)
        return admitted


def replay(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that first gives the body as one message, and then passes on later messages."""
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


def user_of(scope: Scope) -> object:
    """Return the user who sent a request; None if nobody knows."""
    caller: Caller | None = scope[CALLER_KEY]
    return caller.user if caller else None


def path_in_app(scope: Scope) -> str:
    """Return a request's path as the app's own routes have it: without the path the app is mounted at."""
    path: str = scope["path"]
    rest = path.removeprefix(scope.get("root_path", ""))
    return rest if rest.startswith("/") else path


def joined_headers(raw: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Return headers by their lower-case names; values of a repeated header are joined with a comma.

    So a second `Host`, `Origin` or `Authorization` makes a value that matches nothing, whichever came first.
    """
    headers: dict[str, str] = {}
    for key, value in raw:
        name, text = key.decode("latin-1").lower(), value.decode("latin-1")
        headers[name] = f"{headers[name]}, {text}" if name in headers else text
    return headers


def granting(send: Send, granted: Mapping[str, str]) -> Send:
    """Return a `send` that adds headers to the answer."""

    async def send_with(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in granted.items():
                headers.append(name, value)
        await send(message)

    return send_with if granted else send
