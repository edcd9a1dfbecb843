"""The blocks of examples/migrate_from.md run as they stand, and print what the comments next to them say."""

import ast
import re
from importlib.util import find_spec

import pytest

from tests.test_readme import ROOT, blocks, run_blocks

PAGE = (ROOT / "examples/migrate_from.md").read_text("utf-8")
SECTIONS = dict(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE))
FRAMEWORKS = {"FastMCP search": "fastmcp", "LangChain": "langchain", "pydantic-ai": "pydantic_ai"}
"""These are run by the tests of the adapters, in an environment of the framework."""


def run_section(section, capsys):
    """Run a section's blocks, and check that they print what is written next to each `print`."""
    page = SECTIONS[section]
    promised = re.findall(r"^ *print\(.*\)  # (.*)", page, re.MULTILINE)
    run_blocks(page)
    assert promised
    assert capsys.readouterr().out.splitlines() == promised


@pytest.mark.parametrize("section", [section for section in SECTIONS if section not in FRAMEWORKS])
def test_what_is_written_here_runs(section, capsys):
    run_section(section, capsys)


@pytest.mark.parametrize("section", SECTIONS)
def test_each_section_is_whole(section):
    page = SECTIONS[section]
    assert "Before" in page
    assert "After" in page
    assert "\nNo counterpart: " in page
    assert re.search(r"^\|---\|---\|---\|$", page, re.MULTILINE)


@pytest.mark.parametrize("block", blocks("py", PAGE))
def test_their_code_is_python(block):
    ast.parse(block)


@pytest.mark.parametrize("section", FRAMEWORKS)
def test_frameworks_have_an_adapter(section):
    assert find_spec(f"tool_search_processor.adapters.{FRAMEWORKS[section]}")
    assert f"adapters.{FRAMEWORKS[section]} import" in SECTIONS[section]
