"""Past requests and the tools they led to, read from logs: conversations, and OpenTelemetry spans."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tool_search_processor.errors import ConfigurationError
from tool_search_processor.evaluation.files import DataError, label_of, read_values
from tool_search_processor.meta_tools import read_call, read_search
from tool_search_processor.search.experience.entries import hashed, request_text
from tool_search_processor.wire.messages import to_openai_messages
from tool_search_processor.wire.plain import items_of, mapping_of, text_of

SEARCH_TOOLS = ("search_tools", "tool_search")
CALL_TOOLS = ("call_tool", "execute_tool")
_OTHER_META_TOOLS = frozenset({"load_tool", "unload_tool"})
_FAILED = ("Error", "Traceback")
_SPAN_ERROR = (2, "2", "ERROR", "STATUS_CODE_ERROR")


@dataclass(slots=True)
class _Conversation:
    """What was asked so far in one conversation."""

    thread: str
    search_tools: Sequence[str]
    turn: str = ""
    asked: dict[str, frozenset[str]] = field(default_factory=dict)

    def said(self, text: str) -> None:
        """Begin a turn of the user."""
        if text.strip() and text != self.turn:
            self.turn, self.asked = text, {}

    def called(self, name: str, arguments: Any, result: Any) -> Iterator[dict[str, str]]:
        """Yield what a successful call teaches; remember a search."""
        if name in self.search_tools:
            names = frozenset(_names_in(result))
            for query in read_search(mapping_of(_loaded(arguments)), default_limit=5).queries:
                self.asked[query] = names
            return
        if name in CALL_TOOLS:
            name, _ = read_call(mapping_of(_loaded(arguments)))
        if not name or name in _OTHER_META_TOOLS:
            return
        fitting = [query for query, names in self.asked.items() if name in names] or list(self.asked)
        for text in dict.fromkeys(map(request_text, (*fitting, self.turn))):
            if text:
                yield {"query": text, "tool": name, "thread": self.thread}


def read_log(path: str | Path, *, search_tools: Sequence[str] = SEARCH_TOOLS) -> list[dict[str, str]]:
    """Return a record for each request in a log and the tool that was then called successfully.

    It reads conversations (a list of OpenAI or Anthropic messages, or an object with `messages`; one, a list
    of them, or one on each line) and spans of OpenTelemetry's conventions for generative AI (OTLP as JSON, or
    a list of spans): `execute_tool` spans, and the input messages of the model calls before them.

    Args:
        path: The file; `-` is standard input.
        search_tools: The names of the search tool in the log.

    Raises:
        DataError: If the file can't be read, or holds neither.
    """
    label = label_of(path)
    values = read_values(path)
    if len(values) == 1 and isinstance(values[0], list) and not _is_conversation(values[0]):
        values = values[0]
    with _readable(label):
        spans = [span for value in values for span in _spans_in(value)]
        if spans:
            return list(_of_spans(spans, search_tools))
    records: list[dict[str, str]] = []
    for number, value in enumerate(values, start=1):
        messages = value.get("messages") if isinstance(value, Mapping) else value
        if not isinstance(messages, list):
            raise DataError(
                f"{label}, record {number}: neither a list of messages, an object with 'messages', nor a "
                f"span, found {value!r:.60}"
            )
        given = value.get("thread_id") if isinstance(value, Mapping) else None
        with _readable(f"{label}, record {number}"):
            records += _of_messages(messages, hashed(given or f"{label} {number}"), search_tools)
    return records


@contextmanager
def _readable(where: str) -> Iterator[None]:
    """Say where a log holds something else than its format has: it may hold anything."""
    try:
        yield
    except ConfigurationError as exc:
        raise DataError(f"{where}: {exc}") from exc
    except (TypeError, ValueError, AttributeError, KeyError, RecursionError, OverflowError) as exc:
        raise DataError(
            f"{where}: it is not written as messages of OpenAI or Anthropic, or spans of OpenTelemetry, are "
            f"({type(exc).__name__}: {exc!s:.80}): correct it, or leave it out"
        ) from exc


def _of_messages(
    messages: Sequence[Any], thread: str, search_tools: Sequence[str]
) -> Iterator[dict[str, str]]:
    conversation = _Conversation(thread, search_tools)
    waiting: dict[str, tuple[str, Any]] = {}
    for message in to_openai_messages(messages):
        if message.get("role") == "user":
            conversation.said(text_of(message.get("content")))
        for call in message.get("tool_calls") or ():
            waiting[call["id"]] = call["function"]["name"], call["function"]["arguments"]
        if message.get("role") == "tool" and message.get("tool_call_id") in waiting:
            name, arguments = waiting.pop(message["tool_call_id"])
            result = text_of(message.get("content"))
            if not result.startswith(_FAILED):
                yield from conversation.called(name, arguments, result)


def _of_spans(spans: Iterable[Mapping[str, Any]], search_tools: Sequence[str]) -> Iterator[dict[str, str]]:
    conversations: dict[str, _Conversation] = {}
    for span in sorted(spans, key=_start_of):
        found = _attributes(span)
        key = str(found.get("gen_ai.conversation.id") or span.get("traceId") or span.get("trace_id") or "")
        conversation = conversations.setdefault(key, _Conversation(hashed(key), search_tools))
        name = str(found.get("gen_ai.tool.name") or "")
        if not name and str(span.get("name", "")).startswith("execute_tool "):
            name = str(span["name"]).removeprefix("execute_tool ")
        if not name:
            conversation.said(_user_text(found, span))
        elif not _has_failed(span):
            arguments, result = (found.get(f"gen_ai.tool.call.{part}") for part in ("arguments", "result"))
            yield from conversation.called(name, arguments, result)


def _is_conversation(value: Sequence[Any]) -> bool:
    return bool(value) and isinstance(value[0], Mapping) and "role" in value[0]


def _spans_in(value: Any) -> Iterator[Mapping[str, Any]]:
    if not isinstance(value, Mapping):
        return
    for resource in value.get("resourceSpans") or ():
        for scope in resource.get("scopeSpans") or ():
            yield from scope.get("spans") or ()
    if "attributes" in value and ("traceId" in value or "trace_id" in value or "name" in value):
        yield value


def _attributes(part: Mapping[str, Any]) -> dict[str, Any]:
    """Return attributes as a dict, from OTLP's list of keys and values or from a plain object."""
    given = part.get("attributes") or {}
    if isinstance(given, Mapping):
        return dict(given)
    return {item["key"]: next(iter((item.get("value") or {"": None}).values()), None) for item in given}


