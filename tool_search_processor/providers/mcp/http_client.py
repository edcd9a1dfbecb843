"""Keeps a failed HTTP request from ending all other requests of its connection."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from typing import Any

import httpx2
from mcp_types import INTERNAL_ERROR, INVALID_REQUEST

from tool_search_processor.providers.mcp.failures import CUT_OFF, SESSION_GONE, UNREACHED, UNREADABLE
from tool_search_processor.providers.mcp.lines import MAX_MESSAGE_BYTES
from tool_search_processor.providers.unpacking import ACCEPT_ENCODING, UnpackError, read_bounded
from tool_search_processor.providers.web import status_text

_NEVER_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.UnsupportedProtocol)

_SESSION_HEADER = "mcp-session-id"
"""With it, status 404 means that the server has forgotten the session (specification of 2025-11-25)."""

_NO_SESSION = re.compile(r"\b(session|session-?id|server not initialized)\b", re.IGNORECASE)
"""In a refusal with status 400: the server doesn't know the session. The TypeScript SDK's examples answer so,
instead of with 404: "Bad Request: No valid session ID provided"; others: "Invalid or missing session ID"."""

_OF_TRANSPORT = (-32000, -32001, INVALID_REQUEST)
"""Codes of a refusal that comes before any tool."""

_LONGEST_REFUSAL = 1_000

_OF_THE_WIRE = frozenset({b"content-encoding", b"content-length", b"transfer-encoding"})
"""Headers that no longer hold for content that was unpacked here."""

_STREAM_SECONDS = 1.0
"""The least seconds between the starts of two event streams."""


class ContainingClient(httpx2.AsyncClient):
    """Answers in place of a server that can't be reached, or whose answer can't be read.

    An exception here would end the SDK's whole connection, with every other call that is under way. An
    error of JSON-RPC ends the one request, and its code says whether it was sent. So answers are read here
    too, up to `MAX_MESSAGE_BYTES`, unless they are streams of events.
    """

    last_failure = ""
    """The last failure, a status or a socket's error; empty if nothing has failed."""

    def __init__(
        self,
        *,
        read_seconds: float | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        **options: Any,
    ) -> None:
        """Make the client.

        Args:
            read_seconds: The longest time for an answer that has begun, however slowly it drips.
            clock: Returns the time in seconds.
            sleep: Lets seconds pass.
            options: Those of httpx2.
        """
        super().__init__(**options)
        self._read_seconds = read_seconds
        self.headers["accept-encoding"] = ACCEPT_ENCODING
        self._clock = clock
        self._sleep = sleep
        self._next_stream = 0.0

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Send a request; a failure becomes an answer that says so."""
        if request.method == "GET":
            await self._pause()
        answer = await self._answered(request, options)
        if request.method == "DELETE" and answer.is_error:  # the session ends in any case; the SDK would warn
            return httpx2.Response(HTTPStatus.NO_CONTENT, request=request)
        return answer

    async def _answered(self, request: httpx2.Request, options: Mapping[str, Any]) -> httpx2.Response:
        try:
            response = await super().send(request, **options)
        except Exception as exc:  # noqa: BLE001 - a socket, or a hook that signs requests
            is_cut_off = isinstance(exc, httpx2.TransportError) and not isinstance(exc, _NEVER_SENT)
            return self._failed(request, _words(exc), CUT_OFF if is_cut_off else UNREACHED)
        if response.status_code >= HTTPStatus.BAD_REQUEST:
            self.last_failure = status_text(response.status_code)
        if (code := _refusal_of(request, response)) is not None:
            await response.aclose()
            return self._answer(request, code)
        whole = await self._whole(request, response)
        if whole.is_error and whole.status_code == response.status_code:
            return self._refusal(request, whole)
        return whole

    def _refusal(self, request: httpx2.Request, response: httpx2.Response) -> httpx2.Response:
        """Return a refusal as the SDK understands it."""
        if request.method != "POST" or response.status_code == HTTPStatus.NOT_FOUND:
            return response
        message = _error_message(response)
        if _may_be_of_session(request, response) and _is_of_session(message, response):
            return self._answer(request, SESSION_GONE)
        return self._answer(request, INTERNAL_ERROR) if message is None else _with_id(response, message)

    async def _pause(self) -> None:
        """Wait for the turn of a stream of events: where one ends, the SDK may open the next at once."""
        now = self._clock()
        turn = max(now, self._next_stream)
        self._next_stream = turn + _STREAM_SECONDS
        if turn > now:
            await self._sleep(turn - now)

    async def _whole(self, request: httpx2.Request, response: httpx2.Response) -> httpx2.Response:
        """Return a response with its content, unless it is a stream of events; a refusal is none."""
        encoding = response.headers.get("content-encoding", "")
        if response.is_stream_consumed:
            return response
        is_stream = _media_type(response).startswith("text/event-stream") and not response.is_error
        if is_stream and "," not in encoding:
            # as events always are (HTML, 9.2.6): some charsets fail, or take minutes
            response.encoding = "utf-8"
            return response
        try:
            async with asyncio.timeout(self._read_seconds):
                content, is_whole = await read_bounded(
                    response.aiter_raw(), encoding=encoding, max_bytes=MAX_MESSAGE_BYTES
                )
        except UnpackError as exc:
            return self._failed(request, str(exc), UNREADABLE)
        except (httpx2.RequestError, TimeoutError) as exc:
            return self._failed(request, _words(exc), CUT_OFF)
        finally:
            await response.aclose()
        if not is_whole:
            return self._failed(request, f"its answer is larger than {MAX_MESSAGE_BYTES:,} bytes", UNREADABLE)
        headers = [pair for pair in response.headers.raw if pair[0].lower() not in _OF_THE_WIRE]
        whole = httpx2.Response(response.status_code, headers=headers, content=content, request=request)
        whole.next_request = response.next_request  # where a redirect leads
        return whole

    def _failed(self, request: httpx2.Request, words: str, code: int) -> httpx2.Response:
        self.last_failure = words
        return self._answer(request, code)

    def _answer(self, request: httpx2.Request, code: int) -> httpx2.Response:
        error = {"code": code, "message": self.last_failure}
        message = {"jsonrpc": "2.0", "id": 0, "error": error}  # the SDK puts the request's own id in
        return httpx2.Response(HTTPStatus.BAD_GATEWAY, json=message, request=request)


def _words(error: Exception) -> str:
    if isinstance(error, httpx2.LocalProtocolError):
        return "a header that can't be sent"  # its text shows it, and a hook may have put a secret there
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _with_id(response: httpx2.Response, message: Mapping[str, Any]) -> httpx2.Response:
    """Return an error with an id, which the SDK needs to read it, and replaces by the request's own."""
    if "id" in message:
        return response
    try:
        content = json.dumps({**message, "id": 0})
    except (ValueError, RecursionError):
        return response
    headers = {"content-type": "application/json"}
    return httpx2.Response(response.status_code, headers=headers, content=content, request=response.request)


