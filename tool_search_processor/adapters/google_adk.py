"""Tool search for agents of Google's ADK, by a toolset.

```python
search = ToolSearchProcessor([create_issue, *many_more], filter=policy)
toolset = ToolSearchToolset(search, inner=[github_mcp_toolset, their_function])
agent = LlmAgent(name="helper", model="gemini-3.5-pro", tools=[always_on, toolset])
```

What is loaded is read from the session's events, so a session service is all that a later turn or another
process needs. Tools with `requires_approval` ask for ADK's confirmation; ADK's own tools ask as usual.

What can't work: ADK runs listed tools only. With `on_tool_error_callback=toolset.answer_unlisted`, a call of
another tool loads it, and the model is asked to call it again. Tools that stream into a live session
(`input_stream`) can't be inner ones. Of several inner toolsets, ADK signs in for the first that needs it.
Where Gemini's explicit context cache is on, each load makes a new cache: use mode "call".

Seen with google-adk 2.13.0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

try:
    from google.adk.agents.readonly_context import ReadonlyContext
    from google.adk.auth.auth_tool import AuthConfig
    from google.adk.models.llm_request import LlmRequest
    from google.adk.tools.base_tool import BaseTool
    from google.adk.tools.base_toolset import BaseToolset
    from google.adk.tools.function_tool import FunctionTool
    from google.adk.tools.tool_context import ToolContext
except ImportError as exc:
    raise ImportError('ToolSearchToolset needs Google ADK: pip install "tool-search-processor[adk]"') from exc

from cachetools import LRUCache

from tool_search_processor.adapters.framework_tools import FrameworkTools
from tool_search_processor.adapters.google_adk_events import response_of, to_openai
from tool_search_processor.adapters.google_adk_tools import ListedTool, from_adk, is_callable_by_models
from tool_search_processor.adapters.runs import SearchRun, check_options, instructions_of, read_context
from tool_search_processor.errors import ReservedToolNameError
from tool_search_processor.processor.pipeline import SearchPipeline
from tool_search_processor.wire.checks import refuse

__all__ = ["ToolSearchToolset", "from_adk"]

InnerTool: TypeAlias = "BaseTool | BaseToolset | Callable[..., Any]"
ContextOf = Callable[[ReadonlyContext], object]
"""Turns ADK's context into what `read_context` reads: a mapping, or an object with attributes."""

_MAX_RUNS = 256
"""The most invocations to remember: ADK doesn't say when one has ended."""


