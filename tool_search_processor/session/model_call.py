"""One model call: the tools to offer with it, and the calls that its answer makes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from tool_search_processor.concurrency.foreign_calls import FailuresLogged, is_cancelled
from tool_search_processor.errors import (
    ConfigurationError,
    ToolArgumentsError,
    ToolSearchError,
    ToolUnavailableError,
)
from tool_search_processor.meta_tools import MetaTool
from tool_search_processor.session.call_lookup import CallLookup
from tool_search_processor.session.checks import resolvers
from tool_search_processor.session.foreign_tools import HANDOVER, ForeignRun, Handover, is_foreign
from tool_search_processor.session.native.declarations import Record, read_record
from tool_search_processor.session.prepared_calls import PreparedCall, ToolOutcome, read_arguments, wire_name
from tool_search_processor.session.running_calls import RunningCall, stop_tasks
from tool_search_processor.session.tool_choices import read_tool_choice
from tool_search_processor.session.tool_results import (
    RESULT_CHARACTERS,
    cut_result,
    encode_result,
    error_text,
    read_result,
    told_text,
)
from tool_search_processor.steps import InputProcessor, InputStep, run_processors
from tool_search_processor.tools import Tool, ToolContext
from tool_search_processor.wire.calls import CallRequest
from tool_search_processor.wire.checks import check_count, check_flags, check_positive

logger = logging.getLogger(__name__)

# These end the program or the task: they are never turned into an answer.
_ENDS = (KeyboardInterrupt, asyncio.CancelledError)
MAX_CALLS = 128
"""The most calls of a reply that are looked up; every further call is answered with a sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallOptions:
    """How the calls of an agent, a session or an adapter are run.

    Raises:
        ConfigurationError: An option can't work.
    """

    tool_timeout_seconds: float | None = None
    """The longest time one tool may take; None waits forever."""
    max_result_characters: int | None = RESULT_CHARACTERS
    """The most characters of one tool's result; None cuts nothing."""
    concurrent: bool = True
    """Whether the calls of one reply run at the same time."""
    mask_error_details: bool = False
    """Whether what a tool raises is for the log alone."""

    def __post_init__(self) -> None:
        """Check the options."""
        check_positive("tool_timeout_seconds", self.tool_timeout_seconds, optional=True)
        check_flags(concurrent=self.concurrent, mask_error_details=self.mask_error_details)
        check_count("max_result_characters", self.max_result_characters, optional=True)


_NOT_CHOSEN = "Error: {name} was not run: only these tools may be called now: {names}."


