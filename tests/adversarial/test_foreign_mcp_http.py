"""A server over HTTP that means harm, or stands behind something that does."""

import asyncio
import gzip
import json
import logging

import pytest

from tests.adversarial.http_answers import answering, endless
from tests.providers.mcp.asking import tools_of
from tests.providers.openapi.web import reply, serve
from tool_search_processor.errors import ToolCallError
from tool_search_processor.providers import MCPProvider
from tool_search_processor.providers.mcp.http_client import ContainingClient

pytestmark = pytest.mark.usefixtures("mcp_closed")

ECHO = {"name": "echo", "inputSchema": {"type": "object", "properties": {"how": {"type": "string"}}}}


def message(request, **parts):
    return json.dumps({"jsonrpc": "2.0", "id": json.loads(request.body).get("id"), **parts})


def said(request, text="fine"):
    return message(request, result={"content": [{"type": "text", "text": text}]})


async def usual(request, writer, *, session="s1"):
    """Answer what is asked before a call, as a server of 2025-11-25."""
    asked = json.loads(request.body or b"{}")
    results = {
        "initialize": {
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "h", "version": "1"},
        },
        "tools/list": {"tools": [ECHO]},
    }
    if request.method != "POST":
        await reply(writer, status="405 Method Not Allowed")
    elif asked["method"] in results:
        body = message(request, result=results[asked["method"]])
        await reply(writer, body, content_type="application/json", mcp_session_id=session)
    elif "id" in asked:
        await reply(writer, status="404 Not Found")
    else:
        await reply(writer, status="202 Accepted")


def attacked(answer_call):
    """Return what answers calls of `echo` in its own way: by the argument `how`, or else well."""

    async def answer(request, writer):
        asked = json.loads(request.body or b"{}")
        if asked.get("method") != "tools/call":
            await usual(request, writer)
        elif asked["params"]["arguments"]:
            await answer_call(request, writer)
        else:
            await reply(writer, said(request), content_type="application/json")

    return answer


async def bomb(request, writer):
    packed = gzip.compress(bytes(100_000_000), 1)
    await reply(writer, packed, content_type="application/json", content_encoding="gzip")


async def cut(request, writer):
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 999\r\n\r\n{")
    await writer.drain()


def events(*lines):
    def body(request):
        return "".join(f"{line(request) if callable(line) else line}\n\n" for line in lines)

    return answering(body, content_type="text/event-stream")


def data(text):
    return lambda request: f"event: message\ndata: {text(request)}"


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (endless(), "can't be read: its answer is larger than 33,554,432 bytes"),
        (bomb, "can't be read: its answer is larger than 33,554,432 bytes"),
        (answering(b"x", content_encoding="br"), "can't be read: it is packed as"),
        (answering(b"x", content_encoding="gzip, gzip"), "can't be read: it is packed as"),
        (answering(b"no gzip", content_encoding="gzip"), "can't be read: it is packed, and broken"),
        (cut, "ended during the call of echo, which may have been carried out or not"),
        (answering("<html>Sorry.</html>", content_type="text/html"), "Unexpected content type: text/html"),
        (answering("{"), "can't be read"),
        (answering(b"\xff\xfe"), "can't be read"),
        (answering("[" * 100_000), "can't be read"),
        (answering(status="202 Accepted"), "refused echo: server answered a request with 202"),
        (answering(status="401 Unauthorized"), "refused echo: HTTP 401 Unauthorized"),
        (answering('{"error": "no token"}', status="403 Forbidden"), "refused echo: HTTP 403 Forbidden"),
        (answering('{"error": {"code": 1}}', status="502 Oh"), "refused echo: HTTP 502 Bad Gateway"),
        (
            answering(
                lambda r: message(r, error={"code": 1, "message": "Too old."}), status="400 Bad Request"
            ),
            "refused echo: Too old.",
        ),
        (
            answering("Slow", status="429 Go Away", content_type="text/plain"),
            "refused echo: HTTP 429 Too Many",
        ),
        (answering(status="500 Oh No"), "refused echo: HTTP 500 Internal Server Error"),
        (answering("<p>", status="503 Oh", content_type="text/html"), "refused echo: HTTP 503 Service Un"),
        (
            answering(status="307 Away", location="http://169.254.169.254/"),
            "cannot be reached; echo was not run",
        ),
        (answering(status="307 Round", location="/mcp"), "cannot be reached; echo was not run"),
        (events(), "ended during the call of echo"),
        (events(data(lambda request: "{")), "can't be read"),
        (events(data(lambda request: "x" * 40_000_000)), "ended during the call of echo"),
    ],
)
async def test_an_answer_that_is_none_costs_that_call(answer, words):
    async with serve(attacked(answer)) as web, MCPProvider.http(f"{web.url}/mcp", name="foe") as provider:
        tool = (await tools_of(provider))["echo"]
        with pytest.raises(ToolCallError, match=words) as failure:
            await tool.call({"how": "badly"})
        assert len(str(failure.value)) < 500
        assert "127.0.0.1" not in str(failure.value)
        assert await tool.call({}) == "fine"
        assert sum(b'"initialize"' in request.body for request in web.requests) == 1


