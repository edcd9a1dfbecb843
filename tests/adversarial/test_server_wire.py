"""Hostile clients on the wire: what they send is refused or answered, and everybody else is served on."""

from __future__ import annotations

import asyncio
import gzip
import json
from contextlib import asynccontextmanager

import httpx2
import pytest

from tests.server.mcp.support import SECRET, Waiting, client_of, found, front, names, serving, soon
from tests.server.mcp.wire import ACCEPT, DISCOVERY, INITIALIZE, JSON, NORMAL, Wire
from tool_search_processor.server.mcp import ToolServer

pytestmark = pytest.mark.slow

HEAD = "POST /mcp HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n"


async def exchange(url, *parts):
    """Send bytes over a connection of one's own; return all that comes back before it ends."""
    reader, writer = await asyncio.open_connection("127.0.0.1", httpx2.URL(url).port)
    try:
        for part in parts:
            writer.write(part)
        return await asyncio.wait_for(reader.read(), 10)
    finally:
        writer.close()


def status_of(answer):
    return int(answer.split()[1]) if answer else 0


@pytest.mark.parametrize(
    ("target", "head", "statuses"),
    [
        ("http://evil.example/mcp", "Host: localhost\r\n", {404}),
        ("http://localhost/mcp", "Host: evil.example\r\n", {421}),
        ("//evil.example/mcp", "Host: localhost\r\n", {404}),
        ("/mcp/../mcp", "Host: localhost\r\n", {404}),
        ("/mcp%2f%2f", "Host: localhost\r\n", {404}),
        ("/mcp", "", {400}),
        ("/mcp", "Host: localhost\r\nHost: evil.example\r\n", {400}),
        ("/mcp", "Host: evil.example\r\nX-Forwarded-Host: localhost\r\n", {421}),
        ("/mcp", "Host: localhost.\r\n", {421}),
        ("/mcp", "Host: localhost\r\nOrigin: null\r\n", {403}),
        ("/mcp", "Host: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n", {400}),
        ("/mcp", "Host: localhost\r\nContent-Length: -1\r\n", {400}),
        ("/mcp", "Host: localhost\r\nContent-Length: 99999999999999999999\r\n", {400, 413}),
        ("/mcp", "Host: localhost\r\nTransfer-Encoding: gzip, chunked\r\n", {400, 501}),
        ("/mcp", f"Host: localhost\r\nX: {'x' * 100_000}\r\n", {400}),
        ("/mcp", "Host: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n", {400, 406}),
    ],
)
async def test_a_request_that_lies_about_itself_is_refused(target, head, statuses):
    async with serving(front()) as url:
        request = f"POST {target} HTTP/1.1\r\n{head}Connection: close\r\n\r\n"
        assert status_of(await exchange(url, request.encode())) in statuses


LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        ({"content-type": "text/plain"}, json.dumps(LIST).encode()),
        ({"content-type": "application/x-www-form-urlencoded"}, b"a=b"),
        ({"content-type": "multipart/form-data; boundary=x"}, b"--x--"),
        ({"content-encoding": "gzip"}, gzip.compress(json.dumps(LIST).encode())),
        ({"content-encoding": "gzip"}, gzip.compress(bytes(1 << 26))),
        ({}, json.dumps({**LIST, "params": {"name": "\ud800"}}).encode()),
        ({}, b'{"jsonrpc":"2.0","id":null,"method":"tools/list"}'),
        ({}, b'{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}'),
        ({}, b'{"jsonrpc":"2.0","id":true,"method":"tools/list"}'),
        ({}, b"[" * 10_000 + b"]" * 10_000),
        ({}, json.dumps([LIST] * 1000).encode()),
        ({"accept": "text/html"}, json.dumps(LIST).encode()),
        ({"mcp-protocol-version": "1999-01-01"}, json.dumps(LIST).encode()),
        ({"mcp-protocol-version": "\xff"}, json.dumps(LIST).encode()),
        ({"mcp-session-id": "x" * 5000}, json.dumps(LIST).encode()),
        ({"mcp-session-id": "\xff\xfe"}, json.dumps(LIST).encode()),
        ({"mcp-session-id": ""}, json.dumps(LIST).encode()),
    ],
)
@pytest.mark.parametrize("options", [{}, {"session_secret": SECRET}])
async def test_what_is_no_request_of_the_protocol_is_refused(http, options, headers, body):
    async with serving(front(**options)) as url:
        given = {name: value.encode("latin-1") for name, value in {**JSON, **headers}.items()}
        response = await http.post(url, content=body, headers=given)
        assert response.status_code == 202 or 400 <= response.status_code < 500
        assert b"result" not in response.content
        assert b"Traceback" not in response.content
        async with client_of(url) as client:
            assert await names(client) == NORMAL


