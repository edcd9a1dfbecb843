"""The import order: a module imports only from rows above its own, or from folders left of its own.

Every import counts: those inside functions, and those for the type checker alone.
"""

import ast
import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import tool_search_processor

PACKAGE = "tool_search_processor"
ROOT = Path(tool_search_processor.__file__).parent

# A row for each layer, from what imports nothing to what imports everything. A folder of a row may import
# from those left of it; those of the row BESIDE import nothing of each other.
ROWS = [
    ["errors", "_version", "telemetry"],
    ["wire", "concurrency"],
    ["tools", "components"],
    ["steps", "policy", "meta_tools", "search"],
    ["transforms", "providers", "stores", "tokens"],
    ["catalog"],
    ["session", "testing"],
    ["processor", "agent", "server", "evaluation", "adapters"],
    ["cli", "__main__"],
    [""],  # the package itself, which names what is public
]
BESIDE = ROWS[7]
PLACE = {folder: (row, place) for row, folders in enumerate(ROWS) for place, folder in enumerate(folders)}


def module_name(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


MODULES = {module_name(path): path for path in sorted(ROOT.rglob("*.py"))}


def folder_of(module):
    return module.split(".")[0]


def may_import(importer, imported):
    """Return True if the order lets a folder import another."""
    if importer == imported:
        return True
    if importer in BESIDE and imported in BESIDE:
        return (importer, imported) == ("adapters", "processor")
    return PLACE[imported] < PLACE[importer]


def imports_of(source, modules):
    """Return the package's modules that a module imports, wherever in it."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {name if inner(name) in modules else node.module for name in names}
    return {inner(name) for name in found if name == PACKAGE or name.startswith(f"{PACKAGE}.")}


def inner(name):
    return name.removeprefix(PACKAGE).removeprefix(".")


GRAPH = {module: imports_of(path.read_text("utf-8"), MODULES) for module, path in MODULES.items()}


def complaints(graph):
    """Return what breaks the order, a sentence each."""
    found = [
        f"{module} imports {imported}"
        for module, imports in graph.items()
        for imported in imports
        if not may_import(folder_of(module), folder_of(imported))
    ]
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as exc:
        found.append(f"these import each other: {' <- '.join(exc.args[1])}")
    return found


def test_every_module_stands_in_a_row():
    assert [module for module in MODULES if folder_of(module) not in PLACE] == []


def test_no_folder_stands_in_two_rows():
    assert len(PLACE) == sum(map(len, ROWS))


def test_every_folder_is_in_the_packages_picture():
    told = set(re.findall(r"\w+", tool_search_processor.__doc__))
    folders = {folder_of(module) for module in MODULES} - {"", "_version", "__main__"}
    assert folders - told == set()


def test_modules_import_from_rows_above_or_folders_left_of_theirs_and_never_in_a_circle():
    assert complaints(GRAPH) == []


def test_nothing_imports_the_package_as_a_whole():
    assert [module for module, imports in GRAPH.items() if "" in imports] == []


def test_indexes_know_documents_and_never_tools():
    strategies = [module for module in MODULES if module.startswith("search.")]
    assert [module for module in strategies if "tools" in GRAPH[module]] == ["search.documents"]


@pytest.mark.parametrize(
    ("graph", "complaint"),
    [
        ({"errors": {"agent"}}, "errors imports agent"),
        ({"search.bm25": {"catalog"}}, "search.bm25 imports catalog"),
        ({"concurrency.threads": {"tools"}}, "concurrency.threads imports tools"),
        ({"wire.plain": {"concurrency"}}, "wire.plain imports concurrency"),
        ({"agent.engine": {"processor"}}, "agent.engine imports processor"),
        (
            {"catalog.catalog": {"catalog.indexes"}, "catalog.indexes": {"catalog.catalog"}},
            "these import each other",
        ),
        ({"adapters.langchain": {"processor"}}, None),
        ({"concurrency.threads": {"wire.plain"}}, None),
        ({"stores": set(), "catalog": {"stores"}}, None),
    ],
)
def test_a_break_of_the_order_is_found(graph, complaint):
    found = complaints(graph)
    assert [complaint in sentence for sentence in found] == ([] if complaint is None else [True])


SOURCE = """
from __future__ import annotations
import tool_search_processor.errors
from tool_search_processor import steps
from tool_search_processor.tools import Tool
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    from tool_search_processor.catalog import Catalog
def later():
    from tool_search_processor.search import documents
    import json
"""


def test_imports_of_every_form_are_seen():
    assert imports_of(SOURCE, MODULES) == {"errors", "steps", "tools", "catalog", "search.documents"}
