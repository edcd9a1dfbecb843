"""Running the tool calls that a model made: find the tool, ask for approval, run, answer in words."""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import json
import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tool_search_processor.call_requests import CallRequest
from tool_search_processor.errors import ToolArgumentsError, ToolSearchError
from tool_search_processor.messages import tool_message
from tool_search_processor.meta_tools import MetaTool
from tool_search_processor.plain import clean_text, sendable
from tool_search_processor.results import RESULT_CHARACTERS, cut_result, encode_result, error_text
from tool_search_processor.session.checks import resolvers
from tool_search_processor.steps import InputProcessor, InputStep
from tool_search_processor.tools import Tool, ToolContext
from tool_search_processor.tools.arguments import parse_arguments

logger = logging.getLogger(__name__)

# What ends the program or the task is nobody's answer.
_ENDS = (KeyboardInterrupt, asyncio.CancelledError)
MAX_CALLS = 128
"""The most calls of one reply that are looked at; the rest is told to be left."""
_NEAR_NAMES = 3
_NEAR_ENOUGH = 0.6
_QUOTED_CHARACTERS = 200
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9_-]")
_NAME_LENGTH = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingCall:
    """A call that waits for a person's word; plain JSON through `to_dict`."""

    call_id: str
    name: str
    """What would run: the target, where the model called it through a proxy."""
    arguments: Mapping[str, Any]
    arguments_hash: str
    """SHA-256 of name and arguments; a call that has changed since is not run."""

    def to_dict(self) -> dict[str, Any]:
        """Return the call as plain JSON data."""
        return {
            "call_id": self.call_id,
            "name": self.name,
            "arguments": dict(self.arguments),
            "arguments_hash": self.arguments_hash,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> PendingCall:
        """Read a call back from what `to_dict` gave.

        Raises:
            KeyError: A field is missing.
            TypeError: A field is not what it has to be.
        """
        texts = {name: data[name] for name in ("call_id", "name", "arguments_hash")}
        arguments = data["arguments"]
        if not all(isinstance(text, str) for text in texts.values()) or not isinstance(arguments, Mapping):
            raise TypeError(f"a pending call is {data!r:.200}")
        return cls(arguments=dict(arguments), **texts)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOutcome:
    """What came of one call."""

    call_id: str
    name: str
    text: str
    is_error: bool = False

    def to_message(self) -> dict[str, Any]:
        """Return the outcome as an OpenAI tool message."""
        return tool_message(self.call_id, self.name, self.text)

    def to_block(self) -> dict[str, Any]:
        """Return the outcome as an Anthropic `tool_result` block."""
        block = {"type": "tool_result", "tool_use_id": self.call_id, "content": self.text}
        return {**block, "is_error": True} if self.is_error else block


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedCall:
    """A call whose tool was looked up: either there is a tool to run, or an error to answer."""

    request: CallRequest
    name: str
    """The name as it goes into the history: one that every provider accepts."""
    tool: Tool | None = None
    arguments: Mapping[str, Any]
    error: str | None = None

    @property
    def needs_approval(self) -> bool:
        """Whether a person has to agree before it runs."""
        return self.tool is not None and self.tool.requires_approval

    @property
    def target_name(self) -> str:
        """The name of what would run; the name in the history where nothing would."""
        return self.name if self.tool is None else self.tool.name

    def pending(self) -> PendingCall:
        """Return what a person is shown."""
        arguments = sendable(self.arguments)
        return PendingCall(
            call_id=self.request.id,
            name=self.target_name,
            arguments=arguments,
            arguments_hash=arguments_hash(self.target_name, arguments),
        )

    def answer(self, text: str, *, is_error: bool = True) -> ToolOutcome:
        """Return an outcome for this call without running it."""
        return ToolOutcome(call_id=self.request.id, name=self.name, text=text, is_error=is_error)


def arguments_hash(name: str, arguments: Mapping[str, Any]) -> str:
    """Return a hash of a call: equal for equal names and arguments, whatever the order of keys."""
    canonical = json.dumps([name, arguments], sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(canonical.encode()).hexdigest()


def wire_name(name: str) -> str:
    """Return a tool name that every provider accepts in a history, whatever the model wrote."""
    return _NOT_IN_A_NAME.sub("_", name)[:_NAME_LENGTH] or "unnamed_tool"


def read_arguments(raw: Any, *, name: str) -> tuple[dict[str, Any], str | None]:
    """Read a call's arguments; returns them and no error, or an empty dict and a sentence.

    Nothing, null, an empty text and an empty list are no arguments. An object that was encoded twice is
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
        kind = {list: "a list", str: "a text", bool: "true or false"}.get(type(value), "a number")
        return {}, f"Error: {name} takes its arguments as one JSON object; found {kind}."
    return dict(value), None


class CallRunner:
    """Prepares and runs calls for the processors of one agent or session; holds no state of a run."""

    def __init__(
        self,
        processors: Sequence[InputProcessor],
        *,
        timeout_seconds: float | None = None,
        max_result_characters: int | None = RESULT_CHARACTERS,
        concurrent: bool = True,
    ) -> None:
        """Ask `processors` for tools that a step doesn't list.

        Args:
            processors: In the order in which they are asked.
            timeout_seconds: Longest time one tool may take; None waits for ever.
            max_result_characters: The most characters of one tool's result; None cuts nothing.
            concurrent: Whether the calls of one step run at the same time.
        """
        self._resolvers = resolvers(processors)
        self._timeout_seconds = timeout_seconds
        self._max_result_characters = max_result_characters
        self._concurrent = concurrent

    async def prepare(self, step: InputStep, requests: Sequence[CallRequest]) -> list[PreparedCall]:
        """Look up the tool of each call, at the same time; the order is kept."""
        tasks = [asyncio.create_task(self._prepare(step, request)) for request in requests[:MAX_CALLS]]
        try:
            looked_up = await asyncio.gather(*tasks)
        finally:
            await stop_tasks(tasks)
        return [*looked_up, *map(_left, requests[MAX_CALLS:])]

    def start(self, step: InputStep, calls: Sequence[PreparedCall]) -> list[asyncio.Task[ToolOutcome]]:
        """Start the calls and return their tasks in order; whoever starts them awaits or cancels them."""
        gate = asyncio.Semaphore(len(calls) or 1 if self._concurrent else 1)
        return [asyncio.create_task(self._gated(gate, step, call)) for call in calls]

    async def run(self, step: InputStep, calls: Sequence[PreparedCall]) -> list[ToolOutcome]:
        """Run the calls; outcomes come in the order of the calls."""
        tasks = self.start(step, calls)
        try:
            return [await task for task in tasks]
        finally:
            await stop_tasks(tasks)

    async def _gated(self, gate: asyncio.Semaphore, step: InputStep, call: PreparedCall) -> ToolOutcome:
        async with gate:
            return await self._run(step, call)

    async def _prepare(self, step: InputStep, request: CallRequest) -> PreparedCall:
        name = wire_name(request.name)
        arguments, error = read_arguments(request.arguments, name=name)
        if error is not None:
            return PreparedCall(request=request, name=name, arguments={}, error=error)
        try:
            tool = _listed(step, request.name) or await self._resolve(step, request.name)
            if tool is None:
                error = await self._missing_text(step, request.name)
                return PreparedCall(request=request, name=name, arguments=arguments, error=error)
            context = _context(step, request)
            target, target_arguments = await tool.target(arguments, context)
            # nobody is asked to approve what cannot run
            error = await _mistake(step, target, target_arguments) if target.requires_approval else None
        except _ENDS:
            raise
        except BaseException as exc:  # noqa: BLE001 - foreign code: whatever it raises is an answer to the model
            _log(name, exc)
            return PreparedCall(request=request, name=name, arguments=arguments, error=error_text(exc))
        if error is not None:
            return PreparedCall(request=request, name=name, arguments=target_arguments, error=error)
        return PreparedCall(request=request, name=name, tool=target, arguments=target_arguments)

    async def _resolve(self, step: InputStep, name: str) -> Tool | None:
        for resolver in self._resolvers:
            tool = await resolver.resolve_call(step, name)
            if tool is not None:
                return tool
        return None

    async def _missing_text(self, step: InputStep, name: str) -> str:
        """Return what the resolvers say of a tool that nobody knows, and listed names that are like it."""
        texts: list[str] = []
        for resolver in self._resolvers:
            hook = getattr(resolver, "missing_tool_text", None)
            text = hook(step, name) if hook is not None else None
            text = await text if inspect.isawaitable(text) else text
            if text:
                texts.append(str(text))
        said = "\n".join(texts) or f"Error: there is no tool named {name[:_NAME_LENGTH]!r}."
        near = [tool for tool in _near_names(name, [tool.name for tool in step.tools]) if tool not in said]
        hint = f" Did you mean {' or '.join(near)}?" if near else ""
        return clean_text(f"{said}{hint}")

    async def _run(self, step: InputStep, call: PreparedCall) -> ToolOutcome:
        if call.tool is None:
            return call.answer(call.error or "")
        scope = asyncio.timeout(self._timeout_seconds)
        try:
            async with scope:
                value = await call.tool.call(call.arguments, _context(step, call.request))
            # Writing it down runs foreign code as well: its iterators, its `__repr__`.
            return call.answer(self._cut(call.tool, encode_result(value)), is_error=False)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            # something inside the tool was cancelled, not the run
            return call.answer(f"Error: {call.name} was cancelled before it answered.")
        except _ENDS:
            raise
        except BaseException as exc:  # noqa: BLE001 - a tool's failure is an answer: sys.exit(), a panic in Rust
            if scope.expired():
                logger.warning("the tool %r took longer than %s s", call.name, self._timeout_seconds)
                return call.answer(
                    f"Error: {call.name} took longer than {self._timeout_seconds:g} seconds and was stopped."
                )
            _log(call.name, exc)
            return call.answer(cut_result(error_text(exc), self._max_result_characters))

    def _cut(self, tool: Tool, text: str) -> str:
        # A meta-tool's answer may bear a receipt, by which a conversation tells what it has loaded.
        return text if isinstance(tool, MetaTool) else cut_result(text, self._max_result_characters)


def refusal_text(name: str, answer: object) -> str:
    """Return what the model reads of a call that was not approved.

    Args:
        name: The tool's name.
        answer: What was given for the call: None for nothing, False, or the reason as a text.
    """
    if answer is None:
        return f"Error: {name} needs the approval of a person, which was not given; it was not run."
    reason = f" Reason: {answer}" if isinstance(answer, str) and answer else ""
    return clean_text(f"Error: a person refused the call of {name}; it was not run.{reason}")


async def stop_tasks(tasks: Sequence[asyncio.Task[Any]]) -> None:
    """Cancel what still runs and wait until it has ended."""
    running = [task for task in tasks if not task.done()]
    for task in running:
        task.cancel()
    if running:
        await asyncio.wait(running)


def _context(step: InputStep, request: CallRequest) -> ToolContext:
    return ToolContext(
        thread_id=step.thread_id, run_id=step.run_id, tool_call_id=request.id, context=step.context
    )


def _listed(step: InputStep, name: str) -> Tool | None:
    # "functions.x" is how some models were taught to write x
    for candidate in (name, name.strip(), name.strip().removeprefix("functions.")):
        for tool in step.tools:
            if tool.name == candidate:
                return tool
    return None


def _left(request: CallRequest) -> PreparedCall:
    text = f"Error: this call was not run: {MAX_CALLS} calls of one reply are the most. Make it again later."
    return PreparedCall(request=request, name=wire_name(request.name), arguments={}, error=text)


async def _mistake(step: InputStep, tool: Tool, arguments: Mapping[str, Any]) -> str | None:
    """Return what is wrong with the arguments, with the parameters where the model hasn't seen them."""
    try:
        tool.check_arguments(arguments)
    except ToolArgumentsError as exc:
        if any(listed.name == tool.name for listed in step.tools):
            return error_text(exc)
        explain = getattr(tool, "explain", None)
        if explain is not None:
            return encode_result(await explain(exc))
        return f"{error_text(exc)} The parameters of {tool.name}: {encode_result(tool.wire_schema())}"
    return None


def _near_names(name: str, names: Sequence[str]) -> list[str]:
    from rapidfuzz import process
    from rapidfuzz.distance import OSA

    similarity = OSA.normalized_similarity
    found = process.extract(name, names, scorer=similarity, limit=_NEAR_NAMES, score_cutoff=_NEAR_ENOUGH)
    return [match for match, _, _ in found]


def _log(name: str, error: BaseException) -> None:
    # what the model got wrong is not worth an operator's attention
    mistake = isinstance(error, ToolSearchError)
    level = logging.DEBUG if mistake else logging.WARNING
    logger.log(level, "the tool %r failed: %s", name, type(error).__name__, exc_info=error)
