"""`tool-search serve`: a gateway in a process of its own, before real servers, one of which is dead."""

import asyncio
import json
import os
import signal
import sys
from pathlib import Path

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.server.mcp.support import client_of, found, names, proxied, text
from tool_search_processor.cli import main
from tool_search_processor.cli.serve_command import parse_address
from tool_search_processor.errors import ConfigurationError

pytestmark = pytest.mark.slow

SMALL = Path(__file__).parents[1] / "providers" / "mcp" / "small_server.py"
PETS = {
    "openapi": "3.1.0",
    "info": {"title": "Pets", "version": "1"},
    "servers": [{"url": "http://127.0.0.1:9"}],
    "paths": {"/pets": {"get": {"operationId": "listPets", "summary": "List the pets of the shop."}}},
}
COMMAND = ["-m", "tool_search_processor", "serve"]


@pytest.fixture
def files(tmp_path):
    """Return the arguments that name two servers, one of them dead, and an API."""
    servers = {
        "small": {"command": sys.executable, "args": [str(SMALL)]},
        "dead": {"command": str(tmp_path / "nothing")},
        "off": {"command": "nothing", "disabled": True},
    }
    config, pets = tmp_path / "servers.json", tmp_path / "pet shop.json"
    config.write_text(json.dumps({"mcpServers": servers}), "utf-8")
    pets.write_text(json.dumps(PETS), "utf-8")
    return ["--config", str(config), "--openapi", str(pets)]


async def check(client):
    """Check that everything that is alive is found and called, also after one server has died."""
    assert await names(client) == ["search_tools", "call_tool"]
    assert (await found(client, query="list the pets of the shop"))[0] == "pet_shop_listPets"
    assert "small_echo" in await found(client, query="echo")
    assert text(await proxied(client, "small_echo", {"text": "hello"})) == "hello"
    unreached = await proxied(client, "pet_shop_listPets")
    assert unreached.is_error
    died = await proxied(client, "small_die")
    assert died.is_error
    assert "the connection to the server 'small' ended during the call of die" in text(died)
    assert text(await proxied(client, "small_echo", {"text": "again"})) == "again"


async def test_a_client_starts_a_gateway_over_its_standard_input_and_output(files, tmp_path):
    log = (tmp_path / "log").open("w+", encoding="utf-8")
    command = StdioServerParameters(command=sys.executable, args=[*COMMAND, *files], env=dict(os.environ))
    with log:
        async with Client(stdio_client(command, errlog=log)) as client:
            await check(client)
        log.seek(0)
        said = log.read()
    assert "dead" in said
    assert "Traceback" not in said.splitlines()[0]


async def test_tools_in_python_are_served(tmp_path):
    (tmp_path / "my_served_tools.py").write_text(
        'print("a module may print")\n'
        "def add(first: int, second: int) -> int:\n"
        '    """Add two numbers."""\n'
        "    return first + second\n"
        "tools = [add]\n"
    )
    log = (tmp_path / "log").open("w+", encoding="utf-8")
    started = StdioServerParameters(
        command=sys.executable,
        args=[*COMMAND, "--tools", "my_served_tools:tools"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    async with Client(stdio_client(started, errlog=log)) as client:
        assert await found(client, query="add two numbers") == ["add"]
        assert text(await proxied(client, "add", {"first": 1, "second": 2})) == "3"
    log.seek(0)
    assert "1 tool of 1 upstream" in log.read()
    log.close()


async def test_a_gateway_over_http_asks_for_its_token_and_ends_at_a_signal(files):
    environment = {**os.environ, "TOOL_SEARCH_TOKEN": "secret"}
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *COMMAND,
        *files,
        "--http",
        "0",
        "--mode",
        "normal",
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env=environment,
    )
    line = (await process.stdout.readline()).decode()
    assert line.startswith("Serving at http://127.0.0.1:")
    url = line.split()[2]
    async with client_of(url, headers={"authorization": "Bearer secret"}) as client:
        listed = await names(client)
        assert "small_echo" in listed
        assert "pet_shop_listPets" in listed
        assert "search_tools" not in listed  # nothing is hidden
    async with client_of(f"{url}?tool_mode=discovery", headers={"authorization": "Bearer secret"}) as client:
        await check(client)
    process.send_signal(signal.SIGTERM)
    assert await asyncio.wait_for(process.wait(), 20) == 0


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ([], "there is nothing to serve: give --config FILE or --openapi FILE"),
        (["--config", "nowhere.json"], "nowhere.json"),
        (["--openapi", "nowhere.yaml"], "nowhere.yaml"),
        (["--http", "no:port"], "--http is [HOST:]PORT, such as 127.0.0.1:8000, found 'no:port'"),
        (["--http", "99999"], "found '99999'"),
        (["--search", "magic"], "magic"),
        (["--http", "0.0.0.0:0"], "'0.0.0.0' can be reached from other machines: give a token"),
    ],
)
def test_what_cannot_be_served_is_refused_in_one_sentence(arguments, problem, files, capsys, monkeypatch):
    monkeypatch.delenv("TOOL_SEARCH_TOKEN", raising=False)
    needs_files = arguments[:1] in (["--search"], ["--http"])
    assert main(["serve", *arguments, *(files if needs_files else [])]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert problem in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("8000", ("127.0.0.1", 8000)),
        (":8000", ("127.0.0.1", 8000)),
        ("localhost:0", ("localhost", 0)),
        ("[::1]:65535", ("::1", 65535)),
        ("0.0.0.0:80", ("0.0.0.0", 80)),
    ],
)
def test_an_address_is_read(text, address):
    assert parse_address(text) == address


@pytest.mark.parametrize("text", ["", "host", "host:", "1.5", "-1", "host:65536", "²"])
def test_an_address_without_a_port_is_refused(text):
    with pytest.raises(ConfigurationError, match="such as"):
        parse_address(text)
