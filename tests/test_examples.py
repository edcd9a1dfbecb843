"""Every example is short, says how it is run, and shows what it says."""

import ast
import re
import runpy
import subprocess
import sys
import threading
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.test_readme import ModelServer

EXAMPLES = Path(__file__).parents[1] / "examples"
SCRIPTS = [path for path in sorted(EXAMPLES.glob("*.py")) if "__main__" in path.read_text("utf-8")]
LABEL = "(scripted model, not an LLM)"
SLOW = {
    "approval",
    "call_mode",
    "gateway",
    "mcp_servers",
    "preload_and_catalog",
    "token_limiter",
    "tool_server",
    "web_chat",
}


SHOWN = {
    "approval": [
        "pending: delete_account({'name': 'bob'}), accounts: ['ada', 'bob']",
        "it was not run. Reason: Bob still works here.\naccounts: ['ada', 'bob']",
        "answer True: The tool says: deleted bob\naccounts: ['ada']",
    ],
    "call_mode": ['mode "load": A leap year: true', 'mode "call": A leap year: true'],
    "gateway": [
        "listed: search_tools: Find tools",
        "clock (2), repo (12)",
        "listed: call_tool: ",
        "found:  0.",
        "clock_convert_time\n",
        "T21:30:00+09:00",
    ],
    "local_model": [
        "calls   color_contrast(",
        "result  4.54\nstop    The contrast is 4.54 to 1.\ntokens  ",
        " in 2 steps",
    ],
    "mcp_servers": [
        "clock: clock_convert_time(source_timezone, time, target_timezone)\n",
        "repo: repo_git_reset(repo_path) needs approval\n  repo: history(max_count,",
        "history: Commit history: Commit: ",
        "Message: Begin",
        "Answer: It is 21:30 in Tokyo.",
    ],
    "openapi_catalog": [
        "library: find_books(words)\n",
        "library_loans_end(id) needs approval",
        "GET /branches/main street/books ['moby', 'dick']\nPOST /loans {'book': 1}",
        "Answer: Ada has book 1 now.",
    ],
    "own_loop": ["calls     diff_texts(", "assistant The patch is:\n--- old\n+++ new"],
    "own_parts": [
        "Named with {} finds []\nNamed with {'plugins': True} finds ['headline']",
        "VectorIndex with {'plugins': True} finds ['headline']\nSay please.",
    ],
    "per_plan_filter": [
        "{'plan': 'free'}\n  finds generate_password,",
        "loads count_words; not found: generate_password, no_such_tool\n{'plan': 'pro'}",
        "loads generate_password, count_words; not found: no_such_tool\nno plan at all",
        "loads count_words; not found: generate_password, no_such_tool\n",
    ],
    "preload_and_catalog": [
        "Offered: search_tools, load_tool, calculate, current_time_in_zone,",
        "- arithmetic_mean: Compute the average",
    ],
    "quickstart": [
        "314 tools, model: scripted",
        "Step 3 offers search_tools, load_tool, color_contrast",
        "Answer: Yes: the contrast is 4.54 to 1",
    ],
    "streaming": ["call  weekday_of_date\ntext  'The", "on a Sunday.'\ndone  stop after 4 steps"],
    "token_limiter": [
        "1,500 tokens: 10 of 22 messages are sent, 3 tools",
        "system    You are a helpful assistant.",
        "user      What is the median of 3, 9 and 4?",
        "Without tool search: what must be sent needs",
    ],
    "tool_server": [
        "listed: ['focus_on', 'count_slowly', 'search_tools', 'call_tool']",
        "'days_between'",
        "  3 of 3\nOnly dates is left, for this session.\n",
        "this session finds: []\nanother finds: ['color_contrast'",
        "discovery: ['search_tools', 'call_tool']",
    ],
    "web_chat": [
        '200\ndata: {"steps": 3, "pending": [{"call_id": "call_3", "name": "delete_account"',
        '200\n{"output":"The tool says: deleted bob"}',
        '200\ndata: {"steps": 1, "pending": [{"call_id": "call_',
    ],
}
"""What each example prints, in this order."""


