"""Reads back a run that waits for approval, and makes each answer count once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from tool_search_processor.agent.runs import RunResult, Usage
from tool_search_processor.errors import ResumeError
from tool_search_processor.session.checks import check_approvals
from tool_search_processor.session.claims import ClaimName, claim_names
from tool_search_processor.session.histories import repaired_history, sendable_calls
from tool_search_processor.session.prepared_calls import PendingCall, PreparedCall
from tool_search_processor.wire.call_results import open_calls
from tool_search_processor.wire.calls import CallRequest, tool_calls_of
from tool_search_processor.wire.messages import to_openai_messages


@dataclass(frozen=True, kw_only=True)
class PausedRun:
    """A run that waits for approval, read from any form in which it was stored, and the answers to it."""

    messages: list[dict[str, Any]]
    index: int
    """The index of the assistant message whose calls are open."""
    requests: tuple[CallRequest, ...]
    """The open calls as the model wrote them."""
    pending: Mapping[str, PendingCall] | None
    """What a person was shown; None if only messages were kept."""
    run_id: str | None
    thread_id: str | None
    steps: int
    usage: Usage
    decisions: Mapping[str, bool | str]
    """The answers to open calls, by call id."""

    @classmethod
    def read(
        cls,
        paused: RunResult | Mapping[str, Any] | Iterable[Any],
        approvals: Mapping[str, bool | str],
        *,
        thread_id: str | None,
    ) -> PausedRun:
        """Read a result, its plain data, or bare messages, and the answers to the calls that wait in it.

        Raises:
            ConfigurationError: The answers are not a mapping.
            ResumeError: Nothing is open in it, its parts don't fit, it belongs to another thread, or an
                answer is wrong.
        """
        check_approvals(approvals)
        result = paused if isinstance(paused, RunResult) else None
        if isinstance(paused, str | bytes):
            raise ResumeError(
                f"a kept run is read with RunResult.from_json(text), found the string {paused!r:.60}"
            )
        if isinstance(paused, Mapping):
            result = RunResult.from_dict(paused)
        if result is not None and not result.pending:
            raise ResumeError(
                f"nothing is pending: the run ended with finish_reason {result.finish_reason!r}"
            )
        messages = to_openai_messages(result.messages if result is not None else paused)  # type: ignore[arg-type]  # a RunResult was taken above
        index, open_ids = open_calls(messages)
        if not open_ids:
            raise ResumeError(
                "nothing is pending: the messages don't end with an assistant's tool calls without results"
            )
        # read before the repair, which would drop arguments that are not valid JSON
        requests = tuple(call for call in tool_calls_of(messages[index]) if call.id in open_ids)
        before = repaired_history(messages[:index])
        messages, index = [*before, sendable_calls(messages[index]), *messages[index + 1 :]], len(before)
        pending = None if result is None else {call.call_id: call for call in result.pending}
        gone = sorted(set(pending or ()) - set(open_ids))
        if gone:
            raise ResumeError(f"the pending call {gone[0]!r} is not open in the messages")
        return cls(
            messages=messages,
            index=index,
            requests=requests,
            pending=pending,
            run_id=None if result is None else result.run_id,
            thread_id=_same_thread(None if result is None else result.thread_id, thread_id),
            steps=_steps_of_turn(messages) if result is None else result.steps,
            usage=Usage() if result is None else result.usage,
            decisions=_decisions(approvals, open_ids=open_ids),
        )

    def claim_names(self, call: PreparedCall) -> list[ClaimName]:
        """Return the names under which a call of this run is claimed."""
        return claim_names(self.messages[: self.index], call, thread_id=self.thread_id, run_id=self.run_id)

    def shown(self, call: PreparedCall) -> PendingCall | None:
        """Return what a person was shown of this call; None if that was not kept."""
        return (self.pending or {}).get(call.request.id)

    def unchanged(self, call: PreparedCall) -> bool:
        """Return True if the call is what a person was shown, or if that was not kept.

        If policy gave no verdict on the target of a proxy, the person was shown the proxy's own call.
        """
        shown, now = self.shown(call), call.pending()
        if shown is None:
            return True
        hashes = (now.arguments_hash, call.as_asked().pending().arguments_hash)
        return shown.arguments_hash in hashes and shown.source in (None, now.source)


def _steps_of_turn(messages: Sequence[Mapping[str, Any]]) -> int:
    """Count the model calls since the last user message."""
    turn = takewhile(lambda message: message.get("role") != "user", reversed(messages))
    return sum(message.get("role") == "assistant" for message in turn)


def _same_thread(kept: str | None, given: str | None) -> str | None:
    if isinstance(given, str) and not given.strip():  # InputStep refuses anything but a string
        given = None
    if kept is not None and given is not None and kept != given:
        raise ResumeError(f"the run belongs to thread {kept!r}, not to {given!r}")
    return kept or given


def _decisions(approvals: Mapping[str, bool | str], *, open_ids: Sequence[str]) -> dict[str, bool | str]:
    """Return the answers, checked against the open calls.

    Raises:
        ResumeError: An id is not open, or an answer is not True, False or a string.
    """
    for call_id, answer in approvals.items():
        if call_id not in open_ids:
            listed = ", ".join(map(repr, open_ids))
            raise ResumeError(f"no open call has the id {call_id!r}; open are {listed}")
        if not isinstance(answer, bool | str):
            raise ResumeError(
                f"the answer to {call_id!r} is True, False or a reason to refuse; found {answer!r}"
            )
    return dict(approvals)
