"""Tool search for LangChain agents: `create_agent`, LangGraph and deepagents.

```python
search = ToolSearchProcessor([*my_tools, from_langchain(their_tool)], filter=policy)
agent = create_agent(
    "anthropic:claude-opus-5-5", tools=[always_on], middleware=[ToolSearchMiddleware(search)],
    context_schema=Who, checkpointer=saver,
)
```

What is loaded stands in the agent's messages, so a resumed run and another process need only a checkpointer.
A middleware that removes messages, such as a summary, unloads what they loaded: give the searcher a store to
keep it by `thread_id`. A subagent has messages of its own, and loads for itself. In deepagents it needs the
middleware in its own `middleware` list; the built-in `general-purpose` subagent inherits none, so declare a
subagent of that name.

What cannot work:

- `return_direct` of a tool that is not registered with the agent: LangChain looks it up among those that are.
- `HumanInTheLoopMiddleware` goes by the names of calls. In mode "call" it sees the call tool alone, unless it
  has `interrupt_mode="per_call"` and is listed after `ToolSearchMiddleware`. `requires_approval=True` works
  in every mode. A reviewer can't change a call to a tool that is not registered.
- Where another middleware removes tools from a request, the search still finds them: put such rules into the
  filter.

Seen with langchain 1.5.2, langgraph 1.2.24 and deepagents 0.7.32.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from tool_search_processor.adapters.runs import SearchRun, instructions_of, read_context
from tool_search_processor.concurrency.blocking import run_in_sync_hook
from tool_search_processor.processor.pipeline import SearchPipeline

try:
    from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest, ToolCallRequest
    from langchain_core.messages import SystemMessage
    from langchain_core.tools import BaseTool
    from langgraph.config import get_config

    from tool_search_processor.adapters import langchain_calls as calls
    from tool_search_processor.adapters.langchain_tools import OwnTools, from_langchain
except ImportError as exc:
    raise ImportError(
        'ToolSearchMiddleware needs LangChain: pip install "tool-search-processor[langchain]"'
    ) from exc

__all__ = ["ToolSearchMiddleware", "from_langchain"]

logger = logging.getLogger(__name__)

_T = TypeVar("_T")
_HITL_STATE = "hitl_edited_tool_calls"


class ToolSearchMiddleware(AgentMiddleware[AgentState[Any], Any, Any]):
    """Lets a LangChain agent find and load tools of a searcher's catalog, and its own if wanted.

    ```python
    agent = create_agent(model, middleware=[ToolSearchMiddleware(search)])
    agent.invoke({"messages": [("user", "File a bug about the login page")]}, context={"plan": "pro"})
    ```

    Each call goes through the middlewares after this one and LangChain's tool node, so it is traced and
    streamed as a call of any other tool, and LangChain's tools get `ToolRuntime` and injected state. A tool
    with `requires_approval` stops the run with an `interrupt` whose value is a `ToolApprovalRequest`. Resume
    with True or `{"type": "approve"}`; False, a reason, or `{"type": "reject", "message": ...}` refuses.

    One object serves any number of agents, subagents, threads and event loops.
    """

    def __init__(
        self,
        search: SearchPipeline,
        *,
        context: Callable[[Any], Mapping[str, Any]] | None = None,
        hide_own: bool = False,
    ) -> None:
        """Put a searcher into an agent.

        Args:
            search: A `ToolSearchProcessor`.
            context: Makes what filters and tools get as context, of LangChain's runtime (`runtime.context`,
                `runtime.server_info`, `runtime.store` ...). None takes `runtime.context`: a mapping, a
                dataclass or an object with attributes.
            hide_own: Withhold the agent's registered tools, those of other middlewares included, until the
                model has loaded them; the filter then applies to them too. Name those to list always in the
                searcher's `pinned`.
        """
        super().__init__()
        self.tools: Sequence[BaseTool] = ()
        self._kept = search.for_framework(include_step_tools=hide_own)
        self._from_messages = search.for_framework(include_step_tools=hide_own, from_messages=True)
        self._context = context
        self._own = OwnTools(hide=self._kept.include_step_tools)
        self._warned = False

    def wrap_model_call(self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Any]) -> Any:
        """Call the model with the tools of this step."""
        self._warn_of_gate()
        return handler(_wait(lambda: self._listed(request)))

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[Any]]
    ) -> Any:
        """Call the model with the tools of this step."""
        self._warn_of_gate()
        return await handler(await self._listed(request))

    def wrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Any]) -> Any:
        """Run a call of the catalog's tools, and leave any other to LangChain."""
        if self._leaves(request):
            return handler(request)
        taken = _wait(lambda: self._taken(request))
        try:
            if (refused := taken.refusal()) is not None:
                return refused
            if not taken.is_foreign:
                return taken.finished(handler(taken.answered_request()))

            def run(arguments: Mapping[str, Any]) -> Any:
                return handler(taken.request_for(arguments))

            return taken.finished(_wait(lambda: taken.hand_over(run)))
        finally:
            _wait(taken.end)

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Any]]
    ) -> Any:
        """Run a call of the catalog's tools, and leave any other to LangChain."""
        if self._leaves(request):
            return await handler(request)
        taken = await self._taken(request)
        try:
            if (refused := taken.refusal()) is not None:
                return refused
            if not taken.is_foreign:
                return taken.finished(await handler(taken.answered_request()))

            async def run(arguments: Mapping[str, Any]) -> Any:
                return await handler(taken.request_for(arguments))

            return taken.finished(await taken.hand_over(run))
        finally:
            await taken.end()

    def _leaves(self, request: ToolCallRequest) -> bool:
        """Return True for a call of a tool that the agent has without us."""
        if isinstance(request.tool, calls.AnsweredTool):  # of another searcher
            return not request.tool.is_missing
        return request.tool is not None and not self._kept.include_step_tools

    async def _listed(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        messages = calls.messages_in(request.state) or request.messages
        run = self._run(request.runtime)
        try:
            model_call = await run.begin(calls.read_messages(messages), self._own.seen(request.tools))
        finally:
            await run.end()
        return request.override(
            tools=self._own.offered(model_call, request.tools),
            system_message=_with_text(request.system_message, instructions_of(model_call)),
        )

    async def _taken(self, request: ToolCallRequest) -> calls.TakenCall:
        """Look up a call in the step that the model saw."""
        asked = request.tool_call
        messages = calls.before_call(calls.messages_in(request.state), asked["id"])
        run = self._run(request.runtime)
        try:
            model_call = await run.begin(calls.read_messages(messages), self._own.seen(request.runtime.tools))
            call = await model_call.resolve(asked["name"], asked["args"], call_id=asked["id"] or "")
        except BaseException:
            await run.end()
            raise
        if call.tool is not None and asked["name"] not in {call.tool.name, *self._kept.reserved_names}:
            # a near name, which whoever gates tools by name let pass
            error = f"Error: there is no tool {asked['name']!r}; call {call.tool.name!r} by its name."
            call = replace(call, tool=None, error=error)
        return calls.TakenCall(run, call, request)

    def _run(self, runtime: Any) -> SearchRun:
        """Open a run for one hook: no memory of this process outlives it."""
        info = runtime.execution_info
        thread_id = info.thread_id if info is not None else None
        # a subagent has the thread of its parent, and messages of its own
        is_nested = info is not None and "|" in info.checkpoint_ns
        return SearchRun(
            self._from_messages if thread_id is None or is_nested else self._kept,
            context=read_context(self._context(runtime) if self._context else runtime.context),
            thread_id=thread_id,
        )

    def _warn_of_gate(self) -> None:
        if self._warned or self._kept.mode != "call" or not _has_reviewer():
            return
        self._warned = True
        logger.warning(
            "in mode 'call', HumanInTheLoopMiddleware sees only the name of the call tool and guards no tool "
            "of the catalog, unless it has interrupt_mode='per_call' and is listed after "
            "ToolSearchMiddleware. Use mode='load', or tools with requires_approval=True"
        )


def _with_text(message: SystemMessage | None, text: str) -> SystemMessage | None:
    """Return a system message with a text behind its own; blocks stay blocks, with their cache marks."""
    if not text:
        return message
    if message is None:
        return SystemMessage(text)
    own = message.content
    content = f"{own}\n\n{text}" if isinstance(own, str) else [*own, {"type": "text", "text": text}]
    return message.model_copy(update={"content": content})


def _has_reviewer() -> bool:
    """Return True if the agent that runs has a `HumanInTheLoopMiddleware`, whose state it then keeps."""
    try:
        read = get_config().get("configurable", {}).get("__pregel_read")
    except RuntimeError:  # the hook was called outside of a graph
        return False
    channels = (*getattr(read, "args", ()), None, None)[1]
    return isinstance(channels, Mapping) and _HITL_STATE in channels


def _wait(start: Callable[[], Coroutine[Any, Any, _T]]) -> _T:
    return run_in_sync_hook(start, door="ToolSearchMiddleware", instead=calls.INSTEAD)
