"""Converts pydantic-ai messages to OpenAI chat shape."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from tool_search_processor.wire.calls import CallRequest, openai_call


def openai_messages(messages: Sequence[ModelMessage]) -> list[dict[str, Any]]:
    """Return a conversation in OpenAI chat shape, with what a searcher reads of it: texts, calls, results."""
    read: list[dict[str, Any]] = []
    for message in messages:
        if isinstance(message, ModelResponse):
            read.append(_assistant(message))
        else:
            read.extend(_request(message))
    return read


def _request(message: ModelRequest) -> Iterator[dict[str, Any]]:
    for part in message.parts:
        if isinstance(part, ToolReturnPart):
            yield {"role": "tool", "tool_call_id": part.tool_call_id, "content": part.model_response_str()}
        elif isinstance(part, UserPromptPart):
            yield {"role": "user", "content": _user_text(part)}
        elif isinstance(part, SystemPromptPart):
            yield {"role": "system", "content": part.content}


def _assistant(message: ModelResponse) -> dict[str, Any]:
    text = "".join(part.content for part in message.parts if isinstance(part, TextPart))
    calls = [
        openai_call(CallRequest(id=part.tool_call_id, name=part.tool_name, arguments=part.args_as_json_str()))
        for part in message.parts
        if isinstance(part, ToolCallPart)
    ]
    return {"role": "assistant", "content": text, "tool_calls": calls}


def _user_text(part: UserPromptPart) -> str:
    if isinstance(part.content, str):
        return part.content
    # images and documents are left out; a marked text of theirs has its text in `content`
    texts = (item if isinstance(item, str) else getattr(item, "content", None) for item in part.content)
    return "\n".join(text for text in texts if isinstance(text, str))
