"""Messages of one connection, one by one."""

import asyncio
import contextlib
import json

import pytest
from mcp.shared.message import SessionMessage
from mcp_types import CONNECTION_CLOSED, INVALID_REQUEST, PARSE_ERROR
from mcp_types.jsonrpc import jsonrpc_message_adapter
from pydantic import ValidationError

from tool_search_processor.providers.mcp import failures, traffic
from tool_search_processor.providers.mcp.failures import UNREADABLE
from tool_search_processor.providers.mcp.left_out import LeftOut
from tool_search_processor.providers.mcp.screening import Screen
from tool_search_processor.providers.mcp.traffic import Traffic


def read(**parts):
    return jsonrpc_message_adapter.validate_python({"jsonrpc": "2.0", **parts}, by_name=False)


def traffic_of(*methods):
    """Return the traffic of a connection over which these requests went, numbered from 1."""
    made = Traffic(Screen(LeftOut("s")), version=lambda: "2025-11-25")
    for number, method in enumerate(methods, 1):
        with made.sending(read(id=number, method=method)):
            pass
    return made


def unreadable(line):
    with pytest.raises(ValidationError) as failure:
        jsonrpc_message_adapter.validate_json(line, by_name=False)
    return failure.value


def received(made, **parts):
    return made.received(SessionMessage(read(**parts))).message


@pytest.mark.parametrize("number", [1, "1"])
def test_an_answer_is_screened_for_its_request(number):
    made = traffic_of("tools/list")
    good = {"name": "a", "inputSchema": {"type": "object"}}
    assert received(made, id=number, result={"tools": [good, {}]}).result == {"tools": [good]}
    assert received(made, id=number, result={"tools": [good, {}]}).result == {"tools": [good, {}]}


@pytest.mark.parametrize(
    ("line", "number"),
    [
        ('{"jsonrpc":"2.0","id":1,"result":{"a":\0}}', "1"),
        ('{ "id" : "1" , "result": {\0', "1"),
        ('{"result":{"a":"\0"},"jsonrpc":"2.0","id":1}', "1"),
        ('{"jsonrpc":"2.0","id":1,"result":"a text"}', "1"),
        ('{"jsonrpc":"2.0","id":2,"result":"of nobody"}', None),
        ('{"jsonrpc":"2.0","result":"of nobody"}', None),
        ("Traceback (most recent call last):", None),
        ("[1]", None),
    ],
)
def test_what_cannot_be_read_fails_the_request_that_it_answers(line, number):
    item = unreadable(line)
    found = traffic_of("tools/call").received(item)
    if number is None:
        assert found is item
    else:
        assert (found.message.id, found.message.error.code) == (number, UNREADABLE)


def tool(name, levels=1, **more):
    """Return a definition whose schema is nested `levels` deep."""
    schema = {}
    for _ in range(levels - 1):
        schema = {"not": schema}
    return {"name": name, "inputSchema": {**schema, "type": "object"}, **more}


def listing(*tools, **more):
    return json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"tools": tools, **more}})


@pytest.mark.parametrize("levels", [250, 500])
def test_a_tool_that_is_nested_too_deeply_costs_that_tool(levels, caplog):
    line = listing(tool("a"), tool("deep", levels), tool("b", 150), {"title": "none"}, nextCursor="2")
    found = traffic_of("tools/list").received(unreadable(line)).message
    assert found.result == {"tools": [tool("a"), tool("b", 150)], "nextCursor": "2"}
    assert [message.partition(" is left out: ")[2] for message in caplog.messages] == [
        "'deep': it is nested more than 190 levels deep",
        "'': name: Field required",
    ]


@pytest.mark.parametrize(
    ("method", "line"),
    [
        ("tools/call", listing(tool("deep", 250))),
        ("tools/list", '{"jsonrpc":"2.0","id":1,"result":{"tools":' + "[" * 100_000),
        ("tools/list", listing(tool("a"), _meta=tool("deep", 250))),
        ("tools/list", listing(tool("deep", 250), tool("a", description="half a character: \ud800"))),
    ],
    ids=["no list", "too deep for any reader", "beside the list", "no text"],
)
def test_an_answer_that_is_none_without_its_deep_entries_either_fails(method, line):
    found = traffic_of(method).received(unreadable(line)).message
    assert (found.id, found.error.code) == ("1", UNREADABLE)


@pytest.mark.parametrize(
    ("given", "message", "kind"),
    [
        (PARSE_ERROR, "Failed to parse JSON response: 1 validation error", "UNREADABLE"),
        (PARSE_ERROR, "Failed to parse SSE message: 1 validation error", "UNREADABLE"),
        (INVALID_REQUEST, "Redirect to http://x not followed", "UNREACHED"),
        (CONNECTION_CLOSED, "SSE stream ended without a response", "CUT_OFF"),
        (CONNECTION_CLOSED, "monthly quota spent", "SERVERS_OWN"),
    ],
)
def test_failures_that_the_sdk_found_get_their_kind(given, message, kind):
    error = received(traffic_of("tools/call"), id=1, error={"code": given, "message": message}).error
    assert error.code == getattr(failures, kind)


@pytest.mark.parametrize("message", ["No.", "Failed to parse the date", "Redirect to billing"])
def test_other_errors_are_the_server_s_own(message):
    error = received(traffic_of("tools/call"), id=1, error={"code": -1, "message": message}).error
    assert (error.code, error.message) == (-1, message)


def test_other_failures_pass():
    error = OSError("broken")
    assert traffic_of().received(error) is error


def test_requests_that_are_never_answered_are_forgotten(monkeypatch):
    monkeypatch.setattr(traffic, "_MOST_OPEN", 2)
    made = traffic_of("tools/list", "tools/list", "tools/list")
    assert received(made, id=1, result={"tools": [{}]}).result == {"tools": [{}]}
    assert received(made, id=3, result={"tools": [{}]}).result == {"tools": []}


async def test_nothing_is_read_while_too_many_answers_wait(monkeypatch):
    monkeypatch.setattr(traffic, "_MOST_WAITING", 2)
    made, answer = traffic_of(), read(id=1, result={})
    assert await made.has_room()
    with made.sending(answer):
        assert await made.has_room()
        with made.sending(answer):
            waiting = asyncio.create_task(made.has_room())
            await asyncio.sleep(0)
            assert not waiting.done()
        assert await waiting
        with contextlib.suppress(OSError), made.sending(answer):
            raise OSError("a write that fails leaves no answer behind")
        assert await made.has_room()
    monkeypatch.setattr(traffic, "_WAIT_SECONDS", 0.0)
    with made.sending(answer), made.sending(answer):
        assert not await made.has_room()
    assert made.fault == "it asks, and has taken none of 2 answers for 0 s"
