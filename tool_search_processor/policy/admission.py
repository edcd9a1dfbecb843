"""Asking a filter on behalf of one request; whatever goes wrong counts as a denial."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Iterable, Mapping
from itertools import compress, islice
from types import MappingProxyType, TracebackType
from typing import Any, Self

from tool_search_processor.policy.filters import (
    Filter,
    FilterRequest,
    NoVerdictError,
    Phase,
    as_verdict,
    let_go,
)
from tool_search_processor.tools import Tool
from tool_search_processor.tools.frozen import FrozenDict

logger = logging.getLogger(__name__)

BATCH = 64
"""The most async hooks that run at once."""

LATE = "no verdict in time"
"""What `Admission.problem` says about a policy that hangs."""

# These end a task or the interpreter: they are never a verdict on a tool.
_PASS_THROUGH = (asyncio.CancelledError, GeneratorExit, KeyboardInterrupt)


class Admission:
    """Asks one filter on behalf of one request.

    A context manager: on exit, failures of the hook are logged, one warning per phase. The hook is asked
    about a tool once per phase, however often the tool comes up. Once a whole batch of async verdicts has
    timed out, the rest of the request is denied without asking: a hung policy costs one time limit.
    """

    def __init__(
        self,
        filter: Filter | None,  # noqa: A002 - the option's public name
        *,
        context: Mapping[str, Any],
        thread_id: str | None = None,
        timeout_seconds: float | None = None,
    ) -> None:
        """Bind a filter to a request.

        Args:
            filter: The hook; None admits everything.
            context: The request's own data; the hook gets a read-only view of it.
            thread_id: The conversation, None for an anonymous run.
            timeout_seconds: How long an awaitable may take before it counts as a denial.
        """
        self._filter = filter
        self._context = (
            context if isinstance(context, (FrozenDict, MappingProxyType)) else FrozenDict(context)
        )
        self._thread_id = thread_id
        self._timeout_seconds = timeout_seconds
        self._verdicts: dict[tuple[Phase, str], bool] = {}
        self._failures: dict[Phase, dict[str, BaseException | None]] = {}
        self.is_hung = False
        """Whether a whole batch has timed out, so that nothing more is admitted."""

    @property
    def is_open(self) -> bool:
        """Whether there is no filter."""
        return self._filter is None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        for phase, failures in self._failures.items():
            name, error = next(iter(failures.items()))
            logger.warning(
                "the filter failed for %d tool(s) in phase %r, which were denied; the first was %r: %s%s",
                len(failures),
                phase,
                name,
                _reason(error),
                "; the rest of this request was denied without asking" if self.is_hung else "",
                # A hook that gave a wrong answer has returned: there is no traceback.
                exc_info=None if isinstance(error, NoVerdictError) else error,
            )

    @property
    def problem(self) -> str | None:
        """Why the filter first failed to give a verdict; None if it always gave one."""
        failures = next(iter(self._failures.values()), None)
        return None if failures is None else _reason(next(iter(failures.values())))

    async def admits(self, tool: Tool, *phases: Phase) -> bool:
        """Return True if every phase admits the tool; they are asked in this order."""
        for phase in phases:
            if not await self.admit((tool,), phase):
                return False
        return True

    async def admit(self, tools: Iterable[Tool], phase: Phase, *, limit: int | None = None) -> list[Tool]:
        """Return the admitted tools, in the order given.

        Args:
            tools: The candidates; the hook is asked about no more of them than needed.
            phase: What the tools are for.
            limit: Stop when this many are admitted; None goes through all of them.

        Raises:
            asyncio.CancelledError: If the request is cancelled; every other failure denies.
        """
        if self._filter is None:
            return list(islice(tools, limit))
        admitted: list[Tool] = []
        remaining = iter(tools)
        at_once = BATCH if limit is None else max(1, min(limit, BATCH))
        while limit is None or len(admitted) < limit:
            wanted = BATCH if limit is None else limit - len(admitted)
            asked, verdicts = await self._next_verdicts(remaining, phase, wanted=wanted, at_once=at_once)
            if not asked:
                break
            admitted += compress(asked, verdicts)
            at_once = min(BATCH, at_once * 2)
        return admitted[:limit]

    async def _next_verdicts(
        self, tools: Iterable[Tool], phase: Phase, *, wanted: int, at_once: int
    ) -> tuple[list[Tool], list[bool]]:
        """Ask about tools until enough sync verdicts admit or enough async ones are pending."""
        asked: list[Tool] = []
        verdicts: list[bool | Awaitable[bool]] = []
        waiting = yes = 0
        try:
            for tool in tools:
                verdict = self._ask(tool, phase)
                asked.append(tool)
                verdicts.append(verdict)
                if verdict is True:
                    yes += 1
                elif verdict is not False:
                    waiting += 1
                if waiting >= at_once or yes >= wanted:
                    break
        except BaseException:
            for verdict in verdicts:
                let_go(verdict)
            raise
        if waiting:
            settled = await self._settle(asked, verdicts, phase)
            late = {name for name, error in self._failures.get(phase, {}).items() if error is None}
            self.is_hung = late.issuperset(tool.name for tool in asked)
            return asked, settled
        return asked, verdicts  # type: ignore[return-value]  # nothing in it waits

    def _ask(self, tool: Tool, phase: Phase) -> bool | Awaitable[bool]:
        """Call the hook for one tool and return its verdict, or an awaitable of it."""
        known = self._verdicts.get((phase, tool.name))
        if known is not None:
            return known
        if self.is_hung:
            return self._fail(tool, phase, None)
        try:
            answer = self._filter(  # type: ignore[misc]  # admit() returned early without a filter
                FilterRequest(tool.name, tool, self._context, phase, self._thread_id)
            )
            # Checked first, since nearly every hook answers this.
            if answer is not True and answer is not False and inspect.isawaitable(answer):
                return answer
            verdict = as_verdict(answer)
        except _PASS_THROUGH:
            raise
        except BaseException as exc:  # noqa: BLE001 - foreign code: whatever it raises is a denial
            verdict = self._fail(tool, phase, exc)
        self._verdicts[phase, tool.name] = verdict
        return verdict

    async def _settle(
        self, tools: list[Tool], verdicts: list[bool | Awaitable[bool]], phase: Phase
    ) -> list[bool]:
        """Await the pending verdicts concurrently, keeping the order."""
        tasks = {
            place: asyncio.ensure_future(self._wait(tools[place], verdict, phase))
            for place, verdict in enumerate(verdicts)
            if not isinstance(verdict, bool)
        }
        try:
            await asyncio.gather(*tasks.values())
        except BaseException:
            # A hook may need a moment to clean up: it is cancelled once, and nothing outlives the request.
            for task in tasks.values():
                if not task.cancelling():
                    task.cancel()
            await asyncio.wait(tasks.values())
            for verdict in verdicts:  # a task cancelled before it began never awaited its verdict
                let_go(verdict)
            raise
        return [tasks[i].result() if i in tasks else verdict is True for i, verdict in enumerate(verdicts)]

    async def _wait(self, tool: Tool, answer: Awaitable[bool], phase: Phase) -> bool:
        try:
            async with asyncio.timeout(self._timeout_seconds) as deadline:
                verdict = as_verdict(await answer)
            if deadline.expired():  # the hook ignored its cancellation
                raise TimeoutError
        except _PASS_THROUGH:
            raise
        except BaseException as exc:  # noqa: BLE001 - foreign code: whatever it raises is a denial
            verdict = self._fail(tool, phase, None if deadline.expired() else exc)
        self._verdicts[phase, tool.name] = verdict
        return verdict

    def _fail(self, tool: Tool, phase: Phase, error: BaseException | None) -> bool:
        self._failures.setdefault(phase, {}).setdefault(tool.name, error)
        return False


def _reason(error: BaseException | None) -> str:
    if error is None:
        return LATE
    return str(error) if isinstance(error, NoVerdictError) else repr(error)
