"""The states of a model's call: prepared, waiting for approval, and answered."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tool_search_processor.errors import ToolArgumentsError
from tool_search_processor.session.foreign_tools import is_foreign
from tool_search_processor.tools import Tool
from tool_search_processor.tools.arguments import parse_arguments
from tool_search_processor.tools.origins import source_of
from tool_search_processor.tools.tool_names import MAX_NAME_LENGTH
from tool_search_processor.wire.call_results import tool_message
from tool_search_processor.wire.calls import UNNAMED, CallRequest
from tool_search_processor.wire.finish_reasons import is_too_long
from tool_search_processor.wire.plain import clean_text, sendable

CHANGED = "Error: the call of {name} has changed since approval was asked for; it was not run."
_QUOTED_CHARACTERS = 200
_CUT = (
    "Error: {name} was not run, since your answer was cut off at its length limit: what is left of a call "
    "may say something else than was meant. Make the call again in a shorter answer, or in smaller parts."
)
_BROKEN_OFF = (
    "Error: {name} was not run, since your answer broke off before its end: what is left of a call may say "
    "something else than was meant. Make the call again."
)
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9_-]")


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingCall:
    """A call that waits for a person's approval; plain JSON through `to_dict`."""

    call_id: str
    name: str
    """What would run: the target, where the model called it through a proxy."""
    arguments: Mapping[str, Any]
    arguments_hash: str
    """SHA-256 of name and arguments; a call that has changed since is not run."""
    problem: str | None = None
    """Why an approval had no effect, since the filter gave no verdict; None if no approval was given."""
    source: str | None = None
    """A mark of the provider that the tool is from; a tool of another provider with its name is not run."""

    def to_dict(self) -> dict[str, Any]:
        """Return the call as plain JSON data."""
        data = {
            "call_id": self.call_id,
            "name": self.name,
            "arguments": dict(self.arguments),
            "arguments_hash": self.arguments_hash,
            "problem": self.problem,
            "source": self.source,
        }
        return {key: value for key, value in data.items() if value is not None}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> PendingCall:
        """Read a call back from what `to_dict` gave.

        Raises:
            KeyError: A field is missing.
            TypeError: A field has the wrong type.
        """
        texts = {name: data[name] for name in ("call_id", "name", "arguments_hash")}
        texts |= {name: data[name] for name in ("problem", "source") if data.get(name)}
        arguments = data["arguments"]
        if not all(isinstance(text, str) for text in texts.values()) or not isinstance(arguments, Mapping):
            raise TypeError(f"a pending call is {data!r:.200}")
        return cls(arguments=dict(arguments), **texts)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOutcome:
    """The outcome of a call."""

    call_id: str
    name: str
    text: str
    is_error: bool = False
    ran: bool = True
    """Whether the tool began, or may have begun; a call that certainly did not can be approved again."""
    problem: str | None = None
    """Why policy gave no verdict on the call, for the operator; None if it did."""

    def to_message(self) -> dict[str, Any]:
        """Return the outcome as an OpenAI tool message."""
        return tool_message(self.call_id, self.name, self.text)

    def to_block(self) -> dict[str, Any]:
        """Return the outcome as an Anthropic `tool_result` block."""
        block = {"type": "tool_result", "tool_use_id": self.call_id, "content": self.text}
        return {**block, "is_error": True} if self.is_error else block

    def to_item(self) -> dict[str, Any]:
        """Return the outcome as a `function_call_output` item of OpenAI's Responses API."""
        return {"type": "function_call_output", "call_id": self.call_id, "output": self.text}


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedCall:
    """A call whose tool was looked up: there is either a tool to run, or an error to answer."""

    request: CallRequest
    name: str
    """The name as it goes into the history, where every provider accepts it."""
    tool: Tool | None = None
    arguments: Mapping[str, Any]
    """What the tool gets: the target's arguments, where the model called it through a proxy."""
    asked: Mapping[str, Any] = field(default_factory=dict)
    """The arguments as the model wrote them; empty where they can't be read."""
    error: str | None = None
    problem: str | None = None
    """Why policy gave no verdict on the call, for the operator; None if it did."""

    @property
    def is_foreign(self) -> bool:
        """Whether the tool belongs to another framework, which has to run it: see `ModelCall.hand_over`."""
        return self.tool is not None and is_foreign(self.tool)

    @property
    def needs_approval(self) -> bool:
        """Whether a person has to agree before it runs."""
        return self.tool is not None and self.tool.requires_approval

    @property
    def target_name(self) -> str:
        """The name of the tool that would run; the name in the history if none would."""
        return self.name if self.tool is None else self.tool.name

    def pending(self) -> PendingCall:
        """Return the call in the form that a person is shown."""
        arguments = sendable(self.arguments)
        return PendingCall(
            call_id=self.request.id,
            name=self.target_name,
            arguments=arguments,
            arguments_hash=arguments_hash(self.target_name, arguments),
            source=None if self.tool is None else source_of(self.tool),
        )

    def as_asked(self) -> PreparedCall:
        """Return the call as the model wrote it, whatever tool would run."""
        return PreparedCall(request=self.request, name=self.name, arguments=self.asked, asked=self.asked)

    def answer(
        self, text: str, *, is_error: bool = True, ran: bool = False, problem: str | None = None
    ) -> ToolOutcome:
        """Return an outcome for this call; by default, it says that the call was not run."""
        told = problem or self.problem
        return ToolOutcome(
            call_id=self.request.id, name=self.name, text=text, is_error=is_error, ran=ran, problem=told
        )


