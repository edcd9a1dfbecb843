"""The benchmark of large OpenAPI documents, on a small one."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent


def run(path):
    return subprocess.run(
        [sys.executable, HERE / "bench_openapi.py", path], capture_output=True, text=True, check=False
    )


def test_a_document_without_fault():
    done = run(HERE.parents[1] / "examples" / "library" / "openapi.yaml")
    assert (done.returncode, done.stderr) == (0, "")
    assert " 3 tools, " in done.stdout
    assert "schemas: 3 checked" in done.stdout


def test_calls_that_are_not_there_are_faults(tmp_path):
    path = tmp_path / "api.json"
    servers = [{"url": "https://api.github.com"}]
    paths = {"/": {"get": {"operationId": "meta/root"}}, "/gists": {"post": {"operationId": "gists/create"}}}
    document = {"openapi": "3.0.3", "info": {"title": "GitHub"}, "servers": servers, "paths": paths}
    path.write_text(json.dumps(document))
    done = run(path)
    assert (done.returncode, done.stderr) == (1, "")
    assert "FAULT gists_create: ToolArgumentsError" in done.stdout
    assert "FAULT repos_delete: KeyError" in done.stdout
    assert "meta_root" not in done.stdout
