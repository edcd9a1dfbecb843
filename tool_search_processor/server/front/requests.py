"""A request to the front: whose it is, and what policy and providers may know of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from tool_search_processor.server.front.sessions import Session
from tool_search_processor.server.protection import joined_headers

if TYPE_CHECKING:
    from starlette.requests import Request

REQUEST_KEY = "tool_search_processor.request"
"""Where an HTTP request's scope holds its `FrontRequest`."""

_NO_HEADERS: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, kw_only=True)
class FrontRequest:
    """One request."""

    session: Session
    user: object = None
    headers: Mapping[str, str] = field(default_factory=lambda: _NO_HEADERS)

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
                "mode": self.session.mode,
                "session_rules": self.session.rules,
            }
        )


def of_http(request: Request, session: Session) -> FrontRequest:
    """Return an HTTP request as one of a session."""
    from starlette.datastructures import Headers

    headers = Headers(joined_headers(request.scope["headers"]))
    return FrontRequest(session=session, user=session.user, headers=headers)
