"""Tool search inside a pydantic-ai agent.

    search = ToolSearchProcessor(tools, filter=policy)
    agent = Agent("openai-responses:gpt-5.5", deps_type=dict, capabilities=[ToolSearchCapability(search)])
    result = await agent.run("File a bug", deps={"plan": "pro"})
    # or their tools, marked `defer_loading=True`, with our ranking and policy in their own tool search
    agent = Agent(model, tools=theirs, capabilities=[ToolSearch(strategy=search_strategy(filter=policy))])

What is loaded is read from the run's messages, so it survives `message_history=`, another process, and an
approval. pydantic-ai announces a loaded tool where the model's API can take it in the middle of a
conversation (`additional_tools`, `tool_addition`, `tool_reference`), so the prompt cache stays valid.

What can't work: pydantic-ai refuses a call of a tool that isn't listed before any toolset sees it, so a
tool has to be loaded before it is called. A tool that is unloaded leaves the list, which breaks the prompt
cache once. In mode "call", hooks of other capabilities see the call tool's name. Toolsets made for Temporal,
DBOS and Prefect don't know the tools of a searcher.

Seen with pydantic-ai 2.68.
"""

from __future__ import annotations

import copy
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from typing import Any, TypeAlias

try:
    from pydantic_ai import RunContext
    from pydantic_ai.capabilities import AbstractCapability, ToolSearchFunc, WrapRunHandler
    from pydantic_ai.run import AgentRunResult
    from pydantic_ai.tools import ToolDefinition
    from pydantic_ai.toolsets import AbstractToolset
except ImportError as exc:
    raise ImportError(
        'adapters.pydantic_ai needs pydantic-ai: pip install "tool-search-processor[pydantic-ai]"'
    ) from exc

from tool_search_processor.adapters.pydantic_ai_tools import OwnTools
from tool_search_processor.adapters.pydantic_ai_toolset import SearchToolset
from tool_search_processor.adapters.runs import SearchRun, check_options, read_context
from tool_search_processor.concurrency.foreign_calls import awaited
from tool_search_processor.errors import ConfigurationError
from tool_search_processor.meta_tools import MAX_RESULTS
from tool_search_processor.policy.filters import Filter
from tool_search_processor.processor import ToolSearchProcessor
from tool_search_processor.processor.pipeline import SearchPipeline
from tool_search_processor.processor.processor_options import SEARCH_TOOL_NAME
from tool_search_processor.search.strategies import Strategy
from tool_search_processor.session.foreign_tools import is_foreign

Context: TypeAlias = (
    Mapping[str, Any] | Callable[[RunContext[Any]], Mapping[str, Any] | Awaitable[Mapping[str, Any]]] | None
)
"""The request's own data: a mapping, or a function (sync or async) from the run's context to one."""


