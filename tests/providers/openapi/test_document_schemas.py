"""Schemas: from what OpenAPI 3.0 and 3.1 mean to JSON Schema 2020-12, with what they refer to."""

import pytest
from jsonschema import Draft202012Validator

from tests.providers.openapi.apis import api, body, converted, query, tools

NULL = {"type": "null"}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        # nullable
        ({"type": "string", "nullable": True}, {"type": ["string", "null"]}),
        ({"type": "string", "nullable": False}, {"type": "string"}),
        ({"type": ["string", "integer"], "nullable": True}, {"type": ["string", "integer", "null"]}),
        ({"type": ["string", "null"], "nullable": True}, {"type": ["string", "null"]}),
        ({"type": "string", "enum": [1], "nullable": True}, {"type": ["string", "null"], "enum": [1, None]}),
        ({"enum": ["a", None], "nullable": True}, {"enum": ["a", None]}),
        ({"nullable": True}, {}),
        (
            {"allOf": [{"minLength": 1}], "nullable": True, "description": "D"},
            {"description": "D", "anyOf": [{"allOf": [{"minLength": 1}]}, NULL]},
        ),
        ({"type": "string", "x-nullable": True}, {"type": ["string", "null"]}),
        ({"anyOf": [{"type": "string"}], "nullable": True}, {"anyOf": [{"type": "string"}, NULL]}),
        # limits
        ({"minimum": 1, "exclusiveMinimum": True}, {"exclusiveMinimum": 1}),
        ({"minimum": 1, "exclusiveMinimum": False}, {"minimum": 1}),
        ({"maximum": 9, "exclusiveMaximum": True}, {"exclusiveMaximum": 9}),
        ({"exclusiveMaximum": 9}, {"exclusiveMaximum": 9}),
        ({"exclusiveMinimum": True}, {}),
        # words
        ({"type": "file"}, {"type": "string"}),
        ({"type": "float", "format": "double"}, {"type": "number", "format": "double"}),
        ({"example": 3}, {"examples": [3]}),
        ({"example": 3, "examples": [4]}, {"examples": [4]}),
        ({"items": [{"type": "string"}, {}]}, {"prefixItems": [{"type": "string"}, {}], "items": True}),
        ({"items": [{}], "additionalItems": False}, {"prefixItems": [{}], "items": False}),
        ({"oneOf": [{"minLength": 1}, {"maxLength": 2}]}, {"anyOf": [{"minLength": 1}, {"maxLength": 2}]}),
        # kept as they are
        ({"type": "string", "enum": ["a", "b"], "default": "a", "deprecated": True}, None),
        ({"const": {"nullable": True, "x-a": 1}, "default": {"xml": 1}}, None),
        ({"if": {"type": "string"}, "then": {"minLength": 1}, "else": {"type": "integer"}}, None),
        ({"properties": {"xml": {"type": "string"}, "$ref": {"type": "string"}}}, None),
        ({"dependentRequired": {"a": ["b"]}, "patternProperties": {"^x": False}}, None),
        (True, {}),
        (False, {"not": {}}),
        # what neither models nor validators know
        ({"xml": {}, "externalDocs": {}, "x-internal": 1, "discriminator": {"propertyName": "k"}}, {}),
        ({"type": "object", "$id": "https://x", "$schema": "s", "$anchor": "a"}, {"type": "object"}),
    ],
)  # fmt: skip
def test_a_schema_is_converted(given, expected):
    tool = converted(given)
    assert tool.parameters["properties"]["a"] == (given if expected is None else expected)
    Draft202012Validator.check_schema(tool.parameters)


@pytest.mark.parametrize(
    "given",
    [
        {"required": True},
        {"properties": None},
        {"properties": []},
        {"minLength": -1},
        {"maximum": "3"},
        {"multipleOf": 0},
        {"description": None, "title": 3},
        {"enum": "a"},
        {"allOf": []},
        {"anyOf": [3]},
        {"type": []},
        {"type": 3},
        {"examples": {"a": 1}},
        {"deprecated": "yes"},
        {"dependentRequired": {"a": "b"}},
        {"additionalProperties": "string"},
        {"pattern": None},
        {"minItems": True},
        {"minItems": 1.5},
        {"maximum": float("inf"), "maxLength": float("nan")},
        3,
    ],
)
def test_what_is_malformed_is_left_out(given):
    tool = converted(given)
    assert tool.parameters["properties"]["a"] == {}
    Draft202012Validator.check_schema(tool.parameters)


