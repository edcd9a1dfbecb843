"""`tool-search serve` in this process: what it says, and what it passes on of its options."""

import argparse
import io
import json
import logging
import os
import resource
import signal
import sys
import threading
from contextlib import contextmanager

import httpx
import pytest

from tests.server.gateway.support import PETS, config, small
from tool_search_processor.cli import main
from tool_search_processor.cli.serve_command import make_gateway, read_token, serve_stdio
from tool_search_processor.cli.serve_options import add_options
from tool_search_processor.cli.terminal import LineFormatter
from tool_search_processor.errors import ConfigurationError


@pytest.fixture(autouse=True)
def _own_logging():
    """Undo what `--verbose` sets for a whole process: later tests read the log."""
    logger = logging.getLogger("tool_search_processor")
    level = logger.level
    yield
    logger.setLevel(level)


@pytest.fixture
def pets(tmp_path):
    """Return the path of an API's document."""
    path = tmp_path / "pets.json"
    path.write_text(json.dumps({**PETS, "servers": [{"url": "http://127.0.0.1:9"}]}), "utf-8")
    return str(path)


def parsed(*arguments):
    """Return the options that arguments stand for."""
    parser = argparse.ArgumentParser()
    add_options(parser)
    return parser.parse_args(arguments)


@contextmanager
def visited(visit):
    """Run `visit(url)` in a thread once the command serves, and stop the command afterwards."""
    came = []

    class Output(io.StringIO):
        def write(self, text):
            threading.Thread(target=go, args=(text.split()[2],)).start()
            return len(text)

    def go(url):
        try:
            came.append(visit(url))
        finally:
            os.kill(os.getpid(), signal.SIGTERM)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdout", Output())
        yield came


def test_it_serves_until_it_is_told_to_stop(pets, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("TOOL_SEARCH_TOKEN", "secret")
    path = tmp_path / "servers.json"
    path.write_text(json.dumps(config(small=small(), dead={"command": str(tmp_path / "no")})), "utf-8")
    arguments = ["--config", str(path), "--openapi", f"shop={pets}", "--http", "0", "--verbose"]
    hosts = ["--allow-host", "tools.example", "--allow-origin", "https://a.example"]

    def visit(url):
        headers = {"authorization": "Bearer secret", "host": "tools.example", "origin": "https://a.example"}
        with httpx.Client(trust_env=False, timeout=20) as http:
            body = {"query": "sell a pet", "limit": 1}
            search = http.post(url.replace("/mcp", "/v1/tools/search"), json=body, headers=headers)
            return search.json(), http.get(url.replace("/mcp", "/health")).status_code

    with visited(visit) as came:
        assert main(["serve", *arguments, *hosts]) == 0
    ((found, status),) = came
    assert [one["tool"]["name"] for one in found] == ["shop_sellPet"]
    assert status == 421
    said = capsys.readouterr().err
    assert "tool-search: 18 tools of 2 upstreams; down: dead\n" in said


async def test_a_gateway_at_standard_input_ends_when_its_client_leaves():
    class Left:
        async def run_stdio(self, *, started):
            started()

    class Failed:
        async def run_stdio(self, *, started):
            raise OSError("no standard input")

    came = []
    await serve_stdio(Left(), lambda: came.append("started"))
    assert came == ["started"]
    with pytest.raises(OSError, match="no standard input"):
        await serve_stdio(Failed(), lambda: None)


def test_files_are_opened_as_far_as_the_system_lets_it(pets):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(soft, 1000), hard))
    try:
        with visited(lambda _: resource.getrlimit(resource.RLIMIT_NOFILE)[0]) as came:
            assert main(["serve", "--openapi", pets, "--http", "0", "--max-connections", "10"]) == 0
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert came == [min(1034, hard)]


