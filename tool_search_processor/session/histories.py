"""Repairs histories that models, programs or interruptions left broken, so that providers accept them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from tool_search_processor.session.prepared_calls import read_arguments, wire_name
from tool_search_processor.wire.call_results import answer_open_calls
from tool_search_processor.wire.calls import (
    CallRequest,
    is_custom_call,
    name_and_arguments,
    openai_call,
    read_call,
)
from tool_search_processor.wire.plain import clean_text, items_of, sendable

LEFT_OPEN = "Error: the run stopped before this call had a result. Whether it took effect is not known."
"""Stands for a missing result; only the program that started the call could say more."""


def repaired_history(messages: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a conversation, in OpenAI chat shape, that every provider accepts.

    Each call has a name and arguments that can be sent, and exactly one result, right behind it; results
    without a call are left out.
    """
    return answer_open_calls(list(map(sendable_calls, messages)), text=LEFT_OPEN)


def stored_call(call: CallRequest) -> dict[str, Any]:
    """Return a call fit for a history: providers refuse broken names and arguments."""
    text = call.arguments
    if not _is_object(text):
        arguments, _ = read_arguments(call.arguments, name=call.name)
        text = json.dumps(sendable(arguments))
    return openai_call(call, name=wire_name(call.name), arguments=clean_text(text))


def sendable_calls(message: dict[str, Any]) -> dict[str, Any]:
    """Return a message whose calls have names and arguments that can be sent."""
    calls = items_of(message.get("tool_calls"))
    return {**message, "tool_calls": list(map(_sendable_call, calls))} if calls else message


def _sendable_call(item: Mapping[str, Any]) -> dict[str, Any]:
    if is_custom_call(item):
        name, given = name_and_arguments(item)
        custom = {"name": wire_name(name), "input": clean_text(str(given["input"] or ""))}
        return {**item, "custom": custom}
    request = read_call(item)
    # a kind of call that only its own provider knows stays as it is
    return dict(item) if request is None else {**item, **stored_call(request)}


def _is_object(text: Any) -> bool:
    """Return True for a string that is strict JSON of an object, unlike some that are read leniently."""
    try:
        return isinstance(text, str) and isinstance(json.loads(text, parse_constant=_refuse), dict)
    except (ValueError, RecursionError):
        return False


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")
