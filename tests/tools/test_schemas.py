"""Foreign types, and the form in which a schema goes to a model."""

import jsonschema
import pytest

from tool_search_processor.tools.frozen import freeze
from tool_search_processor.tools.schemas import map_types, resolve_pointer, wire_schema


@pytest.mark.parametrize(
    ("word", "mapped"),
    [
        ("dict", "object"),
        ("float", "number"),
        ("int", "integer"),
        ("str", "string"),
        ("list", "array"),
        ("tuple", "array"),
        ("bool", "boolean"),
        ("None", "null"),
        ("STRING", "string"),
        ("OBJECT", "object"),
        ("list[str]", "array"),
        ("array<string>", "array"),
        ("typing.Dict[str, int]", "object"),
        (["str", "None"], ["string", "null"]),
        (["int", "integer"], ["integer"]),
        (["string", "null"], ["string", "null"]),
    ],
)
def test_foreign_type_words_are_mapped(word, mapped):
    assert map_types({"type": word, "x": 1}) == {"type": mapped, "x": 1}


@pytest.mark.parametrize(
    "word", ["any", "Any", "TYPE_UNSPECIFIED", "Widget", ["str", "any"], [], {"a": 1}, None, 3, [1]]
)
def test_what_names_no_json_type_drops_the_keyword(word):
    assert map_types({"type": word, "x": 1}) == {"x": 1}


@pytest.mark.parametrize(
    "place",
    [
        lambda s: {"properties": {"type": s}},
        lambda s: {"items": s},
        lambda s: {"items": [s]},
        lambda s: {"prefixItems": [s]},
        lambda s: {"anyOf": [{"type": "null"}, s]},
        lambda s: {"oneOf": [s]},
        lambda s: {"allOf": [s]},
        lambda s: {"not": s},
        lambda s: {"if": s},
        lambda s: {"additionalProperties": s},
        lambda s: {"patternProperties": {"^x": s}},
        lambda s: {"$defs": {"enum": s}},
        lambda s: {"definitions": {"default": s}},
        lambda s: {"dependentSchemas": {"a": s}},
        lambda s: {"properties": {"a": {"items": {"properties": {"b": s}}}}},
    ],
)
def test_types_are_mapped_wherever_a_schema_stands(place):
    assert map_types(place({"type": "float"})) == place({"type": "number"})


@pytest.mark.parametrize(
    "schema",
    [
        {"enum": [{"type": "float"}], "const": {"type": "dict"}},
        {"default": {"type": "float"}, "examples": [{"type": "int"}]},
        {"x-vendor": {"type": "float"}},
        {"properties": {"type": {"type": "string"}}, "dependencies": {"a": ["b"]}},
        {"additionalProperties": False, "items": True},
        True,
    ],
)
def test_data_and_unknown_keywords_are_left_alone(schema):
    frozen = freeze(schema)
    assert map_types(frozen) is frozen


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {}},
        {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "type": "object",
            "properties": {
                "a": {"$ref": "#/$defs/A"},
                "b": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            },
            "required": ["a"],
            "additionalProperties": False,
            "$defs": {"A": {"type": "object", "properties": {"next": {"$ref": "#/$defs/A"}}}},
            "x-vendor": [1, {"a": None}],
            "if": {"required": ["b"]},
            "then": {"required": ["a"]},
        },
    ],
)
def test_a_schema_that_providers_take_goes_out_as_it_came(schema):
    frozen = freeze(schema)
    wire = wire_schema(frozen)
    assert wire.schema is frozen
    assert wire.wrapper is None


