"""Overlays of JSON Schemas: every place where an argument is named, and nothing else."""

import copy

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tool_search_processor.tools.frozen import freeze
from tool_search_processor.transforms.schema_overlay import (
    argument_default,
    declared_arguments,
    is_required,
    overlay_schema,
)
from tool_search_processor.transforms.schema_scope import REMOVED, Overlay

S = {"type": "string"}
N = {"type": "number"}
NODE = {"type": "object", "properties": {"a": S, "next": {"$ref": "#/$defs/Node"}}, "required": ["a"]}


def schema(**keywords):
    return {"type": "object", "properties": {"a": S, "b": N}, **keywords}


RENAMED = {"type": "object", "properties": {"x": S, "b": N}}
A_TO_X = Overlay(names={"a": "x"})
HIDE_A = Overlay(hidden=frozenset("a"))
FIX_A = Overlay(hidden=frozenset("a"), filled=frozenset("a"), fixed={"a": "v"})
HIDE_B = Overlay(hidden=frozenset("b"), filled=frozenset("b"))

RENAMES = {
    "properties and required": (schema(required=["b", "a"]), {**RENAMED, "required": ["b", "x"]}),
    "order of properties": (
        {"properties": {"c": S, "a": S, "b": N}, "type": "object"},
        {"properties": {"c": S, "x": S, "b": N}, "type": "object"},
    ),
    "what is unknown or speaks of others": (
        schema(
            additionalProperties={"type": "object", "properties": {"a": S}},
            patternProperties={"^a": S},
            title="a",
            description="takes a",
            **{"$schema": "https://json-schema.org/draft/2020-12/schema", "x-unknown": {"a": ["a"]}},
        ),
        {
            **RENAMED,
            "additionalProperties": {"type": "object", "properties": {"a": S}},
            "patternProperties": {"^a": S},
            "title": "a",
            "description": "takes a",
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "x-unknown": {"a": ["a"]},
        },
    ),
    "nested objects keep their names": (
        {"properties": {"a": {"type": "object", "properties": {"a": S}, "required": ["a"]}}},
        {"properties": {"x": {"type": "object", "properties": {"a": S}, "required": ["a"]}}},
    ),
    "anyOf of required": (
        schema(anyOf=[{"required": ["a"]}, {"required": ["b"]}]),
        {**RENAMED, "anyOf": [{"required": ["x"]}, {"required": ["b"]}]},
    ),
    "oneOf, allOf and not": (
        schema(
            oneOf=[{"properties": {"a": {"const": "1"}}}, {"required": ["b"]}],
            allOf=[{"anyOf": [{"required": ["a"]}, True]}],
            **{"not": {"required": ["a", "b"]}},
        ),
        {
            **RENAMED,
            "oneOf": [{"properties": {"x": {"const": "1"}}}, {"required": ["b"]}],
            "allOf": [{"anyOf": [{"required": ["x"]}, True]}],
            "not": {"required": ["x", "b"]},
        },
    ),
    "if, then and else": (
        schema(
            **{
                "if": {"properties": {"a": {"const": "k"}}, "required": ["a"]},
                "then": {"required": ["b"]},
                "else": {"properties": {"a": {"maxLength": 3}}},
            }
        ),
        {
            **RENAMED,
            "if": {"properties": {"x": {"const": "k"}}, "required": ["x"]},
            "then": {"required": ["b"]},
            "else": {"properties": {"x": {"maxLength": 3}}},
        },
    ),
    "dependencies of every draft": (
        schema(
            dependentRequired={"a": ["b"], "b": ["a"]},
            dependentSchemas={"a": {"required": ["b"]}, "b": {"properties": {"a": N}}},
            dependencies={"a": ["b"], "b": {"required": ["a"]}},
        ),
        {
            **RENAMED,
            "dependentRequired": {"x": ["b"], "b": ["x"]},
            "dependentSchemas": {"x": {"required": ["b"]}, "b": {"properties": {"x": N}}},
            "dependencies": {"x": ["b"], "b": {"required": ["x"]}},
        },
    ),
    "propertyNames": (
        schema(propertyNames={"enum": ["a", "b"]}),
        {**RENAMED, "propertyNames": {"enum": ["x", "b"]}},
    ),
    "a pattern of propertyNames stays": (
        schema(propertyNames={"pattern": "^[abx]$"}),
        {**RENAMED, "propertyNames": {"pattern": "^[abx]$"}},
    ),
    "whole objects as data": (
        schema(examples=[{"a": "1"}, "a"], default={"a": "2", "b": 1}, enum=[{"a": "1"}], const={"a": "1"}),
        {
            **RENAMED,
            "examples": [{"x": "1"}, "a"],
            "default": {"x": "2", "b": 1},
            "enum": [{"x": "1"}],
            "const": {"x": "1"},
        },
    ),
    "a reference to a renamed argument": (
        {
            "properties": {
                "a": {"items": S},
                "b": {"$ref": "#/properties/a/items"},
                "c": {"$ref": "#/properties/b"},
            }
        },
        {
            "properties": {
                "x": {"items": S},
                "b": {"$ref": "#/properties/x/items"},
                "c": {"$ref": "#/properties/b"},
            }
        },
    ),
    "definitions": (
        {"properties": {"a": {"$ref": "#/$defs/Node"}}, "$defs": {"Node": NODE, "Unused": S}},
        {"properties": {"x": {"$ref": "#/$defs/Node"}}, "$defs": {"Node": NODE, "Unused": S}},
    ),
    "a root reference": (
        {"$ref": "#/$defs/Node", "$defs": {"Node": NODE}, "title": "T"},
        {
            "type": "object",
            "properties": {"x": S, "next": {"$ref": "#/$defs/Node"}},
            "required": ["x"],
            "$defs": {"Node": NODE},
            "title": "T",
        },
    ),
    "a root reference beside other keywords": (
        {"$ref": "#/$defs/Node", "$defs": {"Node": NODE}, "properties": {"b": N}},
        {
            "$defs": {"Node": NODE},
            "properties": {"b": N},
            "allOf": [
                {
                    "type": "object",
                    "properties": {"x": S, "next": {"$ref": "#/$defs/Node"}},
                    "required": ["x"],
                }
            ],
        },
    ),
    "a branch that is a reference": (
        {
            "anyOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/B"}],
            "$defs": {"A": schema(), "B": {"required": ["c"]}},
        },
        {"anyOf": [RENAMED, {"$ref": "#/$defs/B"}], "$defs": {"B": {"required": ["c"]}}},
    ),
    "the root used for a nested object": (
        {"properties": {"a": S, "and": {"type": "array", "items": {"$ref": "#"}}}},
        {
            "properties": {"x": S, "and": {"type": "array", "items": {"$ref": "#/$defs/Shared1"}}},
            "$defs": {
                "Shared1": {
                    "properties": {"a": S, "and": {"type": "array", "items": {"$ref": "#/$defs/Shared1"}}}
                }
            },
        },
    ),
    "a branch of the root used for a nested object": (
        {
            "anyOf": [{"properties": {"a": S}}],
            "properties": {"b": {"$ref": "#/anyOf/0"}},
            "$defs": {"Shared1": S},
        },
        {
            "anyOf": [{"properties": {"x": S}}],
            "properties": {"b": {"$ref": "#/$defs/Shared2"}},
            "$defs": {"Shared1": S, "Shared2": {"properties": {"a": S}}},
        },
    ),
    "references that are none": (
        {
            "properties": {
                "a": {"const": {"$ref": "#/properties/a"}},
                "$ref": {"type": "string"},
                "b": {"$ref": "#anchor"},
                "c": {"$ref": "https://example.org/s#/properties/a"},
                "d": {"$ref": "#/properties"},
                "e": {"$ref": "#/anyOf/7"},
            },
        },
        {
            "properties": {
                "x": {"const": {"$ref": "#/properties/a"}},
                "$ref": {"type": "string"},
                "b": {"$ref": "#anchor"},
                "c": {"$ref": "https://example.org/s#/properties/a"},
                "d": {"$ref": "#/properties"},
                "e": {"$ref": "#/anyOf/7"},
            },
        },
    ),
    "shapes of a broken schema": (
        {
            "properties": {"a": True},
            "required": True,
            "anyOf": "a",
            "allOf": [3],
            "dependencies": ["a"],
            "enum": "a",
            "if": [],
        },
        {
            "properties": {"x": True},
            "required": True,
            "anyOf": "a",
            "allOf": [True],
            "dependencies": ["a"],
            "enum": "a",
            "if": True,
        },
    ),
    "properties that are none": (
        {"properties": ["a"], "required": ["a"]},
        {"properties": ["a"], "required": ["x"]},
    ),
}

