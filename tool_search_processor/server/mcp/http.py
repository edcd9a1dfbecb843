"""The MCP front over streamable HTTP: which session a request belongs to, and how it is protected."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import anyio
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types import INVALID_PARAMS, INVALID_REQUEST
from mcp_types.methods import parse_client_request
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, LATEST_HANDSHAKE_VERSION
from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from tool_search_processor.concurrency.once import Once
from tool_search_processor.server.access import TokenCheck
from tool_search_processor.server.apps import make_app
from tool_search_processor.server.mcp.client_requests import REQUEST_KEY, of_http
from tool_search_processor.server.mcp.rules import SessionRules, UserRules
from tool_search_processor.server.mcp.server_options import FrontOptions
from tool_search_processor.server.mcp.sessions import Exchange, Session, SessionTable, Stream
from tool_search_processor.server.mcp.tool_modes import mode_of
from tool_search_processor.server.protection import (
    BODY_KEY,
    MAX_BODY_BYTES,
    Limits,
    protection,
    user_of,
)

if TYPE_CHECKING:
    from mcp.server.lowlevel.server import Server

    from tool_search_processor.server.metrics import ServerMetrics

_SESSION_HEADER = "mcp-session-id"
_VERSION_HEADER = "mcp-protocol-version"
_RESUMED_HEADER = "last-event-id"
_ERROR = 400
_GREETING = """\
{name} is a server of the Model Context Protocol: programs talk to it, and there is no page.

Give an MCP client this address:
    {url}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sessions:
    """How sessions are kept: in a table of this process, in signed ids, or not at all."""

    options: FrontOptions
    table: SessionTable | None
    changed: Callable[[], object]
    """Called when a session's rules have changed."""
    users: UserRules | None
    """The rules of users without a session; None where nobody is known."""
    _warned: Once = field(default_factory=Once)

    def begin(self, request: Request) -> Session:
        """Return what a request without a session has, which becomes one if it is kept."""
        mode = mode_of(request.headers, request.query_params, default=self.options.mode, warned=self._warned)
        user = user_of(request.scope)
        return Session(mode=mode, rules=self._rules(user), user=user)

    def resume(self, request: Request, session_id: str) -> Session | None:
        """Return the session of an id; None if it doesn't exist or is another user's."""
        user = user_of(request.scope)
        if self.table is not None:
            return self.table.get(session_id, user=user)
        signed = self.options.signed_ids
        mode = signed.read(session_id, user=user) if signed is not None else None
        return Session(mode=mode, rules=self._rules(user), id=session_id, user=user) if mode else None

    def keep(self, session: Session, session_id: str) -> None:
        """Keep the session that a request began, for later requests with this id."""
        session.id = session_id
        session.rules = SessionRules(holds_for="session", changed=self.changed)
        if self.table is not None:
            self.table.open(session)

    def _rules(self, user: object) -> SessionRules:
        """Return the rules of a request that has no session in this process."""
        return SessionRules(holds_for=None) if self.users is None else self.users.of(user)


