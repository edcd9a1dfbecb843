"""The simulation of prompt caches in small: native load keeps what a changed list loses."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

SCRIPT = Path(__file__).parent / "bench_native.py"


def test_native_load_writes_and_sends_least():
    command = [sys.executable, str(SCRIPT), "--conversations", "3", "--tools", "60"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    rows = [line.split(" | ") for line in done.stdout.splitlines() if "Opus" in line or "GPT" in line]
    figures = [[int(cell.replace(",", "")) for cell in row[2:6]] for row in rows]
    paid = [written + new for _, _, written, new in figures]
    for load, auto_load, call, native in (paid[:4], paid[4:]):
        assert native < call
        assert native < load < auto_load
    requests = [row[0] for row in figures]
    assert requests[:4] == requests[4:]
    assert requests[0] == requests[3]