async def test_a_bad_tool_costs_that_tool_in_the_newest_protocol_too(caplog):
    base = {"resultType": "complete", "ttlMs": 0, "cacheScope": "public"}
    schema = {"type": "object", "properties": {"a": {"type": "string", "x-mcp-header": "A\r\nEvil: 1"}}}
    results = {
        "server/discover": {
            **base,
            "supportedVersions": ["2026-07-28"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "h", "version": "1"},
        },
        "tools/list": {**base, "tools": [ECHO, {"name": 5}, {"name": "evil", "inputSchema": schema}]},
        "tools/call": {"resultType": "complete", "content": [{"type": "hologram"}]},
    }

    async def answer(request, writer):
        body = message(request, result=results[json.loads(request.body)["method"]])
        await reply(writer, body, content_type="application/json")

    async with serve(answer) as web, MCPProvider.http(f"{web.url}/mcp", name="foe") as provider:
        tools = await tools_of(provider)
        assert list(tools) == ["echo"]
        assert await tools["echo"].call({}) == "[hologram: content that can't be read, not shown]"
    assert (
        "a tool of the MCP server 'foe' is left out: '': name: Input should be a valid string"
        in caplog.messages
    )


async def test_a_long_answer_comes_as_an_event_too():
    long = events(data(lambda request: said(request, "x" * 3_000_000)))
    async with (
        serve(attacked(long)) as web,
        MCPProvider.http(f"{web.url}/mcp", max_result_characters=None) as provider,
    ):
        assert len(await (await tools_of(provider))["echo"].call({"how": "long"})) == 3_000_000


async def test_a_call_that_fails_in_the_middle_ends_no_other():
    begun, ended = asyncio.Event(), asyncio.Event()

    async def answer(request, writer):
        if b"slowly" in request.body:
            begun.set()
            await ended.wait()
            await reply(writer, said(request, "at last"), content_type="application/json")
        else:
            await cut(request, writer)

    async with serve(attacked(answer)) as web, MCPProvider.http(f"{web.url}/mcp", name="foe") as provider:
        tool = (await tools_of(provider))["echo"]
        other = asyncio.create_task(tool.call({"how": "slowly"}))
        await begun.wait()
        with pytest.raises(ToolCallError, match="ended during the call"):
            await tool.call({"how": "badly"})
        ended.set()
        assert await other == "at last"


async def test_an_answer_that_drips_is_given_up():
    given_up = asyncio.Event()

    async def drip(request, writer):
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n")
        try:
            while True:
                writer.write(b" ")
                await writer.drain()
                await asyncio.sleep(0)
        finally:
            given_up.set()

    async with (
        serve(attacked(drip)) as web,
        MCPProvider.http(f"{web.url}/mcp", name="foe", call_timeout_seconds=0.5) as provider,
    ):
        tool = (await tools_of(provider))["echo"]
        with pytest.raises(ToolCallError, match=r"took longer than 0.5 seconds"):
            await tool.call({"how": "badly"})
        assert await tool.call({}) == "fine"
    await given_up.wait()


async def test_streams_that_end_at_once_are_not_opened_in_a_busy_loop():
    slept, now = [], 0.0

    async def sleep(seconds):
        nonlocal now
        slept.append(seconds)
        now += seconds

    async def answer(request, writer):
        await reply(writer, "retry: 0\n\n", content_type="text/event-stream")

    async with (
        serve(answer) as web,
        ContainingClient(clock=lambda: now, sleep=sleep) as client,
    ):
        for _ in range(4):
            await client.get(web.url)
        await client.post(web.url)
    assert slept == [1.0, 1.0, 1.0]


async def test_a_session_that_changes_its_number_goes_on():
    count = 0

    async def answer(request, writer):
        nonlocal count
        count += 1
        await usual(request, writer, session=f"s{count}")

    async with serve(answer) as web, MCPProvider.http(f"{web.url}/mcp", name="foe") as provider:
        assert list(await tools_of(provider)) == ["echo"]
        assert list(await tools_of(provider)) == ["echo"]
        assert len({request.headers.get("mcp-session-id") for request in web.requests[2:]}) == 1


async def test_a_hook_that_signs_and_fails_costs_that_request():
    import httpx2

    class Hook(httpx2.Auth):
        fails = False

        async def async_auth_flow(self, request):
            if self.fails:
                raise RuntimeError("no token")
            yield request

    hook = Hook()
    async with (
        serve(attacked(endless())) as web,
        MCPProvider.http(f"{web.url}/mcp", name="foe", auth=hook) as provider,
    ):
        tool = (await tools_of(provider))["echo"]
        hook.fails = True
        with pytest.raises(ToolCallError, match="'foe' cannot be reached; echo was not run"):
            await tool.call({})
        hook.fails = False
        assert await tool.call({}) == "fine"


async def test_an_answer_to_another_request_is_nobody_s(caplog):
    caplog.set_level(logging.CRITICAL, "mcp")
    wrong = answering(lambda request: json.dumps({"jsonrpc": "2.0", "id": 999, "result": {}}))
    async with (
        serve(attacked(wrong)) as web,
        MCPProvider.http(f"{web.url}/mcp", name="foe", call_timeout_seconds=0.5) as provider,
    ):
        tool = (await tools_of(provider))["echo"]
        with pytest.raises(ToolCallError):
            await tool.call({"how": "badly"})
        assert await tool.call({}) == "fine"
