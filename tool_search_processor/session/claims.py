"""Claims on approved calls, so that each runs only once."""

from __future__ import annotations

import hashlib
import itertools
import json
import logging
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any, Literal, Protocol, runtime_checkable

from tool_search_processor.concurrency.foreign_calls import FailuresLogged
from tool_search_processor.errors import ResumeError
from tool_search_processor.session.prepared_calls import PreparedCall
from tool_search_processor.steps import InputProcessor, InputStep
from tool_search_processor.wire.call_results import open_calls
from tool_search_processor.wire.messages import SYSTEM_ROLES, call_ids
from tool_search_processor.wire.notes import without_notes

logger = logging.getLogger(__name__)
_MOST_CLAIMS = 20_000
"""Of about seven thousand calls: each is claimed under up to three names of its run."""


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


@dataclass(frozen=True, slots=True)
class ClaimName:
    """A name of a call's run, and what is asked of it before the call may run."""

    run: str
    thread_id: str | None = None
    """The thread in which the name is looked for; None for a name that says enough by itself."""
    use: Literal["hold", "share", "check"] = "hold"
    """"hold": nobody may have it, and from now on nobody else gets it. "share": several may have it, so that
    whoever wants to hold it can't. "check": nobody may have it, and it is left free."""


def claim_names(
    messages: Sequence[Mapping[str, Any]], call: PreparedCall, *, thread_id: str | None, run_id: str | None
) -> list[ClaimName]:
    """Return the names under which a call is claimed: the same ones in every host and process.

    In a thread, a call is known by the conversation before it. Without a thread it is known by its run, since
    two anonymous runs may be alike. If neither is known, its conversation alone stands for it: the call does
    not run if it has run anywhere in an equal conversation, and it does not run there later.

    Args:
        messages: The conversation, in chat shape: up to the call, or with it and its results.
        call: The call.
        thread_id: The thread of the call; None if it has none, or if it is not known.
        run_id: What its run is called; None if it is not known.
    """
    content = content_name(messages, call)
    bare, anyone = f"bare:{content}", f"any:{content}"
    if thread_id is None and run_id is None:
        return [ClaimName(bare), ClaimName(anyone)]
    held = [ClaimName(content, thread_id)] if thread_id is not None else []
    held += [ClaimName(run_id)] if run_id is not None else []
    return [ClaimName(bare, use="check"), ClaimName(anyone, use="share"), *held]


async def claim_calls(
    claimers: Sequence[CallClaimer], step: InputStep, *, calls: Mapping[str, Sequence[ClaimName]]
) -> list[Claim]:
    """Claim calls with every claimer, all or none; return the claims, for `release_claims`.

    Args:
        claimers: The processors to ask.
        step: The step whose calls they are.
        calls: The ids of the calls to run, each with its names.

    Raises:
        ResumeError: A call was decided before.
    """
    held: list[Claim] = []
    named = [(call_id, name) for call_id, names in calls.items() for name in names]
    try:
        for (call_id, name), claimer in itertools.product(named, claimers):
            at = step.replace(run_id=name.run, thread_id=name.thread_id)
            claim = Claim(claimer=claimer, step=at, call_id=call_id)
            if await claimer.claim_call(at, call_id):
                held.append(claim)
            elif name.use != "share":
                raise ResumeError(f"the call {call_id!r} was decided before: it does not run again")
            if name.use == "check":
                await release_claims([held.pop()])
    except BaseException:
        await release_claims(held)
        raise
    return held


async def release_claims(held: Iterable[Claim], *, used: Container[str] = ()) -> None:
    """Give claims back, except those of calls that have run; failures are logged."""
    for claim in held:
        hook = getattr(claim.claimer, "release_call", None)
        if claim.call_id in used or hook is None:
            continue
        # the caller has to learn of the first failure, not of this one
        with FailuresLogged(logger, "the claim of the call %r could not be given back", claim.call_id):
            await hook(claim.step, claim.call_id)


def content_name(messages: Sequence[Mapping[str, Any]], call: PreparedCall) -> str:
    """Return a hash of the conversation before a call, and of the call as the model wrote it.

    The call itself is covered for a process that does not know the conversation.
    """
    index, _ = open_calls(messages)
    is_in = index >= 0 and call.request.id in call_ids([messages[index]])
    before = [
        # hosts and SDKs differ in notes and in fields that hold nothing
        {key: value for key, value in without_notes(message).items() if value}
        for message in (messages[:index] if is_in else messages)
        # an agent keeps its prompt apart, and a loop may put one before the conversation
        if message.get("role") not in SYSTEM_ROLES
    ]
    told = json.dumps([*before, call.as_asked().pending().arguments_hash], sort_keys=True, default=str)
    return hashlib.sha256(told.encode()).hexdigest()