@pytest.mark.parametrize("identifier", [10**15, -1, "", "x" * 10_000, "é\n\r", 10**100])
async def test_an_id_comes_back_as_it_was(http, identifier):
    async with serving(front()) as url:
        session = await Wire(http, url).begin()
        body = {**LIST, "id": identifier}
        response = await http.post(url, json=body, headers={**JSON, "mcp-session-id": session})
        assert response.status_code == 200
        data = next(line for line in response.text.splitlines() if line.startswith("data: {"))
        assert json.loads(data.removeprefix("data: "))["id"] == identifier


async def test_a_flood_of_notifications_and_of_answers_to_nothing_changes_nothing(http):
    unasked = [
        {"method": "notifications/cancelled", "params": {"requestId": 77, "reason": "x" * 1000}},
        {"method": "notifications/cancelled", "params": {}},
        {"method": "notifications/progress", "params": {"progressToken": "other", "progress": 1}},
        {"method": "notifications/roots/list_changed"},
        {"method": "notifications/initialized"},
        {"method": "notifications/nothing", "params": {"a": [None] * 100}},
        {"id": 99, "result": {}},
        {"id": 98, "error": {"code": 1, "message": "x"}},
    ]
    async with serving(front()) as url:
        session = await Wire(http, url).begin()
        headers = {**JSON, "mcp-session-id": session}
        for message in unasked * 20:
            response = await http.post(url, json={"jsonrpc": "2.0", **message}, headers=headers)
            assert response.status_code in (202, 400)
        assert await Wire(http, url).listed(session) == (200, NORMAL)


async def test_a_session_cannot_end_or_hurry_a_call_of_another(http):
    waiting = Waiting()
    async with serving(ToolServer([waiting.tool])) as url:
        wire = Wire(http, url)
        mine, other = await wire.begin(), await wire.begin()
        task = asyncio.create_task(
            wire.ask("tools/call", {"name": "wait", "_meta": {"progressToken": 5}}, mcp_session_id=mine)
        )
        assert await soon(waiting.began) == mine
        for method, params in (
            ("cancelled", {"requestId": 1}),
            ("progress", {"progressToken": 5, "progress": 9}),
        ):
            body = {"jsonrpc": "2.0", "method": f"notifications/{method}", "params": params}
            assert (await http.post(url, json=body, headers={**JSON, "mcp-session-id": other})).is_success
        assert (await http.delete(url, headers={**JSON, "mcp-session-id": other})).is_success
        waiting.go.set()
        status, _, message = await asyncio.wait_for(task, 10)
        assert (status, message["result"]["content"][0]["text"]) == (200, "went")


async def test_ending_a_session_ends_its_calls(http):
    waiting = Waiting()
    async with serving(ToolServer([waiting.tool])) as url:
        wire = Wire(http, url)
        session = await wire.begin()
        task = asyncio.create_task(wire.ask("tools/call", {"name": "wait"}, mcp_session_id=session))
        await soon(waiting.began)
        assert (await http.delete(url, headers={**JSON, "mcp-session-id": session})).is_success
        assert await soon(waiting.ended) == session
        await asyncio.wait({task})
        assert (await wire.listed(session))[0] == 404


@pytest.mark.parametrize("second", [1, "1"])
async def test_an_id_of_a_request_under_way_is_refused_and_free_again_after_it(http, second):
    waiting = Waiting()
    async with serving(ToolServer([waiting.tool])) as url:
        wire = Wire(http, url)
        session = await wire.begin()
        task = asyncio.create_task(wire.ask("tools/call", {"name": "wait"}, mcp_session_id=session))
        await soon(waiting.began)
        headers = {**JSON, "mcp-session-id": session}
        refused = await http.post(url, json={**LIST, "id": second}, headers=headers)
        assert (refused.status_code, refused.json()["id"]) == (400, second)
        assert refused.json()["error"]["message"] == "The id of a request that is still under way"
        other = await http.post(url, json={**LIST, "id": 2}, headers=headers)
        assert other.status_code == 200
        waiting.go.set()
        assert (await asyncio.wait_for(task, 10))[0] == 200
        assert (await wire.ask("tools/list", mcp_session_id=session))[0] == 200


