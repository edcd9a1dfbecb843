"""The types of whole requests: a client's `create(**request)` fits them.

What is inside is typed Any: a `dict[str, Any]` fits no parameter of the providers' SDKs, and their own types
are not there for everyone.
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
