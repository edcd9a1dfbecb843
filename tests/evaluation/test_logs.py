"""Logs of several systems, and what they teach."""

import json

import pytest

from tests.garbage import places, with_garbage
from tool_search_processor.evaluation.files import DataError
from tool_search_processor.evaluation.history import load_history
from tool_search_processor.evaluation.logs import read_log

FOUND = json.dumps({"results": [{"name": "create_issue"}, {"name": "list_issues"}]})


def openai_call(call_id, name, **arguments):
    return {
        "id": call_id,
        "type": "function",
        "function": {"name": name, "arguments": json.dumps(arguments)},
    }


OPENAI = [
    {"role": "user", "content": "The login is broken, tell the developers"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [openai_call("1", "search_tools", query="file a bug")],
    },
    {"role": "tool", "tool_call_id": "1", "content": FOUND},
    {"role": "assistant", "tool_calls": [openai_call("2", "load_tool", tool_names=["create_issue"])]},
    {"role": "tool", "tool_call_id": "2", "content": "{}"},
    {
        "role": "assistant",
        "tool_calls": [openai_call("3", "create_issue", title="x"), openai_call("4", "list_issues")],
    },
    {"role": "tool", "tool_call_id": "3", "content": "created"},
    {"role": "tool", "tool_call_id": "4", "content": "Error: no access"},
]
ANTHROPIC = [
    {"role": "user", "content": "The login is broken, tell the developers"},
    {
        "role": "assistant",
        "content": [
            {"type": "tool_use", "id": "1", "name": "search_tools", "input": {"query": "file a bug"}}
        ],
    },
    {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "1", "content": [{"type": "text", "text": FOUND}]},
        ],
    },
    {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": "2", "name": "create_issue", "input": {"title": "x"}}],
    },
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "2", "content": "created"}]},
]


def attributes(**values):
    return [{"key": key.replace("__", "."), "value": {"stringValue": value}} for key, value in values.items()]


def span(name, start, error=False, **values):
    status = {"code": 2} if error else {}
    return {
        "traceId": "t1", "name": name, "startTimeUnixNano": str(start), "status": status,
        "attributes": attributes(**values),
    }  # fmt: skip


ASKED = json.dumps(
    [{"role": "user", "parts": [{"type": "text", "content": "The login is broken, tell the developers"}]}]
)
SPANS = [
    span("execute_tool create_issue", 4, gen_ai__tool__name="create_issue"),
    span("chat gpt", 1, gen_ai__input__messages=ASKED),
    span(
        "execute_tool search_tools", 2, gen_ai__tool__name="search_tools",
        gen_ai__tool__call__arguments='{"query": "file a bug"}', gen_ai__tool__call__result=FOUND,
    ),
    span("execute_tool list_issues", 5, error=True),
]  # fmt: skip
OTLP = {"resourceSpans": [{"scopeSpans": [{"spans": SPANS}]}]}
FLAT = [
    {**one, "attributes": {a["key"]: a["value"]["stringValue"] for a in one["attributes"]}} for one in SPANS
]
WANTED = [
    ("file a bug", "create_issue"),
    ("The login is broken, tell the developers", "create_issue"),
]


@pytest.mark.parametrize(
    "value",
    [OPENAI, ANTHROPIC, {"messages": OPENAI, "thread_id": "x"}, [{"messages": OPENAI}], OTLP, FLAT],
    ids=["openai", "anthropic", "object", "list", "otlp", "spans"],
)
def test_a_log_teaches_what_was_asked_before_a_call_with_success(tmp_path, value):
    path = tmp_path / "log.json"
    path.write_text(json.dumps(value))
    records = read_log(path)
    assert [(record["query"], record["tool"]) for record in records] == WANTED
    assert len({record["thread"] for record in records}) == 1


def test_a_log_may_have_a_conversation_on_each_line(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text("\n".join(json.dumps(value) for value in (OPENAI, {"messages": ANTHROPIC})))
    records = read_log(path)
    assert [(record["query"], record["tool"]) for record in records] == WANTED * 2
    assert len({record["thread"] for record in records}) == 2
    path.write_text("\n".join(map(json.dumps, records)))
    assert load_history(path)[0].tools == ("create_issue",)


def test_the_target_of_a_proxy_is_what_was_called(tmp_path):
    messages = [
        {"role": "user", "content": "tell the developers"},
        {
            "role": "assistant",
            "tool_calls": [openai_call("1", "call_tool", tool_name="create_issue")],
        },
        {"role": "tool", "tool_call_id": "1", "content": "ok"},
    ]
    (tmp_path / "log.json").write_text(json.dumps(messages))
    assert [record["tool"] for record in read_log(tmp_path / "log.json")] == ["create_issue"]


@pytest.mark.parametrize("value", [3, {"a": 1}, [[3]], [{"messages": [{"x": 1}]}]])
def test_what_is_no_log_is_refused(tmp_path, value):
    (tmp_path / "log.json").write_text(json.dumps(value))
    with pytest.raises(DataError, match="message"):
        read_log(tmp_path / "log.json")


JUNK = [None, 3, -1.5, True, "", "x", [], {}, [1], ["a"], [[]], {"a": 1}, "\ud800", "[", float("inf")]


@pytest.mark.parametrize(
    "value", [OPENAI, ANTHROPIC, OTLP, FLAT], ids=["openai", "anthropic", "otlp", "spans"]
)
def test_whatever_a_log_holds_is_read_or_refused_with_its_place(tmp_path, value):
    path = tmp_path / "log.json"
    refused = 0
    for number, place in enumerate(places(value)):
        for junk in JUNK[number % 3 :: 3]:
            path.write_text(json.dumps(with_garbage(value, place, junk)))
            try:
                read_log(path)
            except DataError as exc:
                assert str(path) in str(exc)  # noqa: PT017 - most are read
                refused += 1
    assert refused
