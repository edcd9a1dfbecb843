"""Running the tool calls that a model made: find the tool, ask for approval, run, answer in words."""

from __future__ import annotations

import asyncio
import inspect
import logging
import re
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import partial
from typing import Any

from tool_search_processor.concurrency.foreign_calls import is_cancelled
from tool_search_processor.errors import (
    ConfigurationError,
    ToolArgumentsError,
    ToolSearchError,
    ToolUnavailableError,
)
from tool_search_processor.meta_tools import MetaTool
from tool_search_processor.session.checks import resolvers
from tool_search_processor.session.model_calls import PreparedCall, ToolOutcome, read_arguments, wire_name
from tool_search_processor.session.tool_results import (
    RESULT_CHARACTERS,
    cut_result,
    encode_result,
    error_text,
    read_result,
    told_text,
)
from tool_search_processor.steps import InputProcessor, InputStep
from tool_search_processor.tools import Tool, ToolContext
from tool_search_processor.tools.near_names import meant_name
from tool_search_processor.tools.tool_names import MAX_NAME_LENGTH
from tool_search_processor.wire.calls import CallRequest
from tool_search_processor.wire.plain import clean_text

logger = logging.getLogger(__name__)

# What ends the program or the task is nobody's answer.
_ENDS = (KeyboardInterrupt, asyncio.CancelledError)
MAX_CALLS = 128
"""The most calls of one reply that are looked at; the rest is told to be left."""
_STOPPED = (
    "Error: {name} was stopped before it answered, because the run was cancelled. It may have taken effect."
)
_NOT_BEGUN = "Error: {name} was not run, because the run was cancelled before."
_NEAR_NAMES = 3
_WORDS = re.compile(r"[A-Za-z0-9_-]+")
_NEAR_ENOUGH = 0.6


class CallRunner:
    """Prepares and runs calls for the processors of one agent or session; holds no state of a run."""

    def __init__(
        self,
        processors: Sequence[InputProcessor],
        *,
        timeout_seconds: float | None = None,
        max_result_characters: int | None = RESULT_CHARACTERS,
        concurrent: bool = True,
        mask_error_details: bool = False,
    ) -> None:
        """Ask `processors` for tools that a step doesn't list.

        Args:
            processors: In the order in which they are asked.
            timeout_seconds: Longest time one tool may take; None waits for ever.
            max_result_characters: The most characters of one tool's result; None cuts nothing.
            concurrent: Whether the calls of one step run at the same time.
            mask_error_details: Whether what a tool raises is for the log alone.
        """
        self._resolvers = resolvers(processors)
        self._timeout_seconds = timeout_seconds
        self._max_result_characters = max_result_characters
        self._concurrent = concurrent
        self._masks = mask_error_details

    async def prepare(self, step: InputStep, requests: Sequence[CallRequest]) -> list[PreparedCall]:
        """Look up the tool of each call, at the same time; the order is kept."""
        tasks = [asyncio.create_task(self._prepare(step, request)) for request in requests[:MAX_CALLS]]
        try:
            looked_up = await asyncio.gather(*tasks)
        finally:
            await stop_tasks(tasks)
        return [*looked_up, *map(_left, requests[MAX_CALLS:])]

    def start(self, step: InputStep, calls: Sequence[PreparedCall]) -> list[RunningCall]:
        """Start the calls, in order; whoever starts them awaits them or stops them."""
        gate = asyncio.Semaphore(len(calls) or 1 if self._concurrent else 1)
        return [RunningCall(call, partial(self._run, step), gate=gate) for call in calls]

    async def end_run(self, step: InputStep) -> None:
        """Tell every resolver that the run of a step has ended."""
        for resolver in self._resolvers:
            try:
                await resolver.end_run(step)
            except Exception:  # cleaning up must not hide how it ended
                logger.warning("end_run of %r failed", getattr(resolver, "id", resolver), exc_info=True)

    async def _prepare(self, step: InputStep, request: CallRequest) -> PreparedCall:
        name = wire_name(request.name)
        arguments, error = read_arguments(request.arguments, name=name)
        try:
            tool = await self._find(step, request.name)
            if tool is None:
                error = await self._missing_text(step, request.name)
            elif error is not None:
                error = await _explained(step, tool, ToolArgumentsError(error.removeprefix("Error: ")))
            if tool is None or error is not None:
                return PreparedCall(
                    request=request,
                    name=name,
                    arguments=arguments,
                    error=error,
                    problem=self._policy_problem(step, request.name) if tool is None else None,
                )
            context = _context(step, request)
            target, given = await tool.target(arguments, context)
            arguments, unread = read_arguments(given, name=wire_name(target.name))
            # nobody is asked to approve what cannot run, or cannot be shown
            error = (await _mistake(step, target, given) or unread) if target.requires_approval else None
        except _ENDS:
            raise
        except BaseException as exc:  # noqa: BLE001 - foreign code: whatever it raises is an answer to the model
            return PreparedCall(
                request=request,
                name=name,
                arguments=arguments,
                error=self._told(name, exc),
                problem=exc.problem if isinstance(exc, ToolUnavailableError) else None,
            )
        if error is not None:
            return PreparedCall(request=request, name=name, arguments=arguments, error=error)
        # what can't be read goes to the tool as it is: it says what is wrong, or takes no object
        taken = given if unread else arguments
        return PreparedCall(request=request, name=name, tool=target, arguments=taken)

    async def _find(self, step: InputStep, name: str) -> Tool | None:
        """Return the tool that a call means, exact names first; None as well where it may mean two."""
        listed = {tool.name: tool for tool in reversed(step.tools)}
        if name in listed:
            return listed[name]
        found = await self._resolve(step, name)
        near = meant_name(name, listed)
        if near is None or (found is not None and found.name == name):
            return found
        return listed[near] if found is None or found.name == near else None

    async def _resolve(self, step: InputStep, name: str) -> Tool | None:
        for resolver in self._resolvers:
            tool = await resolver.resolve_call(step, name)
            if tool is not None:
                return tool
        return None

    def _policy_problem(self, step: InputStep, name: str) -> str | None:
        """Return why a resolver's policy gave no verdict on a tool that was not found."""
        hooks = (getattr(resolver, "policy_problem", None) for resolver in self._resolvers)
        problems = (hook(step, name) for hook in hooks if hook is not None)
        return next(filter(None, problems), None)

    async def _missing_text(self, step: InputStep, name: str) -> str:
        """Return what the resolvers say of a tool that nobody knows, and listed names that are like it."""
        texts: list[str] = []
        for resolver in self._resolvers:
            hook = getattr(resolver, "missing_tool_text", None)
            text = hook(step, name) if hook is not None else None
            text = await text if inspect.isawaitable(text) else text
            if text:
                texts.append(str(text))
        said = "\n".join(texts) or f"Error: there is no tool named {name[:MAX_NAME_LENGTH]!r}."
        told = _WORDS.findall(said)
        near = [tool for tool in _near_names(name, [tool.name for tool in step.tools]) if tool not in told]
        hint = f" Did you mean {' or '.join(near)}?" if near else ""
        return clean_text(f"{said}{hint}")

    async def _run(self, step: InputStep, call: PreparedCall) -> ToolOutcome:
        if call.tool is None:
            return call.answer(call.error or "")
        scope = asyncio.timeout(self._timeout_seconds)
        try:
            async with scope:
                value = await read_result(await call.tool.call(call.arguments, _context(step, call.request)))
            # Writing it down runs foreign code as well: its `__repr__`.
            text = self._cut(call.tool, encode_result(value))
            # A meta-tool that answers itself has run nothing that a person could have approved.
            return call.answer(text, is_error=False, ran=not isinstance(call.tool, MetaTool))
        except asyncio.CancelledError:
            if is_cancelled():
                raise
            # something inside the tool was cancelled, not the run
            return call.answer(f"Error: {call.name} was cancelled before it answered.", ran=True)
        except _ENDS:
            raise
        except BaseException as exc:  # noqa: BLE001 - a tool's failure is an answer: sys.exit(), a panic in Rust
            if scope.expired():
                logger.warning("the tool %r took longer than %s s", call.name, self._timeout_seconds)
                return call.answer(
                    f"Error: {call.name} took longer than {self._timeout_seconds:g} seconds and was stopped.",
                    ran=True,
                )
            text = cut_result(self._told(call.name, exc), self._max_result_characters)
            if isinstance(exc, ToolUnavailableError):
                return call.answer(text, ran=exc.ran, problem=exc.problem)
            return call.answer(text, ran=True)

    def _told(self, name: str, error: BaseException) -> str:
        """Log what foreign code raised, and return what the model is told of it."""
        told = told_text(error, masked=f"Error: {name} failed; the log says why." if self._masks else None)
        # what the model got wrong is not worth an operator's attention; what a program did is
        mistake = isinstance(error, ToolSearchError) and not isinstance(error, ConfigurationError)
        level = logging.DEBUG if mistake and told == error_text(error) else logging.WARNING
        logger.log(level, "the tool %r failed: %s", name, type(error).__name__, exc_info=error)
        return told

    def _cut(self, tool: Tool, text: str) -> str:
        # A meta-tool's answer may bear a receipt, by which a conversation tells what it has loaded.
        return text if isinstance(tool, MetaTool) else cut_result(text, self._max_result_characters)


