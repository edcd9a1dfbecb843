"""Anthropic's Messages API by LiteLLM, with loaded tools declared in the conversation.

Seen on LiteLLM's wire, and not tried with a key: how many tokens are read from the cache after an addition.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from tool_search_processor.agent.completions import Reading, loaded_litellm
from tool_search_processor.agent.replies import Reply, number_in
from tool_search_processor.agent.runs import Usage
from tool_search_processor.agent.wire_settings import WireSettings
from tool_search_processor.errors import ToolSearchError
from tool_search_processor.session.model_call import ModelCall
from tool_search_processor.session.native.requests import RequestParts, anthropic_parts
from tool_search_processor.session.tool_choices import read_tool_choice
from tool_search_processor.wire.calls import read_calls
from tool_search_processor.wire.content_blocks import THINKING, kind_of
from tool_search_processor.wire.plain import clean_text, field_of, mapping_of, plain, sendable

SETTINGS = WireSettings(
    known=frozenset(
        {
            "max_tokens", "top_k", "thinking", "stop_sequences", "cache_control", "service_tier",
            "reasoning_effort",
        }
    ),
    renamed={"max_completion_tokens": "max_tokens", "stop": "stop_sequences"},
)  # fmt: skip
LITELLM_NEEDS = ("fastapi", "orjson", "backoff", "soundfile")
"""Packages that `litellm.anthropic_messages` imports (LiteLLM 1.110) but only its extra `proxy` installs."""
_BETA_HEADER = "anthropic-beta"
_FINISH_REASONS = {
    "tool_use": "tool_calls",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "refusal": "content_filter",
}
_DELTAS = {"text": "text", "partial_json": "input", "thinking": "thinking", "signature": "signature"}
"""Strings of a delta, and the field of its block that each is the next piece of."""


async def litellm_messages(**request: Any) -> Any:
    """Call `litellm.anthropic_messages`, with the model's own maximum as `max_tokens` unless it is given.

    Raises:
        ImportError: litellm is not installed, or one of the packages that only this function of it imports.
    """
    litellm = await loaded_litellm()
    name = str(request["model"]).rpartition("/")[2]
    most = {"max_tokens": litellm.AnthropicConfig().get_max_tokens_for_model(name)}
    try:
        return await litellm.anthropic_messages(**{**most, **request})
    except ModuleNotFoundError as exc:
        raise ImportError(
            f'native="definition" needs {exc.name}, which litellm.anthropic_messages imports: pip install '
            f'{" ".join(LITELLM_NEEDS)}, or use native="reference"'
        ) from exc


def messages_request(model_call: ModelCall, *, parallel_tool_calls: bool) -> RequestParts:
    """Return the arguments of `litellm.anthropic_messages` for a step."""
    step = model_call.step
    found = anthropic_parts(step, native="definition", record=model_call.record)
    parts = dict(found.parts)
    request = {**SETTINGS.sent(step.model_settings), "model": step.model, "messages": parts.pop("messages")}
    if isinstance(request.get("stop_sequences"), str):
        request["stop_sequences"] = [request["stop_sequences"]]
    request["extra_headers"] = _with_betas(mapping_of(request.get("extra_headers")), parts.pop("betas"))
    if parts["tools"]:
        choice = _tool_choice(step.tool_choice, parallel_tool_calls=parallel_tool_calls)
        request |= {"tool_choice": choice} if choice else {}
    return replace(found, parts=request | {key: part for key, part in parts.items() if part})


def read_message(message: Any) -> Reply:
    """Read a whole Anthropic message, given as an object or as a dict.

    Raises:
        ToolSearchError: It has no content.
    """
    content = field_of(message, "content")
    if not isinstance(content, list):
        raise ToolSearchError(f"the model's response has no content: found {message!r:.200}")
    blocks = [plain(block) for block in content]
    thinking = [sendable(block) for block in blocks if kind_of(block) in THINKING]
    texts = [str(block.get("text") or "") for block in blocks if kind_of(block) == "text"]
    reason = field_of(message, "stop_reason")
    return Reply(
        text=clean_text("".join(texts)),
        calls=tuple(read_calls(blocks)),
        finish_reason=_FINISH_REASONS.get(str(reason), reason),
        extra={"thinking_blocks": thinking} if thinking else {},
        usage=_usage(field_of(message, "usage")),
    )


class MessageAssembler:
    """Puts the events of a streamed message together; takes server-sent events, as bytes, and dicts."""

    def __init__(self) -> None:
        self._message: dict[str, Any] = {}
        self._blocks: dict[int, dict[str, Any]] = {}
        self._rest = b""

    def add(self, chunk: Any) -> str:
        """Add a chunk, and return the text in it.

        Raises:
            ToolSearchError: The server reports an error.
        """
        return "".join(map(self._add_event, self._events(chunk)))

    @property
    def is_cut(self) -> bool:
        """Whether the stream ended before the model's answer was whole."""
        # what is left of a call may say something else than was meant, down to the defaults of all parameters
        return not self._message.get("stop_reason")

    def reply(self) -> Reply:
        """Return the whole answer."""
        return read_message({**self._message, "content": list(self._blocks.values())})

    def _events(self, chunk: Any) -> Iterator[Any]:
        if not isinstance(chunk, bytes | str):
            yield plain(chunk)
            return
        lines = (self._rest + (chunk.encode() if isinstance(chunk, str) else chunk)).split(b"\n")
        self._rest = lines.pop()
        for line in lines:
            if line.startswith(b"data:"):
                yield json.loads(line[5:])

    def _add_event(self, event: Mapping[str, Any]) -> str:
        kind = event.get("type")
        if kind == "error":
            raise ToolSearchError(f"the model's stream ended with an error: {event.get('error')!r:.200}")
        if kind == "message_start":
            self._message = dict(mapping_of(event.get("message")))
        elif kind == "message_delta":
            self._message.update(mapping_of(event.get("delta")))
            usage = {**mapping_of(self._message.get("usage")), **mapping_of(event.get("usage"))}
            self._message["usage"] = usage
        elif kind == "content_block_start":
            block = dict(mapping_of(event.get("content_block")))
            self._blocks[int(event["index"])] = block | ({"input": ""} if "input" in block else {})
            return str(block.get("text") or "")
        elif kind == "content_block_delta":
            return self._add_delta(self._blocks[int(event["index"])], mapping_of(event.get("delta")))
        return ""

    def _add_delta(self, block: dict[str, Any], delta: Mapping[str, Any]) -> str:
        """Add a delta to its block; return its text."""
        for key, field in _DELTAS.items():
            if isinstance(delta.get(key), str):
                block[field] = str(block.get(field) or "") + delta[key]
        return str(delta.get("text") or "")


