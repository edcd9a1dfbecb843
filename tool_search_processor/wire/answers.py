"""Finds which result answers which call, in a conversation of any shape."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tool_search_processor.wire.calls import Style
from tool_search_processor.wire.plain import plain
from tool_search_processor.wire.response_items import is_item, is_of_the_model, opens_turn


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The first result of a call; without a name, it marks a turn of the model."""

    index: int
    """The index of the message or item that holds it."""
    name: str | None = None
    """The tool that was called."""
    call_id: str = ""
    item: Mapping[str, Any] = field(default_factory=dict)
    """The tool message, the `tool_result` block, or the `function_call_output` item."""

    @property
    def content(self) -> Any:
        """What the tool answered, as the message has it."""
        return self.item.get("output", self.item.get("content"))


def first_answers(messages: Sequence[Any]) -> Iterator[Answer]:
    """Yield the first result of each call, in order, and an answer without a name for each turn of the model.

    Takes OpenAI chat messages, Anthropic messages and Responses items, as dicts or as SDK objects. A result
    answers the newest turn that has a call of its id, and only a call of its own style, so that no user's
    text gets between a call and its result.
    """
    waiting: dict[str, list[tuple[str, Style]]] = {}
    made: dict[str, list[tuple[str, Style]]] = {}  # by the turn that is being read
    goes_on = was_part = False  # a turn of the Responses API is several items
    for index, message in _dicts(messages):
        is_part = is_item(message) and is_of_the_model(message)
        speaks = is_part or message.get("role") == "assistant"
        is_same_turn = speaks and goes_on and (is_part or was_part)
        if not is_same_turn:
            # an id that two tools share does not tell which of them answered
            waiting |= {key: same if len(set(same)) == 1 else [] for key, same in made.items()}
            made = {}
        if not speaks:
            goes_on = False
            for call_id, item, style in _results(message):
                calls = waiting.get(call_id)
                if calls and calls[0][1] == style:
                    yield Answer(index=index, name=calls.pop()[0], call_id=call_id, item=item)
            continue
        if not is_same_turn:
            yield Answer(index=index)
        goes_on, was_part = is_part or opens_turn(message), is_part
        for call_id, call in _calls(message):
            made.setdefault(call_id, []).append(call)


def is_result(message: Any) -> bool:
    """Return True if a message or item holds results of calls."""
    found = message if isinstance(message, dict) else plain(message)
    return isinstance(found, dict) and any(True for _ in _results(found))


def _calls(message: Mapping[str, Any]) -> Iterator[tuple[str, tuple[str, Style]]]:
    """Yield id, name and style of a turn's calls; anything that is not shaped like a call is skipped."""
    if message.get("type") == "function_call" and isinstance(message.get("call_id"), str):
        yield message["call_id"], (str(message.get("name")), "responses")
    if message.get("role") != "assistant":
        return
    for _, call in _dicts(message.get("tool_calls")):
        function = call.get("function")
        if isinstance(function, dict) and isinstance(call.get("id"), str):
            yield call["id"], (str(function.get("name")), "openai")
    for _, block in _dicts(message.get("content")):
        if block.get("type") == "tool_use" and isinstance(block.get("id"), str):
            yield block["id"], (str(block.get("name")), "anthropic")


def _results(message: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any], Style]]:
    """Yield the call id, the message or block, and the style of each result in a message of any origin."""
    role = message.get("role")
    if role == "tool":
        if isinstance(message.get("tool_call_id"), str):
            yield message["tool_call_id"], message, "openai"
    elif role == "user":
        for _, block in _dicts(message.get("content")):
            if block.get("type") == "tool_result" and isinstance(block.get("tool_use_id"), str):
                yield block["tool_use_id"], block, "anthropic"
    elif message.get("type") == "function_call_output" and isinstance(message.get("call_id"), str):
        yield message["call_id"], message, "responses"


def _dicts(value: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the items of a list that are dicts, or SDK objects that can be read as dicts."""
    for index, item in enumerate(value if isinstance(value, list | tuple) else ()):
        found = item if isinstance(item, dict) else plain(item)
        if isinstance(found, dict):
            yield index, found
