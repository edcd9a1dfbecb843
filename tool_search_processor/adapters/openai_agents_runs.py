"""Keeps what searchers have loaded in one run of the OpenAI Agents SDK, until that run ends."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Callable, Hashable, Iterable
from contextlib import suppress
from typing import Any

from agents import RunContextWrapper

from tool_search_processor.adapters.runs import SearchRun
from tool_search_processor.processor.pipeline import SearchPipeline
from tool_search_processor.tools import Tool

_KEPT_AS = "_tool_search_runs"
_ending: set[asyncio.Task[None]] = set()


class Runs:
    """The runs of searchers within one run of the SDK.

    They are kept on the run's context wrapper, since the SDK copies it for a run that stops for an approval.
    """

    def __init__(self) -> None:
        """Begin without runs."""
        self._runs: dict[Hashable, AgentRun] = {}
        self._last: tuple[AgentRun, int] | None = None

    @classmethod
    def of(cls, run_context: RunContextWrapper[Any]) -> Runs:
        """Return the runs that belong to an SDK run."""
        runs: Runs = vars(run_context).setdefault(_KEPT_AS, cls())
        return runs

    def run(self, key: Hashable, make: Callable[[], AgentRun], *, requests: int) -> AgentRun:
        """Return the run of a searcher, made at its first model call.

        Args:
            key: Names the searcher and its options.
            make: Makes the run.
            requests: The model calls that the SDK's run has made.
        """
        run = self._runs.get(key)
        if run is None:
            run = self._runs[key] = make()
            # The SDK doesn't report the end of a run that fails. If the loop is gone, little is left over.
            weakref.finalize(self, _end_later, run, asyncio.get_running_loop()).atexit = False
        self._last = run, requests
        return run

    def last(self, requests: int) -> SearchRun | None:
        """Return the run that listed the tools of the last model call; None if another kind of agent did."""
        if self._last is None:
            return None
        run, requests_before = self._last
        return run if requests <= requests_before + 1 else None


class AgentRun(SearchRun):
    """One searcher's part of an SDK's run."""

    def __init__(self, search: SearchPipeline, **options: Any) -> None:
        """Open a run; see `SearchRun`."""
        super().__init__(search, **options)
        self._offered: set[str] = set()

    async def approved(self, names: Iterable[str]) -> list[Tool]:
        """Return the tools of these names: approved in another process, and never offered by this run."""
        self._offered.update(tool.name for tool in self.model_call.tools)
        unknown = [name for name in names if name not in self._offered]
        return await self.admitted(unknown)

    async def admitted(self, names: Iterable[str]) -> list[Tool]:
        """Return the tools of these names that policy admits now, listed or not."""
        step = self.model_call.step
        found = [(name, await self.search.resolve_call(step, name)) for name in names]
        return [tool for name, tool in found if tool is not None and tool.name == name]


def _end_later(run: SearchRun, loop: asyncio.AbstractEventLoop) -> None:
    with suppress(RuntimeError):  # the loop is closed
        loop.call_soon_threadsafe(_end, run, loop)


def _end(run: SearchRun, loop: asyncio.AbstractEventLoop) -> None:
    task = loop.create_task(run.end())
    _ending.add(task)
    task.add_done_callback(_ending.discard)
