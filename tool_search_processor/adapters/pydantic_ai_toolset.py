"""The tools of a pydantic-ai agent in one run: the meta-tools, its own, and those that were loaded."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic_ai import ApprovalRequired, RunContext
from pydantic_ai.exceptions import ToolFailed
from pydantic_ai.messages import InstructionPart
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets import ToolsetTool, WrapperToolset
from pydantic_core import SchemaValidator, core_schema

from tool_search_processor.adapters.pydantic_ai_messages import openai_messages
from tool_search_processor.adapters.pydantic_ai_tools import KnownTool, OwnTools
from tool_search_processor.adapters.runs import SearchRun, instructions_of
from tool_search_processor.errors import ReservedToolNameError
from tool_search_processor.session.foreign_tools import original_of
from tool_search_processor.session.prepared_calls import ToolOutcome
from tool_search_processor.tools import Tool

THEIR_SEARCH = "search_tools"
"""The name of pydantic-ai's own tool search, which it adds as soon as a tool is deferred."""
_AN_OBJECT = SchemaValidator(core_schema.dict_schema(keys_schema=core_schema.str_schema()))


@dataclass
class SearchToolset(WrapperToolset[Any]):
    """The agent's tools in one run: the meta-tools, its own tools, and the searcher's that are loaded."""

    run: SearchRun
    own: OwnTools
    context: Callable[[RunContext[Any]], Awaitable[Mapping[str, Any]]]
    hides: bool
    listed: dict[str, ToolsetTool[Any]] = field(default_factory=dict)
    """The last tools of `wrapped`, shared by the copies that pydantic-ai makes of this toolset."""

    async def get_tools(self, ctx: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:
        """Return what the model is offered at this step.

        Raises:
            ReservedToolNameError: If an own tool has a meta-tool's name, or two searches have one name.
        """
        own = await self.wrapped.get_tools(ctx)
        self.listed.clear()
        self.listed.update(own)
        always = {name for name, tool in own.items() if _stays_listed(tool, ctx)}
        foreign = self.own.of((tool.tool_def for tool in own.values()), always=always)
        model_call = await self.run.begin(
            openai_messages(ctx.messages), foreign, context=await self.context(ctx)
        )
        # where own tools are hidden, the filter applies to them, and it can't be asked about these
        unsearchable = set() if self.hides else own.keys() - {tool.name for tool in foreign}
        tools = {name: tool for name, tool in own.items() if name in unsearchable}
        for tool in model_call.tools:
            is_own = original_of(tool, KnownTool) is not None
            tools[tool.name] = self._theirs(own[tool.name], always) if is_own else self._ours(tool, ctx)
        if THEIR_SEARCH in tools and any(tool.tool_def.defer_loading for tool in tools.values()):
            raise _reserved()
        return tools

    async def get_instructions(self, ctx: RunContext[Any]) -> list[str | InstructionPart]:
        """Return the instructions of the agent's own toolsets, then the searcher's."""
        given = await super().get_instructions(ctx)
        others = [given] if isinstance(given, str | InstructionPart) else list(given or ())
        ours = instructions_of(self.run.model_call)
        return [*others, ours] if ours else others

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]
    ) -> Any:
        """Run a tool of ours, or let pydantic-ai run its own, under policy where it was hidden.

        Raises:
            ApprovalRequired: If a person has to agree first.
            ToolFailed: If the call failed; its text is the answer.
        """
        is_own = name in self.listed
        if is_own and not self.hides:
            return await self.wrapped.call_tool(name, tool_args, ctx, tool)
        model_call = self.run.model_call
        # the arguments of an own tool are what its validator made of them, and stay with it
        call = await model_call.resolve(name, None if is_own else tool_args, call_id=ctx.tool_call_id or "")
        if call.needs_approval and not ctx.tool_call_approved:
            raise ApprovalRequired(
                metadata={"tool_name": call.target_name, "arguments": dict(call.arguments)}
            )
        if original_of(call.tool, KnownTool) is None:
            return _answer(await model_call.run(call))
        target = call.target_name

        async def run(arguments: Mapping[str, Any]) -> Any:
            if target == call.name:
                return await self.wrapped.call_tool(target, tool_args, ctx, tool)
            return await self._proxied(self.listed[target], arguments, ctx)

        return _answer(await model_call.hand_over(call, run))

    async def _proxied(
        self, tool: ToolsetTool[Any], arguments: Mapping[str, Any], ctx: RunContext[Any]
    ) -> Any:
        """Run one of the agent's tools, called through the call tool, as pydantic-ai runs it by name."""
        name = tool.tool_def.name
        ctx = replace(ctx, tool_name=name, max_retries=tool.max_retries)
        checked = tool.args_validator.validate_python(dict(arguments), context=ctx.validation_context)
        if tool.args_validator_func is not None:
            said = tool.args_validator_func(ctx, **checked)
            if inspect.isawaitable(said):
                await said
        return await self.wrapped.call_tool(name, checked, ctx, tool)

    def _theirs(self, tool: ToolsetTool[Any], always: Collection[str]) -> ToolsetTool[Any]:
        """Return one of the agent's tools as it is listed: a tool that was found is no longer deferred."""
        definition = tool.tool_def
        if not definition.defer_loading or not self.hides or definition.name in always:
            return tool
        return replace(tool, tool_def=replace(definition, defer_loading=False))

    def _ours(self, tool: Tool, ctx: RunContext[Any]) -> ToolsetTool[Any]:
        definition = ToolDefinition(
            name=tool.name, description=tool.shown_description, parameters_json_schema=tool.wire_schema()
        )
        return ToolsetTool(
            toolset=self, tool_def=definition, max_retries=ctx.max_retries, args_validator=_AN_OBJECT
        )


def _stays_listed(tool: ToolsetTool[Any], ctx: RunContext[Any]) -> bool:
    """Return True if a tool is never hidden: another searcher's, or one that a capability brings."""
    owner = ctx.capabilities.get(tool.tool_def.capability_id or "")
    return isinstance(tool.toolset, SearchToolset) or (owner is not None and owner.defer_loading is True)


def _answer(result: Any) -> Any:
    """Return a result, or fail the call in pydantic-ai's own way, which costs no retry and ends no run."""
    if not isinstance(result, ToolOutcome):
        return result
    if result.is_error:
        raise ToolFailed(result.text)
    return result.text


def _reserved() -> ReservedToolNameError:
    return ReservedToolNameError(
        f"a tool of the agent is deferred, so pydantic-ai adds its own tool search, named {THEIR_SEARCH!r} "
        "as the searcher's is: give the searcher's another name, ToolSearchProcessor(search_tool_name="
        "'find_tools'), or find the agent's tools with it too, ToolSearchCapability(hide_own=True)"
    )
