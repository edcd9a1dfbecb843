"""What counts as a change of a tool's definition, and what does not."""

import pytest

from tool_search_processor.errors import ToolNotCallableError
from tool_search_processor.providers.changes import (
    HeldTool,
    ToolChange,
    changed_parts,
    definition_fingerprint,
    hold,
)
from tool_search_processor.tools import Tool

SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}}
TOOL = Tool("t", "Reads.", SCHEMA, annotations={"readOnlyHint": True}, metadata={"title": "T"}, tags={"x"})


@pytest.mark.parametrize(
    ("changes", "parts"),
    [
        ({}, ()),
        ({"description": "Reads, and sends it away."}, ("description",)),
        ({"parameters": {**SCHEMA, "required": ["a"]}}, ("parameters",)),
        ({"output_schema": {"type": "object"}}, ("output_schema",)),
        ({"annotations": {"readOnlyHint": False}}, ("annotations",)),
        ({"tags": {"x", "y"}}, ("tags",)),
        ({"metadata": {"title": "Another"}}, ("title",)),
        ({"description": "", "tags": ()}, ("description", "tags")),
        ({"metadata": {"title": "T", "_meta": {"time": 3}}}, ()),
        ({"metadata": {"title": "T", "server": "https://other.example"}}, ("route",)),
        ({"metadata": {"title": "T", "path": "/other"}}, ("route",)),
        ({"namespace": "n", "keywords": ("k",), "pinned": True, "name": "u"}, ()),
        ({"parameters": {"properties": dict(reversed(SCHEMA["properties"].items())), "type": "object"}}, ()),
    ],
)
def test_what_counts_as_a_change(changes, parts):
    assert (
        changed_parts(definition_fingerprint(TOOL), definition_fingerprint(TOOL.replace(**changes))) == parts
    )


@pytest.mark.parametrize("old", ["", "abc"])
def test_a_fingerprint_of_another_form_differs_as_a_whole(old):
    assert changed_parts(old, definition_fingerprint(TOOL)) == ("definition",)


async def test_nothing_runs_a_held_tool():
    def run(a):
        return a

    change = ToolChange(
        name="t", provider="p", parts=(), old_fingerprint="", new_fingerprint="", blocked=True
    )
    held = hold(TOOL.replace(execute=run), change, print)
    renamed = held.replace(name="n")
    assert (held.name, held.description, held.parameters) == (TOOL.name, TOOL.description, TOOL.parameters)
    assert isinstance(renamed, HeldTool)
    assert renamed.change is change
    with pytest.raises(ToolNotCallableError):
        await renamed.call({"a": "x"})
