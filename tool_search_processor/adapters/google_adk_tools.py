"""Converts ADK tools for a catalog, and lists catalog tools for an ADK agent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from google.adk.models.llm_request import LlmRequest
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.tool_context import ToolContext
from google.genai import types

from tool_search_processor.adapters.google_adk_events import response_of
from tool_search_processor.session.foreign_tools import ForeignTool, original_of
from tool_search_processor.session.model_call import ModelCall
from tool_search_processor.session.prepared_calls import PreparedCall, ToolOutcome
from tool_search_processor.tools import Tool
from tool_search_processor.tools.tool_names import make_tool_name

_COPIED = ("is_long_running", "_defers_response", "custom_metadata", "behavior", "response_scheduling")


def from_adk(tool: BaseTool) -> ForeignTool:
    """Return a tool of ADK as a tool for a catalog; in an agent with `ToolSearchToolset`, ADK runs it.

    ```python
    search = ToolSearchProcessor([from_adk(FunctionTool(whoami)), *many_more])
    ```
    """
    declaration = tool._get_declaration()  # noqa: SLF001 - what tools of ADK override
    return ForeignTool(
        make_tool_name(tool.name),
        (declaration and declaration.description) or tool.description or "",
        _schema(declaration),
        original=tool,
    )


def is_callable_by_models(tool: BaseTool) -> bool:
    """Return True for a tool that models call, False for one that ADK or a provider runs by itself."""
    # Looks for the method only: making a declaration takes 50 µs.
    declare = tool._get_declaration  # noqa: SLF001 - what tools of ADK override
    return getattr(declare, "__func__", None) is not BaseTool._get_declaration  # noqa: SLF001


def _schema(declaration: types.FunctionDeclaration | None) -> Mapping[str, Any]:
    if declaration is not None and declaration.parameters_json_schema:
        schema: Mapping[str, Any] = declaration.parameters_json_schema
        return schema
    if declaration is not None and declaration.parameters is not None:
        return dict(
            declaration.parameters.json_schema.model_dump(by_alias=True, exclude_none=True, mode="json")
        )
    return {"type": "object", "properties": {}}


class ListedTool(BaseTool):
    """A tool as one step lists it: each call asks the policy again, whoever runs it."""

    def __init__(self, tool: Tool, model_call: ModelCall) -> None:
        """Wrap a tool that a model call lists."""
        super().__init__(name=tool.name, description=tool.shown_description)
        self._tool = tool
        self._model_call = model_call
        self._original: BaseTool | None = original_of(tool, BaseTool)
        if self._original is not None:
            for attribute in _COPIED:
                setattr(self, attribute, getattr(self._original, attribute))

    def _get_declaration(self) -> types.FunctionDeclaration | None:
        if self._original is None:
            return types.FunctionDeclaration(
                name=self.name,
                description=self.description,
                parameters_json_schema=self._tool.wire_schema(),
            )
        declaration = self._original._get_declaration()  # noqa: SLF001 - what tools of ADK override
        return None if declaration is None else declaration.model_copy(update={"name": self.name})

    async def process_llm_request(self, *, tool_context: ToolContext, llm_request: LlmRequest) -> None:
        """List the tool, unless the agent has its own tool of this name."""
        original = self._original
        if self.name in llm_request.tools_dict:
            return
        if original is None or original.name != self.name:  # by itself, it would list its own name
            await super().process_llm_request(tool_context=tool_context, llm_request=llm_request)
            return
        # The original may do more than list itself, but calls have to come here.
        await original.process_llm_request(tool_context=tool_context, llm_request=llm_request)
        if original.name in llm_request.tools_dict:
            llm_request.tools_dict[original.name] = self

    async def check_require_confirmation(self, args: dict[str, Any], tool_context: ToolContext) -> bool:
        """Return True if a person has to confirm a call that could run."""
        call = await self._resolved(args, tool_context)
        if call.needs_approval:
            return True
        original: BaseTool | None = original_of(call.tool, BaseTool)
        if original is None:
            return False
        return bool(await original.check_require_confirmation(dict(call.arguments), tool_context))

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> Any:
        """Run the tool, or answer with a sentence."""
        call = await self._resolved(args, tool_context)
        original: BaseTool | None = original_of(call.tool, BaseTool)
        if original is None:
            return _response(await self._model_call.run(call))

        async def run(arguments: Mapping[str, Any]) -> Any:
            return await original.run_async(args=dict(arguments), tool_context=tool_context)

        result = await self._model_call.hand_over(call, run)
        return _response(result) if isinstance(result, ToolOutcome) else result

    async def _resolved(self, args: dict[str, Any], tool_context: ToolContext) -> PreparedCall:
        return await self._model_call.resolve(self.name, args, call_id=tool_context.function_call_id or "")


def _response(outcome: ToolOutcome) -> dict[str, Any]:
    return response_of(outcome.text, is_error=outcome.is_error)