class ModelCall:
    """One model call: lists its tools, looks up the calls of the answer, and runs or hands back each.

    `Agent` and `ToolSession` build on it, and so can an adapter for any other framework:

    ```python
    step = InputStep(messages=messages, tools=their_tools, context=context, run_id=run_id, state=state)
    model_call = await ModelCall.begin([search], step)
    offered = model_call.tools  # ours and theirs, in the order to send
    # the model answers with a call
    call = await model_call.resolve("create_issue", {"title": "Bug"}, call_id="c1")
    if call.needs_approval:
        ...  # ask a person
    if call.is_foreign:
        result = await model_call.hand_over(call, lambda arguments: handler(arguments))
    else:
        result = (await model_call.run(call)).text
    ```

    Every model call of a run gets a step with the same `run_id` and `state`: take one base step, and
    `base.replace(messages=…, step_number=…)` for each. Runs must never share an id, or one would see what
    the other loaded. Call `end_run` when the run ends; if a framework doesn't report the end of a
    run, make each model call a run of its own.

    A `ModelCall` holds only the step and can be made again from it, so listing and calling may happen in two
    hooks of a framework: `ModelCall(processors, step)` with the step that `begin` left in `step`.
    """

    def __init__(
        self, processors: Sequence[InputProcessor], step: InputStep, *, options: CallOptions | None = None
    ) -> None:
        """Make a model call of a step that went through the processors; `begin` runs them.

        Args:
            processors: Asked, in this order, about tools that the step doesn't list.
            step: What was sent to the model.
            options: How calls are run; the defaults if None.
        """
        self.step = step
        self.record: Record | None = None
        """What the whole conversation says was declared in it; None if the step writes no receipts."""
        self._options = options or CallOptions()
        self._resolvers = resolvers(processors)
        self._lookup = CallLookup(step, self._resolvers)

    @classmethod
    async def begin(
        cls, processors: Sequence[InputProcessor], step: InputStep, *, options: CallOptions | None = None
    ) -> Self:
        """Run the processors over a step, in their order, and return its model call.

        If the step has `receipts`, its `declared` tools are found before a processor counts what is sent.

        Args:
            processors: As of an `Agent`.
            step: The messages, and the caller's own tools; a framework's as `ForeignTool`.
            options: How calls are run; the defaults if None.

        Raises:
            AbortRun: A processor ends the run.
            Exception: What a processor raised.
        """
        if not step.receipts:
            return cls(processors, await run_processors(processors, step), options=options)
        whole = step.messages
        adding, counting = _before_counting(processors)
        step = await run_processors(adding, step)
        record = read_record(whole, step.tools)
        standing = await CallLookup(step, resolvers(processors)).standing(record.all_names)
        step = await run_processors(counting, step.replace(declared=standing))
        model_call = cls(processors, step, options=options)
        model_call.record = record
        return model_call

    @property
    def tools(self) -> list[Tool]:
        """The tools to offer to the model, in the order to send them."""
        return list(self.step.tools)

    async def resolve(self, name: str, arguments: Any = None, *, call_id: str = "") -> PreparedCall:
        """Look up one call of the model's answer; nothing is run.

        Args:
            name: As the model wrote it.
            arguments: As the model wrote them: an object, its JSON text, or nothing.
            call_id: The id by which the result is matched.

        Returns:
            A call with the `tool` to run: ours, or the framework's own (`is_foreign`); or with an `error`,
            which `run` and `hand_over` answer with.
        """
        (call,) = await self.prepare([CallRequest(id=call_id, name=name, arguments=arguments)])
        return call

    async def prepare(self, requests: Sequence[CallRequest]) -> list[PreparedCall]:
        """Look up all calls of an answer at the same time, as `resolve` does; the order is kept."""
        tasks = [asyncio.create_task(self._prepare(request)) for request in requests[:MAX_CALLS]]
        try:
            looked_up = await asyncio.gather(*tasks)
        finally:
            await stop_tasks(tasks)
        return [*looked_up, *map(_left, requests[MAX_CALLS:])]

    async def run(self, call: PreparedCall) -> ToolOutcome:
        """Run a tool of ours and return its answer in words, also if it fails.

        The caller must have asked a person if `call.needs_approval`.
        """
        if call.tool is None:
            return call.answer(call.error or "")
        scope = asyncio.timeout(self._options.tool_timeout_seconds)
        try:
            async with scope:
                value = await read_result(await call.tool.call(call.arguments, self._context(call.request)))
            # Turning a result into text runs foreign code too: its `__repr__`.
            text = encode_result(value)
            if isinstance(call.tool, MetaTool):
                # It has run nothing that a person could have approved, and its text may hold a receipt.
                return call.answer(text, is_error=text.startswith("Error: "))
            return call.answer(
                cut_result(text, self._options.max_result_characters), is_error=False, ran=True
            )
        except asyncio.CancelledError:
            if is_cancelled():
                raise
            # only something inside the tool was cancelled, not the run
            return call.answer(f"Error: {call.name} was cancelled before it answered.", ran=True)
        except _ENDS:
            raise
        except BaseException as exc:  # noqa: BLE001 - a tool's failure is an answer: sys.exit(), a panic in Rust
            if not scope.expired():
                return self._failure(call, exc)
            seconds = self._options.tool_timeout_seconds
            logger.warning("the tool %r took longer than %s s", call.name, seconds)
            return call.answer(
                f"Error: {call.name} took longer than {seconds:g} seconds and was stopped.", ran=True
            )

    async def hand_over(self, call: PreparedCall, run: ForeignRun) -> Any:
        """Let a framework run its own tool, if policy allows it now.

        The call counts as a use of the tool, like a call of ours. No time or size limit applies.

        Args:
            call: A call that `is_foreign`.
            run: Called once, in the caller's context, with the arguments that were checked.

        Returns:
            What `run` returned, unchanged; or a `ToolOutcome` if it was not called, since the call has no
            tool, or the policy or the arguments forbid it.

        Raises:
            Exception: What `run` raised, unchanged: an interrupt, a request for approval, a retry.
        """
        if call.tool is None:
            return call.answer(call.error or "")
        handover = Handover(run)
        token = HANDOVER.set(handover)
        try:
            answer = await call.tool.call(call.arguments, self._context(call.request))
        except _ENDS:
            raise
        except BaseException as exc:  # noqa: BLE001 - a policy's failure is an answer, as everywhere
            if not handover.began:
                return self._failure(call, exc)
        finally:
            HANDOVER.reset(token)
        return handover.result() if handover.began else call.answer(encode_result(answer))

    def receipt(self, call: PreparedCall) -> Mapping[str, Any] | None:
        """Return the receipt of a call that has loaded an unlisted tool; None for any other call.

        A tool that is called unlisted is loaded for its run, but a `HistoryStore` can't see that in the
        conversation. To list the tool in later runs too, keep the receipt with the call's result, and give it
        back as `receipt` of the tool message. Never send it to a model.
        """
        return None if call.tool is None else self._lookup.receipt(call.tool.name)

    def start(self, calls: Sequence[PreparedCall]) -> list[RunningCall]:
        """Start calls of ours, in order; the caller must await them or stop them."""
        gate = asyncio.Semaphore(len(calls) or 1 if self._options.concurrent else 1)
        return [RunningCall(call, self.run, gate=gate) for call in calls]

    async def end_run(self) -> None:
        """Tell the processors that the run has ended, so that they drop what they keep for it only."""
        for resolver in self._resolvers:
            # cleaning up must not hide how the run ended
            with FailuresLogged(logger, "end_run of %r failed", getattr(resolver, "id", resolver)):
                await resolver.end_run(self.step)

    async def _prepare(self, request: CallRequest) -> PreparedCall:
        name = wire_name(request.name)
        asked, error = read_arguments(request.arguments, name=name)
        call = PreparedCall(request=request, name=name, arguments=asked, asked=asked)
        try:
            tool = await self._lookup.find(request.name)
            if tool is None:
                error = await self._lookup.missing_text(request.name)
                return replace(call, error=error, problem=self._lookup.policy_problem(request.name))
            choice = read_tool_choice(self.step.tool_choice)
            if choice.forbids(tool.name):
                return replace(call, error=_NOT_CHOSEN.format(name=name, names=", ".join(choice.names)))
            if error is not None:
                unread = ToolArgumentsError(error.removeprefix("Error: "))
                return replace(call, error=await self._lookup.explained(tool, unread))
            return await self._targeted(call, tool)
        except _ENDS:
            raise
        except BaseException as exc:  # noqa: BLE001 - foreign code: whatever it raises is an answer to the model
            problem = exc.problem if isinstance(exc, ToolUnavailableError) else None
            return replace(call, error=self._told(name, exc), problem=problem)

    async def _targeted(self, call: PreparedCall, tool: Tool) -> PreparedCall:
        """Return a call with the tool that it really runs, which may be behind a proxy."""
        target, given = await tool.target(call.asked, self._context(call.request))
        arguments, unread = call.asked, None
        if given is not call.asked:
            arguments, unread = read_arguments(given, name=wire_name(target.name))
        # nobody is asked to approve what can't run or can't be shown, and a framework gets what fits
        if target.requires_approval or is_foreign(target):
            error = await self._lookup.mistake(target, given) or unread
            if error is not None:
                return replace(call, arguments=arguments, error=error)
        # unreadable arguments go to the tool unchanged: it says what is wrong, or takes no object
        return replace(call, tool=target, arguments=given if unread else arguments)

    def _failure(self, call: PreparedCall, error: BaseException) -> ToolOutcome:
        text = cut_result(self._told(call.name, error), self._options.max_result_characters)
        if isinstance(error, ToolUnavailableError):
            return call.answer(text, ran=error.ran, problem=error.problem)
        return call.answer(text, ran=True)

    def _told(self, name: str, error: BaseException) -> str:
        """Log what foreign code raised, and return what the model reads about it."""
        masked = f"Error: {name} failed; the log says why." if self._options.mask_error_details else None
        told = told_text(error, masked=masked)
        # an operator should see a program's failure, but not a model's mistake
        mistake = isinstance(error, ToolSearchError) and not isinstance(error, ConfigurationError)
        level = logging.DEBUG if mistake and told == error_text(error) else logging.WARNING
        logger.log(level, "the tool %r failed: %s", name, type(error).__name__, exc_info=error)
        return told

    def _context(self, request: CallRequest) -> ToolContext:
        step = self.step
        return ToolContext(
            thread_id=step.thread_id, run_id=step.run_id, tool_call_id=request.id, context=step.context
        )


def _before_counting(
    processors: Sequence[InputProcessor],
) -> tuple[Sequence[InputProcessor], Sequence[InputProcessor]]:
    """Split the processors before the first that counts what is sent."""
    counting = (n for n, one in enumerate(processors) if getattr(one, "counts_what_is_sent", False))
    split = next(counting, len(processors))
    return processors[:split], processors[split:]


def _left(request: CallRequest) -> PreparedCall:
    text = f"Error: this call was not run: {MAX_CALLS} calls of one reply are the most. Make it again later."
    return PreparedCall(request=request, name=wire_name(request.name), arguments={}, error=text)
