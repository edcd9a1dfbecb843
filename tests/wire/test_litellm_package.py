"""One door to litellm, which is quiet where there is no network."""

import ast
import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

import tool_search_processor
from tool_search_processor.wire.litellm_package import import_litellm

ROOT = Path(tool_search_processor.__file__).parent
DOOR = ROOT / "wire" / "litellm_package.py"

# The retries run in a thread of litellm's.
USE = """
import asyncio, threading
from tool_search_processor.agent.completions import loaded_litellm
asyncio.run(loaded_litellm())
for thread in threading.enumerate():
    if thread.name.startswith("litellm-model-cost-map"):
        thread.join()
"""


@pytest.mark.slow
def test_without_network_litellm_is_quiet():
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("LITELLM")},
        "LITELLM_MODEL_COST_MAP_URL": "http://127.0.0.1:1/nobody-listens.json",
        "PYTHONPATH": str(ROOT.parent),
    }
    done = subprocess.run(
        [sys.executable, "-c", USE], env=environment, capture_output=True, text=True, check=True
    )
    assert "cost map" not in done.stdout + done.stderr


def test_warnings_of_the_fetch_go_to_our_log_and_others_stay(caplog):
    pytest.importorskip("litellm")
    litellm_log = logging.getLogger("LiteLLM")
    import_litellm()
    before = len(litellm_log.filters)
    import_litellm()
    assert len(litellm_log.filters) == before
    with caplog.at_level(logging.DEBUG, logger="tool_search_processor.wire.litellm_package"):
        litellm_log.warning("LiteLLM: model cost map fetch attempt %d/%d failed (%s)", 1, 3, "no network")
        litellm_log.warning("LiteLLM: Failed to fetch remote model cost map from %s: %s.", "x", "no network")
        litellm_log.warning("something else")
    assert [(record.name, record.levelname) for record in caplog.records] == [
        ("tool_search_processor.wire.litellm_package", "DEBUG"),
        ("tool_search_processor.wire.litellm_package", "DEBUG"),
        ("LiteLLM", "WARNING"),
    ]


def imported_names(path):
    """Return the packages that a file imports, except for the type checker."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield (node.module or "").split(".")[0]


def test_nothing_imports_litellm_but_through_its_door():
    assert [path for path in ROOT.rglob("*.py") if "litellm" in imported_names(path)] == []
    assert [
        path
        for path in ROOT.rglob("*.py")
        if path != DOOR and 'import_module("litellm")' in path.read_text("utf-8")
    ] == []
