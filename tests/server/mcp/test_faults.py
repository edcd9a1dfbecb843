"""What goes wrong on the wire: broken messages, big bodies, strangers, clients that leave."""

import asyncio
import json
import logging

import httpx2
import pytest

from tests.server.mcp.support import (
    SECRET,
    Waiting,
    client_of,
    found,
    front,
    names,
    proxied,
    serving,
    soon,
    text,
)
from tests.server.mcp.wire import INITIALIZE, JSON, Wire
from tool_search_processor.errors import ConfigurationError
from tool_search_processor.server.mcp import ToolServer

MODERN = {**JSON, "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/list"}


@pytest.mark.parametrize("headers", [JSON, MODERN])
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"no json",
        b"{",
        b"[]",
        b"null",
        b"7",
        b'"text"',
        b"\xff\xfe",
        b'{"jsonrpc":"1.0","id":1,"method":"tools/list"}',
        b'{"jsonrpc":"2.0","id":{},"method":"tools/list"}',
        b'{"jsonrpc":"2.0","id":1}',
        b'{"jsonrpc":"2.0","id":1,"method":7}',
        b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":"x"}',
        b'[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]',
        b'{"a":' * 5000 + b"1" + b"}" * 5000,
        b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"n":' + b"9" * 10_000 + b"}}",
    ],
)
async def test_a_broken_message_is_refused_and_the_server_goes_on(http, headers, body):
    async with serving(front(session_secret="0123456789abcdef")) as url:
        response = await http.post(url, content=body, headers=headers)
        assert response.status_code in (200, 202, 400)
        assert b"Traceback" not in response.content
        assert (await Wire(http, url).begin()) is not None


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("nothing/here", {}, -32601),
        ("tools/call", {}, -32602),
        ("tools/call", {"name": 7}, -32602),
        ("tools/call", {"name": "create_issue", "arguments": "x"}, -32602),
        ("tools/list", {"cursor": "x"}, -32602),
        ("prompts/list", {"cursor": "x"}, -32602),
        ("resources/list", {"cursor": "x"}, -32602),
        ("resources/templates/list", {"cursor": "x"}, -32602),
    ],
)
async def test_a_request_that_makes_no_sense_gets_the_protocols_error(http, method, params, code):
    async with serving(front()) as url:
        wire = Wire(http, url)
        session = await wire.begin()
        _, _, message = await wire.ask(method, params, mcp_session_id=session)
        assert message["error"]["code"] == code
        assert (await wire.listed(session))[0] == 200


async def test_a_body_has_a_limit(http):
    call = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": INITIALIZE}
    big = json.dumps({**call, "params": {**INITIALIZE, "pad": "x" * 5_000_000}}).encode()

    async def pieces():
        for start in range(0, len(big), 100_000):
            yield big[start : start + 100_000]

    async with serving(front()) as url:
        for content in (big, pieces()):
            response = await http.post(url, content=content, headers=JSON)
            assert response.status_code == 413
        assert await Wire(http, url).begin()
    async with serving(front(), max_body_bytes=6_000_000) as url:
        assert (await http.post(url, content=big, headers=JSON)).status_code == 200
        session = await Wire(http, url).begin()
        arguments = {"name": "send_email", "arguments": {"to": "y" * 4_500_000}}
        _, _, message = await Wire(http, url).ask("tools/call", arguments, mcp_session_id=session)
        assert len(message["result"]["content"][0]["text"]) == 4_500_008


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "evil.example"}, 421),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://localhost:6274"}, 200),
    ],
)
async def test_a_page_that_lured_a_browser_here_gets_nothing(http, headers, status):
    async with serving(front()) as url:
        assert (await Wire(http, url).ask("initialize", INITIALIZE, **headers))[0] == status


async def test_a_token_is_needed_where_one_is_set(http):
    async with serving(front(authenticate="secret")) as url:
        wire = Wire(http, url)
        for wrong in ({}, {"authorization": "Bearer wrong"}):
            status, headers, _ = await wire.ask("initialize", INITIALIZE, **wrong)
            assert (status, headers["www-authenticate"]) == (401, "Bearer")
        async with client_of(url, headers={"authorization": "Bearer secret"}) as client:
            assert (await names(client))[0] == "create_issue"


async def test_other_machines_reach_a_server_only_with_a_token(http):
    with pytest.raises(ConfigurationError, match="give a token, or bind to"):
        await front().run_http(host="0.0.0.0")
    async with serving(front(authenticate="secret"), host="0.0.0.0") as url:
        headers = {"authorization": "Bearer secret", "host": "tools.example"}
        local = url.replace("0.0.0.0", "127.0.0.1")
        assert (await Wire(http, local).ask("initialize", INITIALIZE, **headers))[0] == 200


async def test_rate_and_concurrency_are_limited(http):
    async with serving(front(), requests_per_second=1) as url:
        statuses = [(await http.post(url, headers=JSON)).status_code for _ in range(4)]
    assert statuses[-1] == 429
    async with serving(front(), max_concurrent=1) as url, client_of(url, mode="auto") as client:
        async with client.listen(tools_list_changed=True):
            assert (await http.post(url, headers=JSON)).status_code == 503
        assert (await names(client))[0] == "create_issue"


async def test_a_client_that_leaves_in_a_call_ends_it_and_nothing_is_left(http, caplog):
    waiting = Waiting()
    server = ToolServer([waiting.tool])
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params = {"name": "wait", "arguments": {}, "_meta": meta}
    async with serving(server) as url:
        headers = {**MODERN, "mcp-method": "tools/call", "mcp-name": "wait"}
        task = asyncio.create_task(http.post(url, json={**call, "params": params}, headers=headers))
        await soon(waiting.began)
        task.cancel()
        await asyncio.wait({task})
        await soon(waiting.ended)
        assert await Wire(http, url).begin()
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []


@pytest.mark.parametrize("options", [{}, {"session_secret": SECRET}, {"keep_sessions": False}])
async def test_a_session_that_is_cut_off_in_a_call_ends_the_call_and_goes_on(http, options):
    waiting = Waiting()
    async with serving(ToolServer([waiting.tool], **options)) as url:
        wire = Wire(http, url)
        session = {"mcp_session_id": await wire.begin()} if "keep_sessions" not in options else {}
        task = asyncio.create_task(wire.ask("tools/call", {"name": "wait"}, **session))
        await soon(waiting.began)
        task.cancel()
        await asyncio.wait({task})
        await soon(waiting.ended)
        assert (await wire.ask("tools/list", **session))[0] == 200


@pytest.mark.slow
async def test_many_clients_at_once_each_get_their_own_answers():
    async def work(url, number):
        async with client_of(url, mode="legacy" if number % 2 else "auto") as client:
            assert (await found(client, query="send e-mail"))[0] == "send_email"
            return text(await proxied(client, "send_email", {"to": str(number)}))

    async with serving(front()) as url:
        answers = await asyncio.gather(*(work(url, number) for number in range(12)))
    assert answers == [f"sent to {number}" for number in range(12)]


async def test_an_app_of_ones_own_serves_the_front_too():
    server = front()
    app = server.http_app(path="/tools", allowed_hosts=["inside"])
    transport = httpx2.ASGITransport(app)
    async with (
        app.router.lifespan_context(app),
        httpx2.AsyncClient(transport=transport, base_url="http://inside") as http,
    ):
        wire = Wire(http, "http://inside/tools")
        session = await wire.begin()
        assert (await wire.listed(session))[1][0] == "create_issue"
        assert (await http.post("http://inside/elsewhere")).status_code == 404
        assert (await http.post("http://outside/tools")).status_code == 421
    async with server:
        pass
