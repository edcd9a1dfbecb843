"""The import order: a module imports only from rows above its own, or from its own row without a cycle.

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

# A row for each layer, from what imports nothing to what imports everything. An entry stands for a module,
# or for a package and all in it; the longest entry that fits a module is the one that counts.
ROWS = {
    1: ["errors", "_version", "telemetry"],
    2: [
        "plain",
        "hooks",
        "background_loop",
        "per_loop",
        "once",
        "threads",
        "spellings",
        "tools",
        "components",
        "search.base",
        "search.scripts",
        "search.text",
        "search.documents",
    ],
    3: [
        "steps",
        "tokens",
        "call_requests",
        "call_results",
        "tool_choices",
        "content_blocks",
        "messages",
        "results",
        "transforms",
        "search",
    ],
    4: ["meta_tools", "filters", "cached_filters", "guarded"],
    5: ["providers", "stores"],
    6: ["catalog"],
    7: ["session", "processor", "token_limiter"],
    8: ["agent"],
    9: ["testing", "evaluation"],
    10: ["server", "cli", "__main__"],
    11: [""],  # the package itself, which names what is public
}
ROW_OF = {entry: row for row, entries in ROWS.items() for entry in entries}


def module_name(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


MODULES = {module_name(path): path for path in sorted(ROOT.rglob("*.py"))}


def row_of(module):
    """Return the row of the longest entry that fits, or None."""
    parts = module.split(".") if module else []
    for length in range(len(parts), 0, -1):
        entry = ".".join(parts[:length])
        if entry in ROW_OF:
            return ROW_OF[entry]
    return None if module else ROW_OF[""]


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
        f"{module} (row {row_of(module)}) imports {imported} (row {row_of(imported)})"
        for module, imports in graph.items()
        for imported in imports
        if row_of(imported) > row_of(module)
    ]
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as exc:
        found.append(f"these import each other: {' <- '.join(exc.args[1])}")
    return found


def test_every_module_stands_in_a_row():
    assert [module for module in MODULES if row_of(module) is None] == []


def test_no_entry_stands_in_two_rows():
    assert len(ROW_OF) == sum(map(len, ROWS.values()))


def test_the_package_tells_of_every_row():
    told = set(re.findall(r"\w+", tool_search_processor.__doc__))
    assert [row for row, entries in ROWS.items() if not told.intersection(entries) and row < max(ROWS)] == []


def test_modules_import_from_rows_above_and_never_in_a_circle():
    assert complaints(GRAPH) == []


def test_nothing_imports_the_package_as_a_whole():
    assert [module for module, imports in GRAPH.items() if "" in imports] == []


def test_indexes_know_documents_and_never_tools():
    strategies = [module for module in MODULES if module.startswith("search.")]
    assert [module for module in strategies if "tools" in GRAPH[module]] == ["search.documents"]


@pytest.mark.parametrize(
    ("graph", "complaint"),
    [
        ({"errors": {"agent"}}, "errors (row 1) imports agent (row 8)"),
        ({"search.bm25": {"catalog"}}, "search.bm25 (row 3) imports catalog (row 6)"),
        ({"search.embedders.local": {"filters"}}, "search.embedders.local (row 3) imports filters (row 4)"),
        (
            {"catalog.catalog": {"catalog.views"}, "catalog.views": {"catalog.catalog"}},
            "these import each other",
        ),
        ({"stores": set(), "catalog": {"stores"}}, None),
    ],
)
def test_a_break_of_the_order_is_found(graph, complaint):
    found = complaints(graph)
    assert [complaint in sentence for sentence in found] == ([] if complaint is None else [True])


def test_an_unknown_module_has_no_row():
    assert row_of("utils") is row_of("utils.search") is None
    assert row_of("search.embedders.anything") == row_of("search") == 3
    assert row_of("search.base") == 2


SOURCE = """
from __future__ import annotations
import tool_search_processor.errors
from tool_search_processor import tokens
from tool_search_processor.tools import Tool
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    from tool_search_processor.catalog import Catalog
def later():
    from tool_search_processor.search import documents
    import json
"""


def test_imports_of_every_form_are_seen():
    assert imports_of(SOURCE, MODULES) == {"errors", "tokens", "tools", "catalog", "search.documents"}
