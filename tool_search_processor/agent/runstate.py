"""What an agent keeps while one run goes on."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from typing import Any, Final

from tool_search_processor.agent.replies import Reply
from tool_search_processor.agent.runs import FinishReason, RunResult, Usage
from tool_search_processor.call_requests import CallRequest, unique_ids
from tool_search_processor.messages import call_ids, merge_system, message_list
from tool_search_processor.plain import clean_text, copied, plain
from tool_search_processor.session.calls import PendingCall, ToolOutcome, read_arguments
from tool_search_processor.session.histories import stored_call
from tool_search_processor.steps import InputStep
from tool_search_processor.tools import Tool

logger = logging.getLogger(__name__)

_CUT: Final = "length"
_FILTERED: Final = "content_filter"
_CALLING: Final = frozenset({"tool_calls", "function_call", "tool_use", "malformed_function_call"})
_CALL_LOST: Final = (
    "Your last answer said that it calls a tool, and no call arrived. Make it again, or answer in words."
)


class RunState:
    """The history, figures and end of one run; changed as the run goes on."""

    def __init__(
        self,
        base: InputStep,
        *,
        history: list[dict[str, Any]],
        steps: int = 0,
        usage: Usage | None = None,
    ) -> None:
        """Begin with a history; `base` holds what is the same at every step of the run."""
        self.base = base
        self.history = history
        self.steps = steps
        self.usage = usage or Usage()
        self.finish_reason: FinishReason | None = None
        self.decided = False
        """Whether answers to pending calls have taken effect."""
        self._output = ""
        self._has_lost_call = False
        self._pending: list[PendingCall] = []

    def step(self, number: int, *, instructions: str) -> InputStep:
        """Return the input of a step, with copies of the history under the agent's instructions."""
        messages = merge_system([plain(message) for message in self.history], before=[instructions])
        told = [_CALL_LOST] if self._has_lost_call else []
        return self.base.replace(messages=messages, step_number=number, instructions=told)

    def count(self, reply: Reply, *, sent: int, full: int) -> Usage:
        """Count a model call; returns the usage of that call alone."""
        usage = Usage(
            prompt_tokens=reply.prompt_tokens,
            completion_tokens=reply.completion_tokens,
            total_tokens=reply.total_tokens,
            cached_tokens=reply.cached_tokens,
            definition_tokens_sent=sent,
            definition_tokens_full=full,
        )
        self.usage += usage
        self.steps += 1
        return usage

    def record(self, reply: Reply) -> list[CallRequest]:
        """Put a reply into the history; returns the calls to run, none where the run ends with it."""
        calls = self._runnable(reply)
        message: dict[str, Any] = {"role": "assistant", "content": reply.text or None, **reply.extra}
        if calls:
            message["tool_calls"] = list(map(stored_call, calls))
        if calls or reply.text:
            self.history.append(message)
        if calls:
            self._has_lost_call = False
            self._output = reply.text or self._output
            return calls
        if reply.finish_reason in _CALLING and not reply.text:
            self._lose_call(reply)
            return []
        reason: FinishReason = "stop"
        if reply.finish_reason == _CUT:
            reason = _CUT
        elif reply.finish_reason == _FILTERED:
            reason = _FILTERED
        self.finish(reason, output=reply.text)
        return []

    def add_result(self, outcome: ToolOutcome) -> None:
        """Put a tool's result into the history."""
        self.history.append(outcome.to_message())

    def order_results(self, index: int) -> None:
        """Put the results after the assistant message at `index` in the order of its calls."""
        order = {str(call.get("id")): n for n, call in enumerate(self.history[index]["tool_calls"])}
        tail = self.history[index + 1 :]
        tail.sort(key=lambda message: order.get(str(message.get("tool_call_id")), len(order)))
        self.history[index + 1 :] = tail

    def finish(
        self,
        reason: FinishReason,
        *,
        output: str | None = None,
        pending: Sequence[PendingCall] = (),
    ) -> None:
        """Say how the run ended; without an output the last text stands."""
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
        """Ask the model once more where its server lost the calls; the second time in a row ends the run."""
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

    def _runnable(self, reply: Reply) -> list[CallRequest]:
        if reply.finish_reason == _FILTERED:
            return []
        if reply.finish_reason == _CUT and not all(_is_whole(call) for call in reply.calls):
            return []
        # ids that are new in the whole conversation: some servers count from call_0 in every answer
        return unique_ids(reply.calls, taken=call_ids(self.history), run_id=self.base.run_id)


def input_messages(given: str | Iterable[Any] | None) -> list[Any]:
    """Return the messages of an input as they are: a string is the user's; None and an empty one are none."""
    if given is None or given == "":
        return []
    if isinstance(given, str):
        return [{"role": "user", "content": clean_text(given)}]
    return message_list(given)


def model_request(step: InputStep, *, parallel_tool_calls: bool) -> dict[str, Any]:
    """Return the arguments of the completion for a step; its messages and tools are plain JSON data."""
    request = {
        **copied(step.model_settings),
        "model": step.model,
        "messages": [plain(m) for m in merge_system(step.messages, after=step.instructions)],
    }
    tools = _distinct(step.tools)
    if tools:
        request["tools"] = [tool.to_openai() for tool in tools]
        if step.tool_choice is not None:
            request["tool_choice"] = plain(step.tool_choice)
        if not parallel_tool_calls:
            request["parallel_tool_calls"] = False
    return request


def _distinct(tools: Sequence[Tool]) -> list[Tool]:
    """Providers refuse a request in which two tools share a name."""
    named: dict[str, Tool] = {}
    for tool in tools:
        if tool.name in named:
            logger.warning("two tools of one step are named %r: the first is sent", tool.name)
        named.setdefault(tool.name, tool)
    return list(named.values())


def _is_whole(call: CallRequest) -> bool:
    if isinstance(call.arguments, str) and not call.arguments.strip():
        return False
    return read_arguments(call.arguments, name=call.name)[1] is None
