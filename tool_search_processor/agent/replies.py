"""A model's answer as plain values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tool_search_processor.agent.runs import Usage
from tool_search_processor.errors import ToolSearchError
from tool_search_processor.tokens.counting import estimate_tokens
from tool_search_processor.tokens.limiter import message_tokens
from tool_search_processor.wire.calls import CallRequest, read_calls
from tool_search_processor.wire.plain import clean_text, field_of, items_of, sendable, text_of

# fields that a provider wants back with the assistant message
_RETURNED = ("reasoning_content", "thinking_blocks", "reasoning_items", "provider_specific_fields")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One answer of the model."""

    text: str = ""
    calls: tuple[CallRequest, ...] = ()
    """With the ids that the model's server gave; see `unique_ids`."""
    finish_reason: str | None = None
    usage: Usage = field(default_factory=Usage)
    """What its server reported, or else an estimate: see `with_usage`."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Fields of the assistant message that its provider wants back, such as thinking blocks."""


def parse_reply(response: Any) -> Reply:
    """Read a whole response, given as objects or as dicts.

    Raises:
        ToolSearchError: It has no choices.
    """
    choices = items_of(field_of(response, "choices"))
    if not choices:
        raise ToolSearchError(f"the model's response has no choices: found {response!r:.200}")
    message = field_of(choices[0], "message")
    extra = {name: sendable(field_of(message, name)) for name in _RETURNED}
    return Reply(
        text=clean_text(text_of(field_of(message, "content")) or text_of(field_of(message, "refusal"))),
        calls=tuple(read_calls(message)),
        finish_reason=field_of(choices[0], "finish_reason"),
        extra={name: value for name, value in extra.items() if value},
        usage=usage_of(field_of(response, "usage")),
    )


def usage_of(usage: Any) -> Usage:
    """Return the figures in a usage object or dict, by the names of OpenAI's chat or Responses API."""
    prompt = number_in(usage, "prompt_tokens") or number_in(usage, "input_tokens")
    completion = number_in(usage, "completion_tokens") or number_in(usage, "output_tokens")
    details = field_of(usage, "prompt_tokens_details") or field_of(usage, "input_tokens_details")
    return Usage(
        prompt_tokens=prompt,
        completion_tokens=completion,
        total_tokens=number_in(usage, "total_tokens") or prompt + completion,
        cached_tokens=number_in(details, "cached_tokens"),
    )


def with_usage(reply: Reply, request: Mapping[str, Any], *, definitions: int) -> Reply:
    """Return a reply with an estimate of its figures if none were reported.

    Args:
        reply: The model's answer.
        request: What was sent, by any of the APIs.
        definitions: Tokens of the tool definitions in it.
    """
    if reply.usage.total_tokens:
        return reply
    messages = request.get("messages") or request.get("input") or ()
    system = text_of(request.get("system") or request.get("instructions"))
    prompt = definitions + estimate_tokens(system)
    prompt += sum(message_tokens(message, estimate_tokens) for message in messages)
    answer = estimate_tokens(reply.text) + sum(estimate_tokens(f"{c.name}{c.arguments}") for c in reply.calls)
    estimate = Usage(
        prompt_tokens=prompt, completion_tokens=answer, total_tokens=prompt + answer, estimated_calls=1
    )
    return replace(reply, usage=estimate)


def number_in(usage: Any, name: str) -> int:
    """Return a figure of a usage; 0 if it is missing or not finite."""
    found = field_of(usage, name)
    return int(found) if isinstance(found, int | float) and math.isfinite(found) else 0
