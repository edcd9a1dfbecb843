"""The pipeline: one step's input, and the fold of processors over it."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, runtime_checkable

from tool_search_processor.concurrency.foreign_calls import awaited
from tool_search_processor.errors import AbortRun, ConfigurationError
from tool_search_processor.tools import Tool
from tool_search_processor.tools.frozen import FrozenDict
from tool_search_processor.wire.messages import is_openai_message, to_openai_messages

Message = Mapping[str, Any]
"""An OpenAI chat message: `role`, `content`, `tool_calls`, `tool_call_id` …"""

_EMPTY: Mapping[str, Any] = FrozenDict()
_PLAIN_SEQUENCES = (tuple, list)


@dataclass(frozen=True, kw_only=True)
class InputStep:
    """Everything one model call will be made of; processors return changed copies.

    ```python
    step = InputStep(messages=[{"role": "user", "content": "Hello"}], context={"plan": "pro"})
    step = step.replace(instructions=("Be brief.",))
    ```
    """

    messages: Sequence[Message]
    """The conversation so far, in OpenAI chat shape; SDKs' objects and Anthropic messages are converted."""
    tools: Sequence[Tool] = ()
    """What the model will be offered, in the order it is sent."""
    instructions: Sequence[str] = ()
    """Strings added to the system prompt for this step only."""
    model: str | None = None
    tool_choice: str | Mapping[str, Any] | None = None
    model_settings: Mapping[str, Any] = field(default_factory=lambda: _EMPTY)
    context: Mapping[str, Any] = field(default_factory=lambda: _EMPTY)
    """The request's own data (plan, user, tenant …): read-only, never sent to the model."""
    thread_id: str | None = None
    """The conversation; None (also for an empty or blank string) is an anonymous run."""
    run_id: str = field(default_factory=lambda: uuid.uuid4().hex)
    step_number: int = 0
    """Counts the model calls of this run from 0."""
    receipts: bool = False
    """Whether what is loaded must be readable from the conversation, as for a native rendering."""
    declared: Sequence[Tool] = ()
    """Tools that are sent though this step does not list them: the conversation declared them before."""
    state: MutableMapping[str, Any] = field(default_factory=dict)
    """Scratch of this run, keyed by processor id; the same mapping at every step of the run."""

    def __post_init__(self) -> None:
        """Freeze the mappings, read iterators into tuples, and turn a blank thread id into None."""
        for name in ("messages", "tools", "instructions", "declared"):
            value = getattr(self, name)
            if type(value) in _PLAIN_SEQUENCES:  # nearly always: the checks below take half a microsecond
                continue
            if isinstance(value, str | Tool | Mapping) or not isinstance(value, Iterable):
                raise ConfigurationError(
                    f"InputStep.{name} must be a sequence, found the single value {value!r:.60}: "
                    "put it in a list"
                )
            if not isinstance(value, Sequence):  # such as filter(...), which can be read only once
                object.__setattr__(self, name, tuple(value))
        # most steps are copies: messages that have the shape already are left as they are
        if not all(map(is_openai_message, self.messages)):
            object.__setattr__(self, "messages", to_openai_messages(self.messages))
        for item in self.tools if isinstance(self.tools, list | tuple) else ():
            if not isinstance(item, Tool):
                raise ConfigurationError(
                    f"InputStep.tools holds Tools, found {item!r:.60}: make one with Tool.from_function(...)"
                )
        for name in ("context", "model_settings"):
            value = getattr(self, name)
            if type(value) is not FrozenDict:
                object.__setattr__(self, name, _frozen(name, value))
        if self.thread_id is not None and not isinstance(self.thread_id, str):
            raise ConfigurationError(
                f"thread_id must be a string or None, found {type(self.thread_id).__name__}: "
                "pass str(thread_id)"
            )
        if self.thread_id is not None and not self.thread_id.strip():
            object.__setattr__(self, "thread_id", None)

    def replace(self, **changes: Any) -> InputStep:
        """Return a copy with some fields changed."""
        return replace(self, **changes)


def _frozen(name: str, value: object) -> FrozenDict:
    if not isinstance(value, Mapping):
        raise ConfigurationError(
            f'{name} must be a mapping, found {value!r:.60}: pass a dict such as {{"plan": "pro"}}'
        )
    return FrozenDict(value)


@runtime_checkable
class InputProcessor(Protocol):
    """Sees each step before the model does, and returns the step that is sent.

    ```python
    class Today:
        id = "today"

        async def process_input_step(self, step: InputStep) -> InputStep:
            return step.replace(instructions=(*step.instructions, f"Today is {date.today()}."))

    agent = Agent("helper", "openai/gpt-5.5", input_processors=[Today(), search])
    ```
    """

    @property
    def id(self) -> str:
        """Names the processor in `step.state` and in errors; unique within one agent."""
        ...

    async def process_input_step(self, step: InputStep) -> InputStep:
        """Return the step to go on with: a changed copy, or the same one.

        Raises:
            AbortRun: To end the run cleanly.
        """
        ...


@runtime_checkable
class ToolResolver(Protocol):
    """A processor that also knows tools that a step does not list.

    ```python
    isinstance(search, ToolResolver)  # -> True
    found = await search.resolve_call(InputStep(messages=()), "create_issue")
    found.name  # -> 'create_issue'
    ```

    An agent asks each such processor in the order of its list; the first answer wins. A resolver may
    also have `async missing_tool_text(step, name) -> str`, the sentence for an unknown tool.
    """

    @property
    def reserved_names(self) -> frozenset[str]:
        """Names that no other tool of the agent may have."""
        ...

    async def resolve_call(self, step: InputStep, name: str) -> Tool | None:
        """Return the tool to run for a call of a name that `step` does not list, or None."""
        ...

    async def definition_tokens(self, step: InputStep) -> int:
        """Return what sending every definition at this step would cost, in tokens."""
        ...

    async def end_run(self, step: InputStep) -> None:
        """Drop what is kept for this run alone; called once, when the run ends."""
        ...


async def run_processors(processors: Iterable[InputProcessor], step: InputStep) -> InputStep:
    """Fold the processors over a step, in list order; each sees what the one before returned.

    ```python
    step = InputStep(messages=[{"role": "user", "content": "File a bug"}])
    step = await run_processors([search, TokenLimiter(127_000)], step)
    [tool.name for tool in step.tools]  # -> ['search_tools', 'load_tool']
    ```

    Raises:
        AbortRun: As a processor raised it.
        Exception: Anything else that a processor raised, with its id in `processor_id` and in a note.
    """
    for processor in processors:
        try:
            result = await awaited(processor.process_input_step(step))  # a plain `def` will do
            if not isinstance(result, InputStep):
                raise ConfigurationError(
                    f"process_input_step must return an InputStep, found {type(result).__name__}: "
                    "return the step it was given, or step.replace(...)"
                )
        except AbortRun:
            raise
        except Exception as exc:
            with suppress(AttributeError):  # of a frozen dataclass: it goes on as it is
                exc.add_note(f"raised by the input processor {processor.id!r}")
                exc.processor_id = processor.id  # type: ignore[attr-defined]  # data for handlers
            raise
        step = result
    return step
