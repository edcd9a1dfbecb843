"""Noticing the end of a connection while nothing is asked of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self


class WatchedTransport:
    """A transport of the SDK that tells when its server has hung up."""

    def __init__(self, transport: Any, *, on_end: Callable[[], object]) -> None:
        """Wrap a transport.

        Args:
            transport: What the SDK's client enters.
            on_end: Called when nothing more will be read; maybe more than once.
        """
        self._transport = transport
        self._on_end = on_end

    async def __aenter__(self) -> tuple[Any, Any]:
        """Open the transport; its reading half is watched."""
        reading, writing = await self._transport.__aenter__()
        return _WatchedStream(reading, self._on_end), writing

    async def __aexit__(self, *exc_info: Any) -> Any:
        """Close the transport."""
        return await self._transport.__aexit__(*exc_info)


class _WatchedStream:
    """The reading half of a transport."""

    def __init__(self, stream: Any, on_end: Callable[[], object]) -> None:
        self._stream = stream
        self._on_end = on_end

    def __getattr__(self, name: str) -> Any:
        """Return what the stream itself has; some have more than others."""
        return getattr(self._stream, name)

    def __aiter__(self) -> Self:
        """Read on to the end."""
        return self

    async def __anext__(self) -> Any:
        """Return the next message."""
        try:
            return await self._stream.__anext__()
        except BaseException:  # the end, in one of its forms
            self._on_end()
            raise

    async def __aenter__(self) -> Self:
        """Enter the stream."""
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *exc_info: Any) -> Any:
        """Leave the stream."""
        return await self._stream.__aexit__(*exc_info)
