"""Chat messages of any origin as plain OpenAI chat dicts, and what is read out of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from tool_search_processor.call_requests import openai_call, read_call
from tool_search_processor.errors import ConfigurationError
from tool_search_processor.plain import field_of, items_of, mapping_of, sendable, text_of
from tool_search_processor.results import safe_repr

_ANTHROPIC_BLOCKS = frozenset(
    {"tool_use", "tool_result", "thinking", "redacted_thinking", "image", "document", "server_tool_use"}
)
_MEDIA_TYPES = {"image": "image/png", "document": "application/pdf"}
SYSTEM_ROLES = frozenset({"system", "developer"})


def last_user_text(messages: Sequence[Mapping[str, Any]]) -> str:
    """Return the text of the last user message, or an empty text."""
    for message in reversed(messages):
        if message.get("role") == "user":
            return text_of(message.get("content"))
    return ""


def to_openai_messages(messages: Iterable[Any]) -> list[dict[str, Any]]:
    """Return a conversation in OpenAI chat shape, as new plain dicts.

    Takes OpenAI chat messages, Anthropic messages (`tool_use` and `tool_result` blocks), and the SDKs'
    objects for both.

    Raises:
        ConfigurationError: Something is not a message: it has no role.
    """
    if isinstance(messages, str | Mapping) or not isinstance(messages, Iterable):
        remedy = "pass its .messages" if hasattr(messages, "messages") else "put it in a list"
        raise ConfigurationError(f"messages is a list of messages, found {type(messages).__name__}: {remedy}")
    result: list[dict[str, Any]] = []
    for number, item in enumerate(messages):
        message = sendable(item)
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            raise ConfigurationError(
                f"messages[{number}] has no role: found {safe_repr(item):.80}; "
                'a message looks like {"role": "user", "content": "..."}'
            )
        result.extend(_from_anthropic(message) if _is_anthropic(message) else [_with_calls(message)])
    return result


def _with_calls(message: dict[str, Any]) -> dict[str, Any]:
    """Return a message without what stands in the place of tool calls and is none."""
    if "tool_calls" not in message:
        return message
    calls = [call for call in items_of(message["tool_calls"]) if isinstance(call, dict)]
    rest = {key: value for key, value in message.items() if key != "tool_calls"}
    return {**rest, "tool_calls": calls} if calls else rest


def call_ids(messages: Iterable[Mapping[str, Any]]) -> set[str]:
    """Return the ids of all tool calls of a conversation."""
    return {
        str(call.get("id"))
        for message in messages
        for call in message.get("tool_calls") or ()
        if message.get("role") == "assistant"
    }


def calls_made(messages: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, Any]]:
    """Yield name and arguments, as they were written, of each call that an assistant made."""
    for message in messages:
        for call in (message.get("tool_calls") or ()) if message.get("role") == "assistant" else ():
            function = field_of(call, "function")
            yield str(field_of(function, "name")), field_of(function, "arguments")


def open_calls(messages: Sequence[Mapping[str, Any]]) -> tuple[int, list[str]]:
    """Return the index of the last assistant message with tool calls, and its ids without a result.

    The index is -1 and the list empty where no such message is the last but for its results.
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
    """Return the conversation with one result of each tool call right behind it: `text` where there is none.

    Providers refuse a conversation in which a call has no result, as where it was stopped in the middle, or
    a result no call, as where it was cut from the front: such results are left out.
    """
    results: dict[int, list[dict[str, Any]]] = {}
    waiting: list[tuple[int, str, str]] = []
    for place, message in enumerate(messages):
        if message.get("role") == "tool":
            call_id = str(message.get("tool_call_id"))
            call = next((call for call in reversed(waiting) if call[1] == call_id), None)
            if call is not None:
                waiting.remove(call)
                results[call[0]].append(message)
        elif message.get("role") == "assistant":
            results[place] = []
            waiting += [
                (place, str(call.get("id")), str(field_of(call.get("function"), "name") or ""))
                for call in message.get("tool_calls") or ()
            ]
    for place, call_id, name in waiting:
        results[place].append(tool_message(call_id, name, text))
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


