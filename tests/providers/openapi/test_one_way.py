"""Properties that only requests or only answers have, wherever a schema says so."""

import pytest

from tests.providers.openapi.apis import body, converted, tools

TEXT = {"type": "string"}
READ_ONLY = {**TEXT, "readOnly": True}


def ref(name):
    return {"$ref": f"#/components/schemas/{name}"}


SCHEMAS = {
    "Id": READ_ONLY,
    "Alias": {"allOf": [ref("Id")]},
    "Base": {"type": "object", "properties": {"id": READ_ONLY, "base": TEXT}, "required": ["id", "base"]},
}


@pytest.mark.parametrize(
    "value",
    [
        READ_ONLY,
        ref("Id"),
        ref("Alias"),
        {"readOnly": True, "allOf": [TEXT]},
        {"readOnly": True, "oneOf": [TEXT, {"type": "integer"}]},
        {"allOf": [TEXT, {"readOnly": True}]},
        {"allOf": [{"allOf": [ref("Id")]}]},
        {"anyOf": [ref("Id"), {"type": "null"}]},
        {"oneOf": [READ_ONLY, ref("Alias")]},
    ],
)
def test_a_property_is_left_out_however_it_is_said(value):
    schema = {"type": "object", "properties": {"id": value, "name": TEXT}, "required": ["id", "name"]}
    shown = {"type": "object", "properties": {"name": TEXT}, "required": ["name"]}
    for wrap in (lambda one: one, lambda one: {"type": "array", "items": {"properties": {"deep": one}}}):
        tool = converted(wrap(schema), schemas=SCHEMAS)
        assert tool.parameters["properties"]["a"] == wrap(shown)


@pytest.mark.parametrize("value", [{"anyOf": [ref("Id"), TEXT]}, {"type": "array", "items": ref("Id")}])
def test_a_property_stays_where_only_a_part_of_it_is_left_out(value):
    tool = converted({"type": "object", "properties": {"id": value}}, schemas=SCHEMAS)
    assert list(tool.parameters["properties"]["a"]["properties"]) == ["id"]


@pytest.mark.parametrize(
    "schema",
    [
        {"allOf": [ref("Base")], "required": ["id", "base"]},
        {"allOf": [ref("Base"), {"required": ["id"]}]},
        {"allOf": [ref("Base"), {"anyOf": [{"required": ["id"]}, {"required": ["other"]}]}]},
        {"allOf": [{"allOf": [ref("Base")]}, {"required": ["id"], "properties": {"other": TEXT}}]},
        {"allOf": [{"properties": {"id": READ_ONLY}}, {"required": ["id"], "properties": {"base": TEXT}}]},
        {"properties": {"id": READ_ONLY}, "oneOf": [{"required": ["id"]}, {"required": ["base"]}]},
        {"anyOf": [ref("Base"), {"properties": {"x": TEXT}}], "required": ["id"]},
        {"allOf": [ref("Base")], "if": {"required": ["base"]}, "then": {"required": ["id"]}},
        {"allOf": [ref("Base")], "if": {"required": ["other"]}, "else": {"required": ["id"]}},
        {"allOf": [ref("Base")], "dependentRequired": {"base": ["id"]}},
        {"allOf": [ref("Base")], "dependentSchemas": {"base": {"required": ["id"]}}},
        {"allOf": [ref("Base")], "not": {"required": ["id"]}},
        {"properties": {"base": TEXT}, "not": ref("Base")},
        {"properties": {"base": TEXT}, "not": {"properties": {"id": READ_ONLY}, "required": ["id"]}},
    ],
)
def test_nothing_requires_what_is_left_out(schema):
    tool = converted({"type": "array", "items": schema}, schemas=SCHEMAS)
    assert tool.check_arguments({"a": [{"base": "x"}]})


def test_a_body_of_parts_needs_no_property_that_only_answers_have():
    schema = {"allOf": [ref("Base"), {"properties": {"name": TEXT}}], "required": ["id", "name"]}
    answer = {"responses": {"200": {"content": {"application/json": {"schema": ref("Base")}}}}}
    (tool,) = tools({"/p": {"post": {**body(schema), **answer}}}, components={"schemas": SCHEMAS})
    assert list(tool.parameters["properties"]) == ["base", "name"]
    assert sorted(tool.parameters["required"]) == ["base", "name"]
    assert list(tool.output_schema["properties"]) == ["id", "base"]


def test_a_schema_that_holds_itself():
    node = {"properties": {"id": READ_ONLY, "next": ref("Node")}, "allOf": [ref("Node")], "required": ["id"]}
    tool = converted(ref("Node"), schemas={"Node": node})
    assert tool.check_arguments({"a": {"next": {}}})
