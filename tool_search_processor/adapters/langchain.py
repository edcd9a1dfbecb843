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

Models whose profile says `mid_conversation_tools` (Claude Opus 5.5, GPT-5.5 by the Responses API ...) get
loaded tools by messages, at the providers' own addresses: the list of tools stays the same for the whole
thread, and a load costs no prompt cache. Stored messages are free of it, so a thread can change its model.
Not tried with a key: how many tokens are read from the cache.

What cannot work:

- `return_direct` of a tool that is not registered with the agent: LangChain looks it up among those that are.
- `HumanInTheLoopMiddleware` goes by the names of calls. In mode "call" it sees the call tool alone, unless it
  has `interrupt_mode="per_call"` and is listed after `ToolSearchMiddleware`. `requires_approval=True` works
  in every mode. A reviewer can't change a call to a tool that is not registered.
- A middleware that changes the model, such as `ModelFallbackMiddleware`, must be listed before this one:
  tools are declared for the model that the request has.
- Where another middleware removes tools from a request, the search still finds them: put such rules into the
  filter.

Seen with langchain 1.5.2, langgraph 1.2.24 and deepagents 0.7.32.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from typing import Any, Literal, TypeVar, get_args

from tool_search_processor.adapters.runs import (
    SearchRun,
    check_options,
    instructions_of,
    read_context,
    warn_of_proxy,
)
from tool_search_processor.concurrency.blocking import run_in_sync_hook
from tool_search_processor.processor.pipeline import SearchPipeline
from tool_search_processor.tools.execution import run_callable
from tool_search_processor.wire.checks import check_choice

try:
    from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest, ToolCallRequest
    from langchain_core.tools import BaseTool

    from tool_search_processor.adapters import langchain_calls as calls
    from tool_search_processor.adapters import langchain_native as declaring
    from tool_search_processor.adapters.langchain_tools import OwnTools, from_langchain
except ImportError as exc:
    raise ImportError(
        'ToolSearchMiddleware needs LangChain: pip install "tool-search-processor[langchain]"'
    ) from exc

__all__ = ["ToolSearchMiddleware", "from_langchain"]

Native = Literal["auto", "off"]
_T = TypeVar("_T")


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
        native: Native = "auto",
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
            native: "auto" declares loaded tools by messages where the model's profile says that it takes
                them (`mid_conversation_tools`), so that a load costs no prompt cache: see the module. "off"
                always lists them.

        Raises:
            ConfigurationError: An argument can't work.
        """
        super().__init__()
        check_options(search, door="ToolSearchMiddleware", context=context)
        check_choice("native", native, get_args(Native))
        self.tools: Sequence[BaseTool] = ()
        self._kept = search.for_framework(include_step_tools=hide_own)
        self._from_messages = search.for_framework(include_step_tools=hide_own, from_messages=True)
        self._context = context
        self._own = OwnTools(hide=self._kept.include_step_tools)
        self._is_native = native == "auto"
        self._writes_receipts = self._is_native and not self._kept.reads_conversation
        self._may_warn = self._kept.mode == "call"

    def wrap_model_call(self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Any]) -> Any:
        """Call the model with the tools of this step."""
        self._warn_of_gate()
        listed, note = _wait(lambda: self._listed(request))
        return declaring.with_note(handler(listed), note)

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[Any]]
    ) -> Any:
        """Call the model with the tools of this step."""
        self._warn_of_gate()
        listed, note = await self._listed(request)
        return declaring.with_note(await handler(listed), note)

    def wrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Any]) -> Any:
        """Run a call of the catalog's tools, and leave any other to LangChain."""
        if self._leaves(request):
            return handler(request)

        async def in_thread(request: ToolCallRequest) -> Any:
            return await run_callable(handler, (request,), {})

        return _wait(lambda: self.awrap_tool_call(request, in_thread))

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
        """Return True if a call is not this searcher's to run."""
        if isinstance(request.tool, calls.AnsweredTool):  # of another searcher
            return not request.tool.is_missing
        return request.tool is not None and not self._kept.include_step_tools

    async def _listed(self, request: ModelRequest[Any]) -> tuple[ModelRequest[Any], Mapping[str, Any] | None]:
        """Return the request with the tools of this step, and the note to keep on its answer."""
        route = declaring.native_route(request.model) if self._is_native else None
        run = self._run(request.runtime, receipts=route is not None)
        messages = calls.messages_in(request.state) or request.messages
        try:
            model_call = await run.begin(
                calls.read_messages(messages),
                self._own.seen(request.tools),
                tool_choice=declaring.chosen(request.tool_choice),
            )
        finally:
            await run.end()
        request = request.override(
            system_message=calls.with_text(request.system_message, instructions_of(model_call))
        )
        if route is None:
            return request.override(tools=self._own.offered(model_call.tools, request.tools)), None
        own = self._own.listed_names(request.tools)
        found = declaring.declarations_of(model_call, request, own=own)
        request = request.override(
            tools=self._own.offered(found.tools, request.tools),
            messages=declaring.with_declarations(request.messages, found, route=route),
        )
        return request, found.note

    async def _taken(self, request: ToolCallRequest) -> calls.TakenCall:
        """Look up a call among what the model was offered when it made it."""
        asked = request.tool_call
        messages = calls.before_call(calls.messages_in(request.state), asked["id"])
        run = self._run(request.runtime, receipts=self._writes_receipts)
        try:
            await run.begin(calls.read_messages(messages), self._own.seen(request.runtime.tools))
            call = await run.resolve(asked["name"], asked["args"], call_id=asked["id"] or "")
        except BaseException:
            await run.end()
            raise
        return calls.TakenCall(run, call, request)

    def _run(self, runtime: Any, *, receipts: bool) -> SearchRun:
        """Open a run for one hook; nothing is kept in this process after it."""
        info = runtime.execution_info
        thread_id = info.thread_id if info is not None else None
        # a subagent shares its parent's thread, but has messages of its own
        is_nested = info is not None and "|" in info.checkpoint_ns
        return SearchRun(
            self._from_messages if thread_id is None or is_nested else self._kept,
            context=read_context(self._context(runtime) if self._context else runtime.context),
            thread_id=thread_id,
            receipts=receipts,
        )

    def _warn_of_gate(self) -> None:
        if self._may_warn and calls.has_reviewer():
            self._may_warn = False
            unless = ", unless it has interrupt_mode='per_call' and is listed after ToolSearchMiddleware"
            warn_of_proxy(self._kept, gate="HumanInTheLoopMiddleware", unless=unless)


def _wait(start: Callable[[], Coroutine[Any, Any, _T]]) -> _T:
    return run_in_sync_hook(start, door="ToolSearchMiddleware", instead=calls.INSTEAD)
