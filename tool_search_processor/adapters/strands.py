"""Tool search in a Strands agent.

```python
search = ToolSearchProcessor([create_issue, *many_more], filter=policy)
agent = Agent(model=model, plugins=[ToolSearchPlugin(search)])
result = agent("File a bug about the login page", invocation_state={"plan": "pro"})
```

What is loaded is read from the agent's own messages and its state, so a session manager is all that a new
process needs. A tool of ours with `requires_approval=True` interrupts the agent: answer the interrupt with
True to run it, with False or a reason not to.

What can't work: in mode "call", hooks of yours see `call_tool` instead of its target. Seen with Strands
1.62, whose mcp<2.2 keeps it out of an environment with the extras `mcp` and `server`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

try:
    from strands import Agent, ToolContext
    from strands.hooks import AfterInvocationEvent, BeforeToolCallEvent
    from strands.middleware import InvokeModelStage
    from strands.plugins import Plugin
    from strands.types.tools import AgentTool
except ImportError as exc:
    raise ImportError(
        'ToolSearchPlugin needs Strands Agents: pip install "tool-search-processor[strands]"'
    ) from exc

from tool_search_processor.adapters.framework_tools import FrameworkTools
from tool_search_processor.adapters.runs import SearchRun, check_options, instructions_of
from tool_search_processor.adapters.strands_messages import (
    listed_spec,
    to_openai,
    tool_result,
    with_instructions,
)
from tool_search_processor.session.foreign_tools import ForeignTool, original_of
from tool_search_processor.session.prepared_calls import PreparedCall, ToolOutcome, refusal_text
from tool_search_processor.tools.tool_names import make_tool_name

if TYPE_CHECKING:
    from strands.middleware.stages import InvokeModelContext
    from strands.types.agent import LocalAgent
    from strands.types.content import Message
    from strands.types.tools import ToolGenerator, ToolSpec, ToolUse

    from tool_search_processor.processor import ToolSearchProcessor
    from tool_search_processor.session.model_call import ModelCall
_RECEIPTS = "tool_search_receipts"
# What Strands itself keeps in the state of an invocation.
_THEIRS = frozenset({"agent", "model", "messages", "system_prompt", "tool_config", "request_state"})


def from_strands(tool: AgentTool) -> ForeignTool:
    """Return a tool of Strands as a tool for the catalog; Strands runs it, with its own context.

    ```python
    search = ToolSearchProcessor([from_strands(whoami), *many_more])
    ```
    """
    spec = tool.tool_spec
    schema = spec["inputSchema"]
    return ForeignTool(
        make_tool_name(tool.tool_name),
        spec.get("description", ""),
        schema.get("json", schema),
        original=tool,
    )


class ToolSearchPlugin(Plugin):
    """Gives an agent meta-tools to find tools with, instead of every definition.

    ```python
    agent = Agent(model=model, plugins=[ToolSearchPlugin(search)])
    agent("File a bug", invocation_state={"plan": "pro"})
    ```

    One plugin serves any number of agents and invocations at the same time.
    """

    def __init__(
        self,
        search: ToolSearchProcessor,
        *,
        context: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None,
        thread_id: Callable[[Mapping[str, Any]], str | None] | None = None,
        hide_own: bool = False,
    ) -> None:
        """Serve a searcher to agents.

        Args:
            search: The searcher; if it has no store of its own, what is loaded is read from the messages.
            context: Makes the request's context, for filters and tools, of the invocation's state. By default
                all of the state except what Strands keeps there.
            thread_id: Makes the conversation's id of the invocation's state; needed by a store alone.
            hide_own: Hide the agent's own tools too until the model has loaded them, under the same filter.

        Raises:
            ConfigurationError: An argument can't work.
        """
        check_options(search, door="ToolSearchPlugin", context=context, thread_id=thread_id)
        self._search = search.for_framework(include_step_tools=hide_own)
        super().__init__()  # the parent's constructor reads the name
        self._context = context or _given_state
        self._thread_id = thread_id or (lambda _: None)
        self._own = FrameworkTools(from_strands)

    @property
    def name(self) -> str:
        """The plugin's name, which is the searcher's id."""
        return self._search.id

    def init_agent(self, agent: Agent) -> None:
        """Hook into the agent's model calls and tool calls."""
        agent.add_middleware(InvokeModelStage.Input, self._offer)
        agent.add_hook(self._select, BeforeToolCallEvent)
        agent.add_hook(self._end, AfterInvocationEvent)

    def invocation(self, agent: LocalAgent, state: dict[str, Any]) -> Invocation:
        """Return the invocation of an agent, found by its state."""
        key = self._key(agent)
        if key not in state:
            run = SearchRun(self._search, context={}, thread_id=self._thread_id(state))
            state[key] = Invocation(agent, run, self._own, context=lambda: self._context(state))
        found: Invocation = state[key]
        return found

    async def _offer(self, ctx: InvokeModelContext) -> InvokeModelContext:
        """Return a model call that lists what it may see."""
        invocation = self.invocation(ctx.agent, ctx.invocation_state)
        model_call = await invocation.begin(ctx.messages)
        specs = {spec["name"]: spec for spec in ctx.tool_specs}
        offered = [listed_spec(tool, specs) for tool in model_call.tools]
        # what stands in no registry, such as the tool for structured output, is not ours to hide
        others = [spec for name, spec in specs.items() if name not in ctx.agent.tool_registry.registry]
        prompt = with_instructions(ctx.system_prompt, instructions_of(model_call))
        return ctx.replace(tool_specs=[*others, *offered], system_prompt=prompt)

    def _select(self, event: BeforeToolCallEvent) -> None:
        """Choose what answers the call of a tool that is hidden or that the agent doesn't have."""
        selected = event.selected_tool
        if selected is None or (
            self._search.include_step_tools and selected in event.agent.tool_registry.registry.values()
        ):
            event.selected_tool = SearchedTool(self, event.tool_use["name"])

    async def _end(self, event: AfterInvocationEvent) -> None:
        invocation = event.invocation_state.pop(self._key(event.agent), None)
        if invocation is not None:
            await invocation.run.end()

    def _key(self, agent: LocalAgent) -> str:
        # several agents may share one state, and several plugins one agent
        return f"tool_search:{id(self)}:{id(agent)}"


