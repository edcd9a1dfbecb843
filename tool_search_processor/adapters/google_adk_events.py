"""Events and responses of ADK, as this package reads and writes them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from google.adk.events.event import Event
from google.genai import types

from tool_search_processor.wire.calls import CallRequest, openai_call

_RESULT = "result"
"""The key under which ADK puts a result that is not an object."""


def to_openai(events: Iterable[Event], *, agent: str) -> list[dict[str, Any]]:
    """Return a session's events in OpenAI chat shape, as far as a searcher reads them.

    Args:
        events: The session's events; those of other agents are left out, as each loads for itself.
        agent: The agent's name.
    """
    read: list[dict[str, Any]] = []
    for event in _without_rewound(events):
        parts = (event.content.parts or ()) if event.content is not None else ()
        text = "".join(part.text for part in parts if part.text and not part.thought)
        if event.author == "user":
            # A tool's response that a user sends doesn't answer a call of ours.
            read += [{"role": "user", "content": text}] if text else []
        elif event.author == agent:
            calls = [_call(part.function_call) for part in parts if part.function_call is not None]
            if text or calls:
                read.append({"role": "assistant", "content": text, "tool_calls": calls})
            read += [_answer(part.function_response) for part in parts if part.function_response is not None]
    return read


def response_of(text: str, *, is_error: bool) -> dict[str, Any]:
    """Return a tool's answer in the form that ADK keeps: an object as it is, anything else under a key."""
    try:
        found = json.loads(text) if text.startswith("{") else None
    except ValueError:
        found = None
    return found if isinstance(found, dict) else {"error" if is_error else _RESULT: text}


def _without_rewound(events: Iterable[Event]) -> list[Event]:
    """Return the events without those that a rewind has undone."""
    kept: list[Event] = []
    for event in events:
        first = event.actions.rewind_before_invocation_id
        if first is None:
            kept.append(event)
        else:
            place = next((i for i, other in enumerate(kept) if other.invocation_id == first), len(kept))
            del kept[place:]
    return kept


def _call(call: types.FunctionCall) -> dict[str, Any]:
    arguments = json.dumps(call.args or {}, default=str)
    return openai_call(CallRequest(id=call.id or "", name=call.name or "", arguments=arguments))


def _answer(answer: types.FunctionResponse) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": answer.id, "content": _text(answer.response or {})}


def _text(response: Mapping[str, Any]) -> str:
    result = response.get(_RESULT)
    return result if isinstance(result, str) else json.dumps(response, default=str)