class RunningCall:
    """A call that runs in a task of its own, and what came of it, even where it was stopped."""

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
        """Wait for the end of the call and return what came of it."""
        # not `await self.task`: a cancelled run would stop this call alone, and let the next one begin
        await asyncio.wait((self.task,))
        return self.task.result()

    def outcome(self) -> ToolOutcome:
        """Return what came of a call whose task has ended, or that it was stopped."""
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


def _context(step: InputStep, request: CallRequest) -> ToolContext:
    return ToolContext(
        thread_id=step.thread_id, run_id=step.run_id, tool_call_id=request.id, context=step.context
    )


def _left(request: CallRequest) -> PreparedCall:
    text = f"Error: this call was not run: {MAX_CALLS} calls of one reply are the most. Make it again later."
    return PreparedCall(request=request, name=wire_name(request.name), arguments={}, error=text)


async def _mistake(step: InputStep, tool: Tool, arguments: Mapping[str, Any]) -> str | None:
    """Return what is wrong with the arguments, with the parameters where the model hasn't seen them."""
    try:
        tool.check_arguments(arguments)
    except ToolArgumentsError as exc:
        return await _explained(step, tool, exc)
    return None


async def _explained(step: InputStep, tool: Tool, problem: ToolArgumentsError) -> str:
    if any(listed.name == tool.name for listed in step.tools):
        return error_text(problem)
    explain = getattr(tool, "explain", None)
    if explain is not None:
        return encode_result(await explain(problem))
    return f"{error_text(problem)} The parameters of {tool.name}: {encode_result(tool.wire_schema())}"


def _near_names(name: str, names: Sequence[str]) -> list[str]:
    from rapidfuzz import process
    from rapidfuzz.distance import OSA

    similarity = OSA.normalized_similarity
    found = process.extract(name, names, scorer=similarity, limit=_NEAR_NAMES, score_cutoff=_NEAR_ENOUGH)
    return [match for match, _, _ in found]