HIDES = {
    "optional, never given": (
        HIDE_A,
        schema(required=["b"]),
        {**schema(required=["b"]), "properties": {"b": N}},
    ),
    "filled, was required": (
        FIX_A,
        schema(required=["a", "b"]),
        {"type": "object", "properties": {"b": N}, "required": ["b"]},
    ),
    "the only required one": (FIX_A, schema(required=["a"]), {"type": "object", "properties": {"b": N}}),
    "a branch that is always met": (
        FIX_A,
        schema(anyOf=[{"required": ["a"]}, {"required": ["b"]}]),
        {"type": "object", "properties": {"b": N}},
    ),
    "a branch that can never be met": (
        HIDE_A,
        schema(anyOf=[{"required": ["a"]}, {"required": ["b"]}]),
        {"type": "object", "properties": {"b": N}, "anyOf": [{"required": ["b"]}]},
    ),
    "a branch that the fixed value forbids": (
        FIX_A,
        schema(
            oneOf=[
                {"properties": {"a": {"const": "w"}}, "required": ["a"]},
                {"properties": {"a": {"enum": ["u", "v"]}}, "required": ["a", "b"]},
            ]
        ),
        {"type": "object", "properties": {"b": N}, "oneOf": [{"properties": {}, "required": ["b"]}]},
    ),
    "not": (
        HIDE_A,
        schema(**{"not": {"required": ["a", "b"]}}),
        {"type": "object", "properties": {"b": N}},
    ),
    "not, filled": (
        FIX_A,
        schema(**{"not": {"required": ["a", "b"]}}),
        {"type": "object", "properties": {"b": N}, "not": {"required": ["b"]}},
    ),
    "what a filled one requires": (
        FIX_A,
        schema(dependentRequired={"a": ["b"]}, dependentSchemas={"a": {"minProperties": 2}}),
        {"type": "object", "properties": {"b": N}, "required": ["b"], "allOf": [{"minProperties": 1}]},
    ),
    "what one that is never there requires": (
        HIDE_A,
        schema(dependentRequired={"a": ["b"]}, dependentSchemas={"a": {"minProperties": 2}}),
        {"type": "object", "properties": {"b": N}},
    ),
    "what requires a filled one": (
        FIX_A,
        schema(dependentRequired={"b": ["a"]}),
        {"type": "object", "properties": {"b": N}, "dependentRequired": {"b": []}},
    ),
    "definitions that only it used": (
        HIDE_A,
        {
            "properties": {"a": {"$ref": "#/$defs/A"}, "b": {"$ref": "#/$defs/B"}},
            "$defs": {"A": {"items": {"$ref": "#/$defs/C"}}, "B": N, "C": S, "Spare": S},
        },
        {"properties": {"b": {"$ref": "#/$defs/B"}}, "$defs": {"B": N, "Spare": S}},
    ),
    "the last definition": (
        HIDE_A,
        {"properties": {"a": {"$ref": "#/definitions/A"}}, "definitions": {"A": S}},
        {"properties": {}},
    ),
    "another argument that refers to it": (
        HIDE_A,
        {"properties": {"a": {"items": S}, "b": {"$ref": "#/properties/a"}}},
        {"properties": {"b": {"$ref": "#/$defs/Shared1"}}, "$defs": {"Shared1": {"items": S}}},
    ),
    "whole objects as data": (
        HIDE_A,
        schema(examples=[{"a": "1", "b": 2}], propertyNames={"enum": ["a", "b"]}),
        {
            "type": "object",
            "properties": {"b": N},
            "examples": [{"b": 2}],
            "propertyNames": {"enum": ["b"]},
        },
    ),
    "dropped and renamed at once": (
        Overlay(names={"b": "a"}, hidden=frozenset("a"), filled=frozenset("a")),
        schema(required=["a", "b"]),
        {"type": "object", "properties": {"a": N}, "required": ["a"]},
    ),
}

