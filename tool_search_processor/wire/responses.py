"""Reads the items of OpenAI's Responses API as chat messages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tool_search_processor.wire.calls import CallRequest, openai_call
from tool_search_processor.wire.plain import mapping_of, plain, text_of


def read_items(items: Iterable[Any]) -> list[dict[str, Any]]:
    """Return a conversation of the Responses API as OpenAI chat messages: texts, calls and their outputs.

    Calls that follow each other are of one assistant's message. Other items, such as reasoning and the calls
    of hosted tools, are left out.

    Args:
        items: Input or output items, as dicts or as SDK objects.
    """
    messages: list[dict[str, Any]] = []
    for message in _messages(items):
        last = messages[-1] if messages else {}
        if "tool_calls" in message and last.get("role") == "assistant":
            last.setdefault("tool_calls", []).extend(message["tool_calls"])
        else:
            messages.append(message)
    return messages


def _messages(items: Iterable[Any]) -> Iterator[dict[str, Any]]:
    for item in items:
        found = mapping_of(item if isinstance(item, Mapping) else plain(item))
        kind = found.get("type")
        if kind == "function_call":
            call = CallRequest(
                id=str(found.get("call_id")), name=str(found.get("name")), arguments=found.get("arguments")
            )
            yield {"role": "assistant", "content": "", "tool_calls": [openai_call(call)]}
        elif kind == "function_call_output":
            output = text_of(found.get("output"))
            yield {"role": "tool", "tool_call_id": str(found.get("call_id")), "content": output}
        elif kind in (None, "message") and isinstance(found.get("role"), str):
            yield {"role": found["role"], "content": text_of(found.get("content"))}
