"""Tool search in your own loop, with any input processors."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from types import MappingProxyType, TracebackType
from typing import Any, Self, get_args

from tool_search_processor.concurrency.blocking import run_blocking
from tool_search_processor.concurrency.closing import AsyncClosing
from tool_search_processor.errors import ConfigurationError
from tool_search_processor.session.checks import check_approvals, checked_processors, checked_tools
from tool_search_processor.session.claims import (
    ClaimName,
    LocalClaims,
    claim_calls,
    claim_names,
    claimers,
    content_name,
    release_claims,
)
from tool_search_processor.session.histories import repaired_history
from tool_search_processor.session.model_call import CallOptions, ModelCall
from tool_search_processor.session.native.requests import (
    AnthropicNative,
    AnthropicRequest,
    RequestParts,
    ResponsesRequest,
    anthropic_parts,
    responses_parts,
)
from tool_search_processor.session.native.session_notes import SessionNotes
from tool_search_processor.session.prepared_calls import (
    PendingCall,
    PreparedCall,
    ToolOutcome,
    answers_without_running,
    cut_off,
)
from tool_search_processor.session.replies import read_reply, whole_reply, why_cut
from tool_search_processor.session.running_calls import RunningCall, finish
from tool_search_processor.session.tool_results import RESULT_CHARACTERS
from tool_search_processor.steps import InputProcessor, InputStep
from tool_search_processor.tools import Tool
from tool_search_processor.wire.calls import Style
from tool_search_processor.wire.checks import check_choice, check_flags
from tool_search_processor.wire.messages import (
    Given,
    chat_messages,
    read_conversation,
    to_openai_messages,
    with_content,
)
from tool_search_processor.wire.notes import without_notes
from tool_search_processor.wire.plain import counted

_NO_CONTEXT: Mapping[str, Any] = MappingProxyType({})


class ToolSession(AsyncClosing):
    """One conversation's tools for a loop of your own: list them for each model call, run its calls.

    ```python
    async with ToolSession(search, thread_id="t", context={"plan": "pro"}) as session:
        tools = await session.openai_tools(messages)
        sent = [{"role": "system", "content": session.system}, *session.messages]
        reply = await litellm.acompletion(model="openai/gpt-5.5", messages=sent, tools=tools)
        messages.append(reply.choices[0].message)
        messages.extend(await session.execute(messages[-1]))
    ```

    A loop without `async` writes `with`, `openai_tools_sync` and `execute_sync`.

    A session is one run: what was loaded stays loaded until the session ends. Don't share it between event
    loops or tasks.
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
        """Open a run of the processors, in the order given.

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
        self._notes = SessionNotes()
        self._shown: dict[str, PendingCall] = {}
        self._number = 0
        self._ended = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        run_blocking(self.aclose, door="`with` of a ToolSession", instead="`async with`")

    async def aclose(self) -> None:
        """End the run, so that processors drop what they keep for it only; a second call does nothing."""
        if self._ended:
            return
        self._ended = True
        await (self._call or ModelCall(self._processors, self._base)).end_run()

    def __repr__(self) -> str:
        thread = f"thread {self._base.thread_id!r}" if self._base.thread_id else "an anonymous run"
        listed = f"{counted(len(self._call.tools), 'tool')} listed" if self._call else "nothing listed yet"
        return f"<ToolSession of {thread}: step {self._number}, {listed}{', ended' if self._ended else ''}>"

    @property
    def run_id(self) -> str:
        """The id of this run, as tools and processors see it."""
        return self._base.run_id

    @property
    def instructions(self) -> tuple[str, ...]:
        """What the processors want in the system prompt of the last step."""
        return tuple(self._call.step.instructions) if self._call is not None else ()

    @property
    def system(self) -> str:
        """The `instructions` as one string; empty without instructions."""
        return "\n\n".join(self.instructions)

    @property
    def messages(self) -> list[Any]:
        """The messages of the last step in OpenAI shape, as the processors left them: cut, for example.

        The text of `system` is not among them: send it before them.
        """
        messages = () if self._call is None else self._call.step.messages
        return [with_content(without_notes(message)) for message in to_openai_messages(messages)]

    async def tools(self, messages: Iterable[Any]) -> list[Tool]:
        """Run the processors for one model call and return the tools to offer.

        Args:
            messages: The conversation so far: OpenAI chat messages, Anthropic messages or items of OpenAI's
                Responses API, as dicts or as the SDKs' objects.
        """
        return (await self._begin(messages, is_native=False))[1].tools

    # Dicts; typed Any, since a dict[str, Any] fits no parameter of the providers' SDKs.
    async def openai_tools(self, messages: Iterable[Any]) -> list[Any]:
        """Run the processors as `tools` does and return the definitions, dicts in OpenAI chat shape."""
        return [tool.to_openai() for tool in await self.tools(messages)]

    async def anthropic_tools(self, messages: Iterable[Any]) -> list[Any]:
        """Run the processors as `tools` does and return the definitions, dicts in Anthropic's shape."""
        return [tool.to_anthropic() for tool in await self.tools(messages)]

    def openai_tools_sync(self, messages: Iterable[Any]) -> list[Any]:
        """Return what `openai_tools` does, for a loop without `async`.

        Raises:
            RunningLoopError: The calling thread runs an event loop.
        """
        return self._wait("openai_tools", lambda: self.openai_tools(messages))

    def anthropic_tools_sync(self, messages: Iterable[Any]) -> list[Any]:
        """Return what `anthropic_tools` does, for a loop without `async`.

        Raises:
            RunningLoopError: The calling thread runs an event loop.
        """
        return self._wait("anthropic_tools", lambda: self.anthropic_tools(messages))

    async def anthropic_request(
        self, messages: Iterable[Any], *, native: AnthropicNative | None = None
    ) -> AnthropicRequest:
        """Run the processors as `tools` does and return a request to Anthropic's Messages API.

        ```python
        request = await session.anthropic_request(messages, native="definition")
        reply = await client.beta.messages.create(model="claude-opus-5-5", max_tokens=4096, **request)
        messages.append({"role": "assistant", "content": reply.content})
        messages.append({"role": "user", "content": await session.execute(reply)})
        ```

        With `native`, `tools` is the same at every request of a thread, and what was loaded is declared in
        the conversation, so that a load doesn't cost the prompt cache. Keep your own `messages`, never those
        of the request: results may have notes of ours, which the request leaves out. System messages become
        the `system` prompt. Not tried with a key: how many tokens are read from the cache after an addition.

        Args:
            messages: The conversation so far, in any shape that `tools` takes.
            native: "definition" declares by `tool_addition`, with the beta in `betas`; models: see
                `session.native.models`. "reference" by `tool_reference` and definitions with
                `defer_loading`. None lists what is loaded.

        Returns:
            `system`, `tools`, `messages` and `betas`, which is empty unless `native` is "definition".

        Raises:
            ConfigurationError: `native` is not one of its values, or a message can't be read.
        """
        if native is not None:
            check_choice("native", native, get_args(AnthropicNative))
        request: AnthropicRequest = await self._request(messages, native, anthropic_parts)
        return request

    async def responses_request(self, items: Iterable[Any], *, native: bool = False) -> ResponsesRequest:
        """Run the processors as `tools` does and return a request to OpenAI's Responses API.

        ```python
        request = await session.responses_request(items, native=True)
        reply = await client.responses.create(model="gpt-5.5", **request)
        items += reply.output
        items += await session.execute(reply)
        ```

        Keep your own `items`, never those of the request, as with `anthropic_request`. Nothing is left out
        for `previous_response_id`: send the whole conversation. Not tried with a key: how many tokens are
        read from the cache after an addition.

        Args:
            items: The conversation so far, in any shape that `tools` takes.
            native: True keeps `tools` the same for the thread and declares what was loaded in the
                conversation, by `additional_tools`; False lists it.

        Returns:
            `instructions`, `tools` and `input`.

        Raises:
            ConfigurationError: `native` is not True or False, or an item can't be read.
        """
        check_flags(native=native)
        request: ResponsesRequest = await self._request(items, native, responses_parts)
        return request

    async def approvals_needed(self, tool_calls: Any) -> list[PendingCall]:
        """Return the calls that a person has to approve, in order; nothing is run."""
        prepared = await self._prepare(tool_calls)
        pending = [call.pending() for call in prepared if call.needs_approval]
        self._shown = {call.call_id: call for call in pending}
        return pending

    async def execute(
        self, tool_calls: Any, *, approvals: Mapping[str, bool | str] = MappingProxyType({})
    ) -> list[Any]:
        """Run a model's tool calls at the same time and return their results, in the calls' order.

        Args:
            tool_calls: An assistant message, its OpenAI `tool_calls`, or its Anthropic content blocks; or a
                reply of the Responses API, its `output`, or the event that ends its stream; as dicts or as
                the SDKs' objects. If an Anthropic message or a Responses reply says that it was cut, nothing
                runs; for OpenAI's chat the loop has to look at `finish_reason` itself, or put it into the
                message.
            approvals: Call id → True, or False or a reason to refuse. A tool that needs approval does not
                run without a True, no call runs after a refusal, and the results say so.

        Returns:
            For OpenAI calls: tool messages to append. For Anthropic calls: `tool_result` blocks, the
            content of one user message. For Responses calls: `function_call_output` items to append.

        Raises:
            ConfigurationError: Something in it can't be read, so that calls might be missed, such as a
                whole reply of a client, or a call in another form.
            CancelledError: Its `run_results` are what `execute` would have returned: results of calls that
                had run, and a sentence for every other call.
            ResumeError: An approved call has run before, or a decided call was refused before: in this
                session, by an agent or another session with one of its processors, or in any process that
                shares a processor's store; nothing was run. A call is known by its thread and the
                conversation before it, as it was listed last. In a session without a thread, it is known in
                this session only, unless an agent was given the bare messages.
        """
        check_approvals(approvals)
        prepared = await self._prepare(tool_calls)
        refused = answers_without_running(prepared, approvals, shown=self._shown)
        running = [call for call in prepared if call.request.id not in refused]
        said_no = {call_id for call_id in refused if approvals.get(call_id, True) is not True}
        decided = [call for call in running if call.needs_approval]
        decided += [call for call in prepared if call.request.id in said_no]
        model_call = await self._listed()
        names = {call.request.id: self._claim_names(call) for call in decided}
        claims = await claim_calls(self._claimers, model_call.step, calls=names)
        started = model_call.start(running)
        try:
            await finish(started)
        except BaseException as exc:
            exc.run_results = self._results(prepared, refused, started)  # type: ignore[attr-defined]  # data for handlers
            raise
        finally:
            ended = [call.outcome() for call in started]
            ran = {outcome.call_id for outcome in ended if outcome.ran}
            await release_claims(claims, used=said_no | ran)
        return self._results(prepared, refused, started)

    def execute_sync(
        self, tool_calls: Any, *, approvals: Mapping[str, bool | str] = MappingProxyType({})
    ) -> list[Any]:
        """Run a model's tool calls as `execute` does, for a loop without `async`.

        Raises:
            RunningLoopError: The calling thread runs an event loop.
        """
        return self._wait("execute", lambda: self.execute(tool_calls, approvals=approvals))

    def _wait(self, name: str, start: Callable[[], Coroutine[Any, Any, list[Any]]]) -> list[Any]:
        door = f"ToolSession.{name}_sync"
        return run_blocking(start, door=door, instead=f"`await session.{name}(...)`")

    async def _begin(self, messages: Iterable[Any], *, is_native: bool) -> tuple[list[Given], ModelCall]:
        """Run the processors for one model call; return what was given too."""
        if self._ended:
            raise ConfigurationError("this session was left: open a new ToolSession")
        given = read_conversation(messages)
        self._messages = repaired_history(chat_messages(given))
        step = self._base.replace(messages=self._messages, step_number=self._number)
        if is_native:
            step = step.replace(messages=self._notes.put(self._messages), receipts=True)
        self._call = await ModelCall.begin(self._processors, step, options=self._options)
        self._number += 1
        return given, self._call

    async def _request(
        self, messages: Iterable[Any], native: Any, render: Callable[..., RequestParts]
    ) -> Any:
        given, call = await self._begin(messages, is_native=bool(native))
        record = self._notes.complete(call.record)
        rendered = render(call.step, native=native, record=record, given=given)
        self._notes.keep(self._messages, rendered.note)
        return rendered.parts

    async def _prepare(self, tool_calls: Any) -> list[PreparedCall]:
        reply = whole_reply(tool_calls)
        requests = read_reply(reply)
        if (reason := why_cut(reply)) is not None:
            return [cut_off(request, reason=reason) for request in requests]
        return await (await self._listed()).prepare(requests)

    def _claim_names(self, call: PreparedCall) -> list[ClaimName]:
        thread_id = self._base.thread_id
        # In an anonymous run, the same id may come again in a later turn.
        run_id = f"{self.run_id}:{content_name(self._messages, call)}" if thread_id is None else None
        return claim_names(self._messages, call, thread_id=thread_id, run_id=run_id)

    def _results(
        self,
        prepared: Sequence[PreparedCall],
        refused: Mapping[str, ToolOutcome],
        started: Sequence[RunningCall],
    ) -> list[dict[str, Any]]:
        """Return the results of calls that have ended, in the calls' order, each in its style."""
        ended = iter(started)
        results: list[dict[str, Any]] = []
        for call in prepared:
            outcome = refused.get(call.request.id) or next(ended).outcome()
            notes = self._notes.of_result(self._call, call, is_first=not results)
            results.append({**_result(outcome, call.request.style), **notes})
        return results

    async def _listed(self) -> ModelCall:
        if self._call is None:  # calls from an earlier process: policy is asked before they run
            await self.tools(())
        return self._call  # type: ignore[return-value]  # which `tools` has made


def _result(outcome: ToolOutcome, style: Style) -> dict[str, Any]:
    """Return an outcome in the shape of its call."""
    if style == "anthropic":
        return outcome.to_block()
    return outcome.to_item() if style == "responses" else outcome.to_message()
