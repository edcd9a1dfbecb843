"""A processor that keeps the input of a step, including tool definitions, under a number of tokens."""

from __future__ import annotations

import hashlib
import importlib.util
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any, Literal

from cachetools import LRUCache, cached

from tool_search_processor.errors import AbortRun, TokenLimitError
from tool_search_processor.steps import InputStep, Message
from tool_search_processor.tokens.counting import DefinitionCounter, TextCounter, estimate_tokens
from tool_search_processor.tools import Tool
from tool_search_processor.wire.checks import (
    check_callable,
    check_choice,
    check_count,
    check_flags,
    check_fraction,
)
from tool_search_processor.wire.litellm_package import import_litellm
from tool_search_processor.wire.messages import SYSTEM_ROLES
from tool_search_processor.wire.notes import NOTES
from tool_search_processor.wire.plain import counted, items_of, mapping_of, plain

_MESSAGE_OVERHEAD = 4
"""Tokens around each message (role marks): 3 to 4 with OpenAI's models."""
_REPLY_OVERHEAD = 3
_MEDIA_PART_TOKENS = 1_000
"""An image costs 85 to 1,600 with today's providers; its base64 text must not be counted."""
_CACHE_ENTRIES = 20_000
_OWN_FIELDS = "provider_specific_fields"
_KEPT_TWICE = ("reasoning_content", "thinking_blocks", "thought_signature", "thought_signatures")
_ID_CHARACTERS = 64
"""Of a result's call id: the rest may be the call's signature, which was counted with the call."""
_HUB_TOKENIZERS = ("llama-2", "llama2", "llama-3", "llama3", "replicate", "command-r", "cohere")
"""Words in model names for which litellm would fetch a tokenizer from the network."""


@dataclass(frozen=True, slots=True)
class _Unit:
    """Messages that are kept or dropped together: one message, or a call with its results."""

    start: int
    messages: Sequence[Message]
    role: object
    tokens: int
    keep: bool


