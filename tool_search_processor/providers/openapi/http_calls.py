"""Requests over HTTP: sent with what proves who asks, bounded in time and size."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from tool_search_processor.concurrency.foreign_calls import awaited, takes_one
from tool_search_processor.concurrency.per_loop import PerLoop
from tool_search_processor.errors import ConfigurationError, ToolCallError
from tool_search_processor.providers.openapi.http_requests import Outgoing, build_request
from tool_search_processor.providers.openapi.http_responses import AnswerLimits, read_answer
from tool_search_processor.providers.openapi.redirects import CARRIED_OVER, send
from tool_search_processor.providers.openapi.routes import Route
from tool_search_processor.providers.openapi.security import Credentials, Proof
from tool_search_processor.providers.openapi.servers import joined
from tool_search_processor.providers.unpacking import ACCEPT_ENCODING
from tool_search_processor.providers.web import check_headers
from tool_search_processor.tools import ToolContext

if TYPE_CHECKING:
    from typing import TypeAlias

    import httpx

    Proven: TypeAlias = httpx.Auth | Mapping[str, str] | None
    Auth: TypeAlias = httpx.Auth | Callable[[ToolContext], Proven | Awaitable[Proven]]


class Clients:
    """Gives the client of the running event loop: the user's own, or one of each loop's."""

    def __init__(
        self, client: httpx.AsyncClient | Callable[[], httpx.AsyncClient] | None, *, timeout_seconds: float
    ) -> None:
        """Check what was given; nothing is opened yet.

        Raises:
            ConfigurationError: If it is neither a client nor a function.
            ImportError: If httpx is not installed.
        """
        try:
            import httpx
        except ImportError as exc:
            raise ImportError(
                'OpenAPIProvider needs httpx: pip install "tool-search-processor[openapi]"'
            ) from exc
        if client is not None and not isinstance(client, httpx.AsyncClient) and not callable(client):
            raise ConfigurationError(
                f"client is an httpx.AsyncClient or a function that makes one, found {client!r:.80}"
            )
        self._own = client if isinstance(client, httpx.AsyncClient) else None
        self.timeout_seconds = timeout_seconds
        """Longest time of a call in all, and of fetching a document."""
        self._opened = PerLoop(client if callable(client) else self._open, closer=httpx.AsyncClient.aclose)

    @property
    def base_url(self) -> str | None:
        """The base URL of the user's client, if it has one."""
        return str(self._own.base_url) or None if self._own is not None else None

    async def get(self) -> httpx.AsyncClient:
        """Return the client to use in the running loop."""
        return self._own if self._own is not None else await self._opened.get()

    async def aclose(self) -> None:
        """Close the clients that were opened here."""
        await self._opened.aclose()

    def _open(self) -> httpx.AsyncClient:
        from http.cookiejar import CookieJar, DefaultCookiePolicy

        import httpx

        # The next call may be another user's: what one answer sets, no other request sends.
        no_cookies = CookieJar(DefaultCookiePolicy(allowed_domains=()))
        return httpx.AsyncClient(timeout=self.timeout_seconds, cookies=no_cookies)


class OperationCaller:
    """Calls operations."""

    def __init__(
        self, clients: Clients, *, headers: Mapping[str, str], auth: Auth | None, limits: AnswerLimits
    ) -> None:
        """Set up the state that all calls share.

        Args:
            clients: What sends.
            headers: Sent with each call.
            auth: Proves who asks; see `OpenAPIProvider`.
            limits: How much of an answer is taken.

        Raises:
            ConfigurationError: If `auth` is neither an `httpx.Auth` nor a function.
        """
        import httpx

        if auth is not None and not isinstance(auth, httpx.Auth):
            if not callable(auth):
                raise ConfigurationError(
                    f"auth is an httpx.Auth or a function, found {type(auth).__name__}: what is the same for "
                    "all calls is given as headers="
                )
            if not takes_one(auth):
                raise ConfigurationError(
                    f"auth is a function (ToolContext) -> headers, {auth!r:.80} takes no context"
                )
        self._clients = clients
        self._headers = {name.lower(): value for name, value in headers.items()}
        self._auth = auth
        self._limits = limits

    async def call(
        self, route: Route, arguments: Mapping[str, Any], *, credentials: Credentials, context: ToolContext
    ) -> Any:
        """Return the API's answer.

        Args:
            route: How the operation is called.
            arguments: As they were checked against the tool's schema.
            credentials: Those of the security schemes.
            context: That of the call.

        Raises:
            ToolArgumentsError: If an argument can't be sent.
            ToolCallError: If the API can't be reached, takes too long, or answers with a failure.
        """
        import httpx

        outgoing = build_request(route, arguments)
        seconds = self._clients.timeout_seconds
        limit = asyncio.timeout(seconds)
        try:
            async with limit:
                client = await self._clients.get()
                proof = await credentials.proof(route, context)
                auth, own = await _given(self._auth, context)
                request = self._request(client, outgoing, server=route.server, proof=proof, own=own)
                response = await send(client, request, auth=auth, label=route.label)
                try:
                    return await read_answer(response, limits=self._limits, label=route.label)
                finally:
                    await response.aclose()
        except (httpx.TimeoutException, TimeoutError) as exc:
            if isinstance(exc, TimeoutError) and not limit.expired():
                raise
            raise ToolCallError(f"{route.label} took longer than {seconds:g} seconds.") from exc
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as exc:
            # Its text may name the address with a key in it.
            raise ToolCallError(f"{route.label} could not be sent: {_reason(exc)}.") from exc

    def _request(
        self,
        client: httpx.AsyncClient,
        outgoing: Outgoing,
        *,
        server: str,
        proof: Proof,
        own: Mapping[str, str],
    ) -> httpx.Request:
        """Return the request with its credentials, which override what a model writes."""
        from_user = {*client.headers} - CARRIED_OVER
        headers = {name: value for name, value in outgoing.headers.items() if name not in from_user}
        headers |= {**self._headers, **proof.headers, **own, "accept-encoding": ACCEPT_ENCODING}
        cookies = [*outgoing.cookies, *proof.cookies]
        if cookies:
            headers["cookie"] = "; ".join(filter(None, (headers.get("cookie"), *cookies)))
        url = joined(server, outgoing.target)
        if proof.query:
            url += ("&" if "?" in url else "?") + "&".join(proof.query)
        return client.build_request(
            outgoing.method,
            url,
            headers={name.encode(): value.encode() for name, value in headers.items()},
            content=outgoing.content,
            files=list(outgoing.fields) or None,
        )


async def _given(auth: Auth | None, context: ToolContext) -> tuple[Any, Mapping[str, str]]:
    """Return what httpx authenticates by, and the headers that prove who asks."""
    import httpx

    given: Any = auth
    if auth is not None and not isinstance(auth, httpx.Auth):
        given = await awaited(auth(context))
    if isinstance(given, httpx.Auth):
        return given, {}
    if given is not None and not isinstance(given, Mapping):
        raise ConfigurationError(f"auth gives headers or an httpx.Auth, found a {type(given).__name__}")
    headers = {name.lower(): value for name, value in check_headers(given or {}).items()}
    return httpx.USE_CLIENT_DEFAULT, headers


def _reason(error: Exception) -> str:
    kinds = {"ConnectError": "the server can't be reached", "InvalidURL": "its address can't be read"}
    return kinds.get(type(error).__name__, f"the connection failed ({type(error).__name__})")
