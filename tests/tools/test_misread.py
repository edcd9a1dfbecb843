"""What LiteLLM's conversions would fail at is not sent."""

from __future__ import annotations

import jsonschema
import pytest

from tool_search_processor.tools.misread import without_misread
from tool_search_processor.tools.schemas import wire_schema


@pytest.mark.parametrize("keyword", ["default", "const", "x-own", "enum", "examples"])
@pytest.mark.parametrize(
    ("data", "stays"),
    [
        ({"$ref": 5}, False),
        ({"a": [{"$ref": {"type": "string"}}]}, False),
        ({"$defs": [1]}, False),
        ({"definitions": {"A": 1}}, False),
        ({"$ref": "#/a", "$defs": {"A": {}}}, True),
        ({"a": 1}, True),
    ],
)
def test_data_that_looks_like_a_broken_reference_is_left_out(keyword, data, stays):
    value = [data] if keyword in ("enum", "examples") else data
    sent = wire_schema({"properties": {"a": {keyword: value, "title": "T"}}}).schema["properties"]["a"]
    assert sent == ({keyword: value, "title": "T"} if stays else {"title": "T"})


def test_a_property_called_like_the_reference_keyword_is_described_by_a_pattern():
    given = {"properties": {"$ref": {"type": "string"}, "a": {}}, "additionalProperties": False}
    sent = without_misread({**given, "dependentRequired": {"$ref": ["a"]}})
    assert sent == {
        "properties": {"a": {}},
        "additionalProperties": False,
        "dependentRequired": {},
        "patternProperties": {"^\\$ref$": {"type": "string"}},
    }
    for instance in ({"$ref": "x"}, {"$ref": 1}, {"a": 1}, {"b": 1}):
        valid = [jsonschema.Draft202012Validator(schema).is_valid(instance) for schema in (given, sent)]
        assert valid[0] == valid[1], instance


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ({"not": {"const": {"$ref": 5}}}, 1),
        ({"not": {"enum": [{"$defs": [1]}]}}, 1),
        ({"oneOf": [{"const": {"$ref": 5}}, {"type": "integer"}]}, 1),
        ({"if": {"enum": [{"$ref": 5}]}, "then": {"type": "string"}}, 1),
        ({"not": {"dependentRequired": {"$ref": ["b"]}}}, {"$ref": 1}),
    ],
)
def test_what_is_left_out_refuses_nothing(part, value):
    sent = without_misread({"properties": {"a": part}})
    assert jsonschema.Draft202012Validator(sent).is_valid({"a": value})
