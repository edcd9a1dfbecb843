"""Builds the parts of a model request, with tools declared natively or listed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeAlias, TypedDict

from tool_search_processor.session.native.declarations import Declarations, Record, declare
from tool_search_processor.session.native.originals import restored
from tool_search_processor.session.native.rendering import (
    INLINE_TOOLS_BETA,
    additional_tools,
    inserted,
    listed_beside_references,
    responses_definition,
    tool_additions,
    with_tool_references,
)
from tool_search_processor.session.tool_choices import read_tool_choice
from tool_search_processor.steps import InputStep
from tool_search_processor.tools import Tool
from tool_search_processor.wire.anthropic_messages import anthropic_messages, as_anthropic
from tool_search_processor.wire.content_blocks import marked_text
from tool_search_processor.wire.messages import SYSTEM_ROLES, Given, merge_system, with_content
from tool_search_processor.wire.notes import without_notes
from tool_search_processor.wire.plain import plain, text_of
from tool_search_processor.wire.response_items import is_declaration
from tool_search_processor.wire.responses_input import as_responses_input, responses_input

AnthropicNative: TypeAlias = Literal["definition", "reference"]


# Requests fit a client's `create(**request)`. Values are typed Any: a `dict[str, Any]` fits no parameter of
# the providers' SDKs, and not everyone has their types installed.
class AnthropicRequest(TypedDict):
    """What `ToolSession.anthropic_request` returns."""

    system: Any
    tools: list[Any]
    messages: list[Any]
    betas: list[str]


class ResponsesRequest(TypedDict):
    """What `ToolSession.responses_request` returns."""

    instructions: Any
    tools: list[Any]
    input: list[Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestParts:
    """The parts of a request that are made from tools and messages."""

    parts: dict[str, Any]
    """The arguments, by their names in the provider's client."""
    sent: tuple[Tool, ...]
    """Every tool that the request defines."""
    note: Mapping[str, Any] | None = None
    """To keep as `declared` of the model's answer; None if there is nothing to keep."""


def anthropic_parts(
    step: InputStep,
    *,
    native: AnthropicNative | None,
    record: Record | None = None,
    given: Iterable[Given] = (),
) -> RequestParts:
    """Return `system`, `tools`, `messages` and `betas` of a request to Anthropic's Messages API.

    Args:
        step: As the processors left it.
        native: How loaded tools are declared; None lists them.
        record: Of the whole conversation, before anything was cut off.
        given: What the step's messages were made from.
    """
    system, rest = _split_system(step, roles=SYSTEM_ROLES)
    messages = restored(rest, given, take=as_anthropic, write=anthropic_messages)
    found = _declarations(step, messages, record, is_native=native is not None)
    definitions = [tool.to_anthropic() for tool in found.tools]
    betas: list[str] = []
    if native == "definition":
        messages = inserted(messages, tool_additions(messages, found))
        betas = [INLINE_TOOLS_BETA]
    elif native == "reference":
        messages = with_tool_references(messages, found)
        definitions = reference_definitions(found, Tool.to_anthropic)
    sent = [*map(without_notes, messages)]
    parts = {"system": system, "tools": definitions, "messages": sent, "betas": betas}
    return RequestParts(parts=parts, sent=found.declared, note=found.note)


def responses_parts(
    step: InputStep, *, native: bool, record: Record | None = None, given: Iterable[Given] = ()
) -> RequestParts:
    """Return `instructions`, `tools` and `input` of a request to OpenAI's Responses API.

    Args:
        step: As the processors left it.
        native: Whether loaded tools are declared by `additional_tools`; otherwise they are listed.
        record: Of the whole conversation, before anything was cut off.
        given: What the step's messages were made from.
    """
    system, rest = _split_system(step)
    others = [one for one in given if not (native and any(map(is_declaration, one.items)))]
    write = partial(responses_input, conversation=rest)
    items = restored(rest, others, take=as_responses_input, write=write)
    found = _declarations(step, items, record, is_native=native)
    sent = [*map(without_notes, inserted(items, additional_tools(found)))]
    definitions = list(map(responses_definition, found.tools))
    parts = {"instructions": text_of(system), "tools": definitions, "input": sent}
    return RequestParts(parts=parts, sent=found.declared, note=found.note)


def reference_parts(step: InputStep, *, record: Record | None = None) -> RequestParts:
    """Return `messages` and `tools` in chat shape, with `tool_reference` blocks that LiteLLM passes on."""
    messages = [
        with_content(plain(message)) for message in merge_system(step.messages, after=step.instructions)
    ]
    found = _declarations(step, messages, record, is_native=True)
    sent = [*map(without_notes, with_tool_references(messages, found))]
    definitions = reference_definitions(found, Tool.to_openai)
    parts = {"messages": sent, "tools": definitions}
    return RequestParts(parts=parts, sent=found.declared, note=found.note)


def reference_definitions(found: Declarations, define: Any) -> list[dict[str, Any]]:
    """Return the list of tools for `tool_reference`: those that results refer to come last, deferred."""
    whole, deferred = listed_beside_references(found)
    return [*map(define, whole), *({**define(tool), "defer_loading": True} for tool in deferred)]


def distinct(tools: Iterable[Tool]) -> list[Tool]:
    """Return the first tool of each name, since providers refuse duplicates."""
    named: dict[str, Tool] = {}
    for tool in tools:
        named.setdefault(tool.name, tool)
    return list(named.values())


def _declarations(
    step: InputStep, messages: Sequence[Any], record: Record | None, *, is_native: bool
) -> Declarations:
    tools = distinct(step.tools)
    if not is_native:
        return Declarations(tools=tuple(tools))
    chosen = read_tool_choice(step.tool_choice).names
    return declare(messages, tools, standing=step.declared, record=record, fixed=chosen)


def _split_system(
    step: InputStep, *, roles: frozenset[str] = frozenset()
) -> tuple[Any, list[Mapping[str, Any]]]:
    """Return the system prompt and the messages without it; those of `roles` join it wherever they stand."""
    merged = merge_system(step.messages, after=step.instructions)
    is_headed = bool(merged) and merged[0].get("role") in SYSTEM_ROLES
    head, rest = (merged[0].get("content"), merged[1:]) if is_headed else ("", merged)
    head = marked_text(head, merged[0]) if isinstance(head, str) and is_headed else head
    later = [message for message in rest if message.get("role") in roles]
    texts = [text for message in later if (text := text_of(message.get("content")))]
    if texts:
        joined = [{"role": "system", "content": head}] if head else []
        head = merge_system(joined, after=texts)[0]["content"]
    return plain(head), [message for message in rest if message.get("role") not in roles]
