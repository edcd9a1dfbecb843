"""Every example is short, says how it is run, and shows what it says."""

import ast
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

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
