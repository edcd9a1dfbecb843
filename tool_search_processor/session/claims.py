"""Claims on approved calls, so that each runs only once."""

from __future__ import annotations

import hashlib
import itertools
import json
import logging
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any, Protocol, runtime_checkable

from tool_search_processor.errors import ResumeError
from tool_search_processor.session.prepared_calls import PendingCall
from tool_search_processor.steps import InputProcessor, InputStep
from tool_search_processor.wire.messages import call_ids

logger = logging.getLogger(__name__)
_MOST_CLAIMS = 20_000
"""Of about seven thousand calls: an agent claims a call under up to three names of its run."""


@runtime_checkable
class CallClaimer(Protocol):
    """A processor that decides, across all processes, who may run an approved call.

    It may also have `async release_call(step, call_id)`, which gives back the claim of a call that did not
    run.
    """

    async def claim_call(self, step: InputStep, call_id: str) -> bool:
        """Return True to the first caller that asks for this call of `step`'s run, False to all others.

        A run whose id other processes don't know is named after its content.
        """
        ...


class LocalClaims:
    """Keeps the last claims that were made in this process; thread-safe."""

    def __init__(self, *, most: int = _MOST_CLAIMS) -> None:
        """Begin without claims, and keep at most this many."""
        self._most = most
        self._lock = Lock()
        self._held: dict[tuple[str | None, str, str], None] = {}

    async def claim_call(self, step: InputStep, call_id: str) -> bool:
        """Return True to the first caller that asks for this call of `step`'s run, False to all others."""
        key = step.thread_id, step.run_id, call_id
        with self._lock:
            if key in self._held:
                return False
            self._held[key] = None
            if len(self._held) > self._most:
                del self._held[next(iter(self._held))]
        return True

    async def release_call(self, step: InputStep, call_id: str) -> None:
        """Release the claim of a call that did not run."""
        with self._lock:
            self._held.pop((step.thread_id, step.run_id, call_id), None)


def claimers(processors: Iterable[InputProcessor]) -> list[CallClaimer]:
    """Return the processors that can claim calls, in list order."""
    return [processor for processor in processors if isinstance(processor, CallClaimer)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A call that one claimer holds for this process."""

    claimer: CallClaimer
    step: InputStep
    call_id: str


async def claim_calls(
    claimers: Sequence[CallClaimer],
    step: InputStep,
    *,
    calls: Mapping[str, Sequence[str]],
    also_named: str | None = None,
) -> list[Claim]:
    """Claim calls with every claimer, all or none; return the claims, for `release_claims`.

    Args:
        claimers: The processors to ask.
        step: The step whose calls they are.
        calls: The ids of the calls to run, each with the names of its run; a call must be unclaimed under
            all of them.
        also_named: Another name of the run. The calls are claimed under it too, unless another caller
            holds them under it, which is not a reason to refuse them.

    Raises:
        ResumeError: A call was decided before.
    """
    held: list[Claim] = []
    try:
        must_be_free = {(call_id, also_named): False for call_id in calls if also_named is not None}
        must_be_free |= {(call_id, run_id): True for call_id, run_ids in calls.items() for run_id in run_ids}
        for (call_id, run_id), claimer in itertools.product(must_be_free, claimers):
            claim = Claim(claimer=claimer, step=step.replace(run_id=run_id), call_id=call_id)
            if await claimer.claim_call(claim.step, call_id):
                held.append(claim)
            elif must_be_free[call_id, run_id]:
                raise ResumeError(f"the call {call_id!r} was decided before: it does not run again")
    except BaseException:
        await release_claims(held)
        raise
    return held


async def release_claims(held: Iterable[Claim], *, used: Container[str] = ()) -> None:
    """Give claims back, except those of calls that have run; failures are logged."""
    for claim in held:
        if claim.call_id not in used:
            await _release(claim.claimer, claim.step, claim.call_id)


def content_name(messages: Iterable[Mapping[str, Any]], call: PendingCall) -> str:
    """Return a name for a call's run that is the same in every process: a hash of the conversation before it.

    The hash covers the call's own name and arguments, for a process that does not know the conversation.
    """
    before = itertools.takewhile(lambda message: call.call_id not in call_ids([message]), messages)
    told = json.dumps([*before, call.arguments_hash], sort_keys=True, default=str)
    return hashlib.sha256(told.encode()).hexdigest()


async def _release(claimer: CallClaimer, step: InputStep, call_id: str) -> None:
    hook = getattr(claimer, "release_call", None)
    try:
        if hook is not None:
            await hook(step, call_id)
    except Exception:  # the caller has to learn of the first failure, not of this one
        logger.warning("the claim of the call %r could not be given back", call_id, exc_info=True)
