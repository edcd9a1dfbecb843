"""Reads what a loop passes as a model's calls, or refuses it and says what to pass."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Never

from tool_search_processor.errors import ConfigurationError
from tool_search_processor.wire.calls import (
    CallRequest,
    is_responses_reply,
    read_call,
    refuse_langchain_call,
    tool_calls_of,
)
from tool_search_processor.wire.content_blocks import kind_of
from tool_search_processor.wire.finish_reasons import is_cut, is_filtered
from tool_search_processor.wire.plain import field_of, items_of, plain, safe_repr
from tool_search_processor.wire.response_items import is_item

_MESSAGE_FIELDS = ("role", "tool_calls", "content", "function_call")
"""A value with any of these fields is an assistant message, of any SDK."""
_REPLY_FIELDS = ("choices", "message")
_CALL_KINDS = frozenset({"function", "function_call", "tool_call", "custom", "custom_tool_call", "tool_use"})
_REMEDY = (
    "pass reply.choices[0].message of OpenAI's chat shape, or a reply of Anthropic's or of OpenAI's Responses"
)
_SHAPES = (
    'a call looks like {"id": "...", "function": {"name": "...", "arguments": "{...}"}}, or is a `tool_use` '
    "block of Anthropic's"
)


def whole_reply(value: Any) -> Any:
    """Return the reply in the event that ends a stream of the Responses API; anything else as it is."""
    reply = field_of(value, "response")
    return reply if is_responses_reply(reply) else value


def why_cut(reply: Any) -> str | None:
    """Return the reason that a reply gives for being incomplete; None if it is whole."""
    reasons = [field_of(reply, name) for name in ("stop_reason", "finish_reason", "status")]
    reasons.append(field_of(field_of(reply, "incomplete_details"), "reason"))
    items = reply if isinstance(reply, list | tuple) else items_of(field_of(reply, "output"))
    reasons += [field_of(item, "status") for item in items if kind_of(item) == "function_call"]
    return next((reason for reason in reasons if is_cut(reason) or is_filtered(reason)), None)


def read_reply(value: Any) -> list[CallRequest]:
    """Return the calls in an assistant message, in its calls or content blocks, or in a Responses reply.

    A message that is None has no calls.

    Raises:
        ConfigurationError: Something in it can't be read, so calls might be missed, and an answer without
            calls would end the caller's loop. Says what was found and what to pass.
    """
    if isinstance(value, list | tuple):
        _check_items(value, "calls")
    elif is_responses_reply(value):
        _check_items(field_of(value, "output"), "output")
    elif read_call(value) is not None:
        _check_items([value], "calls")
    elif value is not None:
        _check_message(value)
    return tool_calls_of(value)


def _check_message(value: Any) -> None:
    refuse_langchain_call(value, where="this is")
    if isinstance(value, str | bytes):
        _refuse_reply(f"the string {value!r:.60}")
    is_wrapped = any(field_of(value, name) is not None for name in _REPLY_FIELDS)
    if is_wrapped or not any(_has(value, name) for name in _MESSAGE_FIELDS):
        _refuse_reply(type(value).__name__)
    role = field_of(value, "role")
    if role not in (None, "assistant"):
        _refuse_reply(f"a message with the role {role!r:.40}")
    calls, content, old = (field_of(value, name) for name in ("tool_calls", "content", "function_call"))
    if old is not None and not field_of(old, "name"):
        _refuse(old, "function_call")
    if not isinstance(calls, list | tuple | None):
        raise ConfigurationError(
            f"tool_calls must be a list, found {safe_repr(calls):.80}: pass the message as the client gave it"
        )
    _check_items(calls or (), "tool_calls")
    if isinstance(content, list | tuple):
        _check_items(content, "content")
    elif not isinstance(content, str | None):
        _refuse(content, "content")


def _check_items(items: Any, place: str) -> None:
    """Refuse a list with anything but calls and, outside `tool_calls`, content blocks."""
    for number, item in enumerate(items):
        refuse_langchain_call(item, where="this is")
        if any(field_of(item, name) is not None for name in _REPLY_FIELDS) or _is_message(item):
            _refuse_reply("list")
        if read_call(item) is not None:
            is_readable = not isinstance(field_of(item, "function"), str | int | float | list)
        else:
            is_block = isinstance(item, str) or kind_of(item) not in ("", *_CALL_KINDS)
            is_readable = place != "tool_calls" and is_block
        if not is_readable:
            _refuse(item, f"{place}[{number}]")


def _is_message(item: Any) -> bool:
    """Return True for a whole message, which is not an item of a Responses reply."""
    role = field_of(item, "role")
    return role is not None and not (role == "assistant" and is_item(plain(item)))


def _refuse_reply(found: str) -> Never:
    raise ConfigurationError(f"tool calls stand in an assistant message, found {found}: {_REMEDY}")


def _refuse(found: Any, place: str) -> Never:
    raise ConfigurationError(
        f"{place} is not a tool call that can be read, found {safe_repr(found):.80}: {_SHAPES}"
    )


def _has(value: Any, name: str) -> bool:
    return name in value if isinstance(value, Mapping) else hasattr(value, name)
