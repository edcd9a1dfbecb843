"""The package as a whole: its public names, its version, and how little an import loads."""

import ast
import importlib
import importlib.metadata
import json
import re
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

import tool_search_processor
from tool_search_processor import errors

PACKAGE = "tool_search_processor"
ROOT = Path(tool_search_processor.__file__).parent
INIT = ast.parse((ROOT / "__init__.py").read_text("utf-8"))

# Each costs time and memory that a program pays for only when it uses what needs it.
HEAVY = [
    "docstring_parser",
    "fastapi",
    "httpx",
    "jsonschema",
    "litellm",
    "mcp",
    "model2vec",
    "numpy",
    "onnxruntime",
    "openai",
    "opentelemetry",
    "prometheus_client",
    "pymilvus",
    "rapidfuzz",
    "re2",
    "redis",
    "referencing",
    "starlette",
    "Stemmer",
    "tiktoken",
    "tokenizers",
    "uvicorn",
    "yaml",
]


def literal_of(name):
    (found,) = (
        node.value
        for node in ast.walk(INIT)
        if isinstance(node, ast.Assign) and any(getattr(target, "id", "") == name for target in node.targets)
    )
    return ast.literal_eval(found)


def test_the_public_names_are_one_short_literal():
    names = literal_of("__all__")
    assert names == tool_search_processor.__all__
    assert len(names) == len(set(names)) <= 55


@pytest.mark.parametrize("name", tool_search_processor.__all__)
def test_each_public_name_can_be_imported(name):
    value = getattr(importlib.import_module(PACKAGE), name)
    assert value is not None
    has_no_docstring = name in {"__version__", "Filter", "Phase"}  # a string, and aliases of types
    assert has_no_docstring or value.__doc__


def test_whatever_is_imported_there_is_public():
    imported = {
        alias.name
        for node in ast.walk(INIT)
        if isinstance(node, ast.ImportFrom) and node.module.startswith(PACKAGE)
        for alias in node.names
    }
    assert imported == set(tool_search_processor.__all__)


def test_every_error_is_public():
    defined = {
        name for name, value in vars(errors).items() if getattr(value, "__module__", "") == errors.__name__
    }
    assert defined < set(tool_search_processor.__all__)


def test_what_is_unknown_is_told_as_such():
    with pytest.raises(AttributeError, match="module 'tool_search_processor' has no attribute 'MCPServer'"):
        _ = tool_search_processor.MCPServer


def test_the_version_is_that_of_the_distribution():
    assert importlib.metadata.version("tool-search-processor") == tool_search_processor.__version__


def test_an_error_about_a_missing_extra_names_the_package_and_an_extra_that_exists():
    sources = "\n".join(path.read_text("utf-8") for path in ROOT.rglob("*.py"))
    told = re.findall(r'(\w+): pip install "tool-search-processor\[([\w-]+)\]"', sources)
    assert "needs" not in {package for package, _ in told}
    extras = importlib.metadata.metadata("tool-search-processor").get_all("Provides-Extra")
    assert {extra for _, extra in told} <= set(extras)


def test_the_package_is_typed():
    assert files(PACKAGE).joinpath("py.typed").is_file()


@pytest.mark.parametrize(
    "path",
    [path for path in sorted(ROOT.rglob("*.py")) if path.read_text("utf-8").strip()],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_every_module_says_what_it_is(path):
    docstring = ast.get_docstring(ast.parse(path.read_text("utf-8")))
    assert docstring
    assert docstring.splitlines()[0].endswith(".")


def loaded_by(statement):
    """Return the top-level modules that a fresh interpreter holds after a statement."""
    code = f"{statement}\nimport json, sys\nprint(json.dumps([name.split('.')[0] for name in sys.modules]))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stderr == ""
    return set(json.loads(run.stdout.splitlines()[-1]))


USE = """
import tool_search_processor as p
search = p.ToolSearchProcessor([p.Tool("a"), p.Tool("b")], filter=lambda request: True)
agent = p.Agent(name="n", model="m", input_processors=[search, p.TokenLimiter(1000)])
"""


@pytest.mark.parametrize("statement", [f"import {PACKAGE}", USE], ids=["import", "construction"])
def test_an_import_loads_nothing_heavy_and_prints_nothing(statement):
    assert loaded_by(statement).intersection(HEAVY) == set()


def test_an_import_sets_up_no_logging():
    code = f"import {PACKAGE}, logging; print(logging.root.handlers, logging.getLogger('{PACKAGE}').handlers)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[] []"
