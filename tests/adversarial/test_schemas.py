"""A schema of any shape, through every importer, transform and exporter, and then called."""

from __future__ import annotations

import copy
import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.adversarial.any_schema import FIELDS, schemas
from tests.adversarial.depth import examples
from tests.adversarial.models import json_values
from tool_search_processor import Tool, ToolSearchProcessor
from tool_search_processor.catalog import Catalog
from tool_search_processor.errors import ConfigurationError, ToolArgumentsError
from tool_search_processor.meta_tools import catalog_line, search_result
from tool_search_processor.providers import StaticProvider
from tool_search_processor.search.documents import document_of
from tool_search_processor.transforms import (
    ArgTransform,
    Namespace,
    TagFilter,
    ToolTransform,
    ToolTransformConfig,
    Visibility,
)

IMPORTERS = {
    "chat": lambda schema: Tool.from_openai(
        {"type": "function", "function": {"name": "a", "description": "d", "parameters": schema}}
    ),
    "responses": lambda schema: Tool.from_openai({"type": "function", "name": "a", "parameters": schema}),
    "anthropic": lambda schema: Tool.from_anthropic({"name": "a", "input_schema": schema}),
    "mcp": lambda schema: Tool.from_mcp({"name": "a", "inputSchema": schema}),
    "tool": lambda schema: Tool("a", "d", schema),
}
TRANSFORMS = {
    "none": [],
    "namespace": [Namespace("n")],
    "filters": [TagFilter(exclude={"x"}), Visibility(False, names={"z"})],
    "rename": [ToolTransform({"a": ToolTransformConfig(name="b", description="other", tags={"y"})})],
    "hide": [ToolTransform({"a": ToolTransformConfig(arguments={"a": ArgTransform(hide=True, default=1)})})],
    "argument": [
        ToolTransform({"a": ToolTransformConfig(arguments={"a": ArgTransform(name="z", description="Z")})}),
        Namespace("m"),
    ],
}


@pytest.mark.slow
@examples(60)
@given(
    schema=schemas().filter(lambda schema: isinstance(schema, dict)),
    importer=st.sampled_from(sorted(IMPORTERS)),
    row=st.sampled_from(sorted(TRANSFORMS)),
    arguments=st.dictionaries(st.sampled_from(FIELDS), json_values, max_size=3),
    mode=st.sampled_from(["load", "call"]),
)
async def test_any_schema_goes_through_everything(schema, importer, row, arguments, mode):
    given_schema = copy.deepcopy(schema)
    ran: list[Any] = []
    try:
        tool = IMPORTERS[importer](schema).replace(execute=lambda **given: ran.append(given) or "ran")
        provider = StaticProvider([tool]).with_transforms(*TRANSFORMS[row])
        catalog = Catalog([provider])
    except ConfigurationError:  # what JSON cannot carry, or an overlay that this schema has no place for
        return
    (listed,) = await catalog.list_tools()
    assert schema == given_schema, "nothing of the caller's is changed"
    for sent in (listed.to_openai()["function"]["parameters"], listed.to_anthropic()["input_schema"]):
        assert (sent["type"], isinstance(sent["properties"], dict)) == ("object", True)
        json.dumps(sent, allow_nan=False)
        jsonschema.Draft202012Validator.check_schema(sent)
    if row in ("none", "namespace", "filters"):
        assert listed.parameters == tool.parameters
    assert listed.to_mcp()["inputSchema"]["type"] == "object"
    assert catalog_line(listed)
    for detail in ("brief", "signature", "schema"):
        json.dumps(search_result(listed, score=1.0, loaded=False, detail=detail), allow_nan=False)
    assert document_of(listed).name == listed.name
    async with ToolSearchProcessor([provider], mode=mode, result_detail="signature").session() as session:
        await session.tools([])
        calls = [
            {"id": "1", "function": {"name": "search_tools", "arguments": {"query": listed.name}}},
            {"id": "2", "function": {"name": listed.name, "arguments": json.dumps(arguments)}},
        ]
        found, result = await session.execute(calls)
    assert json.loads(found["content"])["results"][0]["name"] == listed.name
    assert (result["content"] == "ran") is bool(ran), "it ran, or the model is told why not"
    try:
        listed.check_arguments(arguments)
    except ToolArgumentsError:
        assert ran == []
