"""Tools as the OpenAI Agents SDK runs them: ours as its `FunctionTool`, and its own behind the policy."""

from __future__ import annotations

import copy
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from agents import (
    FunctionTool,
    RunContextWrapper,
    ToolGuardrailFunctionOutput,
    ToolInputGuardrail,
    ToolInputGuardrailData,
)
from agents import Tool as SDKTool
from agents.tool_context import ToolContext

from tool_search_processor.adapters.framework_tools import FrameworkTools
from tool_search_processor.concurrency.foreign_calls import awaited
from tool_search_processor.meta_tools import MetaTool
from tool_search_processor.session.foreign_tools import ForeignTool, original_of
from tool_search_processor.session.model_call import ModelCall
from tool_search_processor.session.prepared_calls import ToolOutcome
from tool_search_processor.tools import Tool

_OFFERED_AS = "_tool_search_offered"


@dataclass(frozen=True, slots=True)
class Offered:
    """How a listed tool relates to the searcher."""

    tool: Tool
    admitted: Callable[[Iterable[str]], Awaitable[Sequence[Tool]]]
    """Returns the tools of these names that policy admits now, listed or not."""


def offered_as(tool: SDKTool) -> Offered | None:
    """Return how an SDK tool relates to the searcher; None for a tool that the searcher didn't list."""
    offered: Offered | None = getattr(tool, _OFFERED_AS, None)
    return offered


def own_tools() -> FrameworkTools[FunctionTool]:
    """Return what converts an agent's own function tools; those of MCP servers are new at every turn."""
    return FrameworkTools(
        lambda tool: ForeignTool(tool.name, tool.description, tool.params_json_schema, original=tool),
        content=lambda tool: (tool.name, (tool.description, tool.params_json_schema)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """The tools of one model call, as the SDK runs them."""

    model_call: ModelCall
    functions: Mapping[str, FunctionTool]
    """The agent's own tools, as they are at this turn."""
    admitted: Callable[[Iterable[str]], Awaitable[Sequence[Tool]]]
    """As of `Offered`."""
    asks_through_proxy: bool
    """Whether a call of the proxy may need approval, since its target does."""

    def tool(self, tool: Tool) -> FunctionTool:
        """Return a tool to list: a catalog tool, or one of the agent's own that runs under our policy."""
        is_own = original_of(tool, FunctionTool) is not None
        listed = self._gated(self.functions[tool.name]) if is_own else self._ours(tool)
        vars(listed)[_OFFERED_AS] = Offered(tool, self.admitted)
        return listed

    def _ours(self, tool: Tool) -> FunctionTool:
        asks = tool.requires_approval
        if isinstance(tool, MetaTool) and tool.proxy is not None:
            asks = self.asks_through_proxy
        return FunctionTool(
            name=tool.name,
            description=tool.shown_description,
            params_json_schema=tool.wire_schema(),
            on_invoke_tool=partial(self._run, tool.name),
            strict_json_schema=False,  # strict mode would rewrite the schema
            needs_approval=partial(self._needs_approval, tool.name) if asks else False,
        )

    def _gated(self, tool: FunctionTool) -> FunctionTool:
        # The gate is a guardrail: approvals, prepared arguments and the tool's own guardrails are kept.
        gated = copy.copy(tool)
        gate = ToolInputGuardrail[Any](partial(self._gate, tool), name="tool_search")
        gated.tool_input_guardrails = [gate, *(tool.tool_input_guardrails or ())]
        gated.defer_loading = False  # it was found by our search, not by OpenAI's
        return gated

    async def _run(self, name: str, context: ToolContext[Any], arguments: str) -> str:
        call = await self.model_call.resolve(name, arguments, call_id=context.tool_call_id)
        return (await self.model_call.run(call)).text

    async def _needs_approval(
        self, name: str, _: RunContextWrapper[Any], arguments: dict[str, Any], call_id: str
    ) -> bool:
        return (await self.model_call.resolve(name, arguments, call_id=call_id)).needs_approval

    async def _gate(self, tool: FunctionTool, data: ToolInputGuardrailData) -> ToolGuardrailFunctionOutput:
        context = data.context
        # The SDK asks this of the tools that it knows by identity, which a copy is not.
        if not await _is_enabled(tool, data):
            text = f"Error: {tool.name} is disabled at the moment."
            return ToolGuardrailFunctionOutput.reject_content(text)
        call = await self.model_call.resolve(tool.name, context.tool_arguments, call_id=context.tool_call_id)
        outcome = await self.model_call.hand_over(call, _do_nothing)
        if isinstance(outcome, ToolOutcome):
            return ToolGuardrailFunctionOutput.reject_content(outcome.text)
        return ToolGuardrailFunctionOutput.allow()


async def _do_nothing(_: Mapping[str, Any]) -> None:
    """Do nothing: the SDK runs the tool once the guardrail lets it through."""


async def _is_enabled(tool: FunctionTool, data: ToolInputGuardrailData) -> bool:
    enabled = tool.is_enabled
    if callable(enabled):
        return bool(await awaited(enabled(data.context, data.agent)))
    return bool(enabled)
