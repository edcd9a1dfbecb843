"""The script of idle connections in small: some are held, the rest is refused, a client is served."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

SCRIPT = Path(__file__).parent / "bench_idle.py"


def test_idle_connections_are_held_up_to_the_limit_and_leave_nothing():
    command = [sys.executable, str(SCRIPT), "--connections", "200", "--max-connections", "120"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=True)
    lines = done.stdout.splitlines()
    assert lines[1].endswith("120 held, 80 refused")
    assert [line.split(":")[0] for line in (lines[0], *lines[2:])] == ["before", "during", "after"]
