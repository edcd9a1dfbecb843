"""The survey of a folder of OpenAPI documents, on two small ones."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.providers.openapi.apis import api, body, query

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent


def run(folder):
    return subprocess.run(
        [sys.executable, HERE / "survey_openapi.py", folder], capture_output=True, text=True, check=False
    )


def row(text, name):
    """Return the figures of a document."""
    return next(line.split()[1:9] for line in text.splitlines() if line.startswith(name))


def test_each_example_is_accepted_or_explained(tmp_path):
    pet = {
        "type": "object",
        "properties": {"name": {"type": "string", "example": "Rex"}},
        "required": ["name"],
    }
    examples = {
        "fits": {"value": {"name": "Rex"}},
        "misses": {"value": {"age": 3}},
        "undeclared": {"value": {"name": "Rex", "age": 3}},
    }
    paths = {
        "/pets": {"post": body(pet, examples=examples), "get": {"parameters": [query("n", example="x")]}},
        "/nothing": {"get": {"$ref": "#/x-none"}},
    }
    (tmp_path / "pets.json").write_text(json.dumps(api(paths)))
    (tmp_path / "package.json").write_text("{}")
    done = run(tmp_path)
    assert done.stderr == ""
    # operations, tools, left out, warnings, examples, accepted, explained, faults
    assert row(done.stdout, "pets.json") == ["3", "2", "1", "2", "5", "3", "2", "0"]
    assert "explained: 1 that the document's own schema refuses" in done.stdout
    assert "explained: 1 with fields that are not declared" in done.stdout
    assert "package.json" not in done.stdout
    assert done.returncode == 0


def test_a_document_that_cannot_be_read_is_noted(tmp_path):
    (tmp_path / "old.yaml").write_text("swagger: '1.2'\npaths: {/p: {}}")
    done = run(tmp_path)
    assert "note: refused as a whole" in done.stdout
    assert (done.returncode, done.stderr) == (0, "")
