"""Requests checked against the types of the providers' own SDKs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from openai.types.responses import ResponseInputItemParam
from openai.types.responses.tool_param import ToolParam
from pydantic import TypeAdapter

ITEM, RESPONSES_TOOL = TypeAdapter(ResponseInputItemParam), TypeAdapter(ToolParam)


def read(value: Any) -> Any:
    """Read what is checked only when it is read."""
    if isinstance(value, Mapping):
        return {key: read(item) for key, item in value.items()}
    is_lazy = isinstance(value, Iterable) and not isinstance(value, str | bytes)
    return [read(item) for item in value] if is_lazy else value


def check_responses(body: Mapping[str, Any]) -> None:
    """Check what stands in a request to the Responses API."""
    assert isinstance(body.get("instructions", ""), str)
    for item in body["input"]:
        kind = item.get("type", "message")
        if kind == "additional_tools":
            read(ITEM.validate_python(item))
            assert [*map(set, item["tools"])] == [RESPONSES_FIELDS] * len(item["tools"])
        else:
            read(ITEM.validate_python(item))
    for tool in body.get("tools", ()):
        read(RESPONSES_TOOL.validate_python(tool))


RESPONSES_FIELDS = {"type", "strict", "name", "description", "parameters"}


@cache
def anthropic_types() -> tuple[TypeAdapter[Any], TypeAdapter[Any]]:
    from anthropic.types.beta import BetaMessageParam, BetaToolUnionParam

    return TypeAdapter(BetaMessageParam), TypeAdapter(BetaToolUnionParam)


def check_anthropic(body: Mapping[str, Any]) -> None:
    """Check what stands in a request to Anthropic's Messages API."""
    message_type, tool_type = anthropic_types()
    for message in body["messages"]:
        read(message_type.validate_python(message))
    for tool in body.get("tools", ()):
        read(tool_type.validate_python(tool))
    check_order(body["messages"])


def check_order(messages: list[Mapping[str, Any]]) -> None:
    """Check that system messages stand where Anthropic takes them: before the model's turn, or last."""
    roles = [message["role"] for message in messages]
    assert roles[0] != "system"
    for place, role in enumerate(roles):
        if role == "system":
            assert roles[place - 1] == "user"
            assert roles[place + 1 : place + 2] in ([], ["assistant"])
