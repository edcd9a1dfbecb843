"""Foreign types, and the form in which a schema goes to a model."""

import json

import jsonschema
import pytest

from tool_search_processor.tools import Tool
from tool_search_processor.tools.frozen import freeze
from tool_search_processor.tools.schema_walk import resolve_pointer
from tool_search_processor.tools.schemas import map_types, mend_schema, wire_schema


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
        (["str", "Widget"], ["string"]),
        (["Widget", "int", 3, {"type": "object"}], ["integer"]),
        (["string", None], ["string", "null"]),
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
            {"type": "object", "properties": {"a": {}, "b": {}, "type": {}, "c": {}}},
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
        (
            {"properties": {"a": {}, "b": {}}, "required": ["a", "b", "a", 1]},
            {"properties": {"a": {}, "b": {}}, "required": ["a", "b"]},
        ),
        ({"$ref": "#/$defs/Gone", "description": "D"}, {"description": "D"}),
        ({"$defs": [], "definitions": {"A": "string"}}, {}),
        ({"dependencies": {"a": "b"}}, {}),
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


def test_a_reference_root_is_inlined_and_the_definitions_it_uses_stay():
    definitions = {
        "Alias": {"$ref": "#/$defs/Node"},
        "Node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}, "title": "Node"},
    }
    wire = wire_schema({"$ref": "#/$defs/Alias", "$defs": definitions, "description": "A list."})
    del definitions["Alias"]
    assert wire.schema == {**definitions["Node"], "$defs": definitions, "description": "A list."}


def test_references_in_a_circle_lead_nowhere():
    definitions = {"A": {"$ref": "#/$defs/B"}, "B": {"$ref": "#/$defs/A"}}
    wire = wire_schema({"$ref": "#/$defs/A", "$defs": definitions})
    assert wire.schema == {"type": "object", "properties": {}}


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


BOOLEAN_PLACES = {
    "properties": lambda s: {"properties": {"x": s}},
    "patternProperties": lambda s: {"patternProperties": {"^x": s}},
    "items": lambda s: {"items": s},
    "old items": lambda s: {"items": [s, {}]},
    "prefixItems": lambda s: {"prefixItems": [s]},
    "additionalItems": lambda s: {"additionalItems": s},
    "anyOf": lambda s: {"anyOf": [{"type": "string"}, s]},
    "oneOf": lambda s: {"oneOf": [{"type": "string"}, s]},
    "allOf": lambda s: {"allOf": [s]},
    "not": lambda s: {"not": s},
    "if": lambda s: {"if": s, "then": s, "else": s},
    "contains": lambda s: {"contains": s},
    "propertyNames": lambda s: {"propertyNames": s},
    "dependentSchemas": lambda s: {"dependentSchemas": {"x": s}},
    "dependencies": lambda s: {"dependencies": {"x": s}},
    "unevaluatedItems": lambda s: {"unevaluatedItems": s},
    "unevaluatedProperties": lambda s: {"unevaluatedProperties": s},
    "contentSchema": lambda s: {"contentSchema": s},
    "$defs": lambda s: {"$ref": "#/properties/a/$defs/X", "$defs": {"X": s}},
    "deep": lambda s: {"items": {"properties": {"y": {"anyOf": [s, {"type": "null"}]}}}},
}


@pytest.mark.parametrize("value", [True, False])
@pytest.mark.parametrize("place", BOOLEAN_PLACES)
def test_no_schema_that_is_sent_is_a_boolean_and_each_means_the_same(place, value):
    given = {"type": "object", "properties": {"a": BOOLEAN_PLACES[place](value)}}
    sent = wire_schema(given).schema
    text = json.dumps(sent)
    assert "true" not in text
    assert "false" not in text
    before, after = (jsonschema.Draft202012Validator(schema) for schema in (mend_schema(given), sent))
    for instance in ({}, {"x": 1}, {"y": 1}, [], [1], [1, 2, 3], "x", 1, None, [{"y": 1}]):
        assert before.is_valid({"a": instance}) == after.is_valid({"a": instance}), instance


def test_additional_properties_may_be_a_boolean():
    given = {"type": "object", "properties": {"a": {"additionalProperties": True}}}
    for schema in (given, {**given, "additionalProperties": False}):
        assert wire_schema(schema).schema == schema


def at_root(schema):
    return {"type": "object", **schema}


