"""A field with a default need not be given, even where the schema demands it."""

from __future__ import annotations

import pytest

from tool_search_processor.errors import ToolArgumentsError
from tool_search_processor.tools import Tool
from tool_search_processor.tools.defaulted import without_defaulted

SCALE = {"type": "string", "enum": ["css", "device"], "default": "css"}


def demanding(*names, **properties):
    return {
        "type": "object",
        "properties": properties,
        "required": list(names),
        "additionalProperties": False,
    }


SHOT = demanding("scale", "path", scale=SCALE, path={"type": "string"})
OUTER = demanding("shot", shot=demanding("scale", scale=SCALE))
LIST = demanding("shots", shots={"type": "array", "items": demanding("scale", scale=SCALE)})
REFERRED = {**demanding("scale", scale={"$ref": "#/$defs/Scale"}), "$defs": {"Scale": SCALE}}
BRANCHES = {
    "type": "object",
    "oneOf": [demanding("scale", scale=SCALE), demanding("path", path={"type": "string"}, scale=SCALE)],
}
EMPTY = demanding("a", a={"type": "string", "default": ""})


async def called(schema, arguments):
    tool = Tool.from_mcp({"name": "shoot", "inputSchema": schema})
    return await tool.replace(execute=lambda args: args).call(arguments)


@pytest.mark.parametrize(
    ("schema", "arguments"),
    [
        (SHOT, {"path": "a.png"}),
        (OUTER, {"shot": {}}),
        (LIST, {"shots": [{}, {"scale": "device"}]}),
        (REFERRED, {}),
        (BRANCHES, {}),
        (BRANCHES, {"path": "a"}),
        (BRANCHES, {"scale": "css"}),
        (EMPTY, {}),
    ],
)
async def test_an_mcp_tool_is_called_without_what_has_a_default(schema, arguments):
    assert await called(schema, arguments) == arguments


@pytest.mark.parametrize(
    ("schema", "arguments", "told"),
    [
        (SHOT, {}, "`path` is required but missing."),
        (SHOT, {"path": "a", "scale": "inch"}, "`scale` must be one of"),
        (OUTER, {}, "`shot` is required but missing."),
    ],
)
async def test_the_rest_of_the_schema_is_checked_all_the_same(schema, arguments, told):
    with pytest.raises(ToolArgumentsError, match=told):
        await called(schema, arguments)


async def test_what_the_model_reads_stays_as_the_server_wrote_it():
    tool = Tool.from_mcp({"name": "shoot", "inputSchema": SHOT})
    assert tool.parameters == SHOT
    assert tool.to_mcp()["inputSchema"] == SHOT


async def test_a_function_of_ones_own_still_gets_all_that_its_schema_demands():
    tool = Tool("shoot", parameters=SHOT, execute=lambda args: args)
    with pytest.raises(ToolArgumentsError, match="`scale` is required but missing"):
        await tool.call({"path": "a"})


@pytest.mark.parametrize("schema", [{}, {"required": 3}, {"required": [["a"], "b"], "properties": []}])
def test_an_odd_schema_stays_as_it_is(schema):
    assert without_defaulted(schema) is schema