IMPOSSIBLE = {
    "required": schema(required=["a"]),
    "required in allOf": schema(allOf=[{"required": ["a"]}]),
    "required by every branch": schema(anyOf=[{"required": ["a"]}, {"required": ["a", "b"]}]),
    "required behind a reference": {"$ref": "#/$defs/Node", "$defs": {"Node": NODE}},
    "required by all of a reference": {
        "allOf": [{"$ref": "#/$defs/Node"}],
        "$defs": {"Node": NODE},
    },
}


@pytest.mark.parametrize(("before", "after"), RENAMES.values(), ids=RENAMES)
def test_rename(before, after):
    check(before, A_TO_X, after)


@pytest.mark.parametrize(("overlay", "before", "after"), HIDES.values(), ids=HIDES)
def test_hide(overlay, before, after):
    check(before, overlay, after)


def check(before, overlay, after):
    kept = copy.deepcopy(before)
    for given_schema in (before, freeze(before)):
        found = overlay_schema(given_schema, overlay)
        assert found == after
        assert list(found.get("properties", ())) == list(after.get("properties", ()))
    assert before == kept


@pytest.mark.parametrize("before", IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_an_argument_without_which_no_call_fits(before):
    assert is_required(before, "a")
    assert overlay_schema(before, HIDE_A) is None
    assert overlay_schema(before, FIX_A) is not None


@pytest.mark.parametrize(
    ("before", "overlay"),
    [
        (
            schema(dependentRequired={"b": ["a"]}, required=["b"]),
            Overlay(hidden=frozenset("ab"), filled=frozenset("b")),
        ),
        (schema(properties={"a": {"const": "w"}}), FIX_A),
        (schema(properties={"a": False}), FIX_A),
        (
            schema(properties={"a": {"enum": [1]}}),
            Overlay(hidden=frozenset("a"), filled=frozenset("a"), fixed={"a": True}),
        ),
        (schema(allOf=[{"properties": {"a": {"const": "w"}}}]), FIX_A),
    ],
)
def test_an_overlay_that_leaves_nothing(before, overlay):
    assert overlay_schema(before, overlay) is None


def test_a_root_that_is_always_met():
    assert overlay_schema({"$ref": "#/$defs/T", "$defs": {"T": True}}, A_TO_X) == {
        "$ref": "#/$defs/T",
        "$defs": {"T": True},
    }


def test_references_that_multiply_are_refused_in_time():
    levels = {
        f"L{n}": {"allOf": [{"$ref": f"#/$defs/L{n + 1}"}, {"$ref": f"#/$defs/L{n + 1}"}]} for n in range(40)
    }
    bomb = {"$ref": "#/$defs/L0", "$defs": {**levels, "L40": schema()}}
    assert declared_arguments(bomb) == ("a", "b")
    with pytest.raises(RecursionError, match="multiply"):
        overlay_schema(bomb, A_TO_X)


def test_conditions_nested_in_each_other_take_no_exponential_time():
    nested = schema()
    for _ in range(40):
        nested = {"if": {"not": nested}, "then": {"required": ["a"]}}
    assert overlay_schema(nested, A_TO_X) is not None


def test_unevaluated_properties_keep_their_branches():
    before = {"anyOf": [{"properties": {"a": S}}, {"properties": {"b": N}}, {"required": ["a"]}]}
    kept = overlay_schema({**before, "unevaluatedProperties": False}, HIDE_B)
    assert kept["anyOf"] == [{"properties": {"a": S}}, {"properties": {}}, {"required": ["a"]}]
    always = overlay_schema({"anyOf": [{"required": ["b"]}], "unevaluatedProperties": False}, HIDE_B)
    assert always == {"anyOf": [{}], "unevaluatedProperties": False}


OPTIONAL_A = Overlay(filled=frozenset("a"))
MADE_A = Overlay(hidden=frozenset("a"), filled=frozenset("a"))


@pytest.mark.parametrize(
    ("overlay", "before", "after"),
    [
        # two branches that differ by a hidden argument only become alike: `oneOf` would refuse every call
        (
            MADE_A,
            {"oneOf": [{"properties": {"a": S}, "required": ["b"]}, {"properties": {"a": N}}]},
            {"anyOf": [{"properties": {}, "required": ["b"]}, {"properties": {}}]},
        ),
        (
            MADE_A,
            {"oneOf": [{"properties": {"a": S}}], "anyOf": [{"required": ["b"]}]},
            {"anyOf": [{"required": ["b"]}], "allOf": [{"anyOf": [{"properties": {}}]}]},
        ),
        (MADE_A, {"not": {"properties": {"a": {"const": 1}}}}, {}),
        (MADE_A, {"if": {"properties": {"a": S}}, "then": {"required": ["b"]}, "else": False}, {}),
        (
            OPTIONAL_A,
            {
                "properties": {"a": S},
                "if": {"properties": {"a": {"const": "k"}}, "required": ["a"]},
                "then": {"required": ["b"]},
            },
            {"properties": {"a": S}},
        ),
        (OPTIONAL_A, {"enum": [{"a": 1}], "const": {"a": 1}}, {}),
        (OPTIONAL_A, schema(minProperties=1, maxProperties=1), schema(maxProperties=1)),
        (FIX_A, {"minProperties": 2, "maxProperties": 2}, {"minProperties": 1, "maxProperties": 1}),
        (FIX_A, {"maxProperties": 0}, None),
        (
            FIX_A,
            {"dependentSchemas": {"a": {"required": ["b"]}}, "allOf": [N]},
            {"allOf": [N, {"required": ["b"]}]},
        ),
        (FIX_A, {"dependentSchemas": {"a": False}}, None),
        (HIDE_A, {"dependentRequired": {"b": ["a", "c"]}}, {"dependentRequired": {"b": ["c"]}}),
        (
            Overlay(hidden=frozenset("a"), filled=frozenset("a"), fixed={"a": 2.0}),
            {"oneOf": [{"properties": {"a": {"type": "integer"}}}, {"properties": {"a": S}}]},
            {"oneOf": [{"properties": {}}]},
        ),
        (
            FIX_A,
            {"oneOf": [{"properties": {"a": {"type": "text"}}}, {"required": ["b"]}]},
            {"anyOf": [{"properties": {}}, {"required": ["b"]}]},
        ),
    ],
)
def test_what_cannot_be_said_any_more_is_loosened(overlay, before, after):
    assert overlay_schema(before, overlay) == after


def test_a_reference_that_turns_in_a_circle_ends():
    circle = {"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/B"}, "B": {"$ref": "#/$defs/A"}}}
    assert overlay_schema(circle, A_TO_X) == circle
    assert declared_arguments(circle) == ()


