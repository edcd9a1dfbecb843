"""Native load in LangChain: loaded tools are declared by messages, and the list of tools never changes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeAlias

from langchain.agents.middleware import ModelRequest, ModelResponse
from langchain_core.messages import AIMessage, AnyMessage, SystemMessage
from langchain_core.runnables import RunnableBinding

from tool_search_processor.adapters.langchain_calls import DECLARED, read_messages
from tool_search_processor.session.model_call import ModelCall
from tool_search_processor.session.native.declarations import Declarations, declare
from tool_search_processor.session.native.rendering import additional_tools, inserted, tool_additions
from tool_search_processor.session.tool_choices import read_tool_choice

Route: TypeAlias = Literal["anthropic", "openai"]

_MODES = ("auto", "any", "none", "required")
_OFFICIAL = ("https://api.anthropic.com", "https://api.openai.com/v1")
"""Addresses that are known to accept these messages: a gateway may refuse or drop them."""


def native_route(model: Any) -> Route | None:
    """Return how a model takes tools by messages, as its profile says; None if it doesn't."""
    while isinstance(model, RunnableBinding):
        model = model.bound
    if not (getattr(model, "profile", None) or {}).get("mid_conversation_tools"):
        return None
    packages = {kind.__module__.partition(".")[0] for kind in type(model).__mro__}
    if "langchain_anthropic" in packages:
        return "anthropic" if _is_official(model.anthropic_api_url) else None
    if "langchain_openai" in packages and not model.use_previous_response_id:
        return "openai" if _is_official(model.root_client.base_url) else None
    return None


def declarations_of(
    model_call: ModelCall, request: ModelRequest[Any], *, own: Collection[str]
) -> Declarations:
    """Return what a request declares, and where.

    Args:
        model_call: What the searcher lists.
        request: LangChain's request.
        own: Names of the agent's own tools, which LangChain itself describes: they stay in the list.
    """
    forced = read_tool_choice(chosen(request.tool_choice)).names
    return declare(
        read_messages(request.messages),
        model_call.tools,
        standing=model_call.step.declared,
        record=model_call.record,
        fixed={*own, *forced},
    )


def chosen(tool_choice: Any) -> Any:
    """Return a tool choice in a provider's shape; LangChain also accepts a bare tool name."""
    if not isinstance(tool_choice, str) or tool_choice in _MODES:
        return tool_choice
    return {"type": "tool", "name": tool_choice}


def with_declarations(
    messages: Sequence[AnyMessage], found: Declarations, *, route: Route
) -> list[AnyMessage]:
    """Return messages with the declarations of tools inserted."""
    if route == "anthropic":
        additions = tool_additions(read_messages(messages), found)
        return inserted(messages, ((slot, SystemMessage(each["content"])) for slot, each in additions))
    return inserted(messages, ((slot, SystemMessage([each])) for slot, each in additional_tools(found)))


def with_note(response: ModelResponse[Any], note: Mapping[str, Any] | None) -> ModelResponse[Any]:
    """Return a response whose message notes what its request declared; no model sees the note."""
    if note is None:
        return response
    return replace(response, result=[_noted(message, dict(note)) for message in response.result])


def _noted(message: Any, note: dict[str, Any]) -> Any:
    if not isinstance(message, AIMessage):
        return message
    return message.model_copy(update={"additional_kwargs": {**message.additional_kwargs, DECLARED: note}})


def _is_official(url: object) -> bool:
    return str(url).rstrip("/") in _OFFICIAL