def merge_system(
    messages: Sequence[Mapping[str, Any]], *, before: Sequence[str] = (), after: Sequence[str] = ()
) -> list[Mapping[str, Any]]:
    """Return the messages with texts put before and after the text of the leading system message.

    The message is made where there is none. Content that comes in parts stays in parts, so that cache
    marks on them survive.
    """
    before, after = [text for text in before if text], [text for text in after if text]
    head = messages[0] if messages and messages[0].get("role") in SYSTEM_ROLES else None
    rest = list(messages if head is None else messages[1:])
    if not before and not after:
        return list(messages)
    own = head.get("content") if head is not None else None
    content: Any
    if isinstance(own, list):
        content = [_text_part(text) for text in before] + own + [_text_part(text) for text in after]
    else:
        content = "\n\n".join([*before, *([own] if own else []), *after])
    return [{**(head or {"role": "system"}), "content": content}, *rest]


def _text_part(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _is_anthropic(message: Mapping[str, Any]) -> bool:
    content = message.get("content")
    if not isinstance(content, list):
        return False
    return any(_kind(block) in _ANTHROPIC_BLOCKS for block in content)


def _from_anthropic(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    blocks = [
        block if isinstance(block, dict) else _text_part(str(block))
        for block in message["content"]
        if block is not None
    ]
    if message["role"] == "assistant":
        # its calls may stand beside blocks of thinking, as in Mistral's messages and litellm's
        beside = {"tool_calls": message["tool_calls"]} if "tool_calls" in message else {}
        return [{**_with_calls(beside), **_assistant_from_blocks(blocks)}]
    results = [_result_from_block(block) for block in blocks if block.get("type") == "tool_result"]
    parts = [part for part in map(_part_from_block, blocks) if part is not None]
    return [*results, *([{**message, "content": parts}] if parts else [])]


def _assistant_from_blocks(blocks: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    message: dict[str, Any] = {
        "role": "assistant",
        "content": text_of([block for block in blocks if block.get("type") == "text"]) or None,
    }
    thinking = [block for block in blocks if _kind(block) in {"thinking", "redacted_thinking"}]
    calls = [call for call in map(read_call, blocks) if call is not None]
    if thinking:
        message["thinking_blocks"] = list(thinking)
    if calls:
        message["tool_calls"] = [openai_call(call) for call in calls]
    return message


def _result_from_block(block: Mapping[str, Any]) -> dict[str, Any]:
    parts = [part for part in map(_part_from_block, items_of(block.get("content"))) if part is not None]
    has_media = any(_kind(part) in ("image_url", "file") for part in parts)
    return _marked(
        {
            "role": "tool",
            "tool_call_id": str(block.get("tool_use_id") or ""),
            "content": parts if has_media else text_of(parts or block.get("content")),
        },
        block,
    )


def _kind(block: Any) -> str:
    """Return the type that a block names; an empty text where that is none."""
    kind = field_of(block, "type")
    return kind if isinstance(kind, str) else ""


def _part_from_block(block: Any) -> dict[str, Any] | None:
    if isinstance(block, str):
        return _text_part(block)
    kind = _kind(block)
    if kind == "text":
        return _marked(_text_part(str(block.get("text") or "")), block)
    if kind in ("image", "document"):
        part = _media_part(kind, mapping_of(block.get("source")))
        return None if part is None else _marked(part, block)
    return None if kind in _ANTHROPIC_BLOCKS or not isinstance(block, Mapping) else dict(block)


def _media_part(kind: str, source: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return an image or a document as a part as litellm takes it; None for one without content."""
    data, url, file_id = source.get("data"), source.get("url"), source.get("file_id")
    if source.get("type") in ("text", "content"):
        return _text_part(text_of(data or source.get("content")))
    media_type = source.get("media_type") or _MEDIA_TYPES[kind]
    if file_id:
        return {"type": "file", "file": {"file_id": file_id, "format": media_type}}
    place = f"data:{media_type};base64,{data}" if data else url
    if not place:
        return None
    if kind == "image":
        return {"type": "image_url", "image_url": {"url": place}}
    return {"type": "file", "file": {"file_data" if data else "file_id": place}}


def _marked(part: dict[str, Any], block: Mapping[str, Any]) -> dict[str, Any]:
    """Return a part with the mark up to which its provider caches, if the block bears one."""
    mark = block.get("cache_control")
    return {**part, "cache_control": mark} if mark else part
