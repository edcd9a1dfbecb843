"""The result of a run, its usage, and its events."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, get_args

from tool_search_processor.errors import ResumeError
from tool_search_processor.session.prepared_calls import PendingCall
from tool_search_processor.wire.checks import check_choice, check_types
from tool_search_processor.wire.plain import plain

FinishReason: TypeAlias = Literal[
    "stop", "empty", "length", "content_filter", "max_steps", "pending", "aborted"
]
"""Why a run ended; "empty": the model's last answer held neither text nor calls."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of a run, summed over its steps."""

    prompt_tokens: int = 0
    """As the model's provider reported, or an estimate: see `estimated_calls`."""
    completion_tokens: int = 0
    total_tokens: int = 0
    cached_tokens: int = 0
    """The part of `prompt_tokens` that came from the provider's prompt cache."""
    definition_tokens_sent: int = 0
    """Estimate of the tool definitions that were sent, four characters a token."""
    definition_tokens_full: int = 0
    """The same estimate, as if every tool of the agent and its catalogs were sent at each step."""
    estimated_calls: int = 0
    """Model calls whose provider reported no tokens: their figures are estimates, four characters a token.
    LiteLLM makes up figures for a stream without any, and they can't be told from a provider's."""

    cache_tokens_kept: int = 0
    """Prompt tokens that were not paid again because tools were declared in the conversation (see `native` of
    an agent) instead of in a changed list: each time, those of the previous model call."""

    def __add__(self, other: Usage) -> Usage:
        """Return the sums of both."""
        names = [item.name for item in dataclasses.fields(self)]
        return Usage(**{name: getattr(self, name) + getattr(other, name) for name in names})

    def to_dict(self) -> dict[str, int]:
        """Return the figures as plain JSON data."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, int]) -> Usage:
        """Read the figures back; unknown ones are left out.

        Raises:
            TypeError: A figure is not a whole number.
        """
        names = {item.name for item in dataclasses.fields(cls)}
        figures = {name: value for name, value in data.items() if name in names}
        if not all(type(value) is int for value in figures.values()):
            raise TypeError(f"usage is {data!r:.200}")
        return cls(**figures)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """How a run ended; plain JSON through `to_dict`, so that another process can resume it.

    ```python
    result = await agent.run("Hello")
    result.finish_reason  # -> 'stop'
    RunResult.from_json(result.to_json()) == result  # -> True
    result = await agent.run("And now?", messages=result.messages)
    ```
    """

    output: str
    """The final text; if the run stopped earlier, the last text so far."""
    messages: list[dict[str, Any]]
    """The whole history, without instructions: pass it as `messages` for the next turn."""
    steps: int
    """Model calls made."""
    usage: Usage
    finish_reason: FinishReason
    pending: list[PendingCall] = field(default_factory=list)
    """Calls that wait for approval; give the answers to `Agent.resume`."""
    run_id: str
    thread_id: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain JSON data."""
        return {
            "output": self.output,
            "messages": plain(self.messages),
            "steps": self.steps,
            "usage": self.usage.to_dict(),
            "finish_reason": self.finish_reason,
            "pending": [call.to_dict() for call in self.pending],
            "run_id": self.run_id,
            "thread_id": self.thread_id,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> RunResult:
        """Read a result back from what `to_dict` gave.

        Raises:
            ResumeError: The data is not a result's.
        """
        try:
            check_types("the result", data, _KEPT)
            check_choice("finish_reason", data["finish_reason"], get_args(FinishReason))
            return cls(
                output=data["output"],
                messages=plain(data["messages"]),
                steps=data["steps"],
                usage=Usage.from_dict(data["usage"]),
                finish_reason=data["finish_reason"],
                pending=[PendingCall.from_dict(call) for call in data["pending"]],
                run_id=data["run_id"],
                thread_id=data["thread_id"],
            )
        except (KeyError, TypeError, ValueError, AttributeError) as exc:
            raise ResumeError(f"this is not what RunResult.to_dict() gives: {exc!r}") from exc

    def to_json(self) -> str:
        """Return the result as JSON text."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str | bytes) -> RunResult:
        """Read a result back from what `to_json` gave."""
        if not isinstance(text, str | bytes | bytearray):
            raise ResumeError(
                f"RunResult.from_json reads a string, found {text!r:.80}: from_dict reads a dict"
            )
        try:
            data = json.loads(text)
        except ValueError as exc:
            raise ResumeError(f"this is not what RunResult.to_json() gives: {exc}") from exc
        return cls.from_dict(data)


_KEPT: Mapping[str, tuple[type, ...]] = {
    "finish_reason": (str,),
    "output": (str,),
    "messages": (list,),
    "steps": (int,),
    "pending": (list,),
    "run_id": (str,),
    "thread_id": (str, type(None)),
}
"""The types of a result's plain data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepStart:
    """A model call begins."""

    step_number: int
    tools: Sequence[str]
    """Names of the tools that the model is offered, in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextDelta:
    """A piece of the model's text."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallEvent:
    """The model called a tool; it has not run yet."""

    call_id: str
    name: str
    """As the model called it."""
    target: str
    """The tool that runs: another tool if the model went through a proxy such as `call_tool`."""
    arguments: Mapping[str, Any]
    """Those of the target."""
    needs_approval: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResultEvent:
    """A tool answered; events come in the order of the calls."""

    call_id: str
    name: str
    text: str
    is_error: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StepEnd:
    """A model call and the tools it called are done."""

    step_number: int
    usage: Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """The run ended; the last event."""

    result: RunResult


Event: TypeAlias = StepStart | TextDelta | ToolCallEvent | ToolResultEvent | StepEnd | Done
"""What `Agent.stream` and `Agent.resume_stream` give."""
