"""The chunks of every server's fashion are put together into the same answer."""

from __future__ import annotations

import json

import pytest

from tests.agent.answers import attributes, chunk, response
from tool_search_processor.agent.chunks import ChunkAssembler
from tool_search_processor.agent.replies import parse_reply


def piece(name=None, arguments=None, **fields):
    return {"function": {"name": name, "arguments": arguments}, **fields}


def assembled(*deltas):
    assembler = ChunkAssembler()
    for pieces in deltas:
        assembler.add(chunk(tool_calls=pieces if isinstance(pieces, list) else [pieces]))
    return [(call.id, call.name, call.arguments) for call in assembler.reply().calls]


ONE = [("c1", "add", '{"a":1}')]


TWO = [("c1", "add", '{"a":1}'), ("c2", "sub", "{}")]


@pytest.mark.parametrize(
    ("deltas", "calls"),
    [
        # as OpenAI does
        (
            [piece("add", "", index=0, id="c1"), piece(None, '{"a"', index=0), piece(None, ":1}", index=0)],
            ONE,
        ),
        # name and id in every chunk
        (
            [piece("add", '{"a"', index=0, id="c1"), piece("add", ":1}", index=0, id="c1")],
            ONE,
        ),
        # a name that grows, and one in pieces
        ([piece("ad", None, index=0, id="c1"), piece("add", '{"a":1}', index=0, id="c1")], ONE),
        ([piece("a", None, index=0, id="c1"), piece("dd", '{"a":1}', index=0)], ONE),
        # the id late, with or without the name
        ([piece("add", '{"a"', index=0), piece(None, ":1}", index=0, id="c1")], ONE),
        ([piece("add", '{"a"', index=0), piece("add", ":1}", index=0, id="c1")], ONE),
        (
            [
                piece("add", '{"a":1', index=0, id="c1"),
                piece("add", "}", index=0),
                piece("add", " ", index=0),
            ],
            [("c1", "add", '{"a":1} ')],
        ),
        # another id in every chunk of one call: the first counts
        ([piece("add", '{"a"', index=0, id="c1"), piece(None, ":1}", index=0, id="c9")], ONE),
        # no index
        ([piece("add", '{"a":1}', id="c1"), piece("sub", "{}", id="c2")], TWO),
        (
            [piece("add", "", id="c1"), piece(None, '{"a"'), piece(None, ":1}"), piece("sub", "{}", id="c2")],
            TWO,
        ),
        (
            [
                piece("add", "", id="c1"),
                piece("sub", "{}", id="c2"),
                piece(None, '{"a":1}', id="c1"),
            ],
            TWO,
        ),
        # index 0 for every call
        ([piece("add", '{"a":1}', index=0, id="c1"), piece("sub", "{}", index=0, id="c2")], TWO),
        # interleaved, and two in one chunk
        (
            [
                [piece("add", "", index=0, id="c1"), piece("sub", "", index=1, id="c2")],
                piece(None, "{}", index=1),
                piece(None, '{"a":1}', index=0),
            ],
            TWO,
        ),
        # arguments as an object
        ([piece("add", {"a": 1}, index=0, id="c1")], [("c1", "add", '{"a": 1}')]),
        ([], []),
    ],
)
def test_streamed_calls(deltas, calls):
    assert assembled(*deltas) == calls


@pytest.mark.parametrize("order", [(0, 1, 2), (1, 0, 2), (1, 2, 0)])
def test_streamed_calls_of_index_0_with_an_id_only_where_there_are_arguments(order):
    """As litellm gives Ollama's."""
    pieces = [
        piece("add", '{"a":1}', index=0, id="c1"),
        piece("sub", "{}", index=0),
        piece("sub", "{}", index=0),
    ]
    calls = assembled(*(pieces[place] for place in order))
    given = [("add", '{"a":1}'), ("sub", "{}"), ("sub", "{}")]
    assert [(name, arguments) for _, name, arguments in calls] == [given[place] for place in order]


WHOLE = piece("add", '{"a": 1}', index=0)


@pytest.mark.parametrize(
    ("deltas", "names"),
    [
        ([{**WHOLE, "id": "c1"}, WHOLE], ["add"]),
        ([{**WHOLE, "id": "c1"}, {**WHOLE, "id": "c1"}], ["add"]),
        ([WHOLE, {**WHOLE, "id": "c1"}], ["add"]),
        ([WHOLE, WHOLE, WHOLE], ["add"]),
        ([{**WHOLE, "id": "c1"}, piece("add", {"a": 1}, index=0)], ["add"]),
        ([{**WHOLE, "id": "c1"}, piece("add", '{"a"', index=0), piece(None, ":1}", index=0)], ["add"]),
        ([piece("add", '{"a": ', index=0, id="c1"), piece(None, "1}", index=0), WHOLE], ["add"]),
        (
            [WHOLE, piece("sub", '{"a": 1}', index=0), WHOLE, piece("sub", '{"a": 1}', index=0)],
            ["add", "sub"],
        ),
        ([piece("add", '{"a": 1}'), piece("add", '{"a": 1}')], ["add"]),
        ([{**WHOLE, "id": "c1"}, {**WHOLE, "id": "c2"}], ["add", "add"]),
        ([WHOLE, {**WHOLE, "index": 1}], ["add", "add"]),
        ([{**WHOLE, "id": "c1"}, piece("add", '{"a": 2}', index=0, id="c1")], ["add", "add"]),
    ],
)
def test_a_call_that_a_stream_says_twice_is_one_call(deltas, names):
    calls = assembled(*deltas)
    assert [name for _, name, _ in calls] == names
    assert all(json.loads(arguments) for _, _, arguments in calls)
    assert calls[0][0] in ("", "c1")


