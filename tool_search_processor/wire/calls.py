"""Reads tool calls, as models write them, from any SDK's shape."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from tool_search_processor.errors import ConfigurationError
from tool_search_processor.wire.plain import clean_text, field_of, items_of, safe_repr, sendable

UNNAMED = "unnamed_tool"
"""Stands for the name of a call that has none, since providers refuse an empty name."""
_TOO_DEEP = "(nested too deeply)"
_FIT = re.compile(r"[A-Za-z0-9_-]{1,64}")

Style = Literal["openai", "anthropic", "responses"]
"""The API whose shape a call has and its result must have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRequest:
    """A tool call as a model wrote it."""

    id: str
    name: str
    arguments: Any
    """Usually JSON text; some models and servers send an object, or nothing."""
    style: Style = "openai"
    extra: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    """What a provider adds to the call and wants back, such as a thought signature."""


def tool_calls_of(value: Any) -> list[CallRequest]:
    """Read the tool calls as `read_calls` does, each with an id of its own.

    A missing id is made, and a repeated id is replaced. Reading the same calls again gives the same ids, by
    which an approval is found.
    """
    return unique_ids(read_calls(value))


def read_calls(value: Any) -> list[CallRequest]:
    """Read the tool calls out of an assistant message, or out of a list of calls or content blocks.

    Takes OpenAI tool calls, Anthropic `tool_use` blocks and the `function_call` items of a Responses reply,
    as dicts or as SDK objects. The ids are those of the model's server, which may be missing or repeated.
    """
    if value is None or isinstance(value, str):
        return []
    if read_call(value) is not None:
        value = [value]
    elif not isinstance(value, list | tuple):
        # an SDK's message iterates over its fields, so being iterable says nothing
        value = call_items(value)
    return [call for call in map(read_call, value) if call is not None]


def call_items(message: Any) -> Sequence[Any]:
    """Return the items of an assistant message that may be its calls.

    `function_call` preceded `tool_calls` in OpenAI's API, and some servers still send it. A reply of the
    Responses API has its calls in `output`.
    """
    if is_responses_reply(message):
        return items_of(field_of(message, "output"))
    found = items_of(field_of(message, "tool_calls")) or items_of(field_of(message, "content"))
    old = field_of(message, "function_call")
    if field_of(old, "name") and not any(read_call(item) for item in found):
        return [{"function": old}]
    return found


def unique_ids(
    calls: Iterable[CallRequest], *, taken: Iterable[str] = (), run_id: str = ""
) -> list[CallRequest]:
    """Return the calls, each with an id of its own that is not in `taken`; valid ids stay.

    Equal calls get equal ids, unless they are of another run.
    """
    seen = set(taken)
    equal: Counter[str] = Counter()
    result = []
    for call in calls:
        unique = call
        while not unique.id or unique.id in seen:
            content = json.dumps([run_id, call.name, _canonical(call.arguments)])
            equal[content] += 1
            unique = dataclasses.replace(call, id=_made_id(f"{equal[content]} {content}"))
        seen.add(unique.id)
        result.append(unique)
    return result


def is_fit(name: object) -> bool:
    """Return True for a call's id, or a tool's name, that Anthropic and OpenAI accept."""
    return isinstance(name, str) and _FIT.fullmatch(name) is not None


def fit_id(call_id: str) -> str:
    """Return a call's id as it is, or a made one if Anthropic or OpenAI would refuse it.

    Equal ids give equal ones: a call and its result still match.
    """
    return call_id if is_fit(call_id) else _made_id(call_id)


def _made_id(content: str) -> str:
    """Return an id that providers accept; equal for equal content."""
    return f"call_{hashlib.sha256(content.encode()).hexdigest()[:24]}"


def openai_call(
    call: CallRequest, *, name: str | None = None, arguments: str | None = None
) -> dict[str, Any]:
    """Return a call in OpenAI chat shape; `name` and `arguments` replace its own."""
    if arguments is None:
        arguments = call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments or {})
    function = {"name": call.name if name is None else name, "arguments": arguments}
    return {"id": call.id, "type": "function", "function": function, **call.extra}


def read_call(item: Any) -> CallRequest | None:
    """Return a call in the shape of any API as a request; None for anything else."""
    if field_of(item, "type") == "function_call" and field_of(item, "function") is None:
        return CallRequest(
            id=_label(item, "call_id"),
            name=_label(item, "name"),
            arguments=_arguments(field_of(item, "arguments")),
            style="responses",
        )
    if field_of(item, "type") == "tool_use":
        return CallRequest(
            id=_label(item, "id"),
            name=_label(item, "name"),
            arguments=_arguments(field_of(item, "input")),
            style="anthropic",
        )
    function = field_of(item, "function")
    if function is None:
        return None
    extra = field_of(item, "provider_specific_fields")
    return CallRequest(
        id=_label(item, "id"),
        name=_label(function, "name"),
        arguments=_arguments(field_of(function, "arguments")),
        extra={"provider_specific_fields": sendable(extra)} if extra else {},
    )


def is_custom_call(call: Any) -> bool:
    """Return True for a call, in chat shape, of one of OpenAI's custom tools, which take plain text."""
    return field_of(call, "function") is None and field_of(call, "custom") is not None


def name_and_arguments(call: Any) -> tuple[str, Any]:
    """Return the name and the arguments of a call in chat shape; a custom call's text is its `input`."""
    if is_custom_call(call):
        custom = field_of(call, "custom")
        return _label(custom, "name") or UNNAMED, {"input": field_of(custom, "input")}
    function = field_of(call, "function")
    return _label(function, "name") or UNNAMED, field_of(function, "arguments")


def is_responses_reply(value: Any) -> bool:
    """Return True for a whole reply of OpenAI's Responses API."""
    return field_of(value, "object") == "response" and isinstance(field_of(value, "output"), list)


def refuse_langchain_call(item: Any, *, where: str) -> None:
    """Refuse a call in LangChain's form, name and `args` side by side, and say how to convert it.

    Raises:
        ConfigurationError: It is one; begins with `where`.
    """
    if field_of(item, "name") is not None and field_of(item, "args") is not None:
        raise ConfigurationError(
            f"{where} a call in LangChain's form, found {safe_repr(item):.80}: pass "
            "langchain_core.messages.convert_to_openai_messages(message), or for each call "
            '{"id": call["id"], "function": {"name": call["name"], "arguments": call["args"]}}'
        )


def _label(item: Any, name: str) -> str:
    """Return an id or a name as a string; empty for anything but a string or a number."""
    found = field_of(item, name)
    return clean_text(str(found)) if isinstance(found, str | int) else ""


def _canonical(arguments: Any) -> Any:
    """Return arguments in one form, whether they were written as an object or as its JSON text."""
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            return arguments
    return arguments or {}


def _arguments(given: Any) -> Any:
    if given is None or isinstance(given, str):
        return given
    found = sendable(given)
    # An empty string would mean no arguments; this text is reported as unreadable.
    return _TOO_DEEP if found is None else found