READING = Reading(read=read_message, assembler=MessageAssembler)


def _with_betas(headers: Mapping[str, str], betas: list[str]) -> dict[str, str]:
    given = [value for name, value in headers.items() if name.casefold() == _BETA_HEADER]
    rest = {name: value for name, value in headers.items() if name.casefold() != _BETA_HEADER}
    return {**rest, _BETA_HEADER: ",".join([*given, *betas])}


def _tool_choice(choice: Any, *, parallel_tool_calls: bool) -> dict[str, Any]:
    found = read_tool_choice(choice)
    kind = "none" if found.is_none else "any" if found.is_forced else "auto"
    named: dict[str, Any] = {"type": kind}
    if found.is_forced and len(found.names) == 1:
        named = {"type": "tool", "name": found.names[0]}
    if not parallel_tool_calls and kind != "none":
        named["disable_parallel_tool_use"] = True
    return named if choice is not None or not parallel_tool_calls else {}


def _usage(usage: Any) -> Usage:
    """Return a usage's figures; Anthropic counts cached tokens apart from the input."""
    cached = number_in(usage, "cache_read_input_tokens")
    prompt = number_in(usage, "input_tokens") + cached + number_in(usage, "cache_creation_input_tokens")
    completion = number_in(usage, "output_tokens")
    return Usage(
        prompt_tokens=prompt,
        completion_tokens=completion,
        total_tokens=prompt + completion,
        cached_tokens=cached,
    )
