"""`tool-search serve` in a process of its own: whatever ends it or its client, nothing is left over."""

import asyncio
import json
import os
import resource
import signal
import sys
from contextlib import ExitStack, asynccontextmanager
from socket import create_connection

import pytest

from tests.providers.mcp.asking import ended
from tests.server.gateway.support import config, small
from tests.server.mcp.support import client_of, found, proxied, text
from tests.server.mcp.wire import INITIALIZE

pytestmark = pytest.mark.slow

COMMAND = [sys.executable, "-W", "error", "-m", "tool_search_processor", "serve"]


@pytest.fixture
def start(tmp_path):
    """Start the command before servers, with what it reads and writes in pipes; what is left is killed."""

    @asynccontextmanager
    async def started(*arguments, servers=None, **options):
        path = tmp_path / "servers.json"
        path.write_text(json.dumps(config(**(servers or {"small": small()}))), "utf-8")
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            *COMMAND,
            *("--config", str(path), *arguments),
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            limit=2**20,
            **options,
        )
        try:
            yield process
        finally:
            if process.returncode is None:
                process.kill()
            await process.communicate()

    return started


async def url_of(process):
    """Return where a process serves."""
    line = (await process.stdout.readline()).decode()
    assert line.startswith("Serving at http://127.0.0.1:")
    return line.split()[2]


class Wire:
    """The client at the standard input and output of a process."""

    def __init__(self, process):
        self.process = process
        self.number = 0

    def send(self, method, params=None, **more):
        """Send one message."""
        message = {"jsonrpc": "2.0", "method": method, "params": params or {}, **more}
        self.process.stdin.write(json.dumps(message).encode() + b"\n")

    async def read(self, wanted):
        """Read messages until one fits; every line has to be one."""
        while True:
            message = json.loads(await asyncio.wait_for(self.process.stdout.readline(), 30))
            assert message["jsonrpc"] == "2.0"
            if wanted(message):
                return message

    async def ask(self, method, params=None):
        """Send a request, and return its result."""
        self.number += 1
        self.send(method, params, id=self.number)
        return (await self.read(lambda message: message.get("id") == self.number))["result"]

    async def begin(self):
        """Shake hands, and return the process of the upstream."""
        await self.ask("initialize", INITIALIZE)
        self.send("notifications/initialized")
        answer = await self.ask("tools/call", call("small_process_id"))
        return int(answer["content"][0]["text"])

    async def hang(self):
        """Begin a call that is never answered."""
        self.send("tools/call", {**call("small_hang"), "_meta": {"progressToken": "t"}}, id="hang")
        await self.read(lambda message: message["method"] == "notifications/progress")


def call(name, **arguments):
    """Return the parameters of a call through the proxy."""
    return {"name": "call_tool", "arguments": {"name": name, "arguments": arguments}}


async def under_way(client, name):
    """Begin a call, and return its task once the tool tells of its progress."""
    began = asyncio.Event()

    async def report(*_):
        began.set()

    task = asyncio.create_task(client.call_tool(**call(name), progress_callback=report))
    await asyncio.wait_for(began.wait(), 20)
    return task


async def test_a_signal_lets_calls_end_and_ends_the_upstreams(start):
    async with start("--http", "0") as process:
        async with client_of(await url_of(process)) as client:
            upstream = int(text(await proxied(client, "small_process_id")))
            slow = await under_way(client, "small_slow_steps")
            process.send_signal(signal.SIGTERM)
            assert text(await asyncio.wait_for(slow, 20)) == "done"
        out, err = await asyncio.wait_for(process.communicate(), 20)
        assert (process.returncode, out) == (0, b"")
        assert err.decode().splitlines()[-1] == "tool-search: 16 tools of 1 upstream"
        assert ended(upstream)