def cut_off(request: CallRequest, *, reason: str) -> PreparedCall:
    """Return a call from an answer that was cut off; it never runs, even if it looks complete.

    Args:
        request: What is left of the call.
        reason: The provider's finish reason.
    """
    name = wire_name(request.name)
    text = _CUT if is_too_long(reason) else _BROKEN_OFF
    return PreparedCall(request=request, name=name, arguments={}, error=text.format(name=name))


def arguments_hash(name: str, arguments: Mapping[str, Any]) -> str:
    """Return a hash of a call: equal for equal names and arguments, whatever the order of keys."""
    canonical = json.dumps([name, arguments], sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(canonical.encode()).hexdigest()


def wire_name(name: str) -> str:
    """Return a tool name that every provider accepts in a history, whatever the model wrote."""
    return _NOT_IN_A_NAME.sub("_", name)[:MAX_NAME_LENGTH] or UNNAMED


def read_arguments(raw: Any, *, name: str) -> tuple[dict[str, Any], str | None]:
    """Read a call's arguments; return them and no error, or an empty dict and an error sentence.

    Nothing, null, an empty string and an empty list mean no arguments. An object that was encoded twice is
    decoded twice.
    """
    try:
        value = parse_arguments(raw)
    except ToolArgumentsError as exc:
        quoted = clean_text(str(raw)[:_QUOTED_CHARACTERS])
        return {}, f"Error: {exc} {name} takes one JSON object; this was sent: {quoted}"
    if value is None or value == []:
        return {}, None
    if not isinstance(value, Mapping):
        kind = {list: "a list", str: "a string", bool: "true or false"}.get(type(value), "a number")
        return {}, f"Error: {name} takes its arguments as one JSON object; found {kind}."
    return dict(value), None


def refusal_text(name: str, answer: object) -> str:
    """Return what the model reads about a call that was not approved.

    Args:
        name: The tool's name.
        answer: The answer to the call: None for no answer, False, or the reason as a string.
    """
    if answer is None:
        return f"Error: {name} needs the approval of a person, which was not given; it was not run."
    reason = f" Reason: {answer}" if isinstance(answer, str) and answer else ""
    return clean_text(f"Error: a person refused the call of {name}; it was not run.{reason}")


def answers_without_running(
    calls: Iterable[PreparedCall], approvals: Mapping[str, bool | str], *, shown: Mapping[str, PendingCall]
) -> dict[str, ToolOutcome]:
    """Return the answers, by call id, to calls that must not run.

    These are the calls that a person refused or has yet to approve, and those whose tool another provider has
    replaced since they were shown.
    """
    stopped: dict[str, ToolOutcome] = {}
    for call in calls:
        call_id = call.request.id
        answer, before = approvals.get(call_id), shown.get(call_id)
        if answer is not True and (answer is not None or call.needs_approval):
            stopped[call_id] = call.answer(refusal_text(call.name, answer))
        elif before is not None and before.source not in (None, call.pending().source):
            stopped[call_id] = call.answer(CHANGED.format(name=call.name))
    return stopped