async def test_the_mode_is_read_once_and_odd_values_are_the_default(http, caplog):
    async with serving(front()) as url:
        wire = Wire(http, url)
        assert await wire.listed(await wire.begin(x_mcp_tool_mode="DISCOVERY")) == (200, DISCOVERY)
        for odd in ("discovery,normal", "1", "\xff", "x" * 5000, "d\u0131scovery"):
            header = odd.encode("utf-8")
            assert await wire.listed(await wire.begin(x_mcp_tool_mode=header)) == (200, NORMAL)
        assert len(caplog.messages) == 5
        assert max(map(len, caplog.messages)) < 200
        assert await wire.listed(await wire.begin(x_mcp_tool_mode="")) == (200, NORMAL)
        assert await wire.listed(await wire.begin(url=f"{url}/")) == (200, NORMAL)
        session = await wire.begin(url=f"{url}?tool_mode=discovery&tool_mode=normal")
        assert (await wire.listed(session))[1] in (NORMAL, DISCOVERY)
        headers = [*JSON.items(), ("x-mcp-tool-mode", "normal"), ("x-mcp-tool-mode", "discovery")]
        body = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": INITIALIZE}
        twice = (await http.post(url, json=body, headers=headers)).headers["mcp-session-id"]
        assert await wire.listed(twice, x_mcp_tool_mode="discovery") == (200, NORMAL)


@asynccontextmanager
async def stream_of(http, url, session):
    async with http.stream("GET", url, headers={**ACCEPT, "mcp-session-id": session}) as response:
        yield response


async def test_open_streams_are_limited_and_end_with_the_server(http):
    server = front()
    async with serving(server, max_concurrent=3) as url:
        wire = Wire(http, url)
        sessions = [await wire.begin() for _ in range(3)]
        async with (
            stream_of(http, url, sessions[0]) as first,
            stream_of(http, url, sessions[1]) as second,
        ):
            assert first.status_code == second.status_code == 200
            for _ in range(100):  # an answered request holds its place a moment longer
                async with stream_of(http, url, sessions[2]) as third:
                    if third.status_code == 200:
                        assert (await wire.listed(sessions[2]))[0] == 503
                        break
            assert third.status_code == 200
        for _ in range(100):
            if (await wire.listed(sessions[0]))[0] == 200:
                break
        async with stream_of(http, url, sessions[0]) as reopened:
            assert reopened.status_code == 200


async def test_abandoned_sessions_leave_no_task_behind(http):
    server = front(session_ttl_seconds=0.5)
    async with serving(server, requests_per_second=None) as url:
        wire = Wire(http, url)
        await wire.begin()
        before = len(asyncio.all_tasks())
        for _ in range(10):
            sessions = await asyncio.gather(*(wire.begin() for _ in range(10)))
            headers = [{**JSON, "mcp-session-id": session} for session in sessions]
            body = {"jsonrpc": "2.0", "method": "notifications/initialized"}
            await asyncio.gather(*(http.post(url, json=body, headers=each) for each in headers))
        async with asyncio.timeout(20):
            while len(asyncio.all_tasks()) > before + 5:  # noqa: ASYNC110 - they are the SDK's
                await asyncio.sleep(0.05)
        assert (await wire.listed(sessions[0]))[0] == 404
        assert sum(len(hub._watched) for hub in server._hubs) == 0


async def test_slow_and_half_closed_clients_keep_nobody_waiting():
    async with serving(front(), body_timeout_seconds=0.2) as url:
        chunked = f"{HEAD.format(host='localhost')}Transfer-Encoding: chunked\r\n\r\n"
        slow = [asyncio.create_task(exchange(url, chunked.encode(), b"5\r\nab")) for _ in range(20)]
        async with client_of(url) as client:
            assert "send_email" in await found(client, query="e-mail")
        for answer in await asyncio.gather(*slow):
            assert status_of(answer) == 408
        reader, writer = await asyncio.open_connection("127.0.0.1", httpx2.URL(url).port)
        writer.write(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{")
        writer.write_eof()
        await asyncio.wait_for(reader.read(), 10)
        writer.close()