async def test_a_call_without_an_end_does_not_keep_it_from_ending(start):
    async with (
        start("--http", "0", "--grace-seconds", "1", servers={"small": small("--stay")}) as process,
        client_of(await url_of(process), mode="legacy") as client,
    ):
        upstream = int(text(await proxied(client, "small_process_id")))
        hung = await under_way(client, "small_hang")
        process.send_signal(signal.SIGTERM)
        assert await asyncio.wait_for(process.wait(), 20) == 0
        assert ended(upstream)
        hung.cancel()
        await asyncio.wait({hung})


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_a_gateway_at_standard_input_and_its_upstreams(start, number):
    async with start() as process:
        wire = Wire(process)
        upstream = await wire.begin()
        await wire.hang()
        process.send_signal(number)
        assert await asyncio.wait_for(process.wait(), 20) == 0
        assert ended(upstream)
        for line in (await process.stdout.read()).splitlines():
            assert json.loads(line)["jsonrpc"] == "2.0"


@pytest.mark.parametrize("leave", ["stdin", "both"])
async def test_a_client_that_leaves_in_a_call_ends_it_and_its_upstreams(start, leave):
    async with start() as process:
        wire = Wire(process)
        upstream = await wire.begin()
        await wire.hang()
        process.stdin.close()
        if leave == "both":
            process._transport.get_pipe_transport(1).close()
        assert await asyncio.wait_for(process.wait(), 20) == 0
        assert ended(upstream)
        assert b"Traceback" not in await process.stderr.read()


async def test_upstreams_that_are_down_are_told_of_line_by_line(start, tmp_path):
    servers = {
        "small": small(),
        "dead": {"command": str(tmp_path / "nothing")},
        "ends": small("--last-words", "x\ny"),
    }
    async with start(servers=servers) as process:
        await Wire(process).begin()
        lines = [(await asyncio.wait_for(process.stderr.readline(), 20)).decode() for _ in range(4)]
        assert all(line.startswith("tool-search: ") for line in lines)
        assert any("'dead' failed to list its tools" in line for line in lines)
        assert any("'ends' failed to list its tools" in line for line in lines)
        assert lines[-1] == "tool-search: 16 tools of 1 upstream; down: dead, ends\n"


async def test_an_upstream_that_is_down_is_told_once_whatever_a_client_lists(start, tmp_path):
    servers = {"small": small(), "dead": {"command": str(tmp_path / "nothing")}}
    async with start(servers=servers) as process:
        wire = Wire(process)
        await wire.begin()
        for _ in range(2):
            for what in ("tools", "resources", "resources/templates", "prompts"):
                await wire.ask(f"{what}/list")
        process.stdin.close()
        said = (await process.stderr.read()).decode().splitlines()
        assert [line for line in said if "'dead'" in line] == [said[0]]


async def test_verbose_tells_what_upstreams_say_and_why_they_failed(start, tmp_path):
    servers = {"small": small(), "dead": {"command": str(tmp_path / "nothing")}}
    async with start("--verbose", servers=servers) as process:
        await Wire(process).begin()
        process.stdin.close()
        said = (await process.stderr.read()).decode()
        assert "Traceback" in said
        assert "'on standard error'" in said


async def test_a_token_in_a_file_or_a_variable_is_asked_for(start, tmp_path):
    (tmp_path / "token").write_text("secret\n", "utf-8")
    environment = {**os.environ, "GATEWAY_TOKEN": "secret"}
    for option in (["--token-file", str(tmp_path / "token")], ["--token-env", "GATEWAY_TOKEN"]):
        async with start("--http", "0", *option, env=environment) as process:
            url = await url_of(process)
            async with client_of(url, headers={"authorization": "Bearer secret"}) as client:
                assert (await found(client, query="echo"))[0] == "small_echo"


async def test_connections_that_say_nothing_are_refused_beyond_the_limit(start):
    def few_files():
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))

    limited = start("--http", "0", "--max-connections", "150", preexec_fn=few_files)
    async with limited as process:
        url = await url_of(process)
        port = int(url.split(":")[2].split("/")[0])
        with ExitStack() as stack:
            idle = [stack.enter_context(create_connection(("127.0.0.1", port), 20)) for _ in range(300)]
            assert [one.recv(1) for one in idle[150:]] == [b""] * 150
            for one in idle[100:150]:
                one.close()
            async with client_of(url) as client:
                assert (await found(client, query="echo"))[0] == "small_echo"
        process.send_signal(signal.SIGTERM)
        assert await asyncio.wait_for(process.wait(), 20) == 0