@pytest.mark.parametrize(
    ("before", "edit", "declared"),
    [
        (S, {"description": "D"}, {**S, "description": "D"}),
        (
            {**S, "description": "old", "maxLength": 3},
            {"description": "D"},
            {**S, "description": "D", "maxLength": 3},
        ),
        ({"$ref": "#/$defs/X"}, {"description": "D"}, {"$ref": "#/$defs/X", "description": "D"}),
        (True, {"default": None}, {"default": None}),
        (False, {"default": None}, False),
        ({**S, "default": 1}, {"default": REMOVED}, S),
        (S, {"default": REMOVED, "examples": ["e"]}, {**S, "examples": ["e"]}),
    ],
)
def test_edits_touch_one_keyword_each(before, edit, declared):
    found = overlay_schema({"properties": {"a": before, "b": N}}, Overlay(edits={"a": edit}))
    assert found == {"properties": {"a": declared, "b": N}}


def test_edits_go_where_an_argument_is_declared():
    before = {
        "properties": {"a": S},
        "anyOf": [{"properties": {"a": {"const": "1"}, "b": N}}, {"properties": {"b": S}}],
        "if": {"properties": {"b": {"const": 1}}},
    }
    edits = {name: {"description": name.upper()} for name in "ab"}
    assert overlay_schema(before, Overlay(names={"b": "y"}, edits=edits)) == {
        "properties": {"a": {**S, "description": "A"}},
        "anyOf": [
            {"properties": {"a": {"const": "1"}, "y": {**N, "description": "B"}}},
            {"properties": {"y": {**S, "description": "B"}}},
        ],
        "if": {"properties": {"y": {"const": 1}}},
    }


