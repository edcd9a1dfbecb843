"""OpenAI's Responses API by LiteLLM, with loaded tools declared in the conversation.

Seen on LiteLLM's wire, and not tried with a key: how many tokens are read from the cache after an addition.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tool_search_processor.agent.completions import Reading
from tool_search_processor.agent.replies import Reply, usage_of
from tool_search_processor.agent.wire_settings import WireSettings
from tool_search_processor.errors import ToolSearchError
from tool_search_processor.session.model_call import ModelCall
from tool_search_processor.session.native.requests import RequestParts, responses_parts
from tool_search_processor.session.tool_choices import read_tool_choice
from tool_search_processor.wire.calls import read_calls
from tool_search_processor.wire.content_blocks import kind_of
from tool_search_processor.wire.plain import clean_text, field_of, items_of, plain, sendable

SETTINGS = WireSettings(
    known=frozenset(
        {
            "max_output_tokens", "reasoning", "reasoning_effort", "text", "store", "include", "truncation",
            "service_tier", "prompt_cache_key", "prompt_cache_retention", "safety_identifier",
        }
    ),
    renamed={"max_tokens": "max_output_tokens", "max_completion_tokens": "max_output_tokens"},
)  # fmt: skip
_CUT_REASONS = {"max_output_tokens": "length", "content_filter": "content_filter"}
_ENDS = ("response.completed", "response.incomplete", "response.failed")


def responses_request(model_call: ModelCall, *, parallel_tool_calls: bool) -> RequestParts:
    """Return the arguments of `litellm.aresponses` for a step.

    The whole conversation is sent, so nothing has to be stored at OpenAI, unless the settings say so; a
    model's reasoning comes encrypted then.
    """
    step = model_call.step
    found = responses_parts(step, native=True, record=model_call.record)
    request = {"store": False, **SETTINGS.sent(step.model_settings)}
    effort = request.pop("reasoning_effort", None)
    if effort is not None:
        request["reasoning"] = {"effort": effort, **plain(request.get("reasoning") or {})}
    if not request["store"] and _reasons(str(step.model)):
        request.setdefault("include", ["reasoning.encrypted_content"])
    parts = dict(found.parts)
    request |= {"model": step.model, "input": parts.pop("input")}
    request |= {key: part for key, part in parts.items() if part}
    if parts["tools"]:
        if step.tool_choice is not None:
            request["tool_choice"] = _tool_choice(step.tool_choice)
        if not parallel_tool_calls:
            request["parallel_tool_calls"] = False
    return replace(found, parts=request)


def read_response(response: Any) -> Reply:
    """Read a whole response, given as an object or as a dict.

    Raises:
        ToolSearchError: It has no output, or says that the model failed.
    """
    output = field_of(response, "output")
    if not isinstance(output, list) or field_of(response, "status") == "failed":
        problem = field_of(response, "error") or response
        raise ToolSearchError(f"the model's response has no output: found {problem!r:.200}")
    items = [plain(item) for item in output]
    thought = [sendable(item) for item in items if kind_of(item) == "reasoning"]
    parts = [part for item in items if kind_of(item) == "message" for part in items_of(item.get("content"))]
    texts = [str(part.get("text") or part.get("refusal") or "") for part in parts]
    calls = tuple(read_calls(items))
    is_cut = any(field_of(one, "status") == "incomplete" for one in (response, *items))
    reason = str(field_of(field_of(response, "incomplete_details"), "reason"))
    return Reply(
        text=clean_text("".join(texts)),
        calls=calls,
        finish_reason=_CUT_REASONS.get(reason, "length" if is_cut else "tool_calls" if calls else "stop"),
        extra={"reasoning_items": thought} if thought else {},
        usage=usage_of(field_of(response, "usage")),
    )


class ResponseAssembler:
    """Assembles a streamed response: text comes in pieces, and the whole response at the end."""

    def __init__(self) -> None:
        self._response: Any = None

    def add(self, event: Any) -> str:
        """Add an event, and return the text in it.

        Raises:
            ToolSearchError: The server reports an error.
        """
        kind = field_of(event, "type")
        kind = getattr(kind, "value", kind)
        if kind == "error":
            raise ToolSearchError(f"the model's stream ended with an error: {event!r:.200}")
        if kind in _ENDS:
            self._response = field_of(event, "response")
        is_text = kind in ("response.output_text.delta", "response.refusal.delta")
        return str(field_of(event, "delta") or "") if is_text else ""

    @property
    def is_cut(self) -> bool:
        """Whether the stream ended before the model's answer was whole."""
        return self._response is None

    def reply(self) -> Reply:
        """Return the whole answer."""
        return read_response(self._response)


READING = Reading(read=read_response, assembler=ResponseAssembler)


def _reasons(model: str) -> bool:
    """Return True for a reasoning model: others refuse a request for encrypted reasoning."""
    name = model.rpartition("/")[2]
    return name.startswith(("gpt-5", "o3", "o4"))


def _tool_choice(choice: Any) -> Any:
    found = read_tool_choice(choice)
    if found.is_forced and len(found.names) == 1:
        return {"type": "function", "name": found.names[0]}
    mode = "none" if found.is_none else "required" if found.is_forced else "auto"
    if found.is_none or not found.names:
        return mode
    allowed = [{"type": "function", "name": name} for name in found.names]
    return {"type": "allowed_tools", "mode": mode, "tools": allowed}