def _refusal_of(request: httpx2.Request, response: httpx2.Response) -> int | None:
    """Return the code of a refusal whose status says it all; None if the content has to be read."""
    if response.status_code == HTTPStatus.NOT_FOUND:  # without a session: the method is unknown
        return SESSION_GONE if _SESSION_HEADER in request.headers else None
    is_refused = response.status_code >= HTTPStatus.BAD_REQUEST and request.method == "POST"
    is_read = "json" in _media_type(response) or _may_be_of_session(request, response)
    return INTERNAL_ERROR if is_refused and not is_read else None


def _may_be_of_session(request: httpx2.Request, response: httpx2.Response) -> bool:
    return response.status_code == HTTPStatus.BAD_REQUEST and _SESSION_HEADER in request.headers


def _is_of_session(message: Mapping[str, Any] | None, response: httpx2.Response) -> bool:
    """Return True if a server says, with another status than 404, that it doesn't know the session."""
    if message is None:
        words = response.content.decode(errors="replace")  # not by the charset: some fail at any content
    elif message["error"].get("code") in _OF_TRANSPORT:
        words = str(message["error"].get("message"))
    else:
        return False
    return _NO_SESSION.search(words[:_LONGEST_REFUSAL]) is not None


def _error_message(response: httpx2.Response) -> Mapping[str, Any] | None:
    """Return the JSON-RPC message of a refusal, if it is one with an error."""
    try:
        content = response.json()
    except (ValueError, RecursionError):
        return None
    is_error = isinstance(content, dict) and isinstance(content.get("error"), dict) and "jsonrpc" in content
    return content if is_error else None


def _media_type(response: httpx2.Response) -> str:
    return response.headers.get("content-type", "").strip().lower()