async def test_options_reach_the_gateway(pets):
    names = ["--search-tool-name", "tool_search", "--call-tool-name", "execute_tool"]
    shape = ["--search", "fuzzy", "--top-k", "7", "--mode", "normal", "--result-format", "markdown"]
    always = ["--always-visible", "pets_listPets", "--always-visible", "sales"]
    made = make_gateway(parsed("--openapi", pets, *names, *shape, *always, "--mask-error-details"))
    options = made.server.options
    assert options.always_visible == ("pets_listPets", "sales")
    assert (options.top_k, options.mode, options.result_format) == (7, "normal", "markdown")
    assert options.mask_error_details
    assert (options.names.search, options.names.call) == ("tool_search", "execute_tool")
    assert (await made.catalog.search("pets_lis"))[0].name == "pets_listPets"
    assert make_gateway(parsed("--openapi", pets, "--search", "regex")).server.catalog.indexes.takes_pattern
    made = make_gateway(
        parsed("--openapi", pets, "--search", "tool_search_processor.search.regex:RegexIndex")
    )
    assert [hit.name for hit in await made.catalog.search("sell|list")] == ["pets_listPets", "pets_sellPet"]


def test_an_address_that_others_can_reach_needs_the_variable_with_the_token(pets, monkeypatch, capsys):
    monkeypatch.delenv("TOOL_SEARCH_TOKEN", raising=False)
    assert main(["serve", "--openapi", pets, "--http", "0.0.0.0:0"]) == 2
    assert (
        "a token is given by setting TOOL_SEARCH_TOKEN, or by --token-env or --token-file"
        in capsys.readouterr().err
    )


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--top-k", "0"], "top_k must be a whole number from 1 to 100"),
        (["--upstream-timeout", "0"], "--upstream-timeout must be a number above 0, found 0"),
        (["--call-timeout", "-1"], "--call-timeout must be a number above 0, found -1"),
        (["--call-tool-name", "search_tools"], "need different names, found 'search_tools' twice"),
        (["--token-env", "NOT_SET"], "--token-env NOT_SET: this variable isn't set"),
        (["--token-file", "nowhere"], "nowhere"),
        (["--http", "0", "--max-body-bytes", "0"], "--max-body-bytes must be a number above 0, found 0"),
        (["--http", "0", "--max-sessions", "0"], "--max-sessions must be a number above 0, found 0"),
        (["--http", "0", "--max-connections", "0"], "--max-connections must be a number above 0, found 0"),
        (
            ["--http", "0", "--requests-per-second", "0"],
            "--requests-per-second must be a number above 0, found 0",
        ),
        (["--openapi", "other=no.json", "--top-k", "0"], "top_k must be a whole number"),
        (["--openapi", "pets={pets}"], "'pets' and 'pets' would both have the prefix 'pets'"),
    ],
)
def test_what_cannot_work_is_refused_in_one_line(pets, arguments, problem, capsys):
    given = [argument.format(pets=pets) for argument in arguments]
    assert main(["serve", "--openapi", pets, *given]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert problem in err
    assert err.count("\n") == 1


def test_the_log_is_one_line_a_record_unless_more_is_asked_for():
    record = logging.makeLogRecord(
        {"msg": "%s is down", "args": ("a\nb",), "exc_info": (OSError, OSError("x"), None)}
    )
    assert LineFormatter(verbose=False).format(record) == "tool-search: a b is down"
    assert LineFormatter(verbose=True).format(record) == "a\nb is down\nOSError: x"


def test_a_token_comes_from_a_file_or_a_variable(tmp_path, monkeypatch):
    monkeypatch.delenv("TOOL_SEARCH_TOKEN", raising=False)
    assert read_token(parsed()) is None
    monkeypatch.setenv("TOOL_SEARCH_TOKEN", " usual ")
    monkeypatch.setenv("OTHER", "other")
    (tmp_path / "token").write_text("kept\n", "utf-8")
    (tmp_path / "blank").write_text("\n", "utf-8")
    assert read_token(parsed()) == "usual"
    assert read_token(parsed("--token-env", "OTHER")) == "other"
    assert read_token(parsed("--token-file", str(tmp_path / "token"))) == "kept"
    with pytest.raises(ConfigurationError, match="holds no token"):
        read_token(parsed("--token-file", str(tmp_path / "blank")))
