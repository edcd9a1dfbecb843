"""Fronts in processes of their own: over standard input and output, and told to stop by a signal."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import httpx2
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from tests.server.mcp.support import client_of, found, names, proxied, text
from tests.server.mcp.wire import ACCEPT, INITIALIZE, Wire

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
ENVIRONMENT = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}


async def test_over_standard_input_and_output():
    command = StdioServerParameters(
        command=sys.executable, args=[str(HERE / "stdio_front.py")], env=ENVIRONMENT, cwd=ROOT
    )
    for mode in ("legacy", "auto"):
        async with Client(command, mode=mode) as client:
            assert await names(client) == ["search_tools", "call_tool"]
            assert (await found(client, query="send e-mail"))[0] == "send_email"
            assert text(await proxied(client, "send_email", {"to": "a"})) == "sent to a"


def test_nothing_is_left_when_standard_input_ends():
    command = [sys.executable, str(HERE / "stdio_front.py")]
    done = subprocess.run(
        command,
        input=b'{"jsonrpc": 2}\nno json\n\n{"jsonrpc":"2.0","id":1,"method":"ping"}\n',
        capture_output=True,
        env=ENVIRONMENT,
        cwd=ROOT,
        timeout=60,
        check=True,
    )
    assert b'"id":1' in done.stdout
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("argument", "answer"),
    [
        (r'"Ada \ud83d"', "sent to Ada \ufffd"),
        ('"Ada \U0001f600"', "sent to Ada \U0001f600"),
        ("[" * 300 + "]" * 300, "must be a string"),
    ],
    ids=["half a character", "an emoji", "nested"],
)
def test_a_request_that_the_sdk_cannot_read_is_answered_all_the_same(argument, answer):
    call = (
        '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"send_email","arguments":{"to":%s}}}'
    )
    begin = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": INITIALIZE}
    with subprocess.Popen(
        [sys.executable, str(HERE / "stdio_front.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=ENVIRONMENT,
        cwd=ROOT,
    ) as process:
        assert process.stdout.readline() == b"a line that is no message\n"
        for line in (json.dumps(begin), call % argument):
            process.stdin.write(line.encode() + b"\n")
            process.stdin.flush()
            told = json.loads(process.stdout.readline())
        process.stdin.close()
        assert (told["id"], answer in told["result"]["content"][0]["text"]) == (2, True), told


async def test_a_signal_lets_calls_end_closes_streams_and_providers_and_the_process():
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        str(HERE / "http_front.py"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=ENVIRONMENT,
        cwd=ROOT,
    )
    assert process.stdin is not None
    url = (await process.stdout.readline()).decode().strip()
    async with httpx2.AsyncClient(timeout=20) as http, client_of(url) as client:
        wire = Wire(http, url)
        session = await wire.begin()
        # The stream of a session, and the stream of changes of a client without one: neither has an end.
        async with (
            http.stream("GET", url, headers={**ACCEPT, "mcp-session-id": session}) as stream,
            client.listen(tools_list_changed=True) as changes,
        ):
            call = asyncio.create_task(
                wire.ask("tools/call", {"name": "wait_for_line"}, mcp_session_id=session)
            )
            assert await process.stdout.readline() == b"began\n"
            process.send_signal(signal.SIGTERM)
            assert [event async for event in changes] == []
            assert await stream.aread() == b""
        process.stdin.write(b"the answer\n")
        _, _, message = await asyncio.wait_for(call, 20)
        assert message["result"]["content"] == [{"type": "text", "text": "the answer"}]
    out, err = await asyncio.wait_for(process.communicate(), 20)
    assert (out, err, process.returncode) == (b"closed\nended\n", b"", 0)
