"""Connections that are closed when there are too many, or when a client sends or reads nothing."""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol


class LimitedConnection(H11Protocol):
    """One client's connection.

    Why not uvicorn's own limits: `timeout_keep_alive` covers the time between two requests only, so uvicorn
    would wait forever for the head of a request, or for a client that reads nothing of its answer; and
    `limit_concurrency` answers connections that are too many instead of closing them.
    """

    idle_seconds: float
    max_connections: int
    request_due: asyncio.TimerHandle | None = None
    reading_due: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's
        """Close the connection if there are too many; otherwise wait for the head of a request."""
        super().connection_made(transport)
        if len(self.connections) > self.max_connections:
            transport.close()
        else:
            self._await_request()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        for timer in (self.request_due, self.reading_due):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        """Wait for the head of the next request."""
        self._await_request()  # first: that request may be here already
        super().on_response_complete()

    def pause_writing(self) -> None:
        """Wait for the client to read what it was sent."""
        super().pause_writing()
        self._await_reading()

    def resume_writing(self) -> None:
        """Go on: the client has read."""
        if self.reading_due is not None:
            self.reading_due.cancel()
        super().resume_writing()

    def _await_request(self) -> None:
        if self.request_due is not None:
            self.request_due.cancel()
        self.request_due = self.loop.call_later(self.idle_seconds, self._close_if_silent, self.cycle)

    def _close_if_silent(self, last: object) -> None:
        if self.cycle is last:  # of the last request: there was none since
            self.transport.close()

    def _await_reading(self) -> None:
        unread = self.transport.get_write_buffer_size()
        self.reading_due = self.loop.call_later(self.idle_seconds, self._drop_if_unread, unread)

    def _drop_if_unread(self, before: int) -> None:
        if self.transport.get_write_buffer_size() >= before:
            self.transport.abort()  # closing would wait until all is read
        else:
            self._await_reading()


def limited_connection(*, idle_seconds: float, max_connections: int) -> type[LimitedConnection]:
    """Return a class of connections with these limits, for uvicorn to make one for each client.

    Args:
        idle_seconds: The longest that the head of a request may take, and that a client may read nothing.
        max_connections: The most that are open at one time.
    """
    limits = {"idle_seconds": idle_seconds, "max_connections": max_connections}
    return type("Connection", (LimitedConnection,), limits)
