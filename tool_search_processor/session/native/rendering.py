"""Declarations in the shapes that providers take inside a conversation."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, TypeAlias

from tool_search_processor.session.native.declarations import Change, Declarations
from tool_search_processor.tools import Tool
from tool_search_processor.wire.content_blocks import text_part
from tool_search_processor.wire.plain import field_of, items_of, mapping_of, text_of

INLINE_TOOLS_BETA = "inline-tools-2026-09-15"
"""The value of the `anthropic-beta` header that `tool_addition` with a definition needs."""

Insertion: TypeAlias = tuple[int, dict[str, Any]]
"""Something to insert, and the index of the message that it precedes."""


def tool_additions(messages: Sequence[Any], declarations: Declarations) -> list[Insertion]:
    """Return Anthropic system messages of `tool_addition` and `tool_removal` blocks, each with its place.

    Anthropic takes them before a turn of the model or at the end, never between two of the user's messages.

    Args:
        messages: Chat or Anthropic messages; only their roles are read.
        declarations: Made from the same messages.
    """
    placed = [(_before_the_model(messages, change.slot), change) for change in declarations.changes]
    return [
        (slot, {"role": "system", "content": [block for _, change in run for block in _blocks(change)]})
        for slot, run in groupby(placed, key=lambda pair: pair[0])
    ]


def additional_tools(declarations: Declarations) -> list[Insertion]:
    """Return `additional_tools` items for OpenAI's Responses API, each with its place.

    That API can't withdraw a tool.
    """
    adding = [change for change in declarations.changes if change.added]
    result: list[Insertion] = []
    for slot, run in groupby(adding, key=lambda change: change.slot):
        tools = [responses_definition(tool) for change in run for tool in change.added]
        result.append((slot, {"type": "additional_tools", "role": "developer", "tools": tools}))
    return result


def inserted(messages: Sequence[Any], insertions: Iterable[tuple[int, Any]]) -> list[Any]:
    """Insert items before some messages; the index after the last message is the end."""
    at = dict(insertions)
    result: list[Any] = []
    for index in range(len(messages) + 1):
        result += [at[index]] if index in at else []
        result += messages[index : index + 1]
    return result


def with_tool_references(
    messages: Sequence[Mapping[str, Any]], declarations: Declarations
) -> list[dict[str, Any]]:
    """Return the messages, with `tool_reference` blocks in each result that loaded tools.

    Such a result holds only references: no source says that Anthropic accepts text beside them. If the
    result says more than what it loaded, its text follows as a message of the user.

    Args:
        messages: Chat or Anthropic messages as plain dicts.
        declarations: Made from the same messages.
    """
    loading = [change for change in declarations.changes if change.result is not None]
    deferred = {tool.name for change in loading for tool in change.added}
    referred = {
        change.result: [tool.name for tool in (*change.added, *change.again) if tool.name in deferred]
        for change in loading
    }
    result: list[dict[str, Any]] = []
    for _, run in groupby(enumerate(messages), key=lambda pair: pair[1].get("role") == "tool"):
        pairs = [_referring(message, index, referred) for index, message in run]
        told = [text for _, text in pairs if text]
        result += [message for message, _ in pairs]
        result += [{"role": "user", "content": "\n".join(told)}] if told else []
    return result


def listed_beside_references(declarations: Declarations) -> tuple[list[Tool], list[Tool]]:
    """Return the tools to list as they are, and the tools to list after them with `defer_loading`.

    A tool that no result loaded can't be referred to, so it is listed as it is.
    """
    changes = declarations.changes
    whole = [tool for change in changes if change.result is None for tool in change.added]
    deferred = [tool for change in changes if change.result is not None for tool in change.added]
    return [*declarations.tools, *whole], deferred


def responses_definition(tool: Tool) -> dict[str, Any]:
    """Return a tool's definition for the Responses API, which requires `strict` to be given."""
    return {"type": "function", "strict": False, **tool.to_openai()["function"]}


def _before_the_model(messages: Sequence[Any], slot: int) -> int:
    slot = max(slot, 1)
    while slot < len(messages) and field_of(messages[slot], "role") in ("user", "tool"):
        slot += 1
    return slot


def _blocks(change: Change) -> list[dict[str, Any]]:
    def block(kind: str, tool: dict[str, Any]) -> dict[str, Any]:
        return {"type": kind, "tool": tool}

    def reference(name: str) -> dict[str, Any]:
        return {"type": "tool_reference", "name": name}

    return [
        *(block("tool_removal", reference(name)) for name in change.removed),
        *(
            block("tool_addition", {"type": "tool_definition", "definition": tool.to_anthropic()})
            for tool in change.added
        ),
        *(block("tool_addition", reference(tool.name)) for tool in change.again),
    ]


def _referring(
    message: Mapping[str, Any], index: int, referred: Mapping[tuple[int, str] | None, Sequence[str]]
) -> tuple[dict[str, Any], str]:
    """Return a message with references in its results, and the text that has to follow it, if any."""
    if message.get("role") == "tool":
        return _referring_result(message, referred.get((index, str(message.get("tool_call_id"))), ()))
    if message.get("role") != "user" or not isinstance(message.get("content"), list):
        return dict(message), ""
    pairs = [
        _referring_result(block, referred.get((index, str(field_of(block, "tool_use_id"))), ()))
        for block in message["content"]
    ]
    texts = [text_part(text) for _, text in pairs if text]
    return {**message, "content": [*(block for block, _ in pairs), *texts]}, ""


def _referring_result(result: Any, names: Sequence[str]) -> tuple[Any, str]:
    if not names:
        return result, ""
    references = [{"type": "tool_reference", "tool_name": name} for name in names]
    text = text_of(result.get("content"))
    return {**result, "content": references}, text if _says_more(text, names) else ""


def _says_more(text: str, names: Sequence[str]) -> bool:
    """Return True if an answer of a meta-tool names anything but loaded tools."""
    try:
        answer = mapping_of(json.loads(text))
    except (ValueError, RecursionError):
        return bool(text)
    others = (field_of(item, "name") for item in items_of(answer.get("results")))
    return bool(answer.get("not_found")) or any(name not in names for name in others)
