"""Matches calls and results in OpenAI chat shape, and repairs conversations where they don't match."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tool_search_processor.wire.calls import CallRequest, read_call, unique_ids
from tool_search_processor.wire.plain import field_of


def with_own_ids(messages: Sequence[dict[str, Any]], *, across: bool) -> list[dict[str, Any]]:
    """Return the messages with call ids unique in each message, or across all, and results to match."""
    taken: set[str] = set()
    waiting: list[_Waiting] = []
    result = list(messages)
    for place, message in enumerate(messages):
        if "tool_calls" in message and message["role"] == "assistant":
            items = message["tool_calls"]
            given = [read_call(item) or CallRequest(id=_id(item), name="", arguments=None) for item in items]
            own = unique_ids(given, taken=taken)
            taken.update(call.id for call in own if across)
            calls = [_with_id(item, call.id) for item, call in zip(items, own, strict=True)]
            result[place] = {**message, "tool_calls": calls}
            pairs = zip(own, given, strict=True)
            waiting += [_Waiting(place, call.id, old.id, call.name) for call, old in pairs]
        elif message["role"] == "tool":
            answered = _call_of(message, waiting)
            if answered is not None:
                waiting.remove(answered)
                result[place] = {**message, "tool_call_id": answered.id}
    return result


def open_calls(messages: Sequence[Mapping[str, Any]]) -> tuple[int, list[str]]:
    """Return the index of the last assistant message with tool calls, and the ids of its unanswered calls.

    The index is -1 and the list empty if anything but results follows that message.
    """
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        if message.get("role") == "tool":
            continue
        if message.get("role") != "assistant" or not message.get("tool_calls"):
            break
        answered = {item.get("tool_call_id") for item in messages[index + 1 :]}
        ids = [str(call.get("id")) for call in message["tool_calls"]]
        return index, [call_id for call_id in ids if call_id not in answered]
    return -1, []


def answer_open_calls(messages: Sequence[dict[str, Any]], *, text: str) -> list[dict[str, Any]]:
    """Return the conversation with one result right after each tool call; `text` replaces a missing one.

    Providers refuse a call without a result, as in a conversation that was stopped in the middle, and a
    result without a call, as in one whose beginning was cut off. Such results are left out.
    """
    results: dict[int, list[dict[str, Any]]] = {}
    waiting: list[_Waiting] = []
    for place, message in enumerate(messages):
        if message.get("role") == "tool":
            call = _call_of(message, waiting)
            if call is not None:
                waiting.remove(call)
                results[call.place].append(message)
        elif message.get("role") == "assistant":
            results[place] = []
            for item in message.get("tool_calls") or ():
                name = str(field_of(item.get("function"), "name") or "")
                waiting.append(_Waiting(place, _id(item), _id(item), name))
    for call in waiting:
        results[call.place].append(tool_message(call.id, call.name, text))
    return [
        item
        for place, message in enumerate(messages)
        if message.get("role") != "tool"
        for item in (message, *results.get(place, ()))
    ]


def tool_message(call_id: str, name: str, text: str) -> dict[str, Any]:
    """Return a tool's result as an OpenAI chat message."""
    message = {"role": "tool", "tool_call_id": call_id, "name": name, "content": text}
    return message if name else {key: value for key, value in message.items() if key != "name"}


@dataclass(slots=True)
class _Waiting:
    """A call that has no result yet."""

    place: int
    """Of its message."""
    id: str
    given: str
    """The id from the model's server, which other calls of the message may share."""
    name: str


def _with_id(call: dict[str, Any], call_id: str) -> dict[str, Any]:
    return call if call.get("id") == call_id else {"type": "function", **call, "id": call_id}


def _call_of(result: Mapping[str, Any], waiting: Sequence[_Waiting]) -> _Waiting | None:
    """Return the call that a result answers, from the newest message that has its id.

    A result without an id is matched by name; without a name, it answers the newest message's first call.
    """
    call_id, name = _id(result, "tool_call_id"), result.get("name")
    if call_id:
        fits = [call for call in waiting if call.id == call_id]
        fits = fits or [call for call in waiting if call.given == call_id]
    else:
        fits = [call for call in waiting if name in (None, "", call.name)]
    newest = fits[-1].place if fits else -1
    return next((call for call in fits if call.place == newest), None)


def _id(item: Mapping[str, Any], key: str = "id") -> str:
    found = item.get(key)
    return str(found) if isinstance(found, str | int) else ""
