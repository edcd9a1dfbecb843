"""Tool calls as models write them, read out of any SDK's shape."""

from __future__ import annotations

import dataclasses
import json
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from tool_search_processor.plain import field_of, plain


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRequest:
    """A tool call as a model wrote it."""

    id: str
    name: str
    arguments: Any
    """Usually JSON text; some models and servers send an object, or nothing."""
    style: Literal["openai", "anthropic"] = "openai"
    extra: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    """What a provider adds to the call and wants back, such as a thought signature."""


def tool_calls_of(value: Any) -> list[CallRequest]:
    """Read the tool calls out of an assistant message, or out of a list of calls or content blocks.

    Takes OpenAI tool calls and Anthropic `tool_use` blocks, as dicts or as SDK objects. A missing id is
    made; a repeated one is replaced, so that each call has its own.
    """
    if value is None or isinstance(value, str):
        return []
    if read_call(value) is not None:
        value = [value]
    elif not isinstance(value, list | tuple):
        # an SDK's message iterates over its fields, so being iterable says nothing
        value = field_of(value, "tool_calls") or field_of(value, "content") or ()
        value = () if isinstance(value, str) else value
    calls = [call for call in map(read_call, value) if call is not None]
    return unique_ids(calls)


def unique_ids(calls: Iterable[CallRequest], *, taken: Iterable[str] = ()) -> list[CallRequest]:
    """Give every call an id of its own, and one that is not in `taken`; good ids stay."""
    seen = set(taken)
    result = []
    for call in calls:
        unique = call if call.id and call.id not in seen else dataclasses.replace(call, id=new_call_id())
        seen.add(unique.id)
        result.append(unique)
    return result


def new_call_id() -> str:
    """Return a fresh id in the form that providers accept."""
    return f"call_{uuid.uuid4().hex[:24]}"


def openai_call(
    call: CallRequest, *, name: str | None = None, arguments: str | None = None
) -> dict[str, Any]:
    """Return a call in OpenAI chat shape; its name and its argument text may be given anew."""
    if arguments is None:
        arguments = call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments or {})
    function = {"name": call.name if name is None else name, "arguments": arguments}
    return {"id": call.id, "type": "function", "function": function, **call.extra}


def read_call(item: Any) -> CallRequest | None:
    """Return an OpenAI tool call or an Anthropic `tool_use` block as a request; None for anything else."""
    if field_of(item, "type") == "tool_use":
        return CallRequest(
            id=str(field_of(item, "id") or ""),
            name=str(field_of(item, "name") or ""),
            arguments=plain(field_of(item, "input")),
            style="anthropic",
        )
    function = field_of(item, "function")
    if function is None:
        return None
    arguments = field_of(function, "arguments")
    extra = field_of(item, "provider_specific_fields")
    return CallRequest(
        id=str(field_of(item, "id") or ""),
        name=str(field_of(function, "name") or ""),
        arguments=arguments if isinstance(arguments, str) else plain(arguments),
        extra={"provider_specific_fields": plain(extra)} if extra else {},
    )
