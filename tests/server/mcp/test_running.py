"""Ways to run a front, and what people are told of it."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import httpx2
import pytest

from tests.server.mcp.support import client_of, front, names, serving
from tool_search_processor.errors import ConfigurationError, RunningLoopError
from tool_search_processor.server.mcp import ToolServer
from tool_search_processor.server.serving import reachable_name

SCRIPT = """
from tool_search_processor.server.mcp import ToolServer

server = ToolServer(name="small")


@server.register_tool
def hello() -> str:
    return "hello"


server.run({arguments})
print("ended", flush=True)
"""


def started(arguments):
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT.format(arguments=arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )


async def test_a_script_serves_http_and_prints_an_address_that_a_client_takes():
    with started('"http", port=0') as process:
        line = await asyncio.to_thread(process.stdout.readline)
        assert line.startswith("Serving at http://127.0.0.1:")
        assert line.endswith("/mcp (Ctrl+C ends)\n")
        async with client_of(line.split()[2]) as client:
            assert await names(client) == ["hello"]
        process.send_signal(signal.SIGINT)
        assert await asyncio.to_thread(process.stdout.read) == "ended\n"
    assert process.returncode == 0


def test_a_script_serves_the_client_that_started_it():
    with started("") as process:
        told, _ = process.communicate("", timeout=60)
    assert (told, process.returncode) == ("ended\n", 0)


async def test_running_is_refused_inside_a_loop_with_what_to_write_there():
    with pytest.raises(RunningLoopError, match=r"use await server.run_stdio\(\)"):
        front().run()
    with pytest.raises(RunningLoopError, match=r"use await server.run_http"):
        front().run("http", port=0)


@pytest.mark.parametrize(("transport", "options"), [("sse", {}), ("stdio", {"port": 1})])
def test_a_transport_that_there_is_not_is_refused(transport, options):
    with pytest.raises(ConfigurationError, match="transport is 'stdio', which takes no options, or 'http'"):
        ToolServer().run(transport, **options)


@pytest.mark.parametrize("options", [{}, {"authenticate": "secret"}])
async def test_a_person_is_told_where_the_endpoint_is(options):
    async with serving(front(name="my tools", **options)) as url, httpx2.AsyncClient() as http:
        answer = await http.get(url.replace("/mcp", "/"))
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain")
    assert "my tools is a server of the Model Context Protocol" in answer.text
    assert f"    {url}\n" in answer.text


async def test_an_endpoint_at_the_root_stays_there():
    async with serving(front(), path="/") as url, client_of(url) as client:
        assert "create_issue" in await names(client)


@pytest.mark.parametrize(
    ("host", "name"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("0.0.0.0", "127.0.0.1"),
        ("", "127.0.0.1"),
        ("::", "[::1]"),
        ("::1", "[::1]"),
        ("tools.example", "tools.example"),
    ],
)
def test_an_address_that_is_told_can_be_copied(host, name):
    assert reachable_name(host) == name


async def test_the_remedy_for_an_open_server_names_the_option_of_who_asks():
    with pytest.raises(ConfigurationError, match=r"a token is given by ToolServer\(authenticate="):
        await front().run_http(host="0.0.0.0")
    with pytest.raises(ConfigurationError, match="authenticate must be a string that is not blank"):
        ToolServer(authenticate=" ")