def _user_text(found: Mapping[str, Any], span: Mapping[str, Any]) -> str:
    """Return the last message of the user in a model call's span; empty if it doesn't tell."""
    given = _loaded(found.get("gen_ai.input.messages")) or _loaded(found.get("gen_ai.prompt"))
    for message in reversed(items_of(given)):
        if isinstance(message, Mapping) and message.get("role") == "user":
            parts = message.get("parts")
            texts = (str(part.get("content") or part.get("text") or "") for part in parts or ())
            return " ".join(texts) if parts else text_of(message.get("content"))
    told = [_attributes(event) for event in span.get("events") or () if "user" in str(event.get("name"))]
    return str(told[-1].get("content") or "") if told else ""


def _has_failed(span: Mapping[str, Any]) -> bool:
    status = span.get("status") or {}
    code = status.get("code", status.get("status_code")) if isinstance(status, Mapping) else status
    return code in _SPAN_ERROR or "error.type" in _attributes(span)


def _start_of(span: Mapping[str, Any]) -> float:
    """Return when a span began; a string of nanoseconds in OTLP, a number or a date elsewhere."""
    started = span.get("startTimeUnixNano") or span.get("start_time") or 0
    try:
        return float(started)
    except (TypeError, ValueError):
        from datetime import datetime

        return datetime.fromisoformat(str(started)).timestamp() * 1e9


def _names_in(result: Any) -> Iterator[str]:
    """Yield the names of the tools in a search's result."""
    for hit in mapping_of(_loaded(result)).get("results") or ():
        if isinstance(hit, Mapping) and isinstance(hit.get("name"), str):
            yield hit["name"]


def _loaded(given: Any) -> Any:
    if not isinstance(given, str):
        return given
    try:
        return json.loads(given)
    except ValueError:
        return None
