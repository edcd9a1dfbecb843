"""Seeing to it that an approved call runs once, over all processes."""

from __future__ import annotations

import hashlib
import itertools
import json
import logging
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from tool_search_processor.errors import ResumeError
from tool_search_processor.session.prepared_calls import PendingCall
from tool_search_processor.steps import InputProcessor, InputStep
from tool_search_processor.wire.messages import call_ids

logger = logging.getLogger(__name__)


@runtime_checkable
class CallClaimer(Protocol):
    """A processor that can say, over all processes, who may run an approved call.

    It may also have `async release_call(step, call_id)`, which takes a claim back whose call was not run.
    """

    async def claim_call(self, step: InputStep, call_id: str) -> bool:
        """Return True to the first who asks for a call of `step`'s run, False to all others.

        A run that has no id in every process is named after its content.
        """
        ...


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
    claimers: Sequence[CallClaimer], step: InputStep, *, calls: Mapping[str, Sequence[str]]
) -> list[Claim]:
    """Claim calls over all processes, all or none; returns what is held, for `release_claims`.

    Args:
        claimers: Whom to ask.
        step: The step whose calls they are.
        calls: The ids of what is to be run, each with the names under which its run is known; it must
            be free under every one.

    Raises:
        ResumeError: One was decided before.
    """
    held: list[Claim] = []
    try:
        wanted = [(call_id, run_id) for call_id, run_ids in calls.items() for run_id in run_ids]
        for (call_id, run_id), claimer in itertools.product(wanted, claimers):
            named = step.replace(run_id=run_id)
            if not await claimer.claim_call(named, call_id):
                raise ResumeError(f"the call {call_id!r} was decided before, in another process")
            held.append(Claim(claimer=claimer, step=named, call_id=call_id))
    except BaseException:
        await release_claims(held)
        raise
    return held


async def release_claims(held: Iterable[Claim], *, used: Container[str] = ()) -> None:
    """Give claims back, but for those of calls that have run; what goes wrong is logged."""
    for claim in held:
        if claim.call_id not in used:
            await _release(claim.claimer, claim.step, claim.call_id)


def content_name(messages: Iterable[Mapping[str, Any]], call: PendingCall) -> str:
    """Return a name for a call's run that another process finds too: a hash of the conversation before it.

    The call's own name and arguments are part of it, for a process that does not know the conversation.
    """
    before = itertools.takewhile(lambda message: call.call_id not in call_ids([message]), messages)
    told = json.dumps([*before, call.arguments_hash], sort_keys=True, default=str)
    return hashlib.sha256(told.encode()).hexdigest()


async def _release(claimer: CallClaimer, step: InputStep, call_id: str) -> None:
    hook = getattr(claimer, "release_call", None)
    try:
        if hook is not None:
            await hook(step, call_id)
    except Exception:  # what went wrong first is what the caller has to hear
        logger.warning("a claim of the call %r could not be given back", call_id, exc_info=True)