def test_the_old_form_of_a_call_is_read():
    call = {"name": "add", "arguments": '{"a": 1}'}
    whole = parse_reply(response({"content": None, "function_call": call}, "function_call"))
    assert [(one.name, one.arguments) for one in whole.calls] == [("add", '{"a": 1}')]
    assembler = ChunkAssembler()
    for delta in ({"name": "add", "arguments": ""}, {"arguments": '{"a":'}, {"arguments": " 1}"}, None):
        assembler.add(chunk(function_call=delta))
    assert [(one.name, one.arguments) for one in assembler.reply().calls] == [("add", '{"a": 1}')]


def test_a_server_that_sends_both_forms_of_a_call_calls_once():
    old = {"name": "add", "arguments": '{"a": 1}'}
    new = {"id": "c1", "function": old}
    both = parse_reply(response({"content": None, "function_call": old, "tool_calls": [new]}))
    assert [one.id for one in both.calls] == ["c1"]
    assembler = ChunkAssembler()
    assembler.add(chunk(function_call=old, tool_calls=[{**new, "index": 0}]))
    assert [one.id for one in assembler.reply().calls] == ["c1"]


def test_streamed_calls_without_index_and_id():
    calls = assembled(
        piece("add", '{"a":1}'), piece("add", '{"a":2}'), piece("sub", '{"b"'), piece("sub", ":1}")
    )
    assert [(name, arguments) for _, name, arguments in calls] == [
        ("add", '{"a":1}'),
        ("add", '{"a":2}'),
        ("sub", '{"b":1}'),
    ]


def test_long_arguments_are_not_read_at_each_piece_that_repeats_the_name(monkeypatch):
    read, loads = [], json.loads
    monkeypatch.setattr(json, "loads", lambda text: read.append(text) or loads(text))
    arguments = json.dumps({"text": "a word and {another} " * 100})
    calls = assembled(*(piece("add", character, index=0) for character in arguments))
    assert calls == [("", "add", arguments)]
    assert len(read) <= arguments.count("}")


def test_streamed_text_thinking_and_usage():
    assembler = ChunkAssembler()
    texts = [
        assembler.add(item)
        for item in [
            chunk(role="assistant", reasoning_content="be"),
            chunk(reasoning_content="cause", thinking_blocks=[{"type": "thinking", "thinking": "a"}]),
            chunk(thinking_blocks=[{"type": "thinking", "thinking": "b"}]),
            chunk(thinking_blocks=[{"type": "thinking", "thinking": "", "signature": "s"}]),
            chunk(thinking_blocks=[{"type": "redacted_thinking", "data": "d"}]),
            chunk(thinking_blocks=[{"type": "thinking", "thinking": "c"}]),
            chunk(content="Hel", provider_specific_fields={"x": 1}, reasoning_items=[{"id": "rs_1"}]),
            chunk(reasoning_items=[{"id": "rs_2", "encrypted_content": "e"}]),
            {"choices": [{"index": 1, "delta": {"content": "another choice"}}]},
            attributes(chunk(content="lo")),
            {"choices": [{"delta": {}, "finish_reason": "stop"}]},
            {"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 1}},
        ]
    ]
    assert "".join(texts) == "Hello"
    reply = assembler.reply()
    assert (reply.text, reply.finish_reason, reply.usage.total_tokens) == ("Hello", "stop", 6)
    assert reply.extra == {
        "reasoning_content": "because",
        "thinking_blocks": [
            {"type": "thinking", "thinking": "ab", "signature": "s"},
            {"type": "redacted_thinking", "data": "d"},
            {"type": "thinking", "thinking": "c"},
        ],
        "reasoning_items": [{"id": "rs_1"}, {"id": "rs_2", "encrypted_content": "e"}],
        "provider_specific_fields": {"x": 1},
    }


def test_a_streamed_refusal_and_a_calls_own_fields():
    assembler = ChunkAssembler()
    assembler.add(chunk(refusal="I can't", tool_calls=[piece("f", "{}", provider_specific_fields={"s": 1})]))
    reply = assembler.reply()
    assert reply.text == "I can't"
    assert reply.calls[0].extra == {"provider_specific_fields": {"s": 1}}