@pytest.mark.parametrize("lost", [{"$ref": "#/components/schemas/Gone"}, {"type": "widget"}, {"enum": "red"}])
@pytest.mark.parametrize(
    "around",
    [
        lambda lost: {"not": lost},
        lambda lost: {"not": {"properties": {"b": {"allOf": [lost]}}}},
        lambda lost: {"if": lost, "then": {"type": "string"}},
    ],
)
def test_what_is_left_out_refuses_nothing(around, lost):
    assert converted({**around(lost), "title": "T"}).parameters["properties"]["a"] == {"title": "T"}
    kept = {"not": {"required": ["b"]}}
    assert converted(kept).parameters["properties"]["a"] == kept


LOSING = {
    "Gone": {"required": ["b"], "properties": {"b": {"$ref": "#/components/schemas/Nowhere"}}},
    "Wrong": {"enum": "red"},
    "Deep": {"properties": {"c": {"items": {"$ref": "#/components/schemas/Wrong"}}}},
    "Cycle": {"properties": {"next": {"$ref": "#/components/schemas/Other"}}},
    "Other": {"properties": {"back": {"$ref": "#/components/schemas/Cycle"}, "d": {"type": "widget"}}},
    "Either": {"oneOf": [{"minLength": 1}, {"maxLength": 2}]},
    "ReadOnly": {"properties": {"id": {"type": "string", "readOnly": True}}, "required": ["id"]},
}  # fmt: skip


@pytest.mark.parametrize(
    "around",
    [
        lambda lost: {"not": lost},
        lambda lost: {"not": {"properties": {"b": {"allOf": [lost]}}}},
        lambda lost: {"if": lost, "then": {"type": "string"}},
    ],
)
@pytest.mark.parametrize("name", LOSING)
def test_what_is_left_out_behind_a_reference_refuses_nothing(around, name):
    lost = {"$ref": f"#/components/schemas/{name}"}
    for part in (lost, LOSING[name]):
        tool = converted({**around(part), "title": "T"}, schemas=LOSING)
        assert tool.parameters["properties"]["a"] == {"title": "T"}


def test_a_reference_to_what_stays_whole_stays_in_not():
    schemas = {"Whole": {"type": "object", "required": ["b"]}}
    tool = converted({"not": {"$ref": "#/components/schemas/Whole"}}, schemas=schemas)
    assert tool.parameters["properties"]["a"] == {"not": {"$ref": "#/$defs/Whole"}}


def test_one_of_beside_any_of_does_not_refuse_what_a_loosened_branch_accepts():
    lost = {"oneOf": [{"required": ["b"]}, {"enum": "red"}], "anyOf": [{"required": ["c"]}]}
    check = Draft202012Validator(converted(lost).parameters["properties"]["a"])
    assert check.is_valid({"b": 1, "c": 1})


def test_names_are_required_once_and_a_property_without_schema_takes_anything():
    tool = converted({"properties": {"b": None}, "required": ["b", "b", 3]})
    assert tool.parameters["properties"]["a"] == {"properties": {"b": {}}, "required": ["b"]}


def test_read_only_properties_are_left_out_of_requests_and_write_only_ones_out_of_answers():
    user = {
        "type": "object",
        "properties": {
            "id": {"type": "integer", "readOnly": True},
            "name": {"type": "string"},
            "password": {"type": "string", "writeOnly": True},
        },
        "required": ["id", "name", "password"],
    }
    answer = {
        "responses": {
            "200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/U"}}}}
        }
    }
    (tool,) = tools(
        {"/u": {"post": {**body({"$ref": "#/components/schemas/U"}), **answer}}},
        components={"schemas": {"U": user}},
    )
    assert list(tool.parameters["properties"]) == tool.parameters["required"] == ["name", "password"]
    assert list(tool.output_schema["properties"]) == tool.output_schema["required"] == ["id", "name"]
    only = converted({"properties": {"id": {"readOnly": True}}, "required": ["id"]})
    assert only.parameters["properties"]["a"] == {"properties": {}}