def test_required_is_added_once_at_the_end():
    assert overlay_schema(schema(required=["b"]), Overlay(names={"a": "x"}, required=frozenset("ab"))) == {
        **RENAMED,
        "required": ["b", "x"],
    }


@pytest.mark.parametrize(
    ("before", "declared"),
    [
        ({}, ()),
        (schema(), ("a", "b")),
        ({"$ref": "#/$defs/Node", "$defs": {"Node": NODE}}, ("a", "next")),
        (
            {"allOf": [schema(), {"properties": {"c": S}}], "then": {"properties": {"d": S}}},
            ("d", "a", "b", "c"),
        ),
        ({"dependentSchemas": {"a": {"properties": {"e": S}}}, "dependencies": {"b": ["a"]}}, ("e",)),
        ({"properties": {"a": {"type": "object", "properties": {"deep": S}}}}, ("a",)),
        ({"properties": ["a"], "anyOf": {"a": 1}, "else": False}, ()),
    ],
)
def test_declared_arguments(before, declared):
    assert declared_arguments(before) == declared


def test_argument_default():
    before = {"anyOf": [{"properties": {"a": S}}, {"properties": {"a": {"default": None}}}]}
    assert argument_default(before, "a", "missing") is None
    assert argument_default(before, "b", "missing") == "missing"


