"""Tool search inside the OpenAI Agents SDK, by an agent class of its own.

```python
search = ToolSearchProcessor(tools)
agent = ToolSearchAgent(name="helper", model="gpt-5.5", search=search, mcp_servers=[github], hide_own=True)
result = await Runner.run(agent, "File a bug", context={"plan": "pro"}, run_config=agent.run_config())
```

What is loaded is read from the run's items, so a `Session`, or `result.to_input_list()`, is all that a later
run needs. Where OpenAI keeps the items (`conversation_id`, `previous_response_id`), give the searcher a
store, and the agent a `thread_id`. Tools with `requires_approval` stop the run with `result.interruptions`.
`model=native_model(...)` keeps the list of tools the same, for the prompt cache.

What cannot work: the SDK runs listed tools only. The call of an unlisted tool ends the run, unless it has
`run_config()`: then the tool is loaded, and the model is asked to call it again. A run that
`RunState.from_json` restores has the tools that a person approved, and what a store of threads holds; use
`ToolSearchAgent.restore` for all that the run had loaded. With `hide_own`, OpenAI's hosted tool search finds
nothing.

Seen with openai-agents 0.24.0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from tool_search_processor.adapters.runs import check_options, instructions_of, read_context, warn_of_proxy
from tool_search_processor.concurrency.foreign_calls import awaited
from tool_search_processor.errors import ConfigurationError
from tool_search_processor.meta_tools import MetaTool
from tool_search_processor.processor.pipeline import SearchPipeline
from tool_search_processor.session.foreign_tools import original_of

try:
    from agents import Agent, FunctionTool, RunConfig, RunContextWrapper, RunState
    from agents import Tool as SDKTool
    from agents.run_config import ToolErrorFormatterArgs
except ImportError as exc:
    raise ImportError(
        'ToolSearchAgent needs the OpenAI Agents SDK: pip install "tool-search-processor[openai-agents]"'
    ) from exc

from tool_search_processor.adapters.openai_agents_native import NativeModel, native_model
from tool_search_processor.adapters.openai_agents_runs import AgentRun, Runs
from tool_search_processor.adapters.openai_agents_tools import Listing, own_tools

__all__ = ["NativeModel", "ToolSearchAgent", "native_model"]

_RESTORED: ContextVar[Sequence[Any]] = ContextVar("tool-search-restored", default=())


@dataclass
class ToolSearchAgent(Agent[Any]):
    """An agent that finds its tools by search.

    ```python
    agent = ToolSearchAgent(name="helper", model="gpt-5.5", search=ToolSearchProcessor([create_issue]))
    result = await Runner.run(agent, "File a bug", session=SQLiteSession("t-42"))
    ```

    It is handed off to, cloned and used as a tool like any other agent, and any number of runs can share it.

    Raises:
        ConfigurationError: A field can't work.
    """

    search: SearchPipeline = field(kw_only=True)
    """The catalog and its options: a `ToolSearchProcessor`."""
    context: Callable[[Any], Mapping[str, Any]] | None = field(default=None, kw_only=True)
    """Makes what filters and tools see of the run's context; its attributes if None."""
    thread_id: Callable[[Any], str | None] | None = field(default=None, kw_only=True)
    """Returns the conversation, from the run's context: for a searcher with a store of threads."""
    hide_own: bool = field(default=False, kw_only=True)
    """Whether `tools` and those of `mcp_servers` are searched too, and withheld until they are loaded."""

    def __post_init__(self) -> None:
        """Check the fields, and prepare a searcher that reads loads from the run's items."""
        check_theirs: Any = super().__post_init__  # the parent's method has no annotations
        check_theirs()
        check_options(self.search, door="ToolSearchAgent", context=self.context, thread_id=self.thread_id)
        self._search = self.search.for_framework(include_step_tools=self.hide_own)
        if self._search.include_step_tools and self._search.mode == "call":
            raise ConfigurationError(
                "hide_own can't work in mode 'call': approvals and guardrails of the agent's own tools would "
                "not be asked for a call through the proxy. Use mode='load' or 'auto_load'"
            )
        if isinstance(self.tool_use_behavior, dict):
            warn_of_proxy(self._search, gate="StopAtTools")
        self._own = own_tools()

    async def get_all_tools(self, run_context: RunContextWrapper[Any]) -> list[SDKTool]:
        """Return the meta-tools, the agent's own tools, and what is pinned or loaded.

        Raises:
            ReservedToolNameError: An own tool has a meta-tool's name.
        """
        own = await super().get_all_tools(run_context)
        functions = {tool.name: tool for tool in own if isinstance(tool, FunctionTool)}
        run, context = self._run(run_context), self._read(run_context)
        model_call = await run.begin(
            [*run_context.turn_input, *_RESTORED.get()],
            self._own.of(functions.values()),
            context=context,
        )
        offered = [*model_call.tools, *await run.approved(_approved(run_context, self))]
        asks = await self._asks_through_proxy(context)
        listing = Listing(
            model_call=model_call, functions=functions, admitted=run.admitted, asks_through_proxy=asks
        )
        meta_tools = [tool for tool in offered if isinstance(tool, MetaTool)]
        rest = [tool for tool in offered if not isinstance(tool, MetaTool)]
        if self._search.include_step_tools:
            own = [tool for tool in own if not isinstance(tool, FunctionTool)]
        else:
            rest = [tool for tool in rest if original_of(tool, FunctionTool) is None]
        return [*map(listing.tool, meta_tools), *own, *map(listing.tool, rest)]

    async def get_system_prompt(self, run_context: RunContextWrapper[Any]) -> str | None:
        """Return the agent's instructions, and how to find tools."""
        own = await super().get_system_prompt(run_context)
        texts = (own, instructions_of(self._run(run_context).model_call))
        return "\n\n".join(text for text in texts if text) or None

    @staticmethod
    def run_config(config: RunConfig | None = None) -> RunConfig:
        """Return a RunConfig with which the call of an unlisted tool loads it, and the run goes on.

        Args:
            config: All other settings; its own `tool_error_formatter` is asked first.
        """
        config = config or RunConfig()
        theirs = config.tool_error_formatter

        async def formatted(error: ToolErrorFormatterArgs[Any]) -> str | None:
            text = await awaited(theirs(error)) if theirs is not None else None
            return await _unlisted_text(error) if text is None else text

        return replace(
            config, tool_not_found_behavior="return_error_to_model", tool_error_formatter=formatted
        )

    async def restore(self, state_json: dict[str, Any], **options: Any) -> RunState[Any]:
        """Return `RunState.from_json(self, state_json, **options)`, of a run that has what it had loaded."""
        items = [item.get("raw_item") for item in state_json.get("generated_items", ())]
        token = _RESTORED.set([item for item in items if isinstance(item, Mapping)])
        try:
            return await RunState.from_json(self, state_json, **options)
        finally:
            _RESTORED.reset(token)

    def _run(self, run_context: RunContextWrapper[Any]) -> AgentRun:
        """Return this agent's part of a run; a clone that takes over after a handoff continues it."""
        key = (self.search, self.hide_own, self.context, self.thread_id)
        return Runs.of(run_context).run(
            key, partial(self._new_run, run_context), requests=run_context.usage.requests
        )

    def _new_run(self, run_context: RunContextWrapper[Any]) -> AgentRun:
        thread_id = None if self.thread_id is None else self.thread_id(run_context.context)
        is_native = isinstance(self.model, NativeModel)
        return AgentRun(
            self._search, receipts=is_native, context=self._read(run_context), thread_id=thread_id
        )

    def _read(self, run_context: RunContextWrapper[Any]) -> Mapping[str, Any]:
        """Return what filters and tools see of a run's context."""
        context = run_context.context
        return read_context(context if self.context is None else self.context(context))

    async def _asks_through_proxy(self, context: Mapping[str, Any]) -> bool:
        """Return True if a call of the proxy may need approval; the SDK asks for one that can't be read."""
        if self._search.mode != "call":
            return False
        return any(tool.requires_approval for tool in await self._search.catalog.list_tools(context))


def _approved(run_context: RunContextWrapper[Any], agent: ToolSearchAgent) -> list[str]:
    """Return the names of an agent's tools that a person has approved or rejected.

    Nothing else of a context that was restored from JSON tells which tools its run had loaded.
    """
    decided = getattr(run_context, "_approvals", ())
    return [key.tool_key for key in decided if getattr(key, "agent", None) is agent]


async def _unlisted_text(error: ToolErrorFormatterArgs[Any]) -> str | None:
    if error.kind != "tool_not_found":
        return None
    run = Runs.of(error.run_context).last(error.run_context.usage.requests)
    return None if run is None else await run.unlisted_text(error.tool_name)
