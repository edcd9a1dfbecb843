"""The state of one run of an agent."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from tool_search_processor.agent.replies import Reply
from tool_search_processor.agent.runs import FinishReason, RunResult, Usage
from tool_search_processor.session.histories import stored_call
from tool_search_processor.session.prepared_calls import PendingCall, ToolOutcome
from tool_search_processor.session.tool_choices import read_tool_choice
from tool_search_processor.steps import InputStep
from tool_search_processor.wire.calls import CallRequest, unique_ids
from tool_search_processor.wire.finish_reasons import is_cut, is_filtered
from tool_search_processor.wire.messages import call_ids, merge_system, message_list
from tool_search_processor.wire.plain import clean_text, plain

logger = logging.getLogger(__name__)

_CALLING: Final = frozenset({"tool_calls", "function_call", "tool_use", "malformed_function_call"})
_CALL_LOST: Final = (
    "Your last answer said that it calls a tool, and no call arrived. Make it again, or answer in words."
)


@dataclass(slots=True, kw_only=True)
class RunState:
    """The history, figures and end of one run; it changes as the run goes on."""

    base: InputStep
    """What is the same at every step of the run."""
    history: list[dict[str, Any]]
    """The messages so far."""
    steps: int = 0
    """Model calls made."""
    usage: Usage = field(default_factory=Usage)
    has_called: bool = False
    """Whether the model has called a tool in this run."""
    finish_reason: FinishReason | None = None
    decided: bool = False
    """Whether answers to pending calls took effect."""
    used: set[str] = field(default_factory=set)
    """Ids of calls that have run, or that a person refused."""
    cuts: int = 0
    """How many answers in a row were cut off while making calls."""
    _output: str = ""
    _has_lost_call: bool = False
    _pending: list[PendingCall] = field(default_factory=list)
    _listed: Sequence[str] | None = None
    _prompt_tokens: int = 0

    def step(self, number: int, *, instructions: str) -> InputStep:
        """Return the input of a step, with copies of the history under the agent's instructions."""
        messages = merge_system([plain(message) for message in self.history], before=[instructions])
        told = [_CALL_LOST] if self._has_lost_call else []
        step = self.base.replace(messages=messages, step_number=number, instructions=told)
        # a choice that forces a call would force one at every step
        is_met = self.has_called and read_tool_choice(step.tool_choice).is_forced
        return step.replace(tool_choice=None) if is_met else step

    def count(self, reply: Reply, *, sent: int, full: int, listed: Sequence[str] | None = None) -> Usage:
        """Count a model call; returns the usage of that call alone.

        Args:
            reply: The model's answer.
            sent: Tokens of the definitions that were sent.
            full: Tokens of all definitions there are.
            listed: The names of the step's tools, if the list that was sent doesn't show them.
        """
        before, self._listed = self._listed, listed
        changed = listed is not None and before is not None and before != listed
        usage = replace(
            reply.usage,
            definition_tokens_sent=sent,
            definition_tokens_full=full,
            cache_tokens_kept=self._prompt_tokens if changed else 0,
        )
        self._prompt_tokens = usage.prompt_tokens
        self.usage += usage
        self.steps += 1
        return usage

    def record(self, reply: Reply, *, note: Mapping[str, Any] | None = None) -> list[CallRequest]:
        """Add a reply to the history; return its calls, or none if the run ends with it.

        If the reply was cut off, `cuts` is above 0, and its calls must be answered without running.

        Args:
            reply: The model's answer.
            note: What only its request has declared; it stays with the reply, and no provider gets it.
        """
        # ids unique in the whole conversation: some servers count from call_0 in every answer
        taken = call_ids(self.history)
        given = () if is_filtered(reply.finish_reason) else reply.calls
        calls = unique_ids(given, taken=taken, run_id=self.base.run_id)
        self.cuts = self.cuts + 1 if calls and is_cut(reply.finish_reason) else 0
        self.has_called = self.has_called or (bool(calls) and not self.cuts)
        message: dict[str, Any] = {"role": "assistant", "content": reply.text, **reply.extra}
        if calls:
            message["tool_calls"] = list(map(stored_call, calls))
        if note is not None:
            message["declared"] = dict(note)
        if calls or reply.text:
            self.history.append(message)
        if calls:
            self._has_lost_call = False
            self._output = reply.text or self._output
            return calls
        if reply.finish_reason in _CALLING and not reply.text:
            self._lose_call(reply)
            return []
        reason: FinishReason = "stop" if reply.text.strip() else "empty"
        if is_cut(reply.finish_reason):
            reason = "length"
        elif is_filtered(reply.finish_reason):
            reason = "content_filter"
        if reason == "empty":
            logger.warning(
                "the model's answer of step %s is empty: neither text nor a call came with finish_reason %r",
                self.steps - 1,
                reply.finish_reason,
            )
        self.finish(reason, output=reply.text)
        return []

    def add_result(self, outcome: ToolOutcome, *, receipt: Mapping[str, Any] | None = None) -> None:
        """Add a tool's result to the history, with what its call loaded, and note whether it ran."""
        note = {} if receipt is None else {"receipt": dict(receipt)}
        self.history.append({**outcome.to_message(), **note})
        if outcome.ran:
            self.used.add(outcome.call_id)

    def order_results(self, index: int) -> None:
        """Put the results after the assistant message at `index` in the order of its calls."""
        order = {str(call.get("id")): n for n, call in enumerate(self.history[index]["tool_calls"])}
        self.history[index + 1 :] = sorted(
            self.history[index + 1 :],
            key=lambda message: order.get(str(message.get("tool_call_id")), len(order)),
        )

    def finish(
        self, reason: FinishReason, *, output: str | None = None, pending: Sequence[PendingCall] = ()
    ) -> None:
        """Record how the run ended; without an output, the last text stands."""
        self.finish_reason = reason
        self._pending = list(pending)
        if output is not None:
            self._output = output

    def result(self) -> RunResult:
        """Return the result of a run that has ended."""
        return RunResult(
            output=self._output,
            messages=self.history,
            steps=self.steps,
            usage=self.usage,
            finish_reason=self.finish_reason or "stop",
            pending=self._pending,
            run_id=self.base.run_id,
            thread_id=self.base.thread_id,
        )

    def _lose_call(self, reply: Reply) -> None:
        """Ask the model again after its server lost the calls; the second time in a row ends the run."""
        logger.warning(
            "the model's answer of step %s ended with finish_reason %r and held no call that can be read",
            self.steps - 1,
            reply.finish_reason,
        )
        if self._has_lost_call:
            self.finish(
                "aborted",
                output=f"Two answers of the model in a row ended with finish_reason {reply.finish_reason!r} "
                "and held no call and no text: its server may not read this model's calls.",
            )
        self._has_lost_call = True


def input_messages(given: str | Iterable[Any] | None) -> list[Any]:
    """Return the messages of an input as they are: a string is the user's; None and "" mean no messages."""
    if given is None or given == "":
        return []
    if isinstance(given, str):
        return [{"role": "user", "content": clean_text(given)}]
    return message_list(given)