class SessionEndpoint:
    """Finds the session of each request, and passes the request on to the SDK."""

    def __init__(
        self, manager: StreamableHTTPSessionManager, sessions: Sessions, *, closing: asyncio.Event
    ) -> None:
        """Serve HTTP requests through the SDK's session manager.

        Args:
            manager: Speaks the protocol.
            sessions: Knows the sessions.
            closing: Once it is set, streams that have no end are ended.
        """
        self._manager = manager
        self._sessions = sessions
        self._closing = closing

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request = Request(scope)
        version = request.headers.get(_VERSION_HEADER)
        session_id = request.headers.get(_SESSION_HEADER)
        if version is not None and version not in HANDSHAKE_PROTOCOL_VERSIONS:
            await self._serve(self._sessions.begin(request), request, receive, send)
        elif self._sessions.table is None and request.method != "POST":
            await Response(status_code=405, headers={"allow": "POST"})(scope, receive, send)
        elif session_id is None:
            await self._begin(request, receive, send)
        elif (session := self._sessions.resume(request, session_id)) is None:
            await _refusal(404, "Session not found")(scope, receive, send)
        elif self._sessions.table is None:
            await self._serve(session, request, receive, send)
        else:
            await self._resume(session, self._sessions.table, request, receive, send)

    async def _begin(self, request: Request, receive: Receive, send: Send) -> None:
        session = self._sessions.begin(request)
        message = _message(request)
        if message.get("method") == "initialize":
            if not _is_handshake(message):  # the SDK would refuse it, and keep a session all the same
                problem = "Invalid request parameters"
                refusal = _refusal(400, problem, code=INVALID_PARAMS, request_id=message.get("id"))
                await refusal(request.scope, receive, send)
                return
            if (signed := self._sessions.options.signed_ids) is not None:
                session.id = signed.issue(session.mode, user=session.user)

        async def send_and_keep(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] < _ERROR:
                headers = MutableHeaders(scope=message)
                if session.id is not None:
                    headers[_SESSION_HEADER] = session.id
                elif (given := headers.get(_SESSION_HEADER)) is not None:
                    self._sessions.keep(session, given)
            await send(message)

        await self._serve(session, request, receive, send_and_keep)

    async def _resume(
        self, session: Session, table: SessionTable, request: Request, receive: Receive, send: Send
    ) -> None:
        async def send_and_close(message: Message) -> None:
            if message["type"] == "http.response.start":
                is_ended = request.method == "DELETE" and message["status"] < _ERROR
                if is_ended or message["status"] == 404:
                    table.close(session)
            await send(message)

        with table.serving(session):
            if request.method == "GET":
                await self._stream(session, request, receive, send_and_close)
            elif request.method == "POST":
                await self._post(session, request, receive, send_and_close)
            else:
                await self._serve(session, request, receive, send_and_close)

    async def _post(self, session: Session, request: Request, receive: Receive, send: Send) -> None:
        """Pass a message on, unless a request with its id is under way: one of them would get no answer."""
        message = _message(request)
        request_id = message.get("id") if "method" in message else None
        if request_id is None:
            await self._serve(session, request, receive, send)
            return
        key = str(request_id)
        while (earlier := session.exchanges.get(key)) is not None:
            if not earlier.is_answered:
                refusal = _refusal(400, "The id of a request that is still under way", request_id=request_id)
                await refusal(request.scope, receive, send)
                return
            await earlier.over.wait()
        exchange = session.exchanges[key] = Exchange()

        async def send_and_note(message: Message) -> None:
            is_last = message["type"] == "http.response.body" and not message.get("more_body", False)
            exchange.is_answered = is_last
            await send(message)

        try:
            await self._serve(session, request, receive, send_and_note)
        finally:
            del session.exchanges[key]
            exchange.over.set()

    async def _stream(self, session: Session, request: Request, receive: Receive, send: Send) -> None:
        """Serve a stream without an end until the client leaves, or asks for a new stream to replace it.

        A client that lost its network asks for a new one long before the server notices that the old is dead.
        Streams also end when the server stops.
        """
        # No event is kept to be sent again, and the SDK leaves a client that asks for one without an answer.
        del MutableHeaders(scope=request.scope)[_RESUMED_HEADER]
        is_begun = is_complete = False
        earlier, stream = session.stream, Stream()
        session.stream = stream

        async def receive_or_end() -> Message:
            message: Message = {"type": "http.disconnect"}
            async with anyio.create_task_group() as group:

                async def wait_for(end: asyncio.Event) -> None:
                    await end.wait()
                    group.cancel_scope.cancel()

                group.start_soon(wait_for, self._closing)
                group.start_soon(wait_for, stream.ending)
                message = await receive()
                group.cancel_scope.cancel()
            return message

        async def watched(message: Message) -> None:
            nonlocal is_begun, is_complete
            is_begun = True
            is_complete = message["type"] == "http.response.body" and not message.get("more_body", False)
            await send(message)

        try:
            if earlier is not None:
                earlier.ending.set()
                await earlier.over.wait()
            await self._serve(session, request, receive_or_end, watched)
        finally:
            stream.over.set()
        if is_begun and not is_complete and (self._closing.is_set() or stream.ending.is_set()):
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _serve(self, session: Session, request: Request, receive: Receive, send: Send) -> None:
        served = request.scope[REQUEST_KEY] = of_http(request, session)
        try:
            await self._manager.handle_request(request.scope, receive, send)
        finally:
            served.presence.end()


def http_app(
    server: Server[Any],
    sessions: Sessions,
    *,
    path: str,
    closing: asyncio.Event,
    metrics: ServerMetrics,
    token: TokenCheck | None,
    limits: Limits,
) -> Starlette:
    """Return the ASGI app: the endpoint, `/metrics` and a greeting at `/`, behind `Protection`.

    Args:
        server: The SDK's server.
        sessions: Knows the sessions.
        path: Where the endpoint is.
        closing: Once it is set, streams that have no end are ended.
        metrics: What `/metrics` shows.
        token: What clients need; see `Protection`.
        limits: What else `Protection` takes.

    Raises:
        ConfigurationError: For a limit that can't work.
    """
    manager = StreamableHTTPSessionManager(
        server,
        stateless=sessions.table is None,
        session_idle_timeout=None if sessions.table is None else sessions.options.session_ttl_seconds,
        max_sessions=sessions.options.max_sessions,
        max_request_body_size=limits.get("max_body_bytes", MAX_BODY_BYTES),
    )
    endpoint = SessionEndpoint(manager, sessions, closing=closing)

    async def greet(request: Request) -> Response:
        url = request.url.replace(path=f"{request.scope.get('root_path', '')}{path}", query="")
        return PlainTextResponse(_GREETING.format(name=server.name, url=url))

    routes = [
        # Both, and no redirect, which would lead to whatever host a request names.
        *(
            Route(each, endpoint=endpoint, methods=["GET", "POST", "DELETE"])
            for each in dict.fromkeys((path, f"{path.rstrip('/')}/"))
        ),
        Route("/metrics", metrics.show, methods=["GET"]),
        Route("/", greet, methods=["GET"]),
    ]
    checks = [protection(token=token, **limits)]
    return make_app(routes, middleware=checks, lifespan=lambda _: manager.run())


def _message(request: Request) -> Mapping[str, Any]:
    """Return the message in a body; an empty one if the body is not a message, which the SDK refuses."""
    try:
        message = json.loads(request.scope[BODY_KEY])
    except (ValueError, RecursionError):
        return {}
    return message if isinstance(message, dict) else {}


def _is_handshake(message: Mapping[str, Any]) -> bool:
    """Return True if a session can begin with this message of method `initialize`."""
    try:
        parse_client_request("initialize", LATEST_HANDSHAKE_VERSION, message.get("params"))
    except (ValueError, TypeError):
        return False
    return True


def _refusal(
    status: int, problem: str, *, code: int = INVALID_REQUEST, request_id: object = None
) -> Response:
    """Return a response that holds an error of the protocol."""
    error = {"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": problem}}
    return Response(json.dumps(error), status_code=status, media_type="application/json")
