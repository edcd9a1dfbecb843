"""Follows what goes over a connection, and notices its end even while no request is under way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

from tool_search_processor.providers.mcp.traffic import Traffic


class WatchedTransport:
    """A transport of the SDK that reports when its server has hung up."""

    def __init__(self, transport: Any, traffic: Traffic, *, on_end: Callable[[], object]) -> None:
        """Wrap a transport.

        Args:
            transport: What the SDK's client enters.
            traffic: Sees each message, and may replace it.
            on_end: Called when nothing more will be read, possibly more than once.
        """
        self._transport = transport
        self._traffic = traffic
        self._on_end = on_end

    async def __aenter__(self) -> tuple[Any, Any]:
        """Open the transport; both halves are watched."""
        reading, writing = await self._transport.__aenter__()
        return _ReadingHalf(reading, self._traffic, self._on_end), _WritingHalf(writing, self._traffic)

    async def __aexit__(self, *exc_info: Any) -> Any:
        """Close the transport."""
        return await self._transport.__aexit__(*exc_info)


class _Half:
    """One half of a transport: everything but messages is the stream's own."""

    def __init__(self, stream: Any, traffic: Traffic) -> None:
        self._stream = stream
        self._traffic = traffic

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the stream itself; streams differ in what they have."""
        return getattr(self._stream, name)

    async def __aenter__(self) -> Self:
        """Enter the stream."""
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *exc_info: Any) -> Any:
        """Leave the stream."""
        return await self._stream.__aexit__(*exc_info)


class _ReadingHalf(_Half):
    def __init__(self, stream: Any, traffic: Traffic, on_end: Callable[[], object]) -> None:
        super().__init__(stream, traffic)
        self._on_end = on_end

    def __aiter__(self) -> Self:
        """Read on to the end."""
        return self

    async def __anext__(self) -> Any:
        """Return the next message."""
        try:
            if not await self._traffic.has_room():
                raise StopAsyncIteration
            item = self._traffic.received(await self._stream.__anext__())
            if self._traffic.fault:
                raise StopAsyncIteration
            return item
        except BaseException:  # the end, in one of its forms
            self._on_end()
            raise


class _WritingHalf(_Half):
    async def send(self, item: Any) -> None:
        """Send a message."""
        with self._traffic.sending(item.message):
            await self._stream.send(item)
