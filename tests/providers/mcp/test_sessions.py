"""Sessions that a server forgets, and errors that look like a lost connection."""

import asyncio
import json
import sys
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count

import pytest
from mcp import MCPError
from mcp.server import Server
from mcp.types import ListToolsResult
from mcp.types import Tool as Definition

from tests.providers.mcp.asking import SCRIPTED, tools_of
from tool_search_processor.errors import ToolCallError
from tool_search_processor.providers import MCPProvider
from tool_search_processor.providers.mcp.failures import SESSION_GONE, UNREADABLE

ADD = {"name": "add_row", "inputSchema": {"type": "object"}}
HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "ledger", "version": "1"},
}


class Ledger:
    """What the server knows: sessions, and the calls that it has run."""

    def __init__(self):
        self.sessions = set()
        self.numbers = count()
        self.ran = []
        self.waits = threading.Event()
        self.go_on = threading.Event()
        self.refusal = (404, "text/plain", "")
        """What the server answers to a session that it doesn't know: status, media type, content."""

    def answer(self, method, arguments):
        if method == "tools/list":
            return {"tools": [ADD]}
        if method != "tools/call":
            return None
        if arguments.get("waits"):
            self.waits.set()
            self.go_on.wait(20)
        self.ran.append(arguments)
        return {"content": [{"type": "text", "text": "added"}]}


class Forgetful(set):
    def add(self, session):
        pass


@contextmanager
def serving(ledger):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *parts):
            pass

        def do_POST(self):
            message = json.loads(self.rfile.read(int(self.headers["content-length"])))
            method, session = message["method"], self.headers.get("mcp-session-id")
            if method == "initialize":
                session = f"s{next(ledger.numbers)}"
                ledger.sessions.add(session)
                self.reply(200, message, HELLO, session)
            elif session not in ledger.sessions:
                self.refuse(*ledger.refusal)
            else:
                arguments = message.get("params", {}).get("arguments") or {}
                self.reply(200, message, ledger.answer(method, arguments))

        def do_GET(self):
            self.reply(405, {})

        do_DELETE = do_GET  # noqa: N815 - the name that http.server asks for

        def refuse(self, status, media_type, content):
            self.send_response(status)
            self.send_header("Content-Type", media_type)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content.encode())

        def reply(self, status, message, result=None, session=None):
            answer = {"jsonrpc": "2.0", "id": message.get("id"), "result": result}
            body = json.dumps(answer).encode() if result is not None else b""
            self.send_response(202 if status == 200 and not body else status)
            headers = {"Content-Type": "application/json", "Content-Length": str(len(body))}
            for name, value in {**headers, **({"Mcp-Session-Id": session} if session else {})}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/mcp"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


async def test_parallel_calls_after_a_lost_session_all_run_once_over_one_new_connection():
    ledger = Ledger()
    with serving(ledger) as url:
        async with MCPProvider.http(url, name="ledger") as provider:
            add = (await tools_of(provider))["add_row"]
            ledger.sessions.clear()
            answers = await asyncio.gather(*(add.call({"n": number}) for number in range(8)))
            assert answers == ["added"] * 8
            assert sorted(each["n"] for each in ledger.ran) == list(range(8))
            assert len(ledger.sessions) == 1


def error_of(code, words, **more):
    return json.dumps({"jsonrpc": "2.0", "error": {"code": code, "message": words}, **more})


@pytest.mark.parametrize(
    "refusal",
    [
        (404, "application/json", error_of(-32001, "Session not found", id=None)),
        (400, "application/json", error_of(-32000, "Bad Request: No valid session ID provided", id=None)),
        (400, "application/json", error_of(-32000, "Bad Request: No valid session ID provided")),
        (400, "application/json; charset=utf-8", error_of(-32600, "Invalid session ID", id="x")),
        (400, "application/json", error_of(-32000, "Bad Request: Server not initialized", id=None)),
        (400, "text/plain", "Bad Request: No valid session ID provided"),
        (400, "text/html; charset=utf-8", "Invalid or missing session ID"),
        (400, "text/plain; charset=idna", "Invalid or missing session ID"),
        (400, "application/json", '{"error": "No transport found for sessionId"}'),
    ],
)
async def test_a_server_that_restarted_is_met_again_however_it_says_that_it_forgot(refusal, caplog):
    ledger = Ledger()
    ledger.refusal = refusal
    with serving(ledger) as url:
        async with MCPProvider.http(url, name="ledger") as provider:
            add = (await tools_of(provider))["add_row"]
            ledger.sessions.clear()
            assert [await add.call({"n": 1}), await add.call({"n": 2})] == ["added", "added"]
            assert [each["n"] for each in ledger.ran] == [1, 2]
            assert len(ledger.sessions) == 1
    assert not [record for record in caplog.records if record.name.startswith("mcp")]


