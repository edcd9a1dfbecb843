"""What a model may write, right or wrong, and what a conversation has to be whatever it wrote."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

WORDS = [
    "issue",
    "create",
    "mail",
    "send",
    "list",
    "weather",
    "getUser",
    "html_to_pdf",
    "ü",
    "漢字",
    "a",
    "the",
]
words = st.sampled_from(WORDS)
texts = st.one_of(st.lists(words, max_size=6).map(" ".join), st.text(max_size=20))

NAMES = ["create_issue", "send_mail", "list", "secret"]
called = st.sampled_from(
    [*NAMES, "search_tools", "load_tool", "unload_tool", "call_tool", "Create-Issue", "nothing", ""]
)
json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8), called),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)
fitting = st.fixed_dictionaries(
    {},
    optional={
        "query": st.one_of(words, st.lists(words, max_size=2)),
        "tool_names": st.lists(called, max_size=3),
        "name": called,
        "arguments": json_values,
        "a": st.text(max_size=3),
    },
)


def made_huge(kind: str) -> str:
    """Return a text that is long or nested deeply; by kind, so that a report stays short."""
    return {
        "text": "x" * 100_000,
        "brackets": "[" * 3_000,
        "values": json.dumps({"query": "x" * 100_000, "tool_names": ["x"] * 5_000}),
        "braces": '{"a":' * 3_000,
    }[kind]


huge = st.sampled_from(["text", "brackets", "values", "braces"]).map(made_huge)
arguments_written = st.one_of(fitting.map(json.dumps), fitting, json_values, st.text(max_size=10), huge)
calls_made = st.lists(
    st.one_of(
        st.fixed_dictionaries(
            {"function": st.fixed_dictionaries({"name": called, "arguments": arguments_written})},
            optional={"id": st.sampled_from(["same", "", None, 5]), "type": st.just("function")},
        ),
        json_values,
    ),
    max_size=4,
)
messages_said = st.fixed_dictionaries(
    {"content": st.one_of(st.none(), st.text(max_size=5)), "tool_calls": st.one_of(calls_made, json_values)}
)
replies = st.lists(
    st.tuples(messages_said, st.sampled_from([None, "stop", "tool_calls", "length", "content_filter"])),
    max_size=5,
)


def listed(request: dict[str, Any]) -> list[str]:
    return [tool["function"]["name"] for tool in request.get("tools", ())]


def well_formed(messages: list[dict[str, Any]]) -> bool:
    """Tell whether each call has exactly one result, right behind it, and all of it can be sent."""
    json.dumps(messages, ensure_ascii=False, allow_nan=False).encode()
    waiting: list[str] = []
    seen: set[str] = set()
    for message in messages:
        if message["role"] == "tool":
            if not waiting or waiting.pop(0) != message["tool_call_id"]:
                return False
            continue
        if waiting:
            return False
        waiting = [call["id"] for call in message.get("tool_calls", ())]
        if len(set(waiting)) < len(waiting) or seen & set(waiting):
            return False
        seen.update(waiting)
    return not waiting
