"""The benchmark of search in small: every way of running it prints its rows."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

SCRIPT = Path(__file__).parent / "bench_search.py"


def run(*options):
    command = [sys.executable, str(SCRIPT), *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


def engines(*options):
    done = run(*options)
    assert (done.returncode, done.stderr) == (0, "")
    return [line[:22].strip() for line in done.stdout.splitlines()[1:]]


def test_words_at_several_sizes():
    assert engines("--sizes", "50", "200", "--queries", "20", "--peers") == ["tool-search-processor"] * 2


def test_hybrid_on_tools_that_are_made_up():
    found = engines("--sizes", "50", "--queries", "20", "--hybrid")
    assert found == ["hybrid, one clause", "hybrid, several"]


def test_hybrid_needs_long_requests(tmp_path):
    (tmp_path / "tools.jsonl").write_text(json.dumps({"name": "open_issue", "description": "Opens a ticket"}))
    (tmp_path / "queries.jsonl").write_text(json.dumps({"query": "report a bug", "relevant": ["open_issue"]}))
    done = run("--set", str(tmp_path), "--hybrid")
    assert (done.returncode, done.stderr) == (1, "there are too few requests of 80 to 120 characters\n")
