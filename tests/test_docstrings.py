"""Every public class and function shows in its docstring how it is used, and what is shown there is true.

An example is the first block of Python in a docstring. It is run statement by statement. `# -> value`
behind an expression is what it gives, `# raises Error` behind a statement what it raises. What would wait for
a model, a client or a server stands in a function, or in `asyncio.run` or `uvicorn.run`, which do nothing.
"""

import ast
import dataclasses
import importlib
import inspect
import json
import logging
import re
from ast import PyCF_ALLOW_TOP_LEVEL_AWAIT
from collections.abc import Mapping, Sequence
from datetime import date
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tool_search_processor import Agent, Tool, ToolSearchProcessor, tool
from tool_search_processor.testing import ScriptedModel
from tool_search_processor.tools.importers import ToolFields

PUBLIC = {
    "tool_search_processor": None,
    "tool_search_processor.stores": None,
    "tool_search_processor.transforms": None,
    "tool_search_processor.providers": None,
    "tool_search_processor.providers.mcp": None,
    "tool_search_processor.providers.openapi": None,
    "tool_search_processor.search.bm25": ["BM25Index"],
    "tool_search_processor.search.fuzzy": ["FuzzyIndex"],
    "tool_search_processor.search.regex": ["RegexIndex"],
    "tool_search_processor.search.vector": ["VectorIndex"],
    "tool_search_processor.search.hybrid": ["HybridIndex"],
    "tool_search_processor.search.milvus": None,
    "tool_search_processor.search.embedders": None,
    "tool_search_processor.evaluation": None,
    "tool_search_processor.testing": [
        "ManualClock", "ModelRequest", "ScriptedCall", "ScriptedModel", "ScriptedReply", "call", "say",
    ],
    "tool_search_processor.server.mcp": None,
    "tool_search_processor.server.rest": None,
    "tool_search_processor.server.gateway": ["Gateway"],
    "tool_search_processor.server.upstreams": ["read_upstreams"],
}  # fmt: skip
"""Where users import from; None stands for the names in `__all__`."""


def public_values():
    """Return the public values by name."""
    modules = [(importlib.import_module(name), names) for name, names in PUBLIC.items()]
    return {name: getattr(module, name) for module, names in modules for name in names or module.__all__}


VALUES = public_values()
EXPLAINED = {
    name: value
    for name, value in VALUES.items()
    if inspect.isfunction(value) or (inspect.isclass(value) and value.__module__.startswith("tool_search"))
}


def example_of(docstring):
    """Return the first block of Python in a docstring; empty where there is none."""
    found = re.search(r"^```python\n(.*?)^```$", inspect.cleandoc(docstring), re.DOTALL | re.MULTILINE)
    return found.group(1) if found else ""


def create_issue(repo: str = "", title: str = "") -> str:
    """Create an issue in a GitHub repository."""
    return f"created {repo}: {title}"


def list_issues(repo: str = "") -> str:
    """List the issues of a GitHub repository."""
    return f"none in {repo}"


def close_issue(number: int = 0) -> str:
    """Close an issue of a GitHub repository."""
    return f"closed {number}"


@pytest.fixture
def shown(tmp_path, monkeypatch):
    """Return what the examples take for given; files are looked for and left in a folder of their own."""
    monkeypatch.chdir(tmp_path)
    query = {"query": "create an issue", "relevant": ["create_issue"]}
    definitions = [tool(function).to_openai() for function in (create_issue, list_issues)]
    for folder in ("my_set", "other_set"):
        Path(folder).mkdir()
        Path(folder, "tools.jsonl").write_text("\n".join(map(json.dumps, definitions)), "utf-8")
        Path(folder, "queries.jsonl").write_text(json.dumps(query), "utf-8")
    Path("servers.json").write_text('{"mcpServers": {"git": {"command": "no-such-server"}}}', "utf-8")
    search = ToolSearchProcessor([create_issue, list_issues])
    return {
        **VALUES,
        "Any": Any,
        "Mapping": Mapping,
        "Path": Path,
        "Sequence": Sequence,
        "agent": Agent("helper", "none", completion=ScriptedModel(["Hello!"] * 9), input_processors=[search]),
        "asyncio": SimpleNamespace(run=lambda coroutine: coroutine.close()),
        "close_issue": close_issue,
        "create_issue": create_issue,
        "date": date,
        "list_issues": list_issues,
        "litellm": SimpleNamespace(acompletion=ScriptedModel(["Hello!"])),
        "logging": logging,
        "messages": [{"role": "user", "content": "File a bug"}],
        "np": np,
        "print": lambda *values: None,
        "search": search,
        "uvicorn": SimpleNamespace(run=lambda app, port: None),
    }


async def run_statement(statement, namespace):
    """Run a statement; return the value of an expression."""
    is_expression = isinstance(statement, ast.Expr)
    tree = ast.Expression(statement.value) if is_expression else ast.Module([statement], type_ignores=[])
    mode = "eval" if is_expression else "exec"
    result = eval(compile(tree, "example", mode, PyCF_ALLOW_TOP_LEVEL_AWAIT), namespace)
    return await result if inspect.iscoroutine(result) else result


@pytest.mark.parametrize("name", sorted(EXPLAINED))
async def test_the_example_of_a_public_name_is_true(name, shown):
    example = example_of(EXPLAINED[name].__doc__)
    assert example, f"{name} has no example"
    lines = example.splitlines()
    for statement in ast.parse(example).body:
        if name == "MilvusIndex" and find_spec("pymilvus") is None:  # it is not in the extra `all`
            with pytest.raises(ImportError, match=r"\[milvus\]"):
                await run_statement(statement, shown)
            return
        _, sign, told = lines[statement.end_lineno - 1].rpartition("  # ")
        if told.startswith("raises "):
            with pytest.raises(shown[told.removeprefix("raises ")]):
                await run_statement(statement, shown)
            continue
        value = await run_statement(statement, shown)
        if sign and told.startswith("-> "):
            assert repr(value) == told.removeprefix("-> ")


@pytest.mark.parametrize("name", sorted(EXPLAINED))
def test_an_example_is_short(name):
    lines = [line for line in example_of(EXPLAINED[name].__doc__).splitlines() if line]
    assert len(lines) <= 9
    assert max(map(len, lines)) <= 100


def arguments_told(docstring):
    """Return the names in the section `Args:` of a docstring."""
    section = re.search(r"^Args:\n((?: .*\n|\n)+)", inspect.cleandoc(docstring) + "\n", re.MULTILINE)
    return re.findall(r"^    (\w+):", section.group(1), re.MULTILINE)


def test_help_tells_every_field_of_a_tool():
    fields = [field.name for field in dataclasses.fields(Tool)]
    assert arguments_told(Tool.__doc__) == fields
    assert arguments_told(tool.__doc__) == ["function", *ToolFields.__annotations__]


def members_of(value):
    """Return the public methods and properties that a class defines, by name."""
    kinds = (staticmethod, classmethod, property, cached_property)
    return {
        name: member
        for name, member in vars(value).items()
        if not name.startswith("_") and (inspect.isfunction(member) or isinstance(member, kinds))
    }


CLASSES = [name for name, value in EXPLAINED.items() if inspect.isclass(value)]


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_every_public_method_is_documented(name):
    value = EXPLAINED[name]
    assert [member for member in members_of(value) if not inspect.getdoc(getattr(value, member))] == []
