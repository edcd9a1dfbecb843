"""Progress of a call, reported from whatever thread the tool runs in."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tool_search_processor.providers.mcp.settings import MCPProgress

Send = Callable[[float, float | None, str | None], Awaitable[None]]


class ProgressReporter:
    """Tells the client of one call how far it has come; does nothing where the client didn't ask."""

    def __init__(self, send: Send) -> None:
        """Take the way to the client; must be made in the loop that serves the call."""
        self._send = send
        self._loop = asyncio.get_running_loop()
        self._under_way: set[asyncio.Task[None]] = set()
        self._is_over = False

    def __call__(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Report, from any thread, without waiting.

        Args:
            progress: Grows from one report to the next.
            total: What it ends at; None where that isn't known.
            message: What is being done.
        """
        self._loop.call_soon_threadsafe(self._start, progress, total, message)

    async def finish(self) -> None:
        """Wait for what was reported, since no report may come after the call's result."""
        # One turn of the loop, for reports of a thread that has just ended.
        await asyncio.sleep(0)
        self._is_over = True
        if self._under_way:
            await asyncio.gather(*self._under_way, return_exceptions=True)

    def _start(self, progress: float, total: float | None, message: str | None) -> None:
        if self._is_over:
            return
        task = self._loop.create_task(self._report(progress, total, message))
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)

    async def _report(self, progress: float, total: float | None, message: str | None) -> None:
        await self._send(progress, total, message)


def forward_progress(progress: MCPProgress) -> None:
    """Pass an upstream server's progress on to this server's client: `MCPProvider(on_progress=...)`."""
    report = progress.context.context.get("report_progress")
    if report is not None:
        report(progress.progress, progress.total, progress.message)
