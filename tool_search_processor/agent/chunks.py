"""Assembles a streamed answer from its chunks."""

from __future__ import annotations

import codecs
import json
from typing import Any

from tool_search_processor.agent.replies import Reply, usage_of
from tool_search_processor.agent.runs import Usage
from tool_search_processor.wire.calls import CallRequest
from tool_search_processor.wire.plain import clean_text, field_of, items_of, mapping_of, sendable, text_of

_BEGINNINGS = ("role", "content", "refusal", "tool_calls", "function_call", "reasoning_content")


class ChunkAssembler:
    """Puts the chunks of a streamed answer together.

    Servers differ: some repeat a call's name or id in every chunk, some send no index, or index 0 for
    every call, or the id in a later chunk; some send arguments as an object, or a whole call twice.
    """

    # `litellm.stream_chunk_builder` does the same for texts, for thinking with its signature and for calls as
    # OpenAI's own server sends them. It can't be used here: calls that come with one index become one call,
    # of the last name and all arguments; calls without an id and thinking without a signature are dropped; of
    # a name in pieces the last piece stays; dicts without a `model`, which a user's `completion=` may
    # give, are refused; and it counts tokens where a server reports none: 2.2 s for 20,000 chunks.

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
        self._old_call = _PartialCall(0)
        self._finish_reason: str | None = None
        self._usage = Usage()
        self._has_begun = False

    def add(self, chunk: Any) -> str:
        """Add a chunk, and return the text in it."""
        usage = field_of(chunk, "usage")
        if usage:
            self._usage = usage_of(usage)
            self._has_begun = True
        for choice in items_of(field_of(chunk, "choices")):
            if not field_of(choice, "index"):
                return self._add_choice(choice)
        return ""

    @property
    def is_cut(self) -> bool:
        """Whether the stream ended before the model's answer began."""
        # A server that fails after its headers ends the stream; LiteLLM makes up a chunk that says "stop".
        return not self._has_begun and self._finish_reason in (None, "stop")

    def reply(self) -> Reply:
        """Return the whole answer."""
        calls = tuple(call.request() for call in self._distinct_calls())
        # a stream that ends inside a call leaves one that would run with the default of everything
        is_open = self._finish_reason is None and any(not call.arguments for call in calls)
        extra = {
            "reasoning_content": "".join(self._reasoning),
            "thinking_blocks": self._thinking,
            "reasoning_items": self._items,
            "provider_specific_fields": self._fields,
        }
        return Reply(
            text="".join(self._text) + self._halves.decode(b"", final=True)
            or clean_text("".join(self._refusal)),
            calls=calls,
            finish_reason="length" if is_open else self._finish_reason,
            extra={name: sendable(value) for name, value in extra.items() if value},
            usage=self._usage,
        )

    def _distinct_calls(self) -> list[_PartialCall]:
        kept: list[_PartialCall] = []
        for call in self._calls or ([self._old_call] if self._old_call.name else []):
            before = next((other for other in kept if call.repeats(other)), None)
            if before is None:
                kept.append(call)
            else:
                before.id = before.id or call.id
        return kept

    def _add_choice(self, choice: Any) -> str:
        self._finish_reason = field_of(choice, "finish_reason") or self._finish_reason
        delta = field_of(choice, "delta")
        self._has_begun |= any(field_of(delta, name) is not None for name in _BEGINNINGS)
        for piece in items_of(field_of(delta, "tool_calls")):
            self._call_of(piece).add(piece)
        # as OpenAI's API had one call before `tool_calls`; some servers send both
        self._old_call.add({"function": field_of(delta, "function_call")})
        self._reasoning.append(text_of(field_of(delta, "reasoning_content")))
        self._refusal.append(text_of(field_of(delta, "refusal")))
        for block in map(sendable, items_of(field_of(delta, "thinking_blocks"))):
            if isinstance(block, dict):
                self._add_thinking(block)
        self._items.extend(items_of(field_of(delta, "reasoning_items")))
        self._fields.update(mapping_of(sendable(field_of(delta, "provider_specific_fields"))))
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
            # after a whole call, a piece without its id begins another, and so does a piece that starts over
            same = [call for call in same[-1:] if not call.complete or _goes_on(call, call_id, arguments)]
        if same:
            return same[-1]
        call = _PartialCall(index)
        self._calls.append(call)
        return call


class _PartialCall:
    """A tool call that arrives in chunks."""

    def __init__(self, index: int | None) -> None:
        self.index = index
        self.id: str | None = None
        self.name = ""
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
        self._extra.update(mapping_of(sendable(field_of(piece, "provider_specific_fields"))))

    @property
    def arguments(self) -> str:
        """The arguments received so far."""
        return "".join(self._arguments)

    @property
    def complete(self) -> bool:
        """Whether the arguments are a whole JSON object, so that the next piece begins another call."""
        # parsing arguments again after each of 20,000 pieces would take too long
        return self._end == "}" and _object_in(self.arguments) is not None

    def repeats(self, other: _PartialCall) -> bool:
        """Return True if this repeats an earlier call, which some servers send without an id.

        Two calls without ids and arguments are kept: they may be meant as two.
        """
        if (self.index, self.name) != (other.index, other.name):
            return False
        if self.id and other.id and self.id != other.id:
            return False
        said = _object_in(self.arguments)
        return said is not None and said == _object_in(other.arguments) and bool(said or self.id or other.id)

    def request(self) -> CallRequest:
        return CallRequest(
            id=self.id or "",
            name=clean_text(self.name),
            arguments=self.arguments,
            extra={"provider_specific_fields": self._extra} if self._extra else {},
        )

    def _add_name(self, name: str) -> None:
        # a repeated name, a name that grows, or the next piece of one
        if name.startswith(self.name):
            self.name = name
        elif not self.name.endswith(name):
            self.name += name


def _goes_on(call: _PartialCall, call_id: Any, arguments: Any) -> bool:
    """Return True if a piece with a complete call's id belongs to that call: pieces may repeat the id."""
    return bool(call_id) and call.id == call_id and _object_in(arguments) is None


def _object_in(arguments: Any) -> dict[str, Any] | None:
    """Return the arguments of a call as an object; None if they are not a complete object."""
    if isinstance(arguments, str):
        text = arguments.strip()
        try:
            # most pieces are a few characters of long arguments: they are not parsed
            arguments = json.loads(text) if text.startswith("{") and text.endswith("}") else None
        except (ValueError, RecursionError):
            return None
    return sendable(arguments) if isinstance(arguments, dict) else None
