"""A loop of the user's own over any input processors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType, TracebackType
from typing import Any, Self

from tool_search_processor.errors import ConfigurationError
from tool_search_processor.session.checks import check_approvals, checked_processors, checked_tools
from tool_search_processor.session.claims import (
    LocalClaims,
    claim_calls,
    claimers,
    content_name,
    release_claims,
)
from tool_search_processor.session.histories import repaired_history
from tool_search_processor.session.model_call import CallOptions, ModelCall
from tool_search_processor.session.prepared_calls import (
    PendingCall,
    PreparedCall,
    ToolOutcome,
    cut_off,
    is_cut,
    refusal_text,
)
from tool_search_processor.session.replies import read_reply
from tool_search_processor.session.running_calls import RunningCall, finish
from tool_search_processor.session.tool_results import RESULT_CHARACTERS
from tool_search_processor.steps import InputProcessor, InputStep
from tool_search_processor.tools import Tool
from tool_search_processor.wire.messages import to_openai_messages
from tool_search_processor.wire.plain import field_of

_STOP_REASONS = ("stop_reason", "finish_reason")
_NO_CONTEXT: Mapping[str, Any] = MappingProxyType({})


class ToolSession:
    """One conversation's tools for a loop of your own: list them for each model call, run its calls.

    ```python
    async with ToolSession(search, thread_id="t", context={"plan": "pro"}) as session:
        tools = await session.openai_tools(messages)
        reply = await litellm.acompletion(model="openai/gpt-5.5", messages=messages, tools=tools)
        messages.append(reply.choices[0].message)
        messages.extend(await session.execute(reply.choices[0].message))
    ```

    A session is one run: what was loaded stays loaded until it is left. It is not for several loops or
    tasks at once.
    """

    def __init__(
        self,
        *processors: InputProcessor,
        thread_id: str | None = None,
        context: Mapping[str, Any] = _NO_CONTEXT,
        tools: Iterable[Tool | Callable[..., Any]] = (),
        tool_timeout_seconds: float | None = None,
        max_result_characters: int | None = RESULT_CHARACTERS,
        mask_error_details: bool = False,
    ) -> None:
        """Open a run of `processors`, in the order given.

        Args:
            processors: What an `Agent` would take as `input_processors`.
            thread_id: The conversation; None is an anonymous run.
            context: The request's own data, for filters and tools; never sent to a model.
            tools: Tools that are always listed.
            tool_timeout_seconds: Longest time one tool may take; None waits forever.
            max_result_characters: The most characters of one tool's result that the model gets, at least
                1; the rest is cut off and the model told so. None cuts nothing.
            mask_error_details: Keep what tools raise in the log: the model reads that a tool failed, but not
                why. Errors that were written for the model still reach it.

        Raises:
            ConfigurationError: Names or ids clash, or an argument can't work.
        """
        self._tools = checked_tools(tools, owner="the session")
        self._processors = checked_processors(processors, tools=self._tools)
        self._options = CallOptions(
            tool_timeout_seconds=tool_timeout_seconds,
            max_result_characters=max_result_characters,
            mask_error_details=mask_error_details,
        )
        self._claimers = [LocalClaims(), *claimers(self._processors)]
        self._base = InputStep(messages=(), tools=self._tools, context=context, thread_id=thread_id)
        self._call: ModelCall | None = None
        self._messages: list[dict[str, Any]] = []
        self._number = 0
        self._ended = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """End the run: processors drop what they keep for it alone. A second call does nothing."""
        if self._ended:
            return
        self._ended = True
        await (self._call or ModelCall(self._processors, self._base)).end_run()

    @property
    def run_id(self) -> str:
        """The id of this run, as tools and processors see it."""
        return self._base.run_id

    @property
    def instructions(self) -> tuple[str, ...]:
        """What the processors want in the system prompt of the step listed last."""
        return tuple(self._call.step.instructions) if self._call is not None else ()

    @property
    def system(self) -> str:
        """The `instructions` as one string; empty without instructions."""
        return "\n\n".join(self.instructions)

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The messages of the step listed last in OpenAI shape, as the processors left them, such as cut."""
        return to_openai_messages(self._call.step.messages) if self._call is not None else []

    async def tools(self, messages: Iterable[Any]) -> list[Tool]:
        """Run the processors for one model call and return the tools to offer.

        Args:
            messages: The conversation so far: OpenAI chat messages or Anthropic messages, as dicts or as
                the SDKs' objects.
        """
        if self._ended:
            raise ConfigurationError("this session was left: open a new ToolSession")
        self._messages = repaired_history(to_openai_messages(messages))
        step = self._base.replace(messages=self._messages, step_number=self._number)
        self._call = await ModelCall.begin(self._processors, step, options=self._options)
        self._number += 1
        return self._call.tools

    async def openai_tools(self, messages: Iterable[Any]) -> list[dict[str, Any]]:
        """Run the processors as `tools` does and return the definitions in OpenAI chat shape."""
        return [tool.to_openai() for tool in await self.tools(messages)]

    async def anthropic_tools(self, messages: Iterable[Any]) -> list[dict[str, Any]]:
        """Run the processors as `tools` does and return the definitions in Anthropic's shape."""
        return [tool.to_anthropic() for tool in await self.tools(messages)]

    async def approvals_needed(self, tool_calls: Any) -> list[PendingCall]:
        """Return the calls that a person has to approve, in order; nothing is run."""
        prepared = await self._prepare(tool_calls)
        return [call.pending() for call in prepared if call.needs_approval]

    async def execute(
        self, tool_calls: Any, *, approvals: Mapping[str, bool | str] = MappingProxyType({})
    ) -> list[dict[str, Any]]:
        """Run a model's tool calls at the same time and return their results, in the calls' order.

        Args:
            tool_calls: An assistant message, its OpenAI `tool_calls`, or its Anthropic content blocks, as
                dicts or as the SDKs' objects. If an Anthropic message says that it was cut, nothing runs; for
                OpenAI the loop has to look at `finish_reason` itself, or put it into the message.
            approvals: For tools that need approval: call id → True, or False or a reason to refuse. Such
                a call does not run without a True, and its result says so.

        Returns:
            For OpenAI calls: tool messages to append. For Anthropic calls: `tool_result` blocks, the
            content of one user message.

        Raises:
            ConfigurationError: Something in it can't be read, so that calls might be passed over, such as a
                whole reply of a client or a call in another form.
            CancelledError: Its `run_results` are what `execute` would have returned: the results of calls
                that had run, and a sentence for each of the others.
            ResumeError: An approved call has run before, in this session, with one of its processors in this
                process, or in any process that shares a processor's store; nothing was run. A call is known
                by its conversation, as it was listed last.
        """
        check_approvals(approvals)
        prepared = await self._prepare(tool_calls)
        refused: dict[str, ToolOutcome] = {}
        for call in prepared:
            answer = approvals.get(call.request.id)
            if call.needs_approval and answer is not True:
                refused[call.request.id] = call.answer(refusal_text(call.name, answer))
        running = [call for call in prepared if call.request.id not in refused]
        approved = {call.request.id: [self._claim_name(call)] for call in running if call.needs_approval}
        model_call = await self._listed()
        claims = await claim_calls(self._claimers, model_call.step, calls=approved)
        started = model_call.start(running)
        try:
            await finish(started)
        except BaseException as exc:
            exc.run_results = _results(prepared, refused, started)  # type: ignore[attr-defined]  # data for handlers
            raise
        finally:
            ended = [call.outcome() for call in started]
            await release_claims(claims, used={outcome.call_id for outcome in ended if outcome.ran})
        return _results(prepared, refused, started)

    async def _prepare(self, tool_calls: Any) -> list[PreparedCall]:
        requests = read_reply(tool_calls)
        if any(is_cut(field_of(tool_calls, name)) for name in _STOP_REASONS):
            return [*map(cut_off, requests)]
        return await (await self._listed()).prepare(requests)

    def _claim_name(self, call: PreparedCall) -> str:
        content = content_name(self._messages, call.pending())
        # Two anonymous runs may be alike.
        return content if self._base.thread_id else f"{self.run_id}:{content}"

    async def _listed(self) -> ModelCall:
        if self._call is None:  # calls of an earlier process: policy is asked before they run
            await self.tools(())
        return self._call  # type: ignore[return-value]  # which `tools` has made


def _results(
    prepared: Sequence[PreparedCall], refused: Mapping[str, ToolOutcome], started: Sequence[RunningCall]
) -> list[dict[str, Any]]:
    """Return the results of calls that have ended, in the calls' order and each in its style."""
    ended = iter(started)
    ordered = [refused.get(call.request.id) or next(ended).outcome() for call in prepared]
    return [
        outcome.to_block() if call.request.style == "anthropic" else outcome.to_message()
        for call, outcome in zip(prepared, ordered, strict=True)
    ]