class Invocation:
    """One invocation of an agent: its run, and the receipts that stand in the agent's state."""

    def __init__(
        self,
        agent: LocalAgent,
        run: SearchRun,
        own: FrameworkTools[AgentTool],
        *,
        context: Callable[[], Mapping[str, Any]],
    ) -> None:
        """Begin without a model call; `context` returns the request's context of the moment."""
        self.run = run
        self._agent = agent
        self._own = own
        self._context = context
        self._began = False
        self._lock = asyncio.Lock()

    async def begin(self, messages: Sequence[Message]) -> ModelCall:
        """Begin a model call over these messages."""
        self._began = True
        tools = self._own.of(self._agent.tool_registry.registry.values())
        read = to_openai(messages, receipts=self._receipts())
        return await self.run.begin(read, tools, context=self._context())

    async def model_call(self) -> ModelCall:
        """Return the model call whose calls are being run; begin one if it was made in another process."""
        async with self._lock:
            return self.run.model_call if self._began else await self.begin(self._agent.messages)

    def keep(self, call: PreparedCall, receipt: Mapping[str, Any] | None) -> None:
        """Keep the receipt of a call that loaded an unlisted tool; sessions save it, models never see it."""
        if receipt is not None:
            self._agent.state.set(_RECEIPTS, {**self._receipts(), call.request.id: dict(receipt)})

    def _receipts(self) -> dict[str, Any]:
        return self._agent.state.get(_RECEIPTS) or {}


class SearchedTool(AgentTool):
    """Answers one call: a meta-tool, a tool of the catalog, or a hidden one of the agent's own."""

    def __init__(self, plugin: ToolSearchPlugin, name: str) -> None:
        """Set the name that was called."""
        super().__init__()
        self._plugin = plugin
        self._name = name

    @property
    def tool_name(self) -> str:
        """The name as the model wrote it."""
        return self._name

    @property
    def tool_spec(self) -> ToolSpec:
        """A placeholder: the model call has already decided what is listed."""
        return {"name": self._name, "description": "", "inputSchema": {"json": {"type": "object"}}}

    @property
    def tool_type(self) -> str:
        """The kind of tool."""
        return "tool_search"

    async def stream(
        self, tool_use: ToolUse, invocation_state: dict[str, Any], **kwargs: Any
    ) -> ToolGenerator:
        """Run the call, if policy still allows it."""
        agent = invocation_state["agent"]
        invocation = self._plugin.invocation(agent, invocation_state)
        model_call = await invocation.model_call()
        call = await invocation.run.resolve(
            tool_use["name"], tool_use["input"], call_id=tool_use["toolUseId"]
        )
        if call.needs_approval:
            context = ToolContext(tool_use=tool_use, agent=agent, invocation_state=invocation_state)
            shown = call.pending()
            answer = context.interrupt(f"approve {shown.name}", reason=shown.to_dict())
            if answer is not True:
                yield tool_result(call.answer(refusal_text(call.target_name, answer)))
                return
        original: AgentTool | None = original_of(call.tool, AgentTool)
        if original is None:
            outcome = await model_call.run(call)
            invocation.keep(call, model_call.receipt(call))
            yield tool_result(outcome)
            return
        # only ask the gate: Strands streams its own tool, so that interrupts and events get through
        admitted = await model_call.hand_over(call, dict)
        if isinstance(admitted, ToolOutcome):
            yield tool_result(admitted)
            return
        invocation.keep(call, model_call.receipt(call))
        use: ToolUse = {**tool_use, "name": original.tool_name, "input": admitted}
        async for event in original.stream(use, invocation_state, **kwargs):
            yield event


def _given_state(state: Mapping[str, Any]) -> Mapping[str, Any]:
    return {
        name: value
        for name, value in state.items()
        if name not in _THEIRS and not name.startswith(("event_loop_", "tool_search:"))
    }
