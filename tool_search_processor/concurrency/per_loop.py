"""One instance for each event loop, of something bound to its loop, such as a client with connections."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class PerLoop(Generic[T]):
    """Opens one instance in each event loop that asks, and closes it before that loop ends."""

    def __init__(self, opener: Callable[[], T], *, closer: Callable[[T], Awaitable[None]]) -> None:
        """Store what opens and what closes an instance; nothing is opened yet.

        Args:
            opener: Called inside the loop, once for each.
            closer: Called with what was opened, inside the same loop.
        """
        self._opener = opener
        self._closer = closer
        self._lock = threading.Lock()
        self._opened: dict[asyncio.AbstractEventLoop, tuple[T, AsyncGenerator[T]]] = {}

    async def get(self) -> T:
        """Return the instance of the running loop."""
        loop = asyncio.get_running_loop()
        opened = self._opened.get(loop)
        if opened is not None:
            return opened[0]
        lifetime = self._lifetime(loop)
        fresh = await anext(lifetime)
        with self._lock:
            for closed in [other for other in self._opened if other.is_closed()]:
                del self._opened[closed]
            # Nothing was awaited for long: no other task of this loop has opened one meanwhile.
            return self._opened.setdefault(loop, (fresh, lifetime))[0]

    async def aclose(self) -> None:
        """Close all instances, those of other running loops too; a later `get` opens another."""
        here = asyncio.get_running_loop()
        with self._lock:
            opened = dict(self._opened)
            self._opened.clear()
        for loop, (_, lifetime) in opened.items():
            if loop is here:
                await lifetime.aclose()
            elif loop.is_running():
                await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(lifetime.aclose(), loop))

    async def _lifetime(self, loop: asyncio.AbstractEventLoop) -> AsyncGenerator[T]:
        """Yield an instance, and close it when the loop ends.

        `asyncio.run` closes a loop's asynchronous generators before the loop: the last moment at which an
        instance that nobody closed can be closed.
        """
        fresh = self._opener()
        try:
            yield fresh
        finally:
            self._opened.pop(loop, None)
            await self._closer(fresh)