NAMES = "abc"
names = st.sampled_from(NAMES)
names_lists = st.lists(names, unique=True, max_size=2)
values = st.sampled_from(["1", "2", 1, 1.0, True, None])
argument_schemas = st.sampled_from(
    [
        S,
        N,
        {"const": "1"},
        {"enum": ["1", 1], "title": "t"},
        {"type": "integer"},
        {"type": "boolean", "const": True},
        {"type": ["string", "null"]},
        {"maxLength": 0, "type": "string"},
        True,
        False,
        {"$ref": "#/$defs/D"},
    ]
)
leaves = st.one_of(
    st.builds(lambda found: {"required": found}, names_lists),
    st.builds(lambda found: {"properties": found}, st.dictionaries(names, argument_schemas, max_size=2)),
    st.builds(
        lambda found, rest: {"properties": found, "additionalProperties": rest},
        st.dictionaries(names, argument_schemas, max_size=2),
        st.booleans(),
    ),
    st.builds(lambda found: {"dependentRequired": found}, st.dictionaries(names, names_lists, max_size=2)),
    st.builds(lambda least: {"minProperties": least}, st.integers(0, 3)),
    st.builds(lambda most: {"maxProperties": most}, st.integers(0, 3)),
    st.builds(lambda found: {"propertyNames": {"enum": found}}, names_lists),
    st.builds(lambda found: {"const": found}, st.dictionaries(names, values, max_size=2)),
    st.just({"$ref": "#/$defs/O"}),
)


def combined(inner):
    branches = st.lists(inner, min_size=1, max_size=2)
    return st.one_of(
        st.builds(lambda found: {"anyOf": found}, branches),
        st.builds(lambda found: {"oneOf": found}, branches),
        st.builds(lambda found: {"allOf": found}, branches),
        st.builds(lambda found: {"not": found}, inner),
        st.builds(lambda one, two, three: {"if": one, "then": two, "else": three}, inner, inner, inner),
        st.builds(lambda found: {"dependentSchemas": found}, st.dictionaries(names, inner, max_size=1)),
        st.builds(lambda one, two: {**one, **two}, inner, inner),
    )


scopes = st.recursive(leaves, combined, max_leaves=6)
DEFS = {"D": S, "O": {"properties": {"a": S}, "required": ["b"]}}
calls = st.dictionaries(st.sampled_from(NAMES), values, max_size=3)


def fits(before, arguments):
    return jsonschema.Draft202012Validator(before).is_valid(arguments)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(scope=scopes, root=leaves, targets=st.permutations([*NAMES, "x"]), arguments=calls)
def test_renaming_never_changes_what_is_accepted(scope, root, targets, arguments):
    before = {"$defs": DEFS, **scope, **root}
    names = {old: new for old, new in zip(NAMES, targets, strict=False) if old != new}
    after = overlay_schema(before, Overlay(names=names))
    renamed = {names.get(name, name): value for name, value in arguments.items()}
    if after is None:
        assert not fits(before, arguments)
    else:
        assert fits(after, renamed) == fits(before, arguments)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(
    scope=scopes,
    root=leaves,
    kinds=st.fixed_dictionaries(
        {}, optional={name: st.sampled_from(["absent", "fixed", "made", "optional"]) for name in NAMES}
    ),
    given_values=st.fixed_dictionaries(dict.fromkeys(NAMES, values)),
    arguments=calls,
)
def test_hiding_never_refuses_what_the_tool_would_accept(scope, root, kinds, given_values, arguments):
    before = {"$defs": DEFS, **scope, **root}
    filled = {name: given_values[name] for name, kind in kinds.items() if kind != "absent"}
    hidden = frozenset(name for name, kind in kinds.items() if kind != "optional")
    fixed = {name: value for name, value in filled.items() if kinds[name] == "fixed"}
    overlay = Overlay(hidden=hidden, filled=frozenset(filled), fixed=fixed)
    after = overlay_schema(before, overlay)
    visible = {name: value for name, value in arguments.items() if name not in hidden}
    if after is None or not fits(after, visible):
        assert not fits(before, {**filled, **visible})
