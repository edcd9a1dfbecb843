"""One HTTP request that fails, kept from ending all others of its connection."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

import httpx2

from tool_search_processor.providers.mcp.failures import CUT_OFF, SESSION_GONE, UNREACHED

_NEVER_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.UnsupportedProtocol)

_SESSION_HEADER = "mcp-session-id"
"""With it, status 404 means that the server has forgotten the session (specification of 2025-11-25)."""


class ContainingClient(httpx2.AsyncClient):
    """Answers in the server's place where it can't be reached.

    An exception here would end the SDK's whole connection, with every other call that is under way. An
    error of JSON-RPC ends the one request, and its code says whether it was sent.
    """

    last_failure = ""
    """What went wrong last, a status or the failure of a socket; empty while nothing did."""

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Send a request; a failure becomes an answer that says so."""
        try:
            response = await super().send(request, **options)
        except httpx2.TransportError as exc:
            self.last_failure = f"{type(exc).__name__}: {exc}" if str(exc) else type(exc).__name__
            return self._answer(request, UNREACHED if isinstance(exc, _NEVER_SENT) else CUT_OFF)
        if response.status_code >= HTTPStatus.BAD_REQUEST:
            self.last_failure = f"HTTP {response.status_code} {response.reason_phrase}".strip()
        if response.status_code == HTTPStatus.NOT_FOUND and _SESSION_HEADER in request.headers:
            await response.aclose()
            return self._answer(request, SESSION_GONE)
        return response

    def _answer(self, request: httpx2.Request, code: int) -> httpx2.Response:
        error = {"code": code, "message": self.last_failure}
        message = {"jsonrpc": "2.0", "id": 0, "error": error}  # the SDK puts the request's own id in
        return httpx2.Response(HTTPStatus.BAD_GATEWAY, json=message, request=request)