@pytest.mark.parametrize(
    ("schema", "sent"),
    [
        ({}, {"type": "object", "properties": {}}),
        ({"type": "object"}, {"type": "object", "properties": {}}),
        ({"properties": {"a": {}}}, {"type": "object", "properties": {"a": {}}}),
        ({"type": ["object", "null"]}, {"type": "object", "properties": {}}),
        (
            {"type": "object", "nullable": True, "properties": {"$a": {}}},
            {"type": "object", "nullable": True, "properties": {"a": {}}},
        ),
        ({"type": "dict", "properties": []}, {"type": "object", "properties": {}}),
        ({"type": "object", "properties": None, "required": None}, {"type": "object", "properties": {}}),
        (
            {"type": "object", "properties": {"a": {"type": "str", "required": True}}},
            {"type": "object", "properties": {"a": {"type": "string"}}},
        ),
        (
            {"type": "object", "properties": {"a": {"$ref": "https://example.com/a.json"}}},
            {"type": "object", "properties": {"a": {}}},
        ),
        ({"$ref": "https://example.com/a.json"}, {"type": "object", "properties": {}}),
        ({"$ref": "#"}, {"type": "object", "properties": {}}),
        ({"$ref": "#/$defs/Gone", "$defs": {}}, {"type": "object", "properties": {}, "$defs": {}}),
        (
            {"type": "object", "properties": {"a": "string", "b": None, "type": "object", "c": True}},
            {"type": "object", "properties": {"a": {}, "b": {}, "type": {}, "c": True}},
        ),
    ],
)
def test_what_providers_would_refuse_is_mended(schema, sent):
    wire = wire_schema(schema)
    assert wire.schema == sent
    assert wire.wrapper is None


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        # what the Messages API refuses as no schema of the draft 2020-12, and a whole request with it
        ({"minimum": 0, "exclusiveMinimum": True}, {"exclusiveMinimum": 0}),
        ({"maximum": 9, "exclusiveMaximum": False}, {"maximum": 9}),
        ({"minimum": "low", "multipleOf": 0, "minLength": -1, "x-own": 1}, {"x-own": 1}),
        ({"enum": None, "description": 3, "title": None, "pattern": 1, "const": None}, {"const": None}),
        ({"anyOf": [{"type": "string"}, "integer", None]}, {"anyOf": [{"type": "string"}]}),
        ({"anyOf": [], "allOf": {}, "not": []}, {}),
        ({"required": ["a", "b", "a", 1]}, {"required": ["a", "b"]}),
        ({"$ref": "#/$defs/Gone", "description": "D"}, {"description": "D"}),
        ({"$defs": [], "definitions": {"A": "string"}}, {"definitions": {"A": {}}}),
        ({"type": "string", "nullable": True}, {"type": ["string", "null"], "nullable": True}),
        ({"type": "null", "nullable": True}, {"type": "null", "nullable": True}),
        # what it and the Responses API refuse: "regex lookaround is not supported"
        ({"type": "string", "pattern": "^(?!undefined$)"}, {"type": "string"}),
        ({"pattern": "(a)\\1"}, {}),
        ({"type": "string", "pattern": r"^\d{3}$"}, {"type": "string", "pattern": r"^\d{3}$"}),
        (
            {"patternProperties": {"^(?=x)": {}, "^y": {}}, "additionalProperties": False},
            {"patternProperties": {"^y": {}}},
        ),
        # what the Chat Completions API refuses: "array schema missing items", and items that are no object
        ({"type": "array"}, {"type": "array", "items": {}}),
        ({"type": ["array", "null"], "items": True}, {"type": ["array", "null"], "items": {}}),
        (
            {"type": "array", "prefixItems": [{}, {}], "items": False},
            {"type": "array", "prefixItems": [{}, {}], "items": {}, "maxItems": 2},
        ),
        (
            {"type": "array", "items": [{"type": "string"}], "maxItems": 1},
            {"type": "array", "items": {}, "prefixItems": [{"type": "string"}], "maxItems": 1},
        ),
    ],
)
def test_every_schema_inside_is_one_that_providers_take(given, sent):
    wire = wire_schema({"properties": {"a": given, "b": {"items": given, "type": "array"}}}).schema
    assert wire["properties"]["a"] == sent
    assert wire["properties"]["b"]["items"] == sent
    jsonschema.Draft202012Validator.check_schema(wire)


def test_parameters_have_names_that_providers_take():
    long = "x" * 70
    given = {
        "type": "object",
        "properties": {"$filter": {}, "filter": {}, "a b": {}, "名": {}, "名前": {}, long: {}, "a.b-c": {}},
        "required": ["$filter", "filter"],
    }
    wire = wire_schema(given)
    assert list(wire.schema["properties"]) == [
        "filter_2", "filter", "a_b", "argument", "argument_2", "x" * 64, "a.b-c",
    ]  # fmt: skip
    assert wire.schema["required"] == ["filter_2", "filter"]
    referring = wire_schema({"properties": {"$a": {}, "b": {"$ref": "#/properties/$a"}}})
    assert referring.schema["properties"] == {"a": {}, "b": {}}
    values, shown = wire.unwrap({"filter_2": 1, "filter": 2, "名": 3, "argument_2": 4, "other": 5})
    assert values == {"$filter": 1, "filter": 2, "名": 3, "名前": 4, "other": 5}
    assert [shown((name, "$filter")) for name in ("$filter", "名", "filter")] == [
        ("filter_2", "$filter"), ("名", "$filter"), ("filter", "$filter"),
    ]  # fmt: skip
    assert shown(()) == ()


