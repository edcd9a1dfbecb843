"""The border to the model: one call of LiteLLM's shape, and its answer as plain values."""

from __future__ import annotations

import asyncio
import codecs
import importlib
import inspect
import json
import math
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from tool_search_processor.call_requests import CallRequest, read_calls
from tool_search_processor.errors import ToolSearchError
from tool_search_processor.plain import clean_text, field_of, items_of, sendable, text_of

Completion: TypeAlias = Callable[..., Awaitable[Any]]
"""Takes `model`, `messages`, and where there are any `tools`, `tool_choice`, `stream` …; answers as
`litellm.acompletion` does, in objects or in dicts."""

# what a provider wants back with the assistant message that it came in
_RETURNED = ("reasoning_content", "thinking_blocks", "reasoning_items", "provider_specific_fields")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One answer of the model."""

    text: str = ""
    calls: tuple[CallRequest, ...] = ()
    """With the ids that the model's server gave; see `unique_ids`."""
    finish_reason: str | None = None
    prompt_tokens: int = 0
    completion_tokens: int = 0
    total_tokens: int = 0
    cached_tokens: int = 0
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Fields of the assistant message that its provider wants back, such as thinking blocks."""


async def litellm_completion(**request: Any) -> Any:
    """Call `litellm.acompletion`.

    Raises:
        ImportError: litellm is not installed.
    """
    if sys.modules.get("litellm") is None:
        try:
            # the import takes seconds: not on the loop that serves others
            await asyncio.to_thread(importlib.import_module, "litellm")
        except ImportError as exc:
            if exc.name != "litellm":  # it is there and broken: its own words say why
                raise
            raise ImportError(
                'an Agent without `completion=` needs litellm: pip install "tool-search-processor[agent]"'
            ) from exc
    import litellm

    return await litellm.acompletion(**request)


async def complete(
    completion: Completion, request: Mapping[str, Any], *, stream: bool
) -> AsyncGenerator[str | Reply]:
    """Call the model; give its text piece by piece where it streams, and last of all the reply."""
    if not stream:
        yield parse_reply(await _awaited(completion(**request)))
        return
    options = {"stream_options": {"include_usage": True}, **request, "stream": True}
    response = await _awaited(completion(**options))
    if not hasattr(response, "__aiter__"):  # a completion that cannot stream
        reply = parse_reply(response)
        if reply.text:
            yield reply.text
        yield reply
        return
    assembler = ChunkAssembler()
    try:
        async for chunk in response:
            text = assembler.add(chunk)
            if text:
                yield text
    finally:
        await _close(response)
    yield assembler.reply()


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
        calls=tuple(read_calls(field_of(message, "tool_calls"))),
        finish_reason=field_of(choices[0], "finish_reason"),
        extra={name: value for name, value in extra.items() if value},
        **_usage(field_of(response, "usage")),
    )


class ChunkAssembler:
    """Puts the chunks of a streamed answer together.

    Servers differ: some repeat a call's name or id in every chunk, some send no index, or index 0 for
    every call, or the id in a later chunk; some send arguments as an object.
    """

    def __init__(self) -> None:
        self._text: list[str] = []
        # holds back the first half of a character that a stream cut in two
        self._halves = codecs.getincrementaldecoder("utf-16-le")("replace")
        self._refusal: list[str] = []
        self._reasoning: list[str] = []
        self._thinking: list[dict[str, Any]] = []
        self._items: list[Any] = []
        self._fields: dict[str, Any] = {}
        self._calls: list[_PartialCall] = []
        self._finish_reason: str | None = None
        self._usage: dict[str, int] = {}

    def add(self, chunk: Any) -> str:
        """Take a chunk in; returns the text it adds."""
        usage = field_of(chunk, "usage")
        if usage:
            self._usage = _usage(usage)
        for choice in items_of(field_of(chunk, "choices")):
            if not field_of(choice, "index"):
                return self._add_choice(choice)
        return ""

    def reply(self) -> Reply:
        """Return the whole answer."""
        extra = {
            "reasoning_content": "".join(self._reasoning),
            "thinking_blocks": self._thinking,
            "reasoning_items": self._items,
            "provider_specific_fields": self._fields,
        }
        return Reply(
            text="".join(self._text) + self._halves.decode(b"", final=True)
            or clean_text("".join(self._refusal)),
            calls=tuple(call.request() for call in self._calls),
            finish_reason=self._finish_reason,
            extra={name: sendable(value) for name, value in extra.items() if value},
            **self._usage,
        )

    def _add_choice(self, choice: Any) -> str:
        self._finish_reason = field_of(choice, "finish_reason") or self._finish_reason
        delta = field_of(choice, "delta")
        for piece in items_of(field_of(delta, "tool_calls")):
            self._call_of(piece).add(piece)
        self._reasoning.append(text_of(field_of(delta, "reasoning_content")))
        self._refusal.append(text_of(field_of(delta, "refusal")))
        for block in map(sendable, items_of(field_of(delta, "thinking_blocks"))):
            if isinstance(block, dict):
                self._add_thinking(block)
        self._items.extend(items_of(field_of(delta, "reasoning_items")))
        self._fields.update(_object(field_of(delta, "provider_specific_fields")))
        content = text_of(field_of(delta, "content"))
        text = self._halves.decode(content.encode("utf-16-le", "surrogatepass"))
        self._text.append(text)
        return text

    def _add_thinking(self, block: dict[str, Any]) -> None:
        last = self._thinking[-1] if self._thinking else None
        # a signature ends its block; redacted blocks come whole
        if block.get("type") != "thinking" or last is None or last.get("signature") or "data" in last:
            self._thinking.append(block)
            return
        last["thinking"] = str(last.get("thinking") or "") + str(block.get("thinking") or "")
        if block.get("signature"):
            last["signature"] = block["signature"]

    def _call_of(self, piece: Any) -> _PartialCall:
        index, call_id = field_of(piece, "index"), field_of(piece, "id")
        name, arguments = (field_of(field_of(piece, "function"), key) for key in ("name", "arguments"))
        same = [call for call in self._calls if index is None or call.index == index]
        if call_id and name:
            # an id and a name together begin a call, unless they are repeated
            same = [call for call in same if call.id in (None, call_id)]
        elif index is None and call_id:
            same = [call for call in same if call.id in (None, call_id)] or same
        if name and (index is None or str(arguments or "").strip()):
            # what is whole and not named by its id is another call
            same = [call for call in same[-1:] if (call_id and call.id == call_id) or not call.complete]
        if same:
            return same[-1]
        call = _PartialCall(index)
        self._calls.append(call)
        return call


class _PartialCall:
    """A tool call of which some chunks have come."""

    def __init__(self, index: int | None) -> None:
        self.index = index
        self.id: str | None = None
        self._name = ""
        self._arguments: list[str] = []
        self._end = ""
        self._extra: dict[str, Any] = {}

    def add(self, piece: Any) -> None:
        function = field_of(piece, "function")
        call_id, name = field_of(piece, "id"), field_of(function, "name")
        self.id = self.id or (clean_text(str(call_id)) if isinstance(call_id, str | int) else None)
        self._add_name(name if isinstance(name, str) else "")
        arguments = field_of(function, "arguments")
        if isinstance(arguments, str):
            self._arguments.append(arguments)
        elif arguments is not None:
            self._arguments = [json.dumps(sendable(arguments))]
        if self._arguments:
            self._end = self._arguments[-1].rstrip()[-1:] or self._end
        self._extra.update(_object(field_of(piece, "provider_specific_fields")))

    @property
    def complete(self) -> bool:
        """Whether the arguments are a whole JSON object, so that the next piece begins another call."""
        if self._end != "}":  # what has grown by each of 20,000 pieces can't be read after each
            return False
        try:
            json.loads("".join(self._arguments))
        except (ValueError, RecursionError):
            return False
        return True

    def request(self) -> CallRequest:
        return CallRequest(
            id=self.id or "",
            name=clean_text(self._name),
            arguments="".join(self._arguments),
            extra={"provider_specific_fields": self._extra} if self._extra else {},
        )

    def _add_name(self, name: str) -> None:
        # a repeated name, a name that grows, or the next piece of one
        if name.startswith(self._name):
            self._name = name
        elif not self._name.endswith(name):
            self._name += name


async def _awaited(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value


async def _close(stream: Any) -> None:
    """Let go of the connection of a stream, also of one that was left early."""
    close = getattr(stream, "aclose", None) or getattr(stream, "close", None)
    if callable(close):
        await _awaited(close())


def _object(value: Any) -> dict[str, Any]:
    found = sendable(value)
    return found if isinstance(found, dict) else {}


def _usage(usage: Any) -> dict[str, int]:
    def number(value: Any, name: str) -> int:
        found = field_of(value, name)
        return int(found) if isinstance(found, int | float) and math.isfinite(found) else 0

    prompt, completion = number(usage, "prompt_tokens"), number(usage, "completion_tokens")
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": number(usage, "total_tokens") or prompt + completion,
        "cached_tokens": number(field_of(usage, "prompt_tokens_details"), "cached_tokens"),
    }