class TokenLimiter:
    """Drops the oldest messages, or ends the run, when a step would cost too many tokens.

    ```python
    processors = [search, TokenLimiter(127_000)]
    agent = Agent("helper", "openai/gpt-5.5", input_processors=processors)
    ```

    Put it last, so that it counts what is sent: messages, instructions and tool definitions.
    """

    counts_what_is_sent = True
    """Nothing that adds to a step may come after it; an agent checks this."""

    def __init__(
        self,
        limit: int,
        *,
        strategy: Literal["truncate", "abort"] = "truncate",
        count_tools: bool = True,
        counter: TextCounter | None = None,
        keep_last_turn: bool = True,
        margin: float = 0.0,
        id: str = "token-limiter",  # noqa: A002 - the protocol's name
    ) -> None:
        """Keep every step at or under `limit` tokens.

        Args:
            limit: The most tokens of one step's input, at least 1. Leave room for the answer.
            strategy: `"truncate"` drops the oldest messages, a tool call and its results together, never
                system messages; what remains begins with a user's message. `"abort"` ends the run with
                `finish_reason="aborted"`.
            count_tools: Whether tool definitions count.
            counter: Returns the number of tokens of one string. It is called in the event loop and
                blocks it, so it must not ask a server. By default litellm's tokenizer for the step's
                model, without network, and an estimate from characters where litellm is not installed; a step
                that fits with any tokenizer is not counted at all.
            keep_last_turn: Whether to keep everything from the last user message on. When False, only that
                message and the newest call with its results are kept in any case.
            margin: The share by which a step may cost more than is counted, from 0 to 1. The chat template
                of a local server (llama.cpp, Ollama, vLLM) writes definitions and messages in its own
                words, which a counter of strings does not see: definitions came out a fifth longer, so
                0.2. What a step really cost is in `usage.prompt_tokens`.
            id: Names this processor within an agent.

        Raises:
            ConfigurationError: For an invalid option.
        """
        check_count("limit", limit)
        check_fraction("margin", margin)
        check_flags(count_tools=count_tools, keep_last_turn=keep_last_turn)
        check_choice("strategy", strategy, ("truncate", "abort"))
        check_callable("counter", counter, "(text) -> tokens", optional=True)
        self.id = id
        self.name = "Token Limiter"
        self.limit = limit
        self._strategy = strategy
        self._count_tools = count_tools
        self._counter = counter
        self._keep_last_turn = keep_last_turn
        self._margin = margin
        self._cache: LRUCache[tuple[str, bytes], int] = LRUCache(_CACHE_ENTRIES)
        self._lock = Lock()  # cachetools leaves locking to its user; one limiter may serve several loops
        self._definition_bytes = DefinitionCounter(_byte_length)

    def __repr__(self) -> str:
        return f"<TokenLimiter {self.id!r}: {counted(self.limit, 'token')}, {self._strategy}>"

    @property
    def _room(self) -> int:
        return int(self.limit / (1 + self._margin))

    @property
    def _limit_text(self) -> str:
        return f"{self.limit:,}{f' less a margin of {self._margin:.0%}' if self._margin else ''}"

    async def process_input_step(self, step: InputStep) -> InputStep:
        """Return the step with as many of its newest messages as fit.

        Raises:
            TokenLimitError: If what must stay does not fit. It names the parts and their tokens, which are
                also in its attribute `parts`.
            AbortRun: If the step does not fit and the strategy is `"abort"`.
        """
        if self._counter is None and self._fits_in_bytes(step):
            return step
        definitions = [tool.definition_json for tool in _sent(step)] if self._count_tools else []
        count = self._cached(self._counter or default_counter(step.model), step.model)
        fixed = {
            "tool definitions": sum(map(count, definitions)),
            "instructions": sum(map(count, step.instructions)) + _REPLY_OVERHEAD,
        }
        costs = [message_tokens(message, count) for message in step.messages]
        total = sum(fixed.values()) + sum(costs)
        if total <= self._room:
            return step
        if self._strategy == "abort":
            raise AbortRun(f"the input of {total:,} tokens exceeds the limit of {self._limit_text} tokens")
        units = self._units(step.messages, costs)
        self._check_kept(units, fixed)
        kept = _newest_that_fit(units, self._room - sum(fixed.values()))
        return step.replace(messages=[message for unit in kept for message in unit.messages])

    def _fits_in_bytes(self, step: InputStep) -> bool:
        """Return True if the step fits in bytes: a token is at least one byte with every tokenizer."""
        bound = _REPLY_OVERHEAD + sum(map(_byte_length, step.instructions))
        bound += sum(message_tokens(message, _byte_length) for message in step.messages)
        if self._count_tools:
            bound += self._definition_bytes.count(_sent(step))
        return bound <= self._room

    def _cached(self, counter: TextCounter, model: str | None) -> TextCounter:
        def key(text: str) -> tuple[str, bytes]:
            return model or "", hashlib.blake2b(text.encode(errors="replace"), digest_size=16).digest()

        return cached(self._cache, key=key, lock=self._lock)(counter)

    def _units(self, messages: Sequence[Message], costs: Sequence[int]) -> list[_Unit]:
        turn = max((i for i, message in enumerate(messages) if message.get("role") == "user"), default=0)
        units = []
        for start, stop in _spans(messages):
            role = messages[start].get("role")
            is_needed = self._keep_last_turn or start == turn or stop == len(messages)
            keep = role in SYSTEM_ROLES or (start >= turn and is_needed)
            tokens = sum(costs[start:stop])
            units.append(_Unit(start, messages[start:stop], role=role, tokens=tokens, keep=keep))
        return units

    def _check_kept(self, units: Sequence[_Unit], fixed: Mapping[str, int]) -> None:
        system = sum(unit.tokens for unit in units if unit.role in SYSTEM_ROLES)
        kept = sum(unit.tokens for unit in units if unit.keep)
        parts = {**fixed, "system messages": system, "current turn": kept - system}
        needed = sum(parts.values())
        if needed <= self._room:
            return
        listed = ", ".join(f"{name} {tokens:,}" for name, tokens in parts.items())
        error = TokenLimitError(
            f"what must be sent needs {needed:,} tokens, the limit is {self._limit_text}: {listed}. "
            "Raise the limit, offer fewer tools, or shorten the largest part"
        )
        error.parts = parts
        raise error