def as_parameter(path):
    """Return an example as a parameter of a test."""
    return pytest.param(path, id=path.stem, marks=[pytest.mark.slow] * (path.stem in SLOW))


@pytest.fixture
def run(monkeypatch, capsys):
    """Run an example in this process and return what it prints."""

    def run_script(path):
        monkeypatch.setattr(sys, "argv", [str(path)])
        runpy.run_path(str(path), run_name="__main__")
        return capsys.readouterr().out

    return run_script


@pytest.mark.parametrize("path", list(map(as_parameter, SCRIPTS)))
def test_example_shows_what_it_says(path, run):
    printed = run(path)

    position = 0
    for part in SHOWN[path.stem]:
        assert part in printed[position:], printed
        position = printed.index(part, position) + len(part)
    if "ScriptedModel" in path.read_text("utf-8") or "choose_model" in path.read_text("utf-8"):
        assert LABEL in printed


class LocalServer(ModelServer):
    """A server whose small model calls the first tool that it is offered beside the meta-tools."""

    def choice(self, messages):
        if messages[-1]["role"] == "user":
            return self.call(messages, "color_contrast", {"first": "#767676", "second": "#ffffff"})
        return {"finish_reason": "stop", "message": {"role": "assistant", "content": messages[-1]["content"]}}


def test_the_local_model_is_asked_where_the_command_line_says(monkeypatch, capsys):
    """The small model is offered the tool at once, and is made to call one in its first step alone."""
    for name in ("OPENAI_API_BASE", "OPENAI_API_KEY"):
        monkeypatch.setenv(name, "")  # put back at the end
    monkeypatch.delenv("OPENAI_API_KEY")
    with ThreadingHTTPServer(("127.0.0.1", 0), LocalServer) as server:
        server.requests = []
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_address[1]}/v1"
        path = EXAMPLES / "local_model.py"
        monkeypatch.setattr(sys, "argv", [str(path), "--base-url", url, "--model", "openai/tiny"])
        runpy.run_path(str(path), run_name="__main__")
        server.shutdown()
    first, second = server.requests
    assert first["model"] == "tiny"
    offered = [tool["function"]["name"] for tool in first["tools"]]
    assert offered[:2] == ["search_tools", "load_tool"]
    assert "color_contrast" in offered
    assert (first["tool_choice"], second.get("tool_choice")) == ("required", None)
    assert second["messages"][2]["content"] == ""
    assert "stop    4.54\ntokens  30 in 2 steps\n" in capsys.readouterr().out


@pytest.mark.parametrize("path", SCRIPTS, ids=[path.stem for path in SCRIPTS])
def test_example_is_short_and_says_how_it_is_run(path):
    text = path.read_text("utf-8")
    docstring = ast.get_docstring(ast.parse(text))
    assert len(text.splitlines()) <= 85
    assert "See " in docstring
    assert f"python examples/{path.name}" in docstring
    assert ("--model" in docstring) == ("choose_model" in text)


def test_every_example_is_listed():
    assert [path.stem for path in SCRIPTS] == sorted(SHOWN)


@pytest.mark.slow
def test_call_mode_sends_the_same_bytes_at_every_step(run):
    printed = run(EXAMPLES / "call_mode.py")
    load, call = (re.findall(r"step \d: (\w+)", part) for part in printed.split('mode "call"'))
    assert (len(set(load)), len(load)) == (2, 4)
    assert (len(set(call)), len(call)) == (1, 3)


@pytest.mark.slow
def test_quickstart_saves_95_percent_of_the_tokens():
    command = [sys.executable, "-W", "error", "examples/quickstart.py"]
    done = subprocess.run(command, cwd=EXAMPLES.parent, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")

    pairs = re.findall(r"([\d,]+) with tool search, ([\d,]+) without", done.stdout)
    figures = [[int(number.replace(",", "")) for number in pair] for pair in pairs]
    assert len(figures) == 4
    assert all(sent <= 0.05 * full for sent, full in figures)
    assert LABEL in done.stdout
