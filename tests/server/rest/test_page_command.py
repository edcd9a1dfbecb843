"""`tool-search page`: a catalog in a file, a page in a browser."""

import json
import re
import signal
import subprocess
import sys

import httpx
import pytest

from tool_search_processor.cli import main

pytestmark = pytest.mark.slow

TOOLS = [
    {"name": "create_issue", "description": "Open a ticket in a repository.", "server": "github"},
    {"name": "send.mail", "description": "Write to somebody."},
]


@pytest.fixture
def catalog(tmp_path):
    path = tmp_path / "tools.json"
    path.write_text(json.dumps(TOOLS), "utf-8")
    return str(path)


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_a_catalog_is_served_to_this_machine_until_the_command_is_stopped(catalog, stop):
    command = [
        sys.executable,
        "-W",
        "error",
        "-m",
        "tool_search_processor",
        "page",
        "--tools",
        catalog,
        "--port",
        "0",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as served:
        try:
            line = served.stdout.readline()
            url = re.fullmatch(r"2 tools at (http://127\.0\.0\.1:\d+/) \(Ctrl\+C ends\)\n", line)[1]
            with httpx.Client(base_url=url, trust_env=False) as http:
                assert "<title>Tool search</title>" in http.get("/").text
                found = http.post("/v1/tools/search", json={"query": "ticket"}).json()
            assert [result["tool"]["name"] for result in found] == ["create_issue"]
        finally:
            served.send_signal(stop)
        assert (served.wait(20), served.stderr.read()) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--port", "-1"], "--port must be a whole number from 0 to 65535"),
        (["--search", "none"], "there is no search strategy"),
    ],
)
def test_bad_arguments_end_at_once(catalog, capsys, arguments, problem):
    assert main(["page", "--tools", catalog, *arguments]) == 2
    assert problem in capsys.readouterr().err
