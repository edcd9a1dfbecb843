"""The types of whole requests, which fit a client's `create(**request)`.

The values are typed Any: a `dict[str, Any]` fits no parameter of the providers' SDKs, and not everyone has
their types installed.
"""

from __future__ import annotations

from typing import Any, TypedDict


class AnthropicRequest(TypedDict):
    """What `ToolSession.anthropic_request` returns."""

    system: Any
    tools: list[Any]
    messages: list[Any]
    betas: list[str]


class ResponsesRequest(TypedDict):
    """What `ToolSession.responses_request` returns."""

    instructions: Any
    tools: list[Any]
    input: list[Any]
