"""A request to the front: whose it is, and what policy and providers may know of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from anyio import CancelScope

from tool_search_processor.server.mcp.sessions import Session
from tool_search_processor.server.mcp.tool_modes import Mode, forced_mode
from tool_search_processor.server.protection import joined_headers

if TYPE_CHECKING:
    from starlette.requests import Request

REQUEST_KEY = "tool_search_processor.request"
"""Where an HTTP request's scope holds its `FrontRequest`."""

_NO_HEADERS: Mapping[str, str] = MappingProxyType({})


class Presence:
    """Watches whether a request's client is still there, and cancels its work when it leaves."""

    def __init__(self) -> None:
        """Begin with a client that is there."""
        self._scopes: set[CancelScope] = set()
        self._is_over = False

    @contextmanager
    def awaited(self) -> Iterator[None]:
        """Cancel the block once the client has gone."""
        with CancelScope() as scope:
            self._scopes.add(scope)
            try:
                if self._is_over:
                    scope.cancel()
                yield
            finally:
                self._scopes.discard(scope)

    def end(self) -> None:
        """Note that the client has its answer, or has gone without it."""
        self._is_over = True
        for scope in tuple(self._scopes):
            scope.cancel()


@dataclass(frozen=True, kw_only=True)
class FrontRequest:
    """One request."""

    session: Session
    user: object = None
    headers: Mapping[str, str] = field(default_factory=lambda: _NO_HEADERS)
    own_mode: Mode | None = None
    """What holds for this request alone; None where its session's mode does."""
    presence: Presence = field(default_factory=Presence)

    @property
    def mode(self) -> Mode:
        """What this request is listed."""
        return self.own_mode or self.session.mode

    @cached_property
    def context(self) -> Mapping[str, Any]:
        """The request's data, read-only, for the filter, providers and tools.

        `user`: what the token's function said; None without one. `headers`: of HTTP, found in upper and
        lower case. `session_id`: None without a session. `mode`. `session_rules`: switches tools.
        """
        return MappingProxyType(
            {
                "user": self.user,
                "headers": self.headers,
                "session_id": self.session.id,
                "mode": self.mode,
                "session_rules": self.session.rules,
            }
        )


def of_http(request: Request, session: Session) -> FrontRequest:
    """Return an HTTP request as one of a session."""
    from starlette.datastructures import Headers

    headers = Headers(joined_headers(request.scope["headers"]))
    forced = forced_mode(headers, request.query_params)
    return FrontRequest(session=session, user=session.user, headers=headers, own_mode=forced)
