"""The one thread and event loop in which every connection to an MCP server lives.

A connection belongs to the task and the loop that opened it, while a provider is used from any loop and any
thread: a web server's, `Agent.run_sync`'s own, a test's. So connections live in a loop of their own, callers
hand their requests over to it, and a caller that is cancelled cancels its request there.
"""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Callable, Coroutine
from typing import Any, Protocol, TypeVar

from tool_search_processor.concurrency.background_loop import BackgroundLoop

_T = TypeVar("_T")
_CLOSE_SECONDS = 8.0
"""Longer than the SDK needs to end a process that ignores its closed input and SIGTERM (6.5 s)."""


class Closable(Protocol):
    """Something that is closed with the loop."""

    async def aclose(self) -> None:
        """Close the connections."""


_open: weakref.WeakSet[Closable] = weakref.WeakSet()


async def in_background(start: Callable[[], Coroutine[Any, Any, _T]]) -> _T:
    """Run a coroutine in the background loop, and wait for it in the caller's."""
    loop = _background.get()
    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(start(), loop))


def close_at_exit(item: Closable) -> None:
    """Register something to be closed with the loop, at the latest when the interpreter exits."""
    _open.add(item)


async def _close_all() -> None:
    await asyncio.gather(*(item.aclose() for item in list(_open)), return_exceptions=True)


_background = BackgroundLoop(
    "tool-search-processor-mcp", close_seconds=_CLOSE_SECONDS, before_close=_close_all
)
close_background = _background.close
"""Closes every connection, and ends the loop and its thread; it also runs when the interpreter exits."""