def test_a_reference_root_is_inlined_and_its_definitions_stay():
    definitions = {
        "Alias": {"$ref": "#/$defs/Node"},
        "Node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}, "title": "Node"},
    }
    wire = wire_schema({"$ref": "#/$defs/Alias", "$defs": definitions, "description": "A list."})
    assert wire.schema == {**definitions["Node"], "$defs": definitions, "description": "A list."}


def test_references_in_a_circle_lead_nowhere():
    definitions = {"A": {"$ref": "#/$defs/B"}, "B": {"$ref": "#/$defs/A"}}
    wire = wire_schema({"$ref": "#/$defs/A", "$defs": definitions})
    assert wire.schema == {"type": "object", "properties": {}, "$defs": definitions}


@pytest.mark.parametrize(
    "inner",
    [
        {"type": "array", "items": {"type": "string"}},
        {"type": "string"},
        {"anyOf": [{"type": "string"}, {"type": "object"}]},
        {"oneOf": [{"type": "object"}]},
        {"allOf": [{"type": "object"}]},
        {"not": {"type": "string"}},
        {"enum": ["a", "b"]},
        {"const": 1},
        {
            "type": "object",
            "properties": {"a": {}, "b": {}},
            "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
        },
    ],
)
def test_other_roots_become_the_one_property_of_a_wrapper(inner):
    wire = wire_schema(inner)
    assert wire.schema == {"type": "object", "properties": {"input": inner}, "required": ["input"]}
    assert wire.wrapper == "input"


def test_references_still_lead_where_they_led_when_the_root_is_wrapped():
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "anyOf": [{"$ref": "#/$defs/A"}, {"$ref": "#"}, {"properties": {"x": {"$ref": "#/anyOf/0"}}}],
        "$defs": {"A": {"type": "array", "items": {"$ref": "#"}}},
        "default": {"$ref": "#/not/touched"},
    }
    wire = wire_schema(schema)
    assert wire.schema == {
        "type": "object",
        "properties": {
            "input": {
                "anyOf": [
                    {"$ref": "#/$defs/A"},
                    {"$ref": "#/properties/input"},
                    {"properties": {"x": {"$ref": "#/properties/input/anyOf/0"}}},
                ],
                "default": {"$ref": "#/not/touched"},
            }
        },
        "required": ["input"],
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": {"A": {"type": "array", "items": {"$ref": "#/properties/input"}}},
    }


@pytest.mark.parametrize(
    ("properties", "wrapper"),
    [
        (["a"], "input"),
        (["input"], "arguments"),
        (["input", "arguments", "value"], "payload"),
        (["arguments", "input", "payload", "value"], "input_arguments_input_payload_value"),
    ],
)
def test_the_wrapper_never_bears_a_propertys_name(properties, wrapper):
    schema = {"anyOf": [{"properties": {name: {} for name in properties}}]}
    assert wire_schema(schema).wrapper == wrapper


def test_arguments_are_unwrapped_or_taken_as_they_are():
    def unwrapped(schema, arguments):
        value, shown = wire_schema(schema).unwrap(arguments)
        return value, shown(("a", 0))

    assert unwrapped({"type": "array"}, {"input": [1]}) == ([1], ("input", "a", 0))
    assert unwrapped({"type": "array"}, [1]) == ([1], ("a", 0))
    assert unwrapped({"type": "array"}, {"input": 1, "b": 2}) == ({"input": 1, "b": 2}, ("a", 0))
    assert unwrapped({}, {"input": 1}) == ({"input": 1}, ("a", 0))


@pytest.mark.parametrize(
    ("pointer", "target"),
    [
        ("#", {"a/b": {"c~d": [10, 20]}, "e f": 1}),
        ("#/a~1b/c~0d/1", 20),
        ("#/e%20f", 1),
        ("#/a~1b/c~0d/9", None),
        ("#/e%20f/x", None),
        ("#/none/x", None),
        ("other.json#/a", None),
        (None, None),
    ],
)
def test_pointers(pointer, target):
    assert resolve_pointer({"a/b": {"c~d": [10, 20]}, "e f": 1}, pointer) == target
