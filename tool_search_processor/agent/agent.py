"""The agent: one loop of model calls and tool calls over the input processors."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any

from tool_search_processor.agent.completions import Completion
from tool_search_processor.agent.engine import RunEngine, last_result
from tool_search_processor.agent.resumption import PausedRun
from tool_search_processor.agent.runs import Event, RunResult
from tool_search_processor.agent.runstate import RunState, input_messages
from tool_search_processor.agent.wires import NativeOption, Wires
from tool_search_processor.concurrency.blocking import run_blocking
from tool_search_processor.errors import ConfigurationError
from tool_search_processor.session.checks import checked_processors, checked_tools
from tool_search_processor.session.histories import repaired_history
from tool_search_processor.session.model_call import CallOptions
from tool_search_processor.session.tool_results import RESULT_CHARACTERS
from tool_search_processor.steps import InputProcessor, InputStep
from tool_search_processor.tools import Tool
from tool_search_processor.wire.checks import check_callable, check_count, check_flags, check_string, refuse
from tool_search_processor.wire.messages import to_openai_messages
from tool_search_processor.wire.plain import counted

_EMPTY: Mapping[str, Any] = MappingProxyType({})
_OWN_SETTINGS = frozenset({"model", "messages", "tools", "stream", "parallel_tool_calls"})


class Agent:
    """Calls a model in a loop, runs the tools it calls, and lets processors shape each step.

    ```python
    agent = Agent("helper", "openai/gpt-5.5", tools=[create_issue], input_processors=[search])

    def ask(question: str) -> str:
        return agent.run_sync(question, thread_id="t-42").output
    ```

    It keeps no state of a run, so one agent can serve many runs, threads and event loops at once.

    If a tool raises, the model reads the type and text of the exception, unless `mask_error_details` keeps
    them in the log. If a processor or the model call raises, the run ends.
    """

    def __init__(
        self,
        name: str,
        model: str,
        *,
        instructions: str = "",
        tools: Iterable[Tool | Callable[..., Any]] = (),
        input_processors: Iterable[InputProcessor] = (),
        max_steps: int = 20,
        model_settings: Mapping[str, Any] = _EMPTY,
        completion: Completion | None = None,
        parallel_tool_calls: bool = True,
        tool_timeout_seconds: float | None = None,
        max_result_characters: int | None = RESULT_CHARACTERS,
        mask_error_details: bool = False,
        native: NativeOption = "off",
    ) -> None:
        """Check the options; nothing is called yet.

        Args:
            name: Names the agent in errors and logs.
            model: Any model name of LiteLLM, or what `completion` takes.
            instructions: The system prompt. It is sent with every step and is not part of a run's history.
            tools: Tools, or plain functions, that are always offered.
            input_processors: Called before each model call, in this order.
            max_steps: The most model calls of one run, at least 1.
            model_settings: Passed on with each model call (`temperature`, `api_base` …). A `tool_choice` that
                forces a call holds until the first call of a run; a tool that it names is loaded first.
            completion: An async function of `litellm.acompletion`'s shape; None is that function itself.
            parallel_tool_calls: False asks the model for one call at a time (the provider's
                `parallel_tool_calls`), and runs one at a time if it sends more.
            tool_timeout_seconds: Longest time one tool may take; None waits forever.
            max_result_characters: The most characters of one tool's result that the model gets, at least
                1; the rest is cut off and the model told so. None cuts nothing.
            mask_error_details: Keep what tools raise in the log: the model reads that a tool failed, but not
                why. Errors that were written for the model still reach it.
            native: How tools that are loaded during a thread are declared. "off": in the list of tools, so
                that each load costs one miss of the provider's prompt cache. The others leave the list as it
                is and declare in the conversation: "definition" for Claude, by `litellm.anthropic_messages`,
                which imports fastapi, orjson, backoff and soundfile; "reference" too, by `acompletion`;
                "responses" for OpenAI, by `litellm.aresponses`. "auto" takes what the table in
                `session.native.models` has for the model and its route, and "off" for anything else. A
                `completion` takes the place of the function that is named here. Messages of the history may
                have notes of ours then, `receipt` and `declared`; an agent sends them to no provider.

        Raises:
            ConfigurationError: An option cannot work, or names of tools or processors clash.
        """
        check_string("name", name)
        check_string("model", model, hint=': a name such as "openai/gpt-5.5"')
        if not isinstance(instructions, str):
            refuse("instructions", "a string", instructions)
        check_count("max_steps", max_steps)
        check_flags(parallel_tool_calls=parallel_tool_calls)
        options = CallOptions(
            tool_timeout_seconds=tool_timeout_seconds,
            max_result_characters=max_result_characters,
            concurrent=parallel_tool_calls,
            mask_error_details=mask_error_details,
        )
        if not isinstance(model_settings, Mapping):
            refuse("model_settings", "a mapping", model_settings)
        check_callable("completion", completion, "such as litellm.acompletion", optional=True)
        own = sorted(_OWN_SETTINGS & set(model_settings))
        if own:
            raise ConfigurationError(
                f"model_settings holds {own[0]!r}, which the agent sets itself: remove it"
            )
        self.name = name
        self.model = model
        self.instructions = instructions
        self.tools = checked_tools(tools, owner=f"agent {name!r}")
        self.input_processors = checked_processors(input_processors, tools=self.tools)
        self.max_steps = max_steps
        self.model_settings = MappingProxyType(dict(model_settings))
        self._engine = RunEngine(
            name=name,
            instructions=instructions,
            tools=self.tools,
            processors=self.input_processors,
            wires=Wires(native, completion=completion, settings=self.model_settings),
            max_steps=max_steps,
            options=options,
        )

    def __repr__(self) -> str:
        processors = ", ".join(f"{processor.id!r}" for processor in self.input_processors)
        return (
            f"<Agent {self.name!r}: model {self.model!r}, {counted(len(self.tools), 'tool')}, "
            f"processors {processors or 'none'}>"
        )

    async def run(
        self,
        input: str | Iterable[Any] | None = None,  # noqa: A002 - what every framework calls it
        *,
        context: Mapping[str, Any] = _EMPTY,
        thread_id: str | None = None,
        messages: Iterable[Any] = (),
    ) -> RunResult:
        """Run until the model answers, or until something else ends the run.

        Args:
            input: The user's text, or messages; None or an empty string if `messages` hold everything.
            context: The request's own data, for filters, processors and tools; never sent to the model.
            thread_id: The conversation whose loaded tools are kept; None is an anonymous run.
            messages: The history so far, such as `result.messages` of the last turn; OpenAI or
                Anthropic style.

        Raises:
            ConfigurationError: There is nothing to send.
            Exception: What the model call or a processor raised. Its `run_messages` are the history so
                far, with the results of the tools that have run: pass them as `messages` to continue. A
                `CancelledError` has them too; it is the `__cause__` of a `TimeoutError` from asyncio.
        """
        run = self._open(input, context=context, thread_id=thread_id, messages=messages)
        return await last_result(self._engine.drive(run, stream=False))

    def run_sync(
        self,
        input: str | Iterable[Any] | None = None,  # noqa: A002
        *,
        context: Mapping[str, Any] = _EMPTY,
        thread_id: str | None = None,
        messages: Iterable[Any] = (),
    ) -> RunResult:
        """Do what `run` does for a synchronous caller, on the process's private event loop.

        Raises:
            RunningLoopError: The calling thread runs an event loop.
        """
        return run_blocking(
            lambda: self.run(input, context=context, thread_id=thread_id, messages=messages),
            door="Agent.run_sync",
            instead="`await agent.run(...)`",
        )

    def stream(
        self,
        input: str | Iterable[Any] | None = None,  # noqa: A002
        *,
        context: Mapping[str, Any] = _EMPTY,
        thread_id: str | None = None,
        messages: Iterable[Any] = (),
    ) -> AsyncGenerator[Event]:
        """Run, and yield each event as it happens; the last event is `Done` with the result.

        If you may leave the loop over it early, wrap it in `contextlib.aclosing`, so that running tools are
        cancelled at once. Only the events say what had run by then.
        """
        run = self._open(input, context=context, thread_id=thread_id, messages=messages)
        return self._engine.drive(run, stream=True)

    async def resume(
        self,
        paused: RunResult | Mapping[str, Any] | Iterable[Any],
        approvals: Mapping[str, bool | str],
        *,
        context: Mapping[str, Any] = _EMPTY,
        thread_id: str | None = None,
    ) -> RunResult:
        """Continue a run that waits for approval.

        Processors and filters are asked again before anything runs. A call that is not in `approvals`
        stays pending. So does a call on which a filter gave no verdict: its `PendingCall.problem` says why. A
        call that changed since it was shown, or that a filter denies, does not run. An approval is
        used up only by running the call: until then it can be given again.

        Args:
            paused: The `RunResult`, what its `to_dict` gave (also in another process), or bare messages
                whose last assistant message has calls without results.
            approvals: Call id → True to run it, False or a reason to refuse it.
            context: The request's own data; it is not kept in the result.
            thread_id: The conversation; by default that of the result.

        Raises:
            ResumeError: Nothing is pending, an id is unknown, or a call has run or was refused before: by
                this agent, by any other agent or `ToolSession` with one of its processors, or in any process
                that shares a processor's store. A call is known by its thread and the conversation before
                it. Without a thread it is known by its run; bare messages without a thread stand for every
                run of their conversation. A `ToolSession` without a thread is a run of its own.
            Exception: As from `run`. If approved calls have run meanwhile, continue with its `run_messages`.
        """
        run, pause = self._reopen(paused, approvals, context=context, thread_id=thread_id)
        return await last_result(self._engine.drive(run, stream=False, pause=pause))

    def resume_stream(
        self,
        paused: RunResult | Mapping[str, Any] | Iterable[Any],
        approvals: Mapping[str, bool | str],
        *,
        context: Mapping[str, Any] = _EMPTY,
        thread_id: str | None = None,
    ) -> AsyncGenerator[Event]:
        """Do what `resume` does, and yield each event as it happens, as `stream` does.

        Raises:
            ResumeError: As from `resume`, at once; for a call that was decided before, when the first event
                is asked for.
        """
        run, pause = self._reopen(paused, approvals, context=context, thread_id=thread_id)
        return self._engine.drive(run, stream=True, pause=pause)

    def resume_sync(
        self,
        paused: RunResult | Mapping[str, Any] | Iterable[Any],
        approvals: Mapping[str, bool | str],
        *,
        context: Mapping[str, Any] = _EMPTY,
        thread_id: str | None = None,
    ) -> RunResult:
        """Do what `resume` does for a synchronous caller, on the process's private event loop.

        Raises:
            RunningLoopError: The calling thread runs an event loop.
        """
        return run_blocking(
            lambda: self.resume(paused, approvals, context=context, thread_id=thread_id),
            door="Agent.resume_sync",
            instead="`await agent.resume(...)`",
        )

    def _open(
        self,
        given: str | Iterable[Any] | None,
        *,
        context: Mapping[str, Any],
        thread_id: str | None,
        messages: Iterable[Any],
    ) -> RunState:
        # a history that was stopped or cut may hold calls without results, and results without calls
        told = [*input_messages(messages), *input_messages(given)]
        history = repaired_history(to_openai_messages(told, across=True))
        if not history:
            raise ConfigurationError("there is nothing to send: give an input, or messages")
        return RunState(base=self._base(context=context, thread_id=thread_id), history=history)

    def _reopen(
        self,
        paused: RunResult | Mapping[str, Any] | Iterable[Any],
        approvals: Mapping[str, bool | str],
        *,
        context: Mapping[str, Any],
        thread_id: str | None,
    ) -> tuple[RunState, PausedRun]:
        pause = PausedRun.read(paused, approvals, thread_id=thread_id)
        base = self._base(context=context, thread_id=pause.thread_id, run_id=pause.run_id)
        run = RunState(
            base=base, history=pause.messages, steps=pause.steps, usage=pause.usage, has_called=True
        )
        return run, pause

    def _base(
        self, *, context: Mapping[str, Any], thread_id: str | None, run_id: str | None = None
    ) -> InputStep:
        base = InputStep(
            messages=(),
            tools=self.tools,
            model=self.model,
            tool_choice=self.model_settings.get("tool_choice"),
            model_settings={k: v for k, v in self.model_settings.items() if k != "tool_choice"},
            context=context,
            thread_id=thread_id,
        )
        return base.replace(run_id=run_id) if run_id else base
