"""Calls that run at the same time, each in a task of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from tool_search_processor.session.prepared_calls import PreparedCall, ToolOutcome

_STOPPED = (
    "Error: {name} was stopped before it answered, because the run was cancelled. It may have taken effect."
)
_NOT_BEGUN = "Error: {name} was not run, because the run was cancelled before."


class RunningCall:
    """A call that runs in a task of its own, and its outcome, even if it was stopped."""

    def __init__(
        self,
        call: PreparedCall,
        run: Callable[[PreparedCall], Coroutine[Any, Any, ToolOutcome]],
        *,
        gate: asyncio.Semaphore,
    ) -> None:
        """Run a call as soon as the gate lets it."""
        self._call = call
        self._run = run
        self._gate = gate
        self._began = False
        self.task = asyncio.create_task(self._gated())

    async def ended(self) -> ToolOutcome:
        """Wait for the end of the call and return its outcome."""
        # not `await self.task`: a cancelled run would stop only this call, and let the next one begin
        await asyncio.wait((self.task,))
        return self.task.result()

    def outcome(self) -> ToolOutcome:
        """Return the outcome of a call whose task has ended; if it was stopped, the outcome says so."""
        if not self.task.cancelled() and self.task.exception() is None:
            return self.task.result()
        text = (_STOPPED if self._began else _NOT_BEGUN).format(name=self._call.name)
        return self._call.answer(text, ran=self._began and self._call.tool is not None)

    async def _gated(self) -> ToolOutcome:
        async with self._gate:
            self._began = True
            return await self._run(self._call)


async def finish(calls: Sequence[RunningCall]) -> list[ToolOutcome]:
    """Return the outcomes of calls, in order, once all have ended; an interrupt stops them."""
    try:
        return [await call.ended() for call in calls]
    finally:
        await stop_tasks([call.task for call in calls])


async def stop_tasks(tasks: Sequence[asyncio.Task[Any]]) -> None:
    """Cancel what still runs and wait until it has ended."""
    running = [task for task in tasks if not task.done()]
    for task in running:
        task.cancel()
    if running:
        await asyncio.wait(running)