class ToolSearchToolset(BaseToolset):
    """Gives an agent meta-tools to find and load tools, instead of every definition.

    ```python
    agent = LlmAgent(name="helper", model="gemini-3.5-pro", tools=[ToolSearchToolset(search)])
    ```

    Put it last in the agent's `tools`: a tool of the agent then hides a catalog tool of the same name. One
    object serves any number of agents, sessions and invocations at the same time.
    """

    def __init__(
        self,
        search: SearchPipeline,
        inner: Sequence[InnerTool] = (),
        *,
        context: ContextOf | None = None,
        thread_id: Callable[[ReadonlyContext], str | None] | None = None,
        hide_own: bool = True,
    ) -> None:
        """Put a searcher into an agent.

        Args:
            search: A `ToolSearchProcessor`; without a store of its own, it reads loads from the events.
            inner: Tools, toolsets and functions of ADK that are found by search too, under the same filter.
            context: Makes the context for the filter and our tools. By default it is the session's state,
                with the `user_id`.
            thread_id: Makes the conversation's id, for a store; by default the session's id. Give one if
                several users may have sessions of the same id.
            hide_own: Whether the inner tools are withheld until they are loaded; False lists them all.

        Raises:
            ConfigurationError: An argument can't work.
            ReservedToolNameError: An inner tool has a meta-tool's name.
        """
        super().__init__()
        # ADK would ask for the list once in an invocation, and the next step would lack what this one loads.
        self._use_invocation_cache = False
        check_options(search, door="ToolSearchToolset", context=context, thread_id=thread_id)
        self._search = search.for_framework(include_step_tools=hide_own)
        self._context = context or _state_of
        self._thread_id = thread_id or (lambda context: str(context.session.id))
        self._inner = [_as_inner(tool) for tool in inner]
        self._own = FrameworkTools(from_adk)
        self._runs: LRUCache[tuple[str, ...], SearchRun] = LRUCache(_MAX_RUNS)
        self._check_names(tool.name for tool in self._inner if isinstance(tool, BaseTool))

    async def get_tools(self, readonly_context: ReadonlyContext | None = None) -> list[BaseTool]:
        """Return the tools to list in the next model call; without a context, those that every call lists."""
        own = await self._inner_tools(readonly_context)
        self._check_names(tool.name for tool in own)
        callable_ones = [tool for tool in own if is_callable_by_models(tool)]
        messages: list[dict[str, Any]] = []
        context: Mapping[str, Any] = {}
        if readonly_context is not None:
            messages = to_openai(readonly_context.session.events, agent=readonly_context.agent_name)
            context = read_context(self._context(readonly_context))
        run = self._run(readonly_context)
        model_call = await run.begin(messages, self._own.of(callable_ones), context=context)
        listed = [ListedTool(tool, model_call) for tool in model_call.tools]
        # What ADK or the model's provider runs by itself, such as a web search, is not ours to hide.
        return [*listed, *(tool for tool in own if not is_callable_by_models(tool))]

    async def process_llm_request(self, *, tool_context: ToolContext, llm_request: LlmRequest) -> None:
        """Add the instruction about the meta-tools to a request.

        Raises:
            ReservedToolNameError: A tool of the agent has a meta-tool's name.
        """
        self._check_names(llm_request.tools_dict)
        if text := instructions_of(self._run(tool_context).model_call):
            llm_request.append_instructions([text])

    async def answer_unlisted(
        self, tool: BaseTool, args: dict[str, Any], tool_context: ToolContext, error: Exception
    ) -> dict[str, Any] | None:
        """Answer the call of an unlisted tool: load it, or say that there is no such tool.

        An `on_tool_error_callback` of `LlmAgent`; what a listed tool raises is not answered.
        """
        # ADK's stand-in for a tool that it doesn't have
        if type(tool) is not BaseTool:
            return None
        return response_of(await self._run(tool_context).unlisted_text(tool.name), is_error=True)

    async def close(self) -> None:
        """Close the inner toolsets."""
        for toolset in self._toolsets():
            await toolset.close()

    def get_auth_config(self) -> AuthConfig | None:
        """Return how to sign in for the first inner toolset that needs it."""
        configs = (toolset.get_auth_config() for toolset in self._toolsets())
        return next((config for config in configs if config is not None), None)

    def _toolsets(self) -> list[BaseToolset]:
        return [tool for tool in self._inner if isinstance(tool, BaseToolset)]

    async def _inner_tools(self, context: ReadonlyContext | None) -> list[BaseTool]:
        found: list[BaseTool] = []
        for inner in self._inner:
            if isinstance(inner, BaseToolset):
                found += await inner.get_tools_with_prefix(context)
            else:
                found.append(inner)
        return found

    def _run(self, context: ReadonlyContext | None) -> SearchRun:
        """Return the run of an agent in an invocation; without a context, a run of its own."""
        if context is None:
            return SearchRun(self._search, context={})
        session = context.session
        # a client may choose the id of its invocation, and take that of another user
        key = (session.app_name, session.user_id, session.id, context.invocation_id, context.agent_name)
        if key not in self._runs:
            self._runs[key] = SearchRun(self._search, context={}, thread_id=self._thread_id(context))
        return self._runs[key]

    def _check_names(self, names: Iterable[str]) -> None:
        for name in names:
            if name in self._search.reserved_names:
                raise ReservedToolNameError(
                    f"the agent has a tool {name!r}, which is a meta-tool's name: rename it, or give the "
                    "searcher other names for its meta-tools"
                )


def _as_inner(tool: InnerTool) -> BaseTool | BaseToolset:
    if isinstance(tool, BaseTool | BaseToolset):
        return tool
    if not callable(tool):
        refuse("inner", "tools, toolsets and functions of ADK", tool)
    return FunctionTool(tool)


def _state_of(context: ReadonlyContext) -> Mapping[str, Any]:
    return {**context.state, "user_id": context.user_id}