@pytest.mark.parametrize("place", [at_root, lambda s: at_root({"properties": {"l": {"items": s}}})])
@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ({"required": ["q"]}, {}),
        ({"properties": {"a": {}}, "required": ["a", "q"]}, {"properties": {"a": {}}, "required": ["a"]}),
        ({"properties": {"a": {}}, "if": {"required": ["a"]}, "then": {"required": ["q"]}},
         {"properties": {"a": {}}, "if": {"required": ["a"]}, "then": {}}),
        ({"properties": {"a": {}}, "if": {"required": ["q"]}, "then": {"required": ["a"]}},
         {"properties": {"a": {}}}),
        ({"properties": {"a": {}, "b": {}}, "dependentRequired": {"a": ["b", "q"], "q": ["a"], "b": ["q"]}},
         {"properties": {"a": {}, "b": {}}, "dependentRequired": {"a": ["b"]}}),
        ({"properties": {"a": {}}, "dependencies": {"a": ["q"], "q": {"required": ["a"]}}},
         {"properties": {"a": {}}, "dependencies": {"q": {"required": ["a"]}}}),
        ({"properties": {"a": {}}, "dependentSchemas": {"a": {"required": ["q", "a"]}}},
         {"properties": {"a": {}}, "dependentSchemas": {"a": {"required": ["a"]}}}),
    ],
)  # fmt: skip
def test_names_that_no_property_has_are_not_demanded(place, given, sent):
    assert wire_schema(place(given)).schema == {"properties": {}, **place(sent)}


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ({"anyOf": [{"required": ["a"]}, {"required": ["q"]}]}, {"anyOf": [{"required": ["a"]}, {}]}),
        ({"oneOf": [{"required": ["a"]}, {"required": ["q"]}]}, {"anyOf": [{"required": ["a"]}, {}]}),
        (
            {"oneOf": [{"required": ["q"]}, {}], "anyOf": [{}]},
            {"anyOf": [{}], "allOf": [{"anyOf": [{}, {}]}]},
        ),
        ({"allOf": [{"required": ["a", "q"]}]}, {"allOf": [{"required": ["a"]}]}),
        ({"allOf": [{"properties": {"q": {}}}, {"required": ["q"]}]}, None),
        ({"not": {"required": ["a", "b"]}}, None),
        ({"not": {"required": ["a", "q"]}}, {}),
        ({"not": {"properties": {"a": {"required": ["q"]}}}}, {}),
        ({"allOf": [{"$ref": "#/$defs/D"}], "required": ["d", "q"]},
         {"allOf": [{"$ref": "#/$defs/D"}], "required": ["d"]}),
        ({"allOf": [{"$ref": "#/$defs/Needs"}]}, None),
    ],
)  # fmt: skip
def test_a_branch_may_demand_what_is_declared_elsewhere_for_the_same_value(given, sent):
    definitions = {"D": {"properties": {"d": {}}}, "Needs": {"required": ["a", "ghost"]}}
    shared = {"type": "object", "properties": {"a": {}, "b": {}}}

    def nested(inner):
        used = {name: one for name, one in definitions.items() if f"#/$defs/{name}" in json.dumps(inner)}
        cleared = {**used, "Needs": {"required": ["a"]}} if "Needs" in used else used
        return {
            "type": "object",
            "properties": {"o": {**shared, **inner}},
            **({"$defs": cleared} if cleared else {}),
        }

    wire = wire_schema({"type": "object", "properties": {"o": {**shared, **given}}, "$defs": definitions})
    assert wire.schema == nested(given if sent is None else sent)


def test_what_needs_a_definition_keeps_it_and_others_go():
    def definitions(*names):
        every = {
            "A": {"properties": {"b": {"$ref": "#/$defs/B"}}},
            "B": {"items": {"$ref": "#/$defs/A"}},
            "Deep": {"properties": {"in": {"$defs": {"X": {"type": "string"}, "Y": {}}}}},
            "Unused": {"$ref": "#/$defs/Only"},
            "Only": {"$ref": "#/$defs/Unused"},
            "a/b c": {"type": "integer"},
            "Anchored": {"$anchor": "here", "type": "string"},
        }
        return {name: every[name] for name in names}

    def sent(properties, *names):
        given = {"type": "object", "properties": properties, "$defs": definitions(*definitions_all)}
        return wire_schema(given).schema, {
            "type": "object",
            "properties": properties,
            **({"$defs": definitions(*names)} if names else {}),
        }

    definitions_all = ("A", "B", "Deep", "Unused", "Only", "a/b c", "Anchored")
    for properties, names in (
        ({"x": {"type": "string"}}, ()),
        ({"x": {"$ref": "#/$defs/A"}}, ("A", "B")),
        ({"x": {"anyOf": [{"$ref": "#/$defs/B"}, {"type": "null"}]}}, ("A", "B")),
        ({"x": {"$ref": "#/$defs/a~1b%20c"}}, ("a/b c",)),
        ({"x": {"$ref": "#here"}}, ("Anchored",)),
    ):
        found, expected = sent(properties, *names)
        assert found == expected
    deep, _ = sent({"x": {"$ref": "#/$defs/Deep/properties/in/$defs/X"}})
    assert deep["$defs"] == {"Deep": {"properties": {"in": {"$defs": {"X": {"type": "string"}}}}}}


