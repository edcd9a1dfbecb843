"""The request-aware filter: who may find, load and use which tool; an exception means deny."""

from __future__ import annotations

import asyncio
import inspect
import logging
import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from types import MappingProxyType, TracebackType
from typing import Any, Literal, Self

from tool_search_processor.concurrency.foreign_calls import takes_one
from tool_search_processor.errors import ConfigurationError
from tool_search_processor.tools import Tool
from tool_search_processor.tools.frozen import FrozenDict
from tool_search_processor.wire.plain import is_number

logger = logging.getLogger(__name__)

Phase = Literal["search", "load", "active"]
"""`search`: may it be found; `load`: may it be made callable; `active`: may it be used right now."""

BATCH = 64
"""The most async hooks that are asked at once."""

# Generators, async generators, futures of threads.
_UNFINISHED = ("send", "asend", "add_done_callback")

LATE = "no verdict in time"
"""What `Admission.problem` says of a policy that hangs."""

# What ends a task or the interpreter is never a verdict on a tool.
_PASS_THROUGH = (asyncio.CancelledError, GeneratorExit, KeyboardInterrupt)


@dataclass(frozen=True, slots=True)
class FilterRequest:
    """What a filter hook is asked: may this tool take part in this phase of this request?

    ```python
    def for_pro(request: FilterRequest) -> bool:
        return request.phase == "search" or request.context.get("plan") == "pro"

    search = ToolSearchProcessor([create_issue], filter=for_pro)
    (await search.load("create_issue", thread_id="t-42"))["loaded"]  # -> []
    ```

    `phase` is "search" (may it be found), "load" (may it be made callable) or "active" (may it be listed
    and called right now); `context` is what `Agent.run` or the session was given.
    """

    tool_name: str
    tool: Tool
    """Read-only: its dicts and lists refuse changes."""
    context: Mapping[str, Any]
    """The request's own data, as a read-only view."""
    phase: Phase
    thread_id: str | None = None


Filter = Callable[[FilterRequest], bool | Awaitable[bool]]
"""Says who may find, load and use a tool. Only `True` admits (numpy's, too).

A tool that a filter denies in every phase is answered in words, lists, suggestions and shapes as one that
does not exist. Three things still depend on it, so a caller who can compare many answers may learn that
*something* is hidden, and which words it has:

- Scores. How much a word says, which words are known, and so which misspelt one is mended to which, follow
  the whole catalog: a score, the order of two close hits, or whether a rare word finds anything at all.
- Time. Ranking looks at denied tools as well, and asks the filter about each until enough are admitted.
  Calls of one reply run at the same time, so which of two loads comes first may follow from that.
- Names. Of two catalog tools that would bear one name, the earlier one keeps it, denied or not.

Where that is too much, give each group of callers a catalog of its own: tools from a function of the context
are ranked and named within their request.

What only some phases deny is known to whoever the other phases admit: `load` admitted and `active` denied is
a tool that can be named and loaded and is neither listed nor run. `Usage.definition_tokens_full`, which is
for the operator, counts every tool.
"""


