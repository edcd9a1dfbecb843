"""Reads chat messages of any origin, as plain OpenAI chat dicts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tool_search_processor.errors import ConfigurationError
from tool_search_processor.wire.call_results import with_own_ids
from tool_search_processor.wire.calls import (
    name_and_arguments,
    openai_call,
    read_call,
    read_calls,
    refuse_langchain_call,
)
from tool_search_processor.wire.content_blocks import (
    THINKING,
    assistant_text,
    is_openai_content,
    kind_of,
    marked,
    result_content,
    text_part,
    user_parts,
)
from tool_search_processor.wire.notes import notes_of
from tool_search_processor.wire.plain import field_of, items_of, safe_repr, sendable, text_of
from tool_search_processor.wire.response_items import (
    is_declaration,
    is_item,
    is_of_the_model,
    item_message,
    opens_turn,
    turn_message,
)

# Fields that an SDK adds to a reply's message, and that no provider takes back.
_OF_A_REPLY = frozenset({"annotations", "function_call"})
_KEPT_BESIDE_BLOCKS = ("name", "reasoning_content", "provider_specific_fields")
_LANGCHAIN_TYPES = ("human", "ai", "system", "tool")
SYSTEM_ROLES = frozenset({"system", "developer"})


def last_user_text(messages: Sequence[Mapping[str, Any]]) -> str:
    """Return the text of the last user message, or an empty string."""
    said = (message.get("content") for message in reversed(messages) if message.get("role") == "user")
    return text_of(next(said, None))


def to_openai_messages(messages: Iterable[Any], *, across: bool = False) -> list[dict[str, Any]]:
    """Return a conversation in OpenAI chat shape, as new plain dicts.

    Takes OpenAI chat messages, Anthropic messages (`tool_use` and `tool_result` blocks), items of OpenAI's
    Responses API, and the SDKs' objects for all of them.

    Args:
        messages: The conversation.
        across: Whether each call has an id of its own in the whole conversation, as some providers want it;
            otherwise in its message, as `tool_calls_of` gives it. A result gets the id of its call.

    Raises:
        ConfigurationError: Something is not a message: it has no role, or calls in LangChain's form.
    """
    return chat_messages(read_conversation(messages), across=across)


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A message as it was given, and in chat shape."""

    items: tuple[dict[str, Any], ...]
    """The message as plain data; several items for a turn of the model in the Responses API."""
    messages: tuple[dict[str, Any], ...]


def chat_messages(conversation: Iterable[Given], *, across: bool = False) -> list[dict[str, Any]]:
    """Return a conversation in chat shape; `across` as for `to_openai_messages`."""
    messages = [message for given in conversation for message in given.messages]
    return with_own_ids(messages, across=across)


def read_conversation(messages: Iterable[Any]) -> list[Given]:
    """Return each message as given and in chat shape, with call ids as they were given.

    Raises:
        ConfigurationError: As from `to_openai_messages`.
    """
    read: list[Given] = []
    turn: list[dict[str, Any]] = []  # items of one turn of the model make one message
    for number, item in enumerate(message_list(messages)):
        message = _checked(item, number)
        joins = is_item(message) and is_of_the_model(message)
        if turn and not joins:
            read.append(_turn(turn))
        turn = [*turn, message] if joins else [message] if opens_turn(message) else []
        if not turn:
            read.append(Given(items=(message,), messages=tuple(_converted(message))))
    if turn:
        read.append(_turn(turn))
    return read


def _turn(items: Sequence[dict[str, Any]]) -> Given:
    alone = items[0] if len(items) == 1 and not is_item(items[0]) else None
    messages = turn_message(items) if alone is None else _converted(alone)
    return Given(items=tuple(items), messages=tuple(messages))


def _checked(item: Any, number: int) -> dict[str, Any]:
    """Return a message as plain data.

    Raises:
        ConfigurationError: It is not a message.
    """
    message = sendable(item)
    if isinstance(message, dict) and (isinstance(message.get("role"), str) or is_item(message)):
        for call in items_of(message.get("tool_calls")):
            refuse_langchain_call(call, where=f"messages[{number}] has")
        return message
    remedy = 'a message looks like {"role": "user", "content": "..."}'
    if field_of(item, "type") in _LANGCHAIN_TYPES:
        remedy = "convert LangChain's with langchain_core.messages.convert_to_openai_messages(...)"
    raise ConfigurationError(f"messages[{number}] has no role: found {safe_repr(item):.80}; {remedy}")


def message_list(messages: Iterable[Any]) -> list[Any]:
    """Return the messages of a conversation as a list, unchanged.

    Raises:
        ConfigurationError: It is not a list, but one message, a string, or a result that holds messages.
    """
    if isinstance(messages, str | Mapping) or not isinstance(messages, Iterable):
        remedy = "pass its .messages" if hasattr(messages, "messages") else "put it in a list"
        raise ConfigurationError(
            f"messages must be a list of messages, found {type(messages).__name__}: {remedy}"
        )
    return list(messages)