def test_definitions_stay_for_mcp_and_are_nowhere_in_what_a_model_gets():
    given = {
        "type": "object",
        "properties": {"a": True, "n": {"type": "object", "definitions": {"X": {}}}},
        "required": ["ghost"],
        "$defs": {"Unused": {"type": "string"}},
    }
    tool = Tool.from_mcp({"name": "t", "inputSchema": given})
    assert tool.to_mcp()["inputSchema"] == given
    assert tool.wire_schema() == {"type": "object", "properties": {"a": {}, "n": {"type": "object"}}}


LOOK_AHEAD = "^(?!x)"


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ({"type": "string", "not": {"pattern": LOOK_AHEAD}}, "x"),
        ({"if": {"pattern": LOOK_AHEAD}, "then": {"minLength": 5}}, "x"),
        ({"if": {"pattern": LOOK_AHEAD}, "else": {"minLength": 5}}, "a"),
        ({"oneOf": [{"pattern": "^(?=x)"}, {"pattern": LOOK_AHEAD}]}, "x"),
        ({"not": {"properties": {"p": {"allOf": [{"pattern": LOOK_AHEAD}]}}}}, {"p": "x"}),
        ({"not": {"$ref": "#/$defs/Other"}}, "x"),
        ({"oneOf": [{"$ref": "#/$defs/Other"}, {"const": "x"}]}, "x"),
        ({"not": {"patternProperties": {LOOK_AHEAD: {"type": "string"}}}}, {"a": 1}),
        ({"contains": {"pattern": LOOK_AHEAD}, "maxContains": 1}, ["x", "a"]),
        ({"patternProperties": {LOOK_AHEAD: {}}, "unevaluatedProperties": False}, {"a": 1}),
        ({"allOf": [{"patternProperties": {LOOK_AHEAD: {}}}], "unevaluatedProperties": False}, {"a": 1}),
        ({"$ref": "#/$defs/Other", "unevaluatedProperties": False}, {"a": 1}),
        (
            {
                "if": {"properties": {"k": {"pattern": LOOK_AHEAD}}},
                "then": {"properties": {"b": {}}},
                "unevaluatedProperties": False,
            },
            {"k": "a", "b": 1},
        ),
    ],
)
def test_what_a_tool_accepts_is_accepted_without_patterns_that_providers_refuse(part, value):
    other = {"pattern": LOOK_AHEAD, "patternProperties": {LOOK_AHEAD: {}}}
    given = {"type": "object", "properties": {"a": part}, "$defs": {"Other": other}}
    sent = json.loads(json.dumps(wire_schema(given).schema, default=dict))
    for schema in (given, sent):
        jsonschema.validate({"a": value}, schema, jsonschema.Draft202012Validator)
    assert "(?" not in json.dumps(sent)


def test_conditions_and_closed_objects_without_such_a_pattern_stay():
    closed = {"properties": {"b": {"pattern": LOOK_AHEAD}}, "unevaluatedProperties": {"not": {}}}
    condition = {"if": {"const": 1}, "then": {"type": "integer"}, "not": {"const": 2}}
    sent = wire_schema({"type": "object", "properties": {"a": closed, "c": condition}}).schema
    assert sent["properties"] == {"a": {**closed, "properties": {"b": {}}}, "c": condition}


def test_names_that_are_replaced_are_not_held_against_the_rule_for_names():
    sent = wire_schema({"type": "object", "properties": {"a b": {}}, "propertyNames": {"pattern": "^a b$"}})
    jsonschema.validate({"a_b": 1}, json.loads(json.dumps(sent.schema, default=dict)))