def test_what_is_referred_to_comes_along_even_in_a_circle():
    tool = converted(
        {"type": "array", "items": {"$ref": "#/components/schemas/User"}},
        schemas={
            "User": {
                "properties": {"friends": {"items": {"$ref": "#/components/schemas/User"}}, "home": HOME}
            },
            "Home": {"properties": {"street": {"type": "string"}}},
            "Unused": {"type": "string"},
        },
    )
    assert tool.parameters["properties"]["a"]["items"] == {"$ref": "#/$defs/User"}
    assert tool.parameters["$defs"] == {
        "User": {
            "properties": {"friends": {"items": {"$ref": "#/$defs/User"}}, "home": {"$ref": "#/$defs/Home"}}
        },
        "Home": {"properties": {"street": {"type": "string"}}},
    }
    assert tool.check_arguments({"a": [{"friends": [{"home": {"street": "x"}}]}]})
    with pytest.raises(ValueError, match=r"`a\[0\]\.friends\[0\]\.home\.street` must be a string"):
        tool.check_arguments({"a": [{"friends": [{"home": {"street": 3}}]}]})


HOME = {"$ref": "#/components/schemas/Home"}


def test_two_references_with_one_last_name_stay_two_and_odd_names_are_made_valid():
    (tool,) = tools(
        {"/p": {"get": {"parameters": [
            {"name": "a", "in": "query", "schema": {"$ref": "#/components/schemas/Id"}},
            {"name": "b", "in": "query", "schema": {"$ref": "#/x-more/Id"}},
            {"name": "c", "in": "query", "schema": {"$ref": "#/components/schemas/a.b~1c%20d"}},
        ]}}},
        components={"schemas": {"Id": {"type": "string"}, "a.b/c d": {"type": "boolean"}}},
        **{"x-more": {"Id": {"type": "integer"}}},
    )  # fmt: skip
    assert tool.parameters["$defs"] == {
        "Id": {"type": "string"}, "Id_2": {"type": "integer"}, "a_b_1c_d": {"type": "boolean"},
    }  # fmt: skip
    assert tool.parameters["properties"]["b"] == {"$ref": "#/$defs/Id_2"}
    Draft202012Validator.check_schema(tool.parameters)


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("3.1.0", {"$ref": "#/$defs/S", "description": "D", "maxLength": 3}),
        ("3.0.3", {"$ref": "#/$defs/S", "description": "D"}),
    ],
)
def test_what_stands_beside_a_reference_counts_since_3_1(version, expected):
    given = {"$ref": "#/components/schemas/S", "description": "D", "maxLength": 3}
    assert (
        converted(given, schemas={"S": {"type": "string"}}, version=version).parameters["properties"]["a"]
        == expected
    )


def test_a_reference_may_be_nullable():
    tool = converted({"$ref": "#/components/schemas/S", "nullable": True}, schemas={"S": {"type": "string"}})
    assert tool.parameters["properties"]["a"] == {"anyOf": [{"$ref": "#/$defs/S"}, NULL]}
    assert Draft202012Validator(dict(tool.parameters)).is_valid({"a": None})


def test_a_reference_that_leads_nowhere_takes_anything_and_is_told_once(caplog):
    first, second = tools(
        {path: {"get": {"parameters": [query("a", {"$ref": "#/no", "title": "T"})]}} for path in ("/a", "/b")}
    )  # fmt: skip
    assert first.parameters["properties"] == second.parameters["properties"] == {"a": {"title": "T"}}
    assert caplog.messages == ["api: the reference '#/no' leads nowhere"]


def test_references_that_lead_to_one_another_alone_take_anything():
    schemas = {"A": {"$ref": "#/components/schemas/B"}, "B": {"$ref": "#/components/schemas/A"}, "T": True}
    document = {"$ref": "#/components/schemas/A"}
    tool = converted(document, schemas=schemas)
    assert tool.parameters["$defs"] == {"A": {"$ref": "#/$defs/B"}, "B": {"$ref": "#/$defs/A"}}
    (tool,) = tools({"/p": {"post": body(document)}}, components={"schemas": schemas})
    assert list(tool.parameters["properties"]) == ["body"]
    assert converted({"$ref": "#/components/schemas/T"}, schemas=schemas).parameters["properties"]["a"] == {}


def test_a_definition_is_the_same_object_in_all_tools():
    paths = {path: {"post": body({"properties": {"u": HOME}})} for path in ("/a", "/b")}
    first, second = tools(paths, components={"schemas": {"Home": {"type": "string"}}})
    assert first.parameters["$defs"]["Home"] is second.parameters["$defs"]["Home"]


def test_the_document_is_left_as_it_was():
    schema = {"type": "string", "nullable": True, "x-a": 1}
    document = api({"/p": {"post": body(schema)}})
    converted(schema)
    assert document == api({"/p": {"post": body({"type": "string", "nullable": True, "x-a": 1})}})
