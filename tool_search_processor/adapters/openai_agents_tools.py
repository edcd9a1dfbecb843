"""Tools as the OpenAI Agents SDK runs them: ours as its `FunctionTool`, and its own behind the policy."""

from __future__ import annotations

import copy
import inspect
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

from tool_search_processor.adapters.framework_tools import MAX_KEPT, FrameworkTools
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


class OwnTools:
    """An agent's own function tools as foreign tools, each made once.

    Tools of MCP servers are new objects at every turn, so a tool is identified by its name and content.
    """

    def __init__(self) -> None:
        """Begin without tools."""
        self._first: dict[str, FunctionTool] = {}
        self._made = FrameworkTools(_foreign)

    def converted(self, tools: Iterable[FunctionTool]) -> list[ForeignTool]:
        """Return the tools, in their order, without those that can't be tools of a catalog."""
        return self._made.of([self._known(tool) for tool in tools])

    def _known(self, tool: FunctionTool) -> FunctionTool:
        first = self._first.get(tool.name)
        if first is not None and (first is tool or _is_alike(first, tool)):
            return first
        if len(self._first) >= MAX_KEPT:
            self._first = {}
        self._first[tool.name] = tool
        return tool


class Listing:
    """The tools of one model call, as the SDK runs them."""

    def __init__(
        self,
        model_call: ModelCall,
        functions: Mapping[str, FunctionTool],
        *,
        admitted: Callable[[Iterable[str]], Awaitable[Sequence[Tool]]],
        asks_through_proxy: bool,
    ) -> None:
        """Run the tools of one model call.

        Args:
            model_call: Runs the calls.
            functions: The agent's own tools, as they are at this turn.
            admitted: As of `Offered`.
            asks_through_proxy: Whether a call of the proxy may need approval, since its target does.
        """
        self._model_call = model_call
        self._functions = functions
        self._admitted = admitted
        self._asks_through_proxy = asks_through_proxy

    def tool(self, tool: Tool) -> FunctionTool:
        """Return a tool to list: a catalog tool, or one of the agent's own that runs under our policy."""
        is_own = original_of(tool, FunctionTool) is not None
        listed = self._gated(self._functions[tool.name]) if is_own else self._ours(tool)
        vars(listed)[_OFFERED_AS] = Offered(tool, self._admitted)
        return listed

    def _ours(self, tool: Tool) -> FunctionTool:
        asks = tool.requires_approval
        if isinstance(tool, MetaTool) and tool.proxy is not None:
            asks = self._asks_through_proxy
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
        call = await self._model_call.resolve(name, arguments, call_id=context.tool_call_id)
        return (await self._model_call.run(call)).text

    async def _needs_approval(
        self, name: str, _: RunContextWrapper[Any], arguments: dict[str, Any], call_id: str
    ) -> bool:
        return (await self._model_call.resolve(name, arguments, call_id=call_id)).needs_approval

    async def _gate(self, tool: FunctionTool, data: ToolInputGuardrailData) -> ToolGuardrailFunctionOutput:
        context = data.context
        # The SDK asks this of the tools that it knows by identity, which a copy is not.
        if not await _is_enabled(tool, data):
            text = f"Error: {tool.name} is disabled at the moment."
            return ToolGuardrailFunctionOutput.reject_content(text)
        call = await self._model_call.resolve(tool.name, context.tool_arguments, call_id=context.tool_call_id)
        outcome = await self._model_call.hand_over(call, _do_nothing)
        if isinstance(outcome, ToolOutcome):
            return ToolGuardrailFunctionOutput.reject_content(outcome.text)
        return ToolGuardrailFunctionOutput.allow()


async def _do_nothing(_: Mapping[str, Any]) -> None:
    """Do nothing: the SDK runs the tool once the guardrail lets it through."""


async def _is_enabled(tool: FunctionTool, data: ToolInputGuardrailData) -> bool:
    enabled = tool.is_enabled
    if callable(enabled):
        answer = enabled(data.context, data.agent)
        return bool(await answer if inspect.isawaitable(answer) else answer)
    return bool(enabled)


def _foreign(tool: FunctionTool) -> ForeignTool:
    return ForeignTool(tool.name, tool.description, tool.params_json_schema, original=tool)


def _is_alike(first: FunctionTool, second: FunctionTool) -> bool:
    alike: bool = (
        first.description == second.description and first.params_json_schema == second.params_json_schema
    )
    return alike
