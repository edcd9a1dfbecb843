"""Native load for the OpenAI Agents SDK: `tools` never changes, and the items declare what was loaded."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from typing import Any

from agents import FunctionTool, ModelSettings, OpenAIChatCompletionsModel
from agents import Tool as SDKTool
from agents.items import ModelResponse, TResponseStreamEvent
from agents.models.interface import Model
from agents.retry import ModelRetryAdvice, ModelRetryAdviceRequest

from tool_search_processor.adapters.openai_agents_tools import offered_as
from tool_search_processor.errors import ConfigurationError
from tool_search_processor.session.native.declarations import declare, read_record
from tool_search_processor.session.native.rendering import additional_tools, inserted


class NativeModel(Model):
    """A model that is told of loaded tools by items of the conversation; see `native_model`."""

    def __init__(self, model: Model) -> None:
        """Declare the tools of this model's requests."""
        self._model = model

    async def get_response(
        self,
        system_instructions: str | None,
        input: Any,  # noqa: A002 - the name that the SDK fixes
        model_settings: ModelSettings,
        tools: list[SDKTool],
        *args: Any,
        **options: Any,
    ) -> ModelResponse:
        """Ask the model."""
        items, tools = await _declared(input, tools, settings=model_settings, options=options)
        return await self._model.get_response(
            system_instructions, items, model_settings, tools, *args, **options
        )

    async def stream_response(
        self,
        system_instructions: str | None,
        input: Any,  # noqa: A002 - the name that the SDK fixes
        model_settings: ModelSettings,
        tools: list[SDKTool],
        *args: Any,
        **options: Any,
    ) -> AsyncIterator[TResponseStreamEvent]:
        """Ask the model, and stream its answer."""
        items, tools = await _declared(input, tools, settings=model_settings, options=options)
        events: Any = self._model.stream_response(
            system_instructions, items, model_settings, tools, *args, **options
        )
        async with aclosing(events):
            async for event in events:
                yield event

    async def close(self) -> None:
        """Close the model."""
        await self._model.close()

    def get_retry_advice(self, request: ModelRetryAdviceRequest) -> ModelRetryAdvice | None:
        """Return what the model advises."""
        return self._model.get_retry_advice(request)

    async def _cleanup_on_run_end(self, owner: object) -> None:
        await self._model._cleanup_on_run_end(owner)  # noqa: SLF001 - what the runner calls on a model


def native_model(model: Model) -> NativeModel:
    """Return a model whose `tools` are the same at every request: what is loaded stands among its items.

    ```python
    model = native_model(OpenAIResponsesModel("gpt-5.5", AsyncOpenAI()))
    agent = ToolSearchAgent(name="helper", model=model, search=ToolSearchProcessor(tools))
    ```

    A load then costs no prompt cache. Each loaded tool stands in an `additional_tools` item behind the result
    that loaded it. These items are made for each request: sessions and results have none. What no result
    loaded, such as a tool that was called unlisted, joins `tools`. Where OpenAI keeps the items
    (`conversation_id`, `previous_response_id`), requests stay as they are. Not tried with a key: how many
    tokens are read from the cache.

    Args:
        model: Speaks the Responses API.

    Raises:
        ConfigurationError: It doesn't.
    """
    if not isinstance(model, Model) or isinstance(model, OpenAIChatCompletionsModel):
        raise ConfigurationError(
            f"native_model needs a model of the Responses API, found {model!r:.80}: pass "
            "OpenAIResponsesModel(name, client)"
        )
    return model if isinstance(model, NativeModel) else NativeModel(model)


async def _declared(
    given: Any, tools: list[SDKTool], *, settings: ModelSettings, options: Mapping[str, Any]
) -> tuple[Any, list[SDKTool]]:
    """Return the items with declarations among them, and the tools that are not declared there."""
    offered = [found for found in map(offered_as, tools) if found is not None]
    if not offered or options.get("previous_response_id") or options.get("conversation_id"):
        return given, tools
    items = [{"role": "user", "content": given}] if isinstance(given, str) else list(given)
    listed = [each.tool for each in offered]
    record = read_record(items, listed)
    names = {tool.name for tool in listed}
    standing = await offered[0].admitted(name for name in record.all_names if name not in names)
    chosen = [settings.tool_choice] if isinstance(settings.tool_choice, str) else []
    found = declare(items, listed, standing=standing, record=record, fixed=chosen)
    declared = {tool.name for change in found.changes for tool in change.added}
    theirs = {tool.name: tool for tool in tools if isinstance(tool, FunctionTool)}
    insertions = [(slot, _as_sent(item, theirs)) for slot, item in additional_tools(found)]
    return inserted(items, insertions), [tool for tool in tools if tool.name not in declared]


def _as_sent(item: Mapping[str, Any], listed: Mapping[str, FunctionTool]) -> dict[str, Any]:
    """Return an item whose definitions are those that the SDK would send of the listed tools."""
    definitions: Sequence[Mapping[str, Any]] = item["tools"]
    return {**item, "tools": [_definition(each, listed.get(each["name"])) for each in definitions]}


def _definition(ours: Mapping[str, Any], tool: FunctionTool | None) -> dict[str, Any]:
    if tool is None:
        return dict(ours)
    changes = {"parameters": tool.params_json_schema, "strict": tool.strict_json_schema}
    return {**ours, "description": tool.description, **changes}
