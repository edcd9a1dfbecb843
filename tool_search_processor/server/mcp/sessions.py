"""Sessions: a client's choices at its start, kept for as long as it is there."""

from __future__ import annotations

import asyncio
import base64
import hmac
import json
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tool_search_processor.errors import ConfigurationError
from tool_search_processor.server.mcp.rules import SessionRules
from tool_search_processor.server.mcp.tool_modes import MODES, Mode

SESSION_TTL_SECONDS = 1800.0
_LEAST_SECRET = 16
_LONGEST_ID = 1000


@dataclass(eq=False, slots=True)
class Exchange:
    """One request of a session, from its message until nothing is left of it."""

    is_answered: bool = False
    """Whether its client has all of the answer; the SDK is done with it a moment later."""
    over: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass(eq=False, slots=True)
class Stream:
    """A session's endless stream, on which it is notified of changes."""

    ending: asyncio.Event = field(default_factory=asyncio.Event)
    """Set to end it."""
    over: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass(eq=False, slots=True, kw_only=True)
class Session:
    """One client's mode and rules; without an `id`, the mode of a single request."""

    mode: Mode
    rules: SessionRules
    id: str | None = None
    user: object = None
    log_level: str | None = None
    """The least severe level that its client wants of its log; None wants all."""
    exchanges: dict[str, Exchange] = field(default_factory=dict)
    """The requests that are under way, by their ids."""
    stream: Stream | None = None
    in_flight: int = 0
    last_seen: float = 0.0


class SessionTable:
    """The sessions of this process; a session that is idle for too long ends."""

    # Why not the SDK's own table: it keeps transports by id, and knows neither modes nor rules nor users.

    def __init__(
        self,
        ttl_seconds: float,
        *,
        ended: Callable[[Session], object],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin empty.

        Args:
            ttl_seconds: How long a session may be idle.
            ended: Called with each session that ends.
            clock: What that is measured on, in seconds.
        """
        self._ttl_seconds = ttl_seconds
        self._ended = ended
        self._clock = clock
        self._sessions: dict[str, Session] = {}
        """In the order in which they were last seen."""

    def __len__(self) -> int:
        return len(self._sessions)

    def open(self, session: Session) -> None:
        """Keep a session that has just begun."""
        session.last_seen = self._clock()
        self._sessions[str(session.id)] = session
        self._drop_idle()

    def get(self, session_id: str, *, user: object) -> Session | None:
        """Return a session of this user; None if it has ended, never existed, or is another user's."""
        self._drop_idle()
        session = self._sessions.get(session_id)
        return session if session is not None and session.user == user else None

    @contextmanager
    def serving(self, session: Session) -> Iterator[None]:
        """Keep a session from being idle while one of its requests is under way."""
        session.in_flight += 1
        try:
            yield
        finally:
            session.in_flight -= 1
            session.last_seen = self._clock()
            if self._sessions.pop(str(session.id), None) is None:
                self._ended(session)  # again: what this request has left behind
            else:
                self._sessions[str(session.id)] = session

    def close(self, session: Session) -> None:
        """End a session."""
        if self._sessions.pop(str(session.id), None) is not None:
            self._ended(session)

    def _drop_idle(self) -> None:
        now = self._clock()
        idle: list[Session] = []
        for session in self._sessions.values():
            if session.in_flight:
                continue
            if now - session.last_seen < self._ttl_seconds:
                break
            idle.append(session)
        for session in idle:
            self.close(session)


class SignedIds:
    """Session ids that carry their mode, signed: any worker that knows the secret can serve them.

    The signature holds for one user, identified by `repr`. Nothing is kept, so such a session can't be idle:
    it ends a fixed time after it began.
    """

    # Why not the SDK's codec of request states: it refuses secrets of less than 32 bytes.

    def __init__(
        self, secret: str | bytes, *, ttl_seconds: float, clock: Callable[[], float] = time.time
    ) -> None:
        """Sign the ids of sessions with a secret.

        Args:
            secret: What ids are signed with: the same in all workers.
            ttl_seconds: How long a session lasts.
            clock: Returns the time in seconds since the epoch.

        Raises:
            ConfigurationError: For a secret of less than 16 bytes.
        """
        self._secret = secret.encode() if isinstance(secret, str) else bytes(secret)
        if len(self._secret) < _LEAST_SECRET:
            raise ConfigurationError(
                f"session_secret needs at least {_LEAST_SECRET} bytes, found {len(self._secret)}: "
                "take secrets.token_hex(32), the same in all workers"
            )
        self._ttl_seconds = ttl_seconds
        self._clock = clock

    def issue(self, mode: Mode, *, user: object) -> str:
        """Return a new id for a user."""
        content = {"mode": mode, "began": int(self._clock()), "id": secrets.token_hex(8)}
        body = _encoded(json.dumps(content, separators=(",", ":")).encode())
        return f"{body}.{self._signature(body, user)}"

    def read(self, session_id: str, *, user: object) -> Mode | None:
        """Return the mode of an id; None if it was signed for another user, was changed, or has expired."""
        body, _, signature = session_id[:_LONGEST_ID].partition(".")
        if not hmac.compare_digest(signature.encode(), self._signature(body, user).encode()):
            return None
        try:
            content = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
            mode, began = content["mode"], float(content["began"])
        except (ValueError, TypeError, KeyError):
            return None
        is_over = self._clock() - began >= self._ttl_seconds
        return mode if mode in MODES and not is_over else None

    def _signature(self, body: str, user: object) -> str:
        return _encoded(hmac.digest(self._secret, f"{body}.{user!r}".encode("utf-8", "replace"), "sha256"))


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
