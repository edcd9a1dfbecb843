"""The load script in small: real servers, real clients, figures that are figures."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

SCRIPT = Path(__file__).parent / "bench_front.py"


def test_a_small_load_is_served_without_an_error():
    command = [sys.executable, str(SCRIPT), "--tools", "50", "--clients", "4", "--searches", "40"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=True)
    title, row = done.stdout.splitlines()
    assert title == "50 tools, 4 clients"
    assert row.split()[:5] == ["tool-search-processor", "40", "searches", "0", "errors"]
    assert 0 < float(row.split("CPU")[1].split()[0]) < 1000