def is_openai_message(message: Any) -> bool:
    """Return True if a message is a mapping in OpenAI's chat shape down to its parts and calls."""
    if not isinstance(message, Mapping):
        return False
    role, content, calls = message.get("role"), message.get("content"), message.get("tool_calls")
    is_plain = isinstance(content, str) and not calls and "type" not in message
    if not is_plain and is_item(message):
        return False
    if role == "function" or "function_call" in message or message.get("type") == "message":
        return False
    if not isinstance(role, str) or (isinstance(content, str) and not calls):
        return True  # most messages; a missing role is reported by the reader
    parts = [*items_of(content), *items_of(calls)]
    return is_openai_content(content, role=role) and all(isinstance(part, str | Mapping) for part in parts)


def _converted(message: dict[str, Any]) -> list[dict[str, Any]]:
    if is_declaration(message):  # which tools there are, each request says for itself
        return []
    if is_item(message):
        return [item_message(message)]
    role = message["role"]
    if role == "assistant":
        return [_assistant(message)]
    if role == "function":  # a result, as OpenAI's API had them before `tool_calls`
        message, role = {**message, "role": "tool"}, "tool"
    content = message.get("content")
    if is_openai_content(content, role=role):
        return [message]
    blocks = [block for block in items_of(content) if block is not None]
    results = [_result(block) for block in blocks if kind_of(block) == "tool_result"]
    if role == "tool" and not results:
        return [{**message, "content": result_content(content)}]
    parts = user_parts(blocks)
    return [*results, *([{**message, "role": "user", "content": parts}] if parts else [])]


def _assistant(message: dict[str, Any]) -> dict[str, Any]:
    calls = _openai_calls(message)
    content = message.get("content")
    is_reply = message.get("type") == "message"  # an object of a client, with figures next to the message
    if is_reply or not is_openai_content(content, role="assistant"):
        blocks = items_of(content) or [content]
        kept = {key: message[key] for key in _KEPT_BESIDE_BLOCKS if key in message}
        message = {"role": "assistant", "content": assistant_text(blocks), **kept}
        thinking = [block for block in blocks if kind_of(block) in THINKING]
        if thinking:
            message["thinking_blocks"] = thinking
    rest = {key: value for key, value in message.items() if key not in _OF_A_REPLY and key != "tool_calls"}
    return {**rest, "tool_calls": calls} if calls else rest


def _openai_calls(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the calls of an assistant's message, leaving out entries that are not calls."""
    calls = [_openai_call(item) for item in items_of(message.get("tool_calls")) if isinstance(item, dict)]
    return calls or [openai_call(request) for request in read_calls({**message, "tool_calls": None})]


def _openai_call(item: dict[str, Any]) -> dict[str, Any]:
    request = read_call(item)
    return openai_call(request) if request is not None and request.style == "anthropic" else item


def _result(block: Any) -> dict[str, Any]:
    text = result_content(field_of(block, "content"))
    if not text and field_of(block, "is_error"):
        text = "Error: the tool failed without saying why."
    call_id = str(field_of(block, "tool_use_id") or "")
    return marked({"role": "tool", "tool_call_id": call_id, "content": text, **notes_of(block)}, block)


def with_content(message: Mapping[str, Any], *, empty: str | None = "") -> dict[str, Any]:
    """Return a message with `empty` as the text of an assistant that has none; null becomes "" in others.

    OpenAI-compatible servers take "": LM Studio, Ollama and older llama.cpp refuse null, and others refuse a
    message without the field.
    """
    if message.get("role") == "assistant":
        return dict(message) if message.get("content") else {**message, "content": empty}
    return {**message, "content": ""} if message.get("content") is None else dict(message)


def call_ids(messages: Iterable[Mapping[str, Any]]) -> set[str]:
    """Return the ids of all tool calls of a conversation."""
    return {str(call.get("id")) for call in _calls_in(messages)}


def calls_made(messages: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, Any]]:
    """Yield name and arguments, as they were written, of each call that an assistant made."""
    return map(name_and_arguments, _calls_in(messages))


def _calls_in(messages: Iterable[Mapping[str, Any]]) -> Iterator[Any]:
    for message in messages:
        if message.get("role") == "assistant":
            yield from message.get("tool_calls") or ()


def merge_system(
    messages: Sequence[Mapping[str, Any]], *, before: Sequence[str] = (), after: Sequence[str] = ()
) -> list[Mapping[str, Any]]:
    """Return the messages with strings put before and after the text of the leading system message.

    The message is added if it is missing. Content that comes in parts stays in parts, so that cache
    marks on them survive.
    """
    before, after = [text for text in before if text], [text for text in after if text]
    if not before and not after:
        return list(messages)
    is_headed = bool(messages) and messages[0].get("role") in SYSTEM_ROLES
    head, rest = (messages[0], messages[1:]) if is_headed else ({"role": "system"}, messages)
    own = head.get("content")
    content: Any = [*map(text_part, before), *items_of(own), *map(text_part, after)]
    if not isinstance(own, list):
        content = "\n\n".join([*before, *([own] if own else []), *after])
    return [{**head, "content": content}, *rest]