@dataclass
class ToolSearchCapability(AbstractCapability[Any]):
    """Lets the models of an agent find and load a searcher's tools.

    ```python
    search = ToolSearchProcessor(tools, filter=policy)
    agent = Agent("anthropic:claude-opus-5", deps_type=dict, capabilities=[ToolSearchCapability(search)])
    result = await agent.run("File a bug", deps={"plan": "pro"})
    ```

    One object serves any number of agents and concurrent runs.

    Raises:
        ConfigurationError: If an option can't work; in a run, if the `deps` have no names to read.
        ReservedToolNameError: In a run, where a tool of the agent has a meta-tool's name, or where
            pydantic-ai's own tool search is on and needs the name `search_tools`.
    """

    search: SearchPipeline
    """A `ToolSearchProcessor`. What is loaded is read from the run's messages, unless it was given a store:
    then the thread is the run's `conversation_id`."""
    _: KW_ONLY
    context: Context = None
    """What filters and tools read; by default the run's `deps`: a mapping, a dataclass, or any object with
    attributes."""
    hide_own: bool = False
    """Whether the agent's own tools have to be found too, those of MCP servers included. Their `RunContext`,
    validation and retries stay as they are."""

    run: SearchRun | None = field(init=False, default=None, repr=False, compare=False)
    """The run that a copy belongs to; pydantic-ai asks for a copy for each run."""

    def __post_init__(self) -> None:
        """Check the options, and make what all runs share."""
        check_options(self.search, door="ToolSearchCapability")
        _check_context(self.context)
        self._pipeline = self.search.for_framework(include_step_tools=self.hide_own)
        self._own = OwnTools(proxied=self._pipeline.mode == "call")

    async def for_run(self, ctx: RunContext[Any]) -> AbstractCapability[Any]:
        """Return a copy with a run of its own."""
        mine = copy.copy(self)
        mine.run = SearchRun(self._pipeline, context={}, thread_id=ctx.conversation_id, run_id=ctx.run_id)
        return mine

    def get_wrapper_toolset(self, toolset: AbstractToolset[Any]) -> AbstractToolset[Any] | None:
        """Return the agent's toolset with the searcher's tools."""
        if self.run is None:
            return None
        hides = self._pipeline.include_step_tools
        context = partial(_context_of, context=self.context)
        return SearchToolset(wrapped=toolset, run=self.run, own=self._own, context=context, hides=hides)

    async def wrap_run(self, ctx: RunContext[Any], *, handler: WrapRunHandler) -> AgentRunResult[Any]:
        """Run the agent, and drop what is kept for the run however it ends."""
        try:
            return await handler()
        finally:
            if self.run is not None:
                await self.run.end()


def search_strategy(
    search: Strategy = "bm25",
    *,
    filter: Filter | None = None,  # noqa: A002 - the field's word for it
    context: Context = None,
) -> ToolSearchFunc[Any]:
    """Return a strategy for pydantic-ai's own `ToolSearch`: their deferred tools, our ranking and policy.

    ```python
    tools = [Tool(create_issue, defer_loading=True), Tool(list_issues, defer_loading=True)]
    agent = Agent(model, tools=tools, capabilities=[ToolSearch(strategy=search_strategy("hybrid"))])
    ```

    A tool is found only if the filter admits it in all three phases, since pydantic-ai makes what is found
    callable. Its calls don't ask the filter again, and models that take deferred definitions are sent those
    of denied tools too: where that matters, use `ToolSearchCapability(hide_own=True)`.

    Args:
        search: The strategy of a `ToolSearchProcessor`: "bm25", "hybrid", an index …
        filter: Asked in the phases search, load and active; an exception denies.
        context: What the filter reads; by default the run's `deps`.

    Raises:
        ConfigurationError: If an option can't work.
    """
    _check_context(context)
    # a search that loads what it finds asks every phase
    searcher = ToolSearchProcessor(
        search=search, filter=filter, mode="auto_load", top_k=MAX_RESULTS, max_loaded=None
    )
    pipeline, own = searcher.for_framework(include_step_tools=True), OwnTools()

    async def find(
        ctx: RunContext[Any], queries: Sequence[str], tools: Sequence[ToolDefinition]
    ) -> list[str]:
        run = SearchRun(pipeline, context=await _context_of(ctx, context), thread_id=ctx.conversation_id)
        withheld = own.of(tools)
        try:
            model_call = await run.begin((), withheld)
            await model_call.run(await model_call.resolve(SEARCH_TOOL_NAME, {"query": list(queries)}))
            return [tool.name for tool in (await run.begin((), withheld)).tools if is_foreign(tool)]
        finally:
            await run.end()

    return find


def _check_context(context: Context) -> None:
    if not (context is None or isinstance(context, Mapping) or callable(context)):
        raise ConfigurationError(
            f"context must be a mapping, or a function of the run's context that makes one; found "
            f"{context!r:.80}"
        )


async def _context_of(ctx: RunContext[Any], context: Context) -> Mapping[str, Any]:
    if context is None:
        return read_context(ctx.deps)
    given: Mapping[str, Any] = await awaited(context(ctx) if callable(context) else context)
    return given