@pytest.mark.parametrize(
    ("refusal", "told"),
    [
        (
            (400, "application/json", error_of(-32602, "the session has no date", id=1)),
            "the session has no date",
        ),
        ((400, "application/json", error_of(-32000, "monthly quota spent")), "monthly quota spent"),
        (
            (500, "application/json", error_of(-32000, "the session store is full")),
            "the session store is full",
        ),
        ((400, "application/json", error_of([], "no session")), "refused add_row: "),
        ((400, "text/plain", "nothing of the kind"), "HTTP 400 Bad Request"),
    ],
)
async def test_another_refusal_is_told_and_the_session_is_kept(refusal, told):
    ledger = Ledger()
    with serving(ledger) as url:
        async with MCPProvider.http(url, name="ledger") as provider:
            add = (await tools_of(provider))["add_row"]
            kept, ledger.sessions, ledger.refusal = ledger.sessions, set(), refusal
            with pytest.raises(ToolCallError, match=told):
                await add.call({})
            ledger.sessions = kept
            assert await add.call({}) == "added"
            assert len(kept) == 1


async def test_a_call_that_is_under_way_survives_the_loss_that_another_finds():
    ledger = Ledger()
    with serving(ledger) as url:
        async with MCPProvider.http(url, name="ledger") as provider:
            add = (await tools_of(provider))["add_row"]
            slow = asyncio.create_task(add.call({"waits": True}))
            await asyncio.to_thread(ledger.waits.wait, 20)
            ledger.sessions.clear()
            assert await add.call({}) == "added"
            ledger.go_on.set()
            assert await slow == "added"
            assert len(ledger.ran) == 2


async def test_a_server_that_forgets_every_session_says_that_nothing_was_run():
    ledger = Ledger()
    with serving(ledger) as url:
        async with MCPProvider.http(url, name="ledger") as provider:
            add = (await tools_of(provider))["add_row"]
            ledger.sessions = Forgetful()
            with pytest.raises(ToolCallError, match=r"was not run"):
                await add.call({})
            assert ledger.ran == []


CODES = (-32000, -32001, -32095, -32096, -32097, -32098, -32600, -32700, 7)


@pytest.mark.parametrize("words", ["monthly quota spent", "Failed to parse the date", "Redirect to billing"])
@pytest.mark.parametrize("code", CODES)
async def test_an_error_of_the_server_s_own_is_told_in_its_words_whatever_its_code(code, words):
    async def list_tools(context, params):
        return ListToolsResult(tools=[Definition(name="pay", input_schema={"type": "object"})])

    async def call_tool(context, params):
        raise MCPError(code, words)

    server = Server("bank", on_list_tools=list_tools, on_call_tool=call_tool)
    async with MCPProvider.in_memory(server) as provider:
        with pytest.raises(ToolCallError, match=f"the server 'bank' refused pay: {words}"):
            await (await tools_of(provider))["pay"].call({})


@pytest.mark.parametrize(
    ("limit", "told"),
    [
        (100_000, "{}No route to host: check the address."),
        (10, "line 0 of \n[cut: 10 of 11,926 characters]"),
    ],
)
async def test_a_long_error_is_told_to_its_last_line_as_a_result_is(limit, told):
    log = "".join(f"line {number} of the log\n" for number in range(600))

    async def list_tools(context, params):
        return ListToolsResult(tools=[Definition(name="ping", input_schema={"type": "object"})])

    async def call_tool(context, params):
        raise MCPError(-32603, f"{log}No route to host: check the address.\n")

    server = Server("net", on_list_tools=list_tools, on_call_tool=call_tool)
    async with MCPProvider.in_memory(server, max_result_characters=limit) as provider:
        with pytest.raises(ToolCallError) as failure:
            await (await tools_of(provider))["ping"].call({})
    assert str(failure.value) == f"the server 'net' refused ping: {told.format(log)}"


@pytest.mark.parametrize("words", ["monthly quota spent", "Connection closed", "SSE quota spent"])
async def test_the_same_holds_for_a_server_that_is_a_process(words):
    error = {"error": {"code": -32000, "message": words}}
    answers = {"tools/list": {"tools": [ADD]}, "tools/call": error}
    async with MCPProvider.stdio(sys.executable, [SCRIPTED, json.dumps(answers)], name="s") as provider:
        with pytest.raises(ToolCallError, match=f"the server 's' refused add_row: {words}"):
            await (await tools_of(provider))["add_row"].call({})


def test_codes_that_are_made_here_are_none_that_a_server_uses():
    assert max(SESSION_GONE, UNREADABLE) < -(2**40)
