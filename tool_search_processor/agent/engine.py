"""The loop of model calls and tool calls, as a stream of events."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace

from tool_search_processor.agent.completions import complete
from tool_search_processor.agent.replies import Reply, with_usage
from tool_search_processor.agent.resumption import PausedRun
from tool_search_processor.agent.runs import (
    Done,
    Event,
    RunResult,
    StepEnd,
    StepStart,
    TextDelta,
    ToolCallEvent,
    ToolResultEvent,
)
from tool_search_processor.agent.runstate import RunState
from tool_search_processor.agent.wires import Wires
from tool_search_processor.concurrency.foreign_calls import FailuresLogged, Noted
from tool_search_processor.errors import AbortRun
from tool_search_processor.meta_tools import MetaTool
from tool_search_processor.session.checks import resolvers
from tool_search_processor.session.claims import LocalClaims, claim_calls, claimers, release_claims
from tool_search_processor.session.model_call import CallOptions, ModelCall
from tool_search_processor.session.prepared_calls import (
    CHANGED,
    PendingCall,
    PreparedCall,
    ToolOutcome,
    cut_off,
    refusal_text,
)
from tool_search_processor.session.running_calls import stop_tasks
from tool_search_processor.session.tool_choices import check_tool_choice
from tool_search_processor.steps import InputProcessor, InputStep
from tool_search_processor.tokens.counting import DefinitionCounter
from tool_search_processor.tools import Tool
from tool_search_processor.wire.calls import CallRequest
from tool_search_processor.wire.plain import mapping_of

logger = logging.getLogger(__name__)

_MOST_CUTS = 2
"""This many cut answers in a row end a run; after the first, the model is told what to do."""


@dataclass(kw_only=True)
class RunEngine:
    """Drives the runs of an agent, with options that were checked; keeps no state of any run."""

    name: str
    instructions: str
    tools: Sequence[Tool]
    processors: Sequence[InputProcessor]
    wires: Wires
    max_steps: int
    options: CallOptions

    def __post_init__(self) -> None:
        """Set up what all runs share."""
        self._resolvers = resolvers(self.processors)
        self._claimers = [LocalClaims(), *claimers(self.processors)]
        self._definitions = DefinitionCounter()

    async def drive(
        self, run: RunState, *, stream: bool, pause: PausedRun | None = None
    ) -> AsyncGenerator[Event]:
        """Yield the events of a run; however it ends, each resolver's `end_run` is called exactly once.

        A run that waits for approval has not ended.

        Args:
            run: The run, to be begun or continued.
            stream: Whether the model's text comes in pieces.
            pause: What the run waited for, and the answers to it; None begins a run.

        Raises:
            ResumeError: A call that is answered was decided before.
        """
        try:
            if pause is not None:
                async with aclosing(self._settle(run, pause)) as events:
                    async for event in events:
                        yield event
            while run.finish_reason is None:
                if run.steps >= self.max_steps:
                    run.finish("max_steps")
                    break
                async with aclosing(self._model_step(run, stream=stream)) as events:
                    async for event in events:
                        yield event
        except AbortRun as abort:
            run.finish("aborted", output=abort.reason)
        except GeneratorExit:
            raise
        except BaseException as exc:  # also on cancellation and interrupts: what has run must not be lost
            with suppress(AttributeError):  # of a frozen dataclass: it goes on as it is
                exc.run_messages = run.history  # type: ignore[attr-defined]  # data for handlers
            raise
        finally:
            # a resumed run that failed before any answer took effect can be resumed again
            is_paused = pause is not None and not run.decided and run.finish_reason is None
            if run.finish_reason != "pending" and not is_paused:
                await ModelCall(self.processors, run.base).end_run()
        yield Done(result=run.result())

    async def _model_step(self, run: RunState, *, stream: bool) -> AsyncGenerator[Event]:
        model_call = await self._begin(run, run.steps)
        step = model_call.step
        check_tool_choice(step)
        yield StepStart(step_number=step.step_number, tools=[tool.name for tool in step.tools])
        reply = Reply()
        wire = self.wires.wire_of(step)
        request = wire.render(model_call, parallel_tool_calls=self.options.concurrent)
        answers = complete(wire.completion, request.parts, stream=stream, reading=wire.reading)
        with Noted(f"raised by the model call of step {step.step_number} of agent {self.name!r}"):
            async with aclosing(answers):
                async for item in answers:
                    if isinstance(item, Reply):
                        reply = item
                    else:
                        yield TextDelta(text=item)
        sent = self._definitions.count(request.sent)
        usage = run.count(
            with_usage(reply, request.parts, definitions=sent),
            sent=sent,
            full=await self._full(step),
            listed=None if wire.native == "off" else [tool.name for tool in step.tools],
        )
        if requests := run.record(reply, note=request.note):
            async with aclosing(self._act(run, model_call, requests, reply)) as events:
                async for event in events:
                    yield event
        yield StepEnd(step_number=step.step_number, usage=usage)

    async def _act(
        self, run: RunState, model_call: ModelCall, requests: Sequence[CallRequest], reply: Reply
    ) -> AsyncGenerator[Event]:
        """Run the calls of a reply, or leave them to approval; of a cut reply none is run."""
        if run.cuts > 0:
            prepared = [cut_off(call, reason=reply.finish_reason or "") for call in requests]
        else:
            prepared = await model_call.prepare(requests)
        for call in prepared:
            yield _call_event(call)
        ready = [call for call in prepared if not call.needs_approval]
        async with aclosing(self._outcomes(run, model_call, ready)) as events:
            async for event in events:
                yield event
        if waiting := [call.pending() for call in prepared if call.needs_approval]:
            run.finish("pending", pending=waiting)
        elif run.cuts == _MOST_CUTS:
            run.finish("length")

    async def _outcomes(
        self,
        run: RunState,
        model_call: ModelCall,
        calls: Sequence[PreparedCall],
        *,
        unsettled: list[PendingCall] | None = None,
    ) -> AsyncGenerator[ToolResultEvent]:
        """Run calls; approved calls on which policy gave no verdict are added to `unsettled`, if given."""
        running = model_call.start(calls)
        try:
            for call in calls:
                outcome = await running[0].ended()
                del running[0]
                if unsettled is not None and call.needs_approval and outcome.problem and not outcome.ran:
                    unsettled.append(replace(call.pending(), problem=outcome.problem))
                    continue
                receipt = model_call.receipt(call) if model_call.step.receipts else None
                run.add_result(outcome, receipt=receipt)
                yield ToolResultEvent(
                    call_id=outcome.call_id, name=outcome.name, text=outcome.text, is_error=outcome.is_error
                )
        finally:
            await stop_tasks([call.task for call in running])
            for stopped in running:  # the run ends here: results that were paid for are not lost
                run.add_result(stopped.outcome())

    async def _settle(self, run: RunState, pause: PausedRun) -> AsyncGenerator[Event]:
        """Run or refuse the open calls of a paused run, after asking policy again."""
        decisions = pause.decisions
        model_call = await self._begin(run, max(run.steps - 1, 0))
        prepared = await model_call.prepare(pause.requests)
        ready, waiting, answered = _settled(pause, prepared)
        refused = {call_id for call_id, answer in decisions.items() if answer is not True}
        approved = {call.request.id for call in ready if call.tool is not None} & decisions.keys()
        decided = [call for call in prepared if call.request.id in refused | approved]
        names = {call.request.id: pause.claim_names(call) for call in decided}
        claims = await claim_calls(self._claimers, run.base, calls=names)
        run.decided = True
        run.used.update(refused)
        for outcome in answered:
            run.add_result(outcome)
        try:
            async with aclosing(self._outcomes(run, model_call, ready, unsettled=waiting)) as events:
                async for event in events:
                    yield event
        finally:
            await release_claims(claims, used=run.used)
        run.order_results(pause.index)
        if waiting:
            run.finish("pending", pending=waiting)

    async def _begin(self, run: RunState, number: int) -> ModelCall:
        step = run.step(number, instructions=self.instructions)
        step = step.replace(receipts=self.wires.wire_of(step).native != "off")
        return await ModelCall.begin(self.processors, step, options=self.options)

    async def _full(self, step: InputStep) -> int:
        """Return what sending every definition at this step would cost."""
        total = self._definitions.count(self.tools)
        for resolver in self._resolvers:
            # a figure that only people read must not end a run
            with FailuresLogged(logger, "definition_tokens of agent %r failed", self.name):
                total += await resolver.definition_tokens(step)
        return total


async def last_result(events: AsyncGenerator[Event]) -> RunResult:
    """Drain a run's events and return its result."""
    async with aclosing(events) as source:
        async for event in source:
            if isinstance(event, Done):
                return event.result
    raise RuntimeError("the events of a run end with Done")  # pragma: no cover - drive() sees to it


