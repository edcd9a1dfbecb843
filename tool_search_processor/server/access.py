"""Who is asking: the token of a request, checked in constant time."""

from __future__ import annotations

import base64
import hmac
import inspect
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from tool_search_processor.concurrency.foreign_calls import awaited, is_no_failure
from tool_search_processor.errors import ConfigurationError

logger = logging.getLogger(__name__)

TokenCheck = str | Callable[[str], Any | Awaitable[Any]]
"""The token, or a function (sync or async) from a token to its user, which returns None for a wrong token."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """A caller who was let in."""

    user: object = None
    """What the token's function returned; None if there is only one token, or none."""


class Access:
    """Lets callers in by their token; without a token to check, lets everyone in."""

    # Why not the SDK's bearer authentication: it is for OAuth tokens, with scopes and an issuer's metadata,
    # knows no `Basic` for browsers, and covers the MCP endpoint alone.

    def __init__(self, token: TokenCheck | None, *, option: str = "token") -> None:
        """Check tokens against what was given; errors call it `option`.

        Raises:
            ConfigurationError: For a token that no header could carry, or a value that can't check one.
        """
        if token is not None and not (isinstance(token, str) and token.strip()) and not callable(token):
            raise ConfigurationError(
                f"{option} must be a string that is not blank, or a function from a token to its user, "
                f"found {token!r:.80}"
            )
        if isinstance(token, str) and not _fits_a_header(token):
            # Not shown: it is a secret all the same.
            raise ConfigurationError(
                "no header can carry this token: it begins or ends with a blank, or has a line break (was it "
                "read from a file?)"
            )
        self._token = token

    async def admit(self, authorization: str | None) -> Caller | None:
        """Return who sent this `Authorization` header, None for a caller who is not let in.

        `Bearer TOKEN` is for programs; `Basic`, with the token as password and any name, for browsers.
        """
        if self._token is None:
            return Caller()
        presented = presented_token(authorization)
        if presented is None:
            return None
        if isinstance(self._token, str):
            return Caller() if hmac.compare_digest(presented, self._token.encode()) else None
        return await self._known(self._token, presented)

    async def _known(self, check: Callable[[str], Any], presented: bytes) -> Caller | None:
        try:
            token = presented.decode()
        except UnicodeDecodeError:
            return None
        try:
            user = await awaited(check(token))
            if inspect.isawaitable(user) or hasattr(user, "add_done_callback"):
                if inspect.iscoroutine(user):
                    user.close()
                raise TypeError(f"the check of a token must return its user, found {type(user).__name__!r}")
        except BaseException as exc:
            if is_no_failure(exc):
                raise
            logger.warning("the check of a token failed: the request was refused", exc_info=True)
            return None
        return None if user is None or user is False else Caller(user=user)


def presented_token(authorization: str | None) -> bytes | None:
    """Return the token that an `Authorization` header carries, as it was sent; None if there is none."""
    # Blanks and tabs alone: what else Python strips may be half a character of the token.
    scheme, _, rest = (authorization or "").strip(" \t").partition(" ")
    credentials = rest.strip(" \t").encode("latin-1", "replace")  # as headers are read
    if scheme.lower() == "basic":
        try:
            credentials = base64.b64decode(credentials, validate=True).partition(b":")[2]
        except ValueError:
            return None
    elif scheme.lower() != "bearer":
        return None
    return credentials or None


def _fits_a_header(token: str) -> bool:
    return token == token.strip(" \t") and token.isprintable()