def default_counter(model: str | None) -> TextCounter:
    """Return litellm's tokenizer for a model, without network; without litellm, the estimate."""
    if importlib.util.find_spec("litellm") is None:
        return estimate_tokens
    litellm = import_litellm()
    name = model or ""
    if any(word in name.lower() for word in _HUB_TOKENIZERS):
        name = ""
    return lambda text: int(litellm.token_counter(model=name, text=text))


def _sent(step: InputStep) -> list[Tool]:
    """Return the tools whose definitions are sent, in the list or in the conversation."""
    return [*step.tools, *step.declared]


def _byte_length(text: str) -> int:
    return len(text.encode(errors="replace"))


def message_tokens(message: Message, count: TextCounter) -> int:
    """Return the tokens of a message, by a counter of strings; media cost a flat rate."""
    total = _MESSAGE_OVERHEAD
    content = message.get("content")
    parts = content if isinstance(content, list) else [content]
    for part in parts:
        text = part.get("text") if isinstance(part, Mapping) else part
        if isinstance(text, str):
            total += count(text)
        elif part is not None:
            total += _MEDIA_PART_TOKENS
    rest = {key: value for key, value in message.items() if key not in ("role", "content", *NOTES)}
    return total + (count(json.dumps(_sent_once(rest), ensure_ascii=False)) if rest else 0)


def _sent_once(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the other fields of a message as plain data, without repeats, as they are sent.

    litellm keeps a model's thinking as text, as signed blocks, and in the provider's own fields. The
    signature of a call may be in the call's id, in the call's own fields, and in those of the message.
    """
    found: dict[str, Any] = plain(fields)
    holders = [*(call for call in items_of(found.get("tool_calls")) if isinstance(call, dict)), found]
    owned = [dict(mapping_of(holder.pop(_OWN_FIELDS, None))) for holder in holders]
    if found.get("thinking_blocks"):
        for thinking in (found, *owned):
            thinking.pop("reasoning_content", None)
    for holder, own in zip(holders, owned, strict=True):
        sent = json.dumps(found, ensure_ascii=False) if own else ""
        left = {
            key: value for key, value in own.items() if value is not None and not _is_sent(key, value, sent)
        }
        if left:
            holder[_OWN_FIELDS] = left
    if isinstance(found.get("tool_call_id"), str):
        found["tool_call_id"] = found["tool_call_id"][:_ID_CHARACTERS]
    return found


def _is_sent(key: str, value: Any, sent: str) -> bool:
    items = value if isinstance(value, list) else [value]
    return key in _KEPT_TWICE and all(
        json.dumps(item, ensure_ascii=False).strip('"') in sent for item in items
    )


def _spans(messages: Sequence[Message]) -> list[tuple[int, int]]:
    """Cut a conversation into spans; a tool message belongs to the span before it."""
    spans: list[tuple[int, int]] = []
    for index, message in enumerate(messages):
        follows = spans and messages[spans[-1][0]].get("tool_calls")
        if message.get("role") == "tool" and follows:
            spans[-1] = (spans[-1][0], index + 1)
        else:
            spans.append((index, index + 1))
    return spans


def _newest_that_fit(units: Sequence[_Unit], room: int) -> list[_Unit]:
    """Return the units that must stay, and of the rest the longest run of the newest that fits."""
    room -= sum(unit.tokens for unit in units if unit.keep)
    optional = [unit for unit in units if not unit.keep]
    first = len(optional)
    while first > 0 and optional[first - 1].tokens <= room:
        first -= 1
        room -= optional[first].tokens
    # Some providers insist on a conversation that begins with a user's message.
    turn = max((unit.start for unit in units if unit.role == "user"), default=0)
    while first < len(optional) and optional[first].start < turn and optional[first].role != "user":
        first += 1
    stays = {unit.start for unit in optional[first:]}
    return [unit for unit in units if unit.keep or unit.start in stays]