def _call_event(call: PreparedCall) -> ToolCallEvent:
    return ToolCallEvent(
        call_id=call.request.id,
        name=call.name,
        target=call.target_name,
        arguments=mapping_of(call.arguments),
        needs_approval=call.needs_approval,
    )


def _settled(
    pause: PausedRun, calls: Sequence[PreparedCall]
) -> tuple[list[PreparedCall], list[PendingCall], list[ToolOutcome]]:
    """Return a paused run's calls to run, those that still wait, and the answers of those that don't run."""
    ready: list[PreparedCall] = []
    waiting: list[PendingCall] = []
    answered: list[ToolOutcome] = []
    for call in calls:
        answer, shown = pause.decisions.get(call.request.id), pause.shown(call)
        if answer is None and (call.needs_approval or shown is not None):
            # a call that can't be looked up now stays pending, as it was shown
            waiting.append((not call.needs_approval and shown) or call.pending())
        elif answer is not None and answer is not True:
            answered.append(call.answer(refusal_text(call.name, answer)))
        elif answer is True and call.tool is None and call.problem:
            waiting.append(replace(shown or call.pending(), problem=call.problem))
        elif answer is None or call.tool is None or isinstance(call.tool, MetaTool) or pause.unchanged(call):
            ready.append(call)
        else:
            answered.append(call.answer(CHANGED.format(name=call.name)))
    return ready, waiting, answered
