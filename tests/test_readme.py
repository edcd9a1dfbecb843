"""What README.md and the pages beside it say is true: their code runs, and what they name is there."""

import asyncio
import inspect
import json
import re
import shlex
import subprocess
import sys
import textwrap
import threading
import tomllib
from ast import PyCF_ALLOW_TOP_LEVEL_AWAIT
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.test_layers import MODULES, ROWS, folder_of
from tool_search_processor.cli import main

ROOT = Path(__file__).parents[1]
FOLDERS = {folder_of(module) for module in MODULES if module}
PACKAGE = "tool_search_processor"
README = (ROOT / "README.md").read_text("utf-8")
RECIPES = (ROOT / "examples/README.md").read_text("utf-8")
PAGES = [
    "README.md",
    "examples/README.md",
    "examples/migrate_from.md",
    ".github/CONTRIBUTING.md",
    ".github/SECURITY.md",
]

QUERY = "create github issue"
ARGUMENTS = {"repo": "octo/hello", "title": "Login page fails"}


def blocks(language, page=README):
    """Return the fenced blocks of a language on a page, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)


class ModelServer(BaseHTTPRequestHandler):
    """An OpenAI-compatible server whose model searches, loads the best hit and calls it."""

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append(request)
        reply = json.dumps(
            {
                "id": "chatcmpl-1",
                "object": "chat.completion",
                "created": 1,
                "model": request["model"],
                "choices": [{"index": 0, **self.choice(request["messages"])}],
                "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
            }
        ).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def choice(self, messages):
        last = messages[-1]
        if last["role"] == "user":
            return self.call(messages, "search_tools", {"query": QUERY})
        if '"results"' in last["content"]:
            name = json.loads(last["content"])["results"][0]["name"]
            return self.call(messages, "load_tool", {"tool_names": [name]})
        if '"not_found"' in last["content"]:
            return self.call(messages, json.loads(last["content"])["loaded"][0], ARGUMENTS)
        message = {"role": "assistant", "content": f"Done: {last['content']}"}
        return {"finish_reason": "stop", "message": message}

    def call(self, messages, name, arguments):
        function = {"name": name, "arguments": json.dumps(arguments)}
        call = {"id": f"call_{len(messages)}", "type": "function", "function": function}
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
        return {"finish_reason": "tool_calls", "message": message}

    def log_message(self, *_):
        """Say nothing."""


@pytest.fixture
def model_server(monkeypatch):
    server = ThreadingHTTPServer(("127.0.0.1", 0), ModelServer)
    server.requests = []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    for name in ("OPENAI_API_BASE", "OPENAI_BASE_URL"):
        monkeypatch.setenv(name, url)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    yield server
    server.shutdown()
    server.server_close()


def run_blocks(page):
    """Run each block of Python on a page by itself, as it runs when it is pasted."""
    for block in blocks("python", page):
        namespace = {"__name__": "page"}
        code = compile(block, "page", "exec", PyCF_ALLOW_TOP_LEVEL_AWAIT)
        result = eval(code, namespace)
        if inspect.iscoroutine(result):
            asyncio.run(result)


def test_python_blocks_run(model_server, capsys):
    """The blocks run against a model server on loopback."""
    run_blocks(README)
    assert "created octo/hello#7: Login page fails" in capsys.readouterr().out
    offered = [[tool["function"]["name"] for tool in request["tools"]] for request in model_server.requests]
    assert offered[0] == ["search_tools", "load_tool", "current_user"]
    assert offered[2] == ["search_tools", "load_tool", "current_user", "create_issue"]


def test_recipes_run(model_server, capsys):
    run_blocks(RECIPES)
    assert "created octo/hello#7: Login page fails" in capsys.readouterr().out
    offered = [[tool["function"]["name"] for tool in request["tools"]] for request in model_server.requests]
    assert offered[2] == ["search_tools", "load_tool", "create_issue"]


def test_commands_are_there():
    one, two = blocks("bash")[:2]
    assert one.count("\n") == two.count("\n") == 1
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    for names in re.findall(r"\[([a-z,]+)\]\"", "".join(blocks("bash"))):
        assert set(names.split(",")) <= set(extras)
    for script in re.findall(r"python (\S+\.py)", "".join(blocks("bash"))):
        assert (ROOT / script).is_file(), script


def test_the_third_command_finds_what_is_asked_for(monkeypatch, capsys):
    program, *arguments = shlex.split(blocks("bash")[2])
    assert program == "tool-search"
    monkeypatch.chdir(ROOT)
    assert main(arguments) == 0
    assert "loans_begin" in capsys.readouterr().out


@pytest.mark.slow
def test_quoted_output_is_what_the_quickstart_prints():
    (quoted,) = blocks("console")
    assert quoted.startswith("$ python examples/quickstart.py\n")
    script = [sys.executable, "examples/quickstart.py"]
    printed = subprocess.run(script, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    quoted_lines, printed_lines = quoted.splitlines()[1:], iter(printed.splitlines())
    for line in quoted_lines:
        if line != "…":
            assert any(says_the_same(line, found) for found in printed_lines), line


def says_the_same(line, found):
    """Compare two lines, numbers within 10 %: one word more in a description is no news."""
    number = re.compile(r"\d[\d,.]*\d|\d")
    if number.sub("#", line) != number.sub("#", found):
        return False
    pairs = zip(number.findall(line), number.findall(found), strict=True)
    return all(
        float(a.replace(",", "")) == pytest.approx(float(b.replace(",", "")), rel=0.1) for a, b in pairs
    )


def anchors(page):
    """Return what links to the headings of a page end in."""
    headings = re.findall(r"^#+ (.*)$", page, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("path", PAGES)
def test_links_lead_somewhere(path):
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#]*)#?([^)]*)\)", (ROOT / path).read_text("utf-8")):
        linked = (ROOT / path).parent / target if target else ROOT / path
        assert linked.exists(), target
        assert not anchor or anchor in anchors(linked.read_text("utf-8")), anchor


@pytest.mark.parametrize("path", [".github/CONTRIBUTING.md", ".github/SECURITY.md"])
def test_files_that_a_page_names_are_there(path):
    named = re.findall(r"`((?:[\w.]+/)+(?:[\w.]+\.py)?)`", (ROOT / path).read_text("utf-8"))
    assert len(named) > 10
    missing = {name for name in named if not any((ROOT / top / name).exists() for top in ("", PACKAGE))}
    assert missing == set()


@pytest.mark.parametrize("path", PAGES)
def test_scripts_that_a_page_names_are_there(path):
    named = set(re.findall(r"(?<![\w/])(?:tests|examples)/[\w/]+\.py", (ROOT / path).read_text("utf-8")))
    assert {name for name in named if not (ROOT / name).is_file()} == set()


def test_the_rows_that_a_contributor_reads_are_those_that_are_kept():
    picture = blocks("text", (ROOT / ".github/CONTRIBUTING.md").read_text("utf-8"))[0]
    rows = [re.findall(r"\w+", names) for names in re.findall(r"^\d  (\S+(?: \S+)*)", picture, re.MULTILINE)]
    there = [[name for name in row if name in FOLDERS and not name.startswith("_")] for row in ROWS]
    assert rows == [row for row in there if row]


def test_tests_that_a_page_tells_to_run_are_there():
    page = (ROOT / ".github/CONTRIBUTING.md").read_text("utf-8")
    named = re.findall(r"tests/[\w./*]+", page)
    assert [name for name in named if not list(ROOT.glob(name.rstrip(".")))] == []


def test_every_script_is_listed():
    scripts = {
        path.name for path in (ROOT / "examples").glob("*.py") if "__main__" in path.read_text("utf-8")
    }
    assert set(re.findall(r"^\| \[(\w+\.py)\]", RECIPES, re.MULTILINE)) == scripts


def test_length():
    assert len(README.splitlines()) <= 250


def inside_frameworks():
    section = RECIPES.split("\n## Inside your framework\n")[1].split("\n## ")[0]
    return re.findall(
        r"^### (.*?)\n.*?\]\((frameworks/\w+\.py)\)\n\n```py\n(.*?)^```$", section, re.DOTALL | re.MULTILINE
    )


@pytest.mark.parametrize(("framework", "program", "lines"), inside_frameworks())
def test_the_lines_for_a_framework_are_those_of_a_program_that_ci_runs(framework, program, lines):
    source = (ROOT / "examples" / program).read_text("utf-8")
    marked = source.split("# README begin\n")[1].split("# README end")[0]
    assert textwrap.dedent(marked).strip() == lines.strip()


def test_each_framework_of_the_readme_has_its_lines():
    table = README.split("\n## Inside the framework you have\n")[1].split("\n\n[Five lines")[0]
    rows = [re.findall(r"[^|]+", row) for row in table.strip().splitlines()[2:]]
    names = [framework for framework, _, _ in inside_frameworks()]
    assert [row[0].strip() for row in rows[:-1]] == names
    for (_, written, _), (_, _, lines) in zip(rows, inside_frameworks(), strict=False):
        (ours,) = set(re.findall(r"ToolSearch\w+|ToolServer", written))
        assert ours in lines
