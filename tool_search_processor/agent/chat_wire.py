"""Requests in chat shape, as `litellm.acompletion` takes them."""

from __future__ import annotations

import logging
from collections import Counter
from dataclasses import replace
from typing import Any

from tool_search_processor.session.model_call import ModelCall
from tool_search_processor.session.native.requests import RequestParts, distinct, reference_parts
from tool_search_processor.steps import InputStep
from tool_search_processor.wire.messages import merge_system, with_content
from tool_search_processor.wire.notes import without_notes
from tool_search_processor.wire.plain import copied, plain

_WITHOUT_EMPTY_TEXTS = ("gemini/", "vertex_ai/")
"""Routes on which LiteLLM sends an empty text as a separate part."""

logger = logging.getLogger(__name__)


def chat_request(model_call: ModelCall, *, parallel_tool_calls: bool) -> RequestParts:
    """Return a request that lists the step's tools."""
    step = model_call.step
    tools = distinct(step.tools)
    for name, times in Counter(tool.name for tool in step.tools).items():
        if times > 1:
            logger.warning("two tools of one step are named %r: the first is sent", name)
    merged = merge_system(step.messages, after=step.instructions)
    empty = None if (step.model or "").startswith(_WITHOUT_EMPTY_TEXTS) else ""
    messages = [with_content(without_notes(plain(message)), empty=empty) for message in merged]
    parts = {"messages": messages, "tools": [tool.to_openai() for tool in tools]}
    return RequestParts(parts=_request(step, parts, parallel_tool_calls), sent=tuple(tools))


def reference_request(model_call: ModelCall, *, parallel_tool_calls: bool) -> RequestParts:
    """Return a request to Claude that declares loaded tools by `tool_reference`, which LiteLLM passes on."""
    step = model_call.step
    found = reference_parts(step, record=model_call.record)
    return replace(found, parts=_request(step, found.parts, parallel_tool_calls))


def _request(step: InputStep, parts: dict[str, Any], parallel_tool_calls: bool) -> dict[str, Any]:  # noqa: FBT001
    request = {**copied(step.model_settings), "model": step.model, "messages": parts["messages"]}
    if parts["tools"]:
        request["tools"] = parts["tools"]
        if step.tool_choice is not None:
            request["tool_choice"] = plain(step.tool_choice)
        if not parallel_tool_calls:
            request["parallel_tool_calls"] = False
    return request