class Admission:
    """Asks one filter on behalf of one request.

    A context manager: on leaving, failures of the hook are logged, one warning a phase. A tool is
    asked about once a phase, however often it comes up in the request. Once a whole batch of async
    verdicts has timed out, the rest of the request is denied unasked: a hung policy costs one time limit.
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
        is_read_only = isinstance(context, FrozenDict | MappingProxyType)
        self._context = context if is_read_only else FrozenDict(context)
        self._thread_id = thread_id
        self._timeout_seconds = timeout_seconds
        self._verdicts: dict[tuple[Phase, str], bool] = {}
        self._failures: dict[Phase, dict[str, BaseException | None]] = {}
        self.is_hung = False
        """Whether a whole batch has timed out, so that nothing more is admitted."""

    @property
    def is_open(self) -> bool:
        """Whether there is no filter at all."""
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
                "; what came later in this request was denied unasked" if self.is_hung else "",
                # What answered wrongly has returned: no traceback leads to it.
                exc_info=None if isinstance(error, _NoVerdictError) else error,
            )

    @property
    def problem(self) -> str | None:
        """Why the filter gave no verdict, the first time it didn't; None where it always did."""
        failures = next(iter(self._failures.values()), None)
        return None if failures is None else _reason(next(iter(failures.values())))

    async def admits(self, tool: Tool, *phases: Phase) -> bool:
        """Tell whether one tool is admitted by every one of the phases, asked in this order."""
        for phase in phases:
            if not await self.admit((tool,), phase):
                return False
        return True

    async def admit(self, tools: Iterable[Tool], phase: Phase, *, limit: int | None = None) -> list[Tool]:
        """Return the admitted tools, in the order given.

        Args:
            tools: The candidates; no more of them are asked about than needed.
            phase: What they are to be used for.
            limit: Stop when this many are admitted; None goes through all of them.

        Raises:
            asyncio.CancelledError: When the request is cancelled; every other failure denies.
        """
        if self._filter is None:
            return list(tools if limit is None else islice(tools, limit))
        admitted: list[Tool] = []
        remaining = iter(tools)
        at_once = BATCH if limit is None else max(1, min(limit, BATCH))
        while limit is None or len(admitted) < limit:
            wanted = BATCH if limit is None else limit - len(admitted)
            asked, verdicts = await self._next_verdicts(remaining, phase, wanted=wanted, at_once=at_once)
            if not asked:
                break
            admitted += [tool for tool, verdict in zip(asked, verdicts, strict=True) if verdict]
            at_once = min(BATCH, at_once * 2)
        return admitted if limit is None else admitted[:limit]

    async def _next_verdicts(
        self, tools: Iterable[Tool], phase: Phase, *, wanted: int, at_once: int
    ) -> tuple[list[Tool], list[bool]]:
        """Ask about tools until enough sync verdicts admit, or enough async ones are under way."""
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
                _let_go(verdict)
            raise
        if waiting:
            settled = await self._settle(asked, verdicts, phase)
            late = {name for name, error in self._failures.get(phase, {}).items() if error is None}
            self.is_hung = late.issuperset(tool.name for tool in asked)
            return asked, settled
        return asked, verdicts  # type: ignore[return-value]  # nothing in it waits

    def _ask(self, tool: Tool, phase: Phase) -> bool | Awaitable[bool]:
        """Call the hook for one tool; a sync hook has answered when this returns."""
        known = self._verdicts.get((phase, tool.name))
        if known is not None:
            return known
        if self.is_hung:
            return self._fail(tool, phase, None)
        try:
            answer = self._filter(  # type: ignore[misc]  # admit() returned early without a filter
                FilterRequest(tool.name, tool, self._context, phase, self._thread_id)
            )
            # Looked at first, since it is what nearly every hook says.
            is_plain = answer is True or answer is False
            if not is_plain and inspect.isawaitable(answer):
                return answer
            verdict = as_verdict(answer)
        except _PASS_THROUGH:
            raise
        except BaseException as exc:  # noqa: BLE001 - a foreign hook: whatever it raises is a denial
            verdict = self._fail(tool, phase, exc)
        self._verdicts[phase, tool.name] = verdict
        return verdict

    async def _settle(
        self, tools: list[Tool], verdicts: list[bool | Awaitable[bool]], phase: Phase
    ) -> list[bool]:
        """Await what waits, all at once, and keep the order."""
        tasks = {
            place: asyncio.ensure_future(self._wait(tools[place], verdict, phase))
            for place, verdict in enumerate(verdicts)
            if not isinstance(verdict, bool)
        }
        try:
            await asyncio.gather(*tasks.values())
        except BaseException:
            # A hook may need a moment to tidy up: it is cancelled once, and nothing outlives the request.
            for task in tasks.values():
                if not task.cancelling():
                    task.cancel()
            await asyncio.wait(tasks.values())
            for verdict in verdicts:  # cancelled before its task began, a coroutine was never looked at
                if inspect.iscoroutine(verdict):
                    verdict.close()
            raise
        return [tasks[i].result() if i in tasks else verdict is True for i, verdict in enumerate(verdicts)]

    async def _wait(self, tool: Tool, answer: Awaitable[bool], phase: Phase) -> bool:
        try:
            async with asyncio.timeout(self._timeout_seconds) as deadline:
                verdict = as_verdict(await answer)
            if deadline.expired():  # it clung to life when its time was up
                verdict = self._fail(tool, phase, None)
        except _PASS_THROUGH:
            raise
        except BaseException as exc:  # noqa: BLE001 - a foreign hook: whatever it raises is a denial
            verdict = self._fail(tool, phase, None if deadline.expired() else exc)
        self._verdicts[phase, tool.name] = verdict
        return verdict

    def _fail(self, tool: Tool, phase: Phase, error: BaseException | None) -> bool:
        self._failures.setdefault(phase, {}).setdefault(tool.name, error)
        return False


def require_filter(given: object, *, timeout_seconds: object = None) -> None:
    """Refuse a filter that can't be asked, and a time limit that isn't above 0; None does without either.

    Raises:
        ConfigurationError: It is not a function of one request, or the limit is not a number above 0.
    """
    if timeout_seconds is not None and not (is_number(timeout_seconds) and timeout_seconds > 0):
        raise ConfigurationError(f"filter_timeout_seconds is above 0 or None, found {timeout_seconds!r:.80}")
    if given is None:
        return
    if not callable(given):
        raise ConfigurationError(
            f"filter is a function (request) -> bool, found {given!r:.80}: pass the function itself"
        )
    if not takes_one(given):
        raise ConfigurationError(
            f"filter is a function (request) -> bool, and {given!r:.80} does not take one argument: "
            "a request has `tool_name`, `tool`, `context`, `phase` and `thread_id`"
        )


class _NoVerdictError(TypeError):
    """What a filter answered is not a verdict."""


def as_verdict(answer: object) -> bool:
    """Return an answer as a verdict.

    Raises:
        _NoVerdictError: It is not a bool. `"no"`, `(False, "why")` and `Decision.DENY` are all true, so the
            truth of anything else says nothing.
    """
    if _is_bool(answer):
        return bool(answer)
    if inspect.isawaitable(answer) or any(hasattr(answer, name) for name in _UNFINISHED):
        _let_go(answer)
    hint = ": a `return` may be missing" if answer is None else ""
    kind = None if answer is None else type(answer).__name__
    raise _NoVerdictError(f"it answered with {kind!r}, and only True admits{hint}")


def _is_bool(answer: object) -> bool:
    if answer is True or answer is False:
        return True
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(answer, numpy.bool_)


def _reason(error: BaseException | None) -> str:
    if error is None:
        return LATE
    return str(error) if isinstance(error, _NoVerdictError) else repr(error)


def _let_go(verdict: object) -> None:
    """End an awaitable that nobody will wait for."""
    end = getattr(verdict, "close", None) or getattr(verdict, "cancel", None)
    if callable(end):
        end()
