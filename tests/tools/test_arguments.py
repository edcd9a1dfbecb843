"""Reading what models write, and the sentences about what is wrong with it."""

import functools
import json
from types import MappingProxyType

import jsonschema
import pytest

from tests.counted import counted_calls
from tool_search_processor import Tool
from tool_search_processor.errors import ToolArgumentsError
from tool_search_processor.tools.arguments import checked_arguments, parse_arguments, schema_check
from tool_search_processor.tools.schemas import wire_schema
from tool_search_processor.tools.wording import choices_text, expected_text, found_text, near_name, path_text


def check(schema, arguments, prefix=()):
    return checked_arguments(
        parse_arguments(arguments), schema_check(schema), shown=lambda path: (*prefix, *path)
    )


def refusal(schema, arguments, prefix=()):
    with pytest.raises(ToolArgumentsError) as caught:
        check(schema, arguments, prefix)
    return str(caught.value)


def fields(required=(), **properties):
    return {"type": "object", "properties": properties, "required": list(required)}


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (None, {}),
        ("", {}),
        ("  \n", {}),
        ("{}", {}),
        ('{"a": 1}', {"a": 1}),
        (b'{"a": 1}', {"a": 1}),
        ('"{\\"a\\": 1}"', {"a": 1}),
        ('{"a": "line\nbreak"}', {"a": "line\nbreak"}),
        (MappingProxyType({"a": 1}), {"a": 1}),
        ("[1]", [1]),
    ],
)
def test_arguments_are_read_in_every_form_that_models_write(written, read):
    assert parse_arguments(written) == read


@pytest.mark.parametrize(
    ("written", "text"),
    [
        (
            '{"a": 1',
            "The arguments are not valid JSON: Expecting ',' delimiter at line 1, column 8.",
        ),
        ("hello", "The arguments are not valid JSON: Expecting value at line 1, column 1."),
        ('{"a": "b', "The arguments are not valid JSON: Unterminated string starting at line 1, column 7."),
        ("[" * 200_000, "The arguments are nested too deeply."),
        ('{"a": ' + "1" * 5000 + "}", "The arguments are not valid JSON: a number or text is unreadable."),
        (b"\xff{}", "The arguments are not valid JSON: a number or text is unreadable."),
    ],
)
def test_broken_json_is_told_in_one_sentence(written, text):
    with pytest.raises(ToolArgumentsError) as caught:
        parse_arguments(written)
    assert str(caught.value) == text


@pytest.mark.parametrize(
    ("schema", "value", "text"),
    [
        ({"type": "integer"}, "3", 'must be an integer, found the string "3"'),
        ({"type": "number"}, None, "must be a number, found null"),
        ({"type": "boolean"}, 0, "must be a boolean, found the number 0"),
        ({"type": "string"}, True, "must be a string, found the boolean true"),
        ({"type": "array"}, {"a": 1}, 'must be an array, found the object {"a": 1}'),
        ({"type": "object"}, [1], "must be an object, found the array [1]"),
        ({"type": ["string", "null"]}, 1, "must be a string or null, found the number 1"),
        ({"enum": ["a", "b"]}, "c", 'must be one of "a", "b", found the string "c"'),
        ({"enum": ["a"]}, "c", 'must be "a", found the string "c"'),
        ({"const": 1}, 2, "must be 1, found the number 2"),
        ({"minimum": 1}, 0, "must be at least 1, found the number 0"),
        ({"maximum": 1}, 2, "must be at most 1, found the number 2"),
        ({"exclusiveMinimum": 1}, 1, "must be greater than 1, found the number 1"),
        ({"exclusiveMaximum": 1}, 1, "must be less than 1, found the number 1"),
        ({"multipleOf": 5}, 7, "must be a multiple of 5, found the number 7"),
        ({"minLength": 2}, "a", 'must be a string of at least 2 characters, found the string "a"'),
        ({"maxLength": 1}, "ab", 'must be a string of at most 1 characters, found the string "ab"'),
        ({"pattern": "^x"}, "a", 'must be a string that matches the pattern "^x", found the string "a"'),
        ({"minItems": 1}, [], "must be an array of at least 1 items, found the array []"),
        ({"maxItems": 1}, [1, 2], "must be an array of at most 1 items, found the array [1, 2]"),
        ({"uniqueItems": True}, [1, 1], "must be an array without repeated items, found the array [1, 1]"),
        ({"minProperties": 1}, {}, "must be an object with at least 1 fields, found the object {}"),
        ({"contains": {"type": "string"}}, [1],
         "must be an array that holds what is asked for, found the array [1]"),
        ({"not": {"type": "string"}}, "a", 'must be something else, found the string "a"'),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, 1,
         "must be a string or null, found the number 1"),
        ({"oneOf": [{}, {"type": "integer"}]}, 1, "must be of one kind only, found the number 1"),
        ({"allOf": [{"type": "string"}, {"minLength": 3}]}, "a",
         'must be a string of at least 3 characters, found the string "a"'),
        ({"anyOf": [{"const": "a"}, {"const": "b"}]}, "c", 'must be "a" or "b", found the string "c"'),
        ({"anyOf": [{"type": "string", "minLength": 3}, {"type": "null"}]}, "a",
         'must be a string of at least 3 characters, found the string "a"'),
        ({"$ref": "#/$defs/N"}, "x", 'must be an integer, found the string "x"'),
        ({"anyOf": [{"$ref": "#/$defs/N"}, {"type": "null"}]}, "x",
         'must be an integer or null, found the string "x"'),
        ({"type": "str"}, 1, "must be a string, found the number 1"),
        ({"type": "string"}, 10**50, f"must be a string, found the number {'1' + '0' * 38}…"),
    ],
)  # fmt: skip
def test_each_problem_is_one_sentence_in_the_words_of_json(schema, value, text):
    whole = {**fields(v=schema), "$defs": {"N": {"type": "integer"}}}
    assert refusal(whole, {"v": value}) == f"`v` {text}."


def test_missing_and_unknown_fields_are_named():
    schema = {**fields(["title", "repo"], title={}, repo={}, labels={}), "additionalProperties": False}
    assert refusal(schema, {"titel": "x", "repo": "y", "zzz": 1}) == (
        "`title` is required but missing. `titel` is not a known field (did you mean `title`?). "
        '`zzz` is not a known field; known are "title", "labels".'
    )


def test_a_field_that_must_not_be_there():
    assert refusal(fields(v=False), {"v": 1}) == "`v` is not allowed here."
    pair = {"prefixItems": [{}, False], "items": False}
    assert (
        refusal(fields(v=pair), {"v": [1, 2, 3]}) == "`v[1]` is not allowed here. `v[2]` is not allowed here."
    )
    either = {"anyOf": [False, {"type": "string"}]}
    assert refusal(fields(v=either), {"v": 1}) == "`v` must be a string, found the number 1."


def test_a_tool_without_fields_says_so():
    schema = {
        "type": "object",
        "properties": {},
        "patternProperties": {"^x-": {}},
        "additionalProperties": False,
    }
    assert check(schema, {"x-a": 1}) == {"x-a": 1}
    assert refusal(schema, {"a": 1}) == "`a` is not a known field; none is expected here."


def test_fields_are_named_by_their_path():
    item = fields(["price"], price={"type": "number"})
    schema = fields(items={"type": "array", "items": item}, **{"odd key": {"type": "string"}})
    text = refusal(schema, {"items": [{"price": "abc"}, {}], "odd key": 1})
    assert text == (
        '`items[0].price` must be a number, found the string "abc". '
        "`items[1].price` is required but missing. "
        '`["odd key"]` must be a string, found the number 1.'
    )


def test_a_field_that_another_one_asks_for():
    schema = {"dependentRequired": {"card": ["address", "name"]}}
    assert refusal(schema, {"card": 1, "name": "x"}) == (
        "`address` is required where `card` is given, but missing."
    )


def test_five_problems_are_told_and_the_rest_counted():
    schema = fields(list("abcdefg"), **{name: {} for name in "abcdefg"})
    text = refusal(schema, {})
    assert text.count("is required but missing.") == 5
    assert text.endswith("`e` is required but missing. And 2 more.")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"kind": "a", "v": "x"}, '`u.v` must be an integer, found the string "x".'),
        ({"kind": "z"}, '`u.kind` must be one of "a", "b", found the string "z".'),
        ({"kind": "b"}, "`u.w` is required but missing."),
        (3, "`u` must be an object, found the number 3."),
    ],
)
def test_of_a_tagged_union_the_branch_that_was_meant_is_told(value, text):
    one = fields(["kind", "v"], kind={"const": "a"}, v={"type": "integer"}) | {"required": ["kind", "v"]}
    two = fields(["kind", "w"], kind={"const": "b"}, w={"type": "string"})
    assert refusal(fields(u={"oneOf": [one, two]}), {"u": value}) == text


def test_the_path_is_the_one_that_the_model_sees():
    assert refusal({"type": "array", "items": {"type": "string"}}, [1], prefix=("input",)) == (
        "`input[0]` must be a string, found the number 1."
    )


def test_arguments_that_are_no_object():
    assert refusal(fields(), "[1]") == "The arguments must be an object, found the array [1]."


@pytest.mark.parametrize(
    ("given", "used"),
    [
        ({"o": '{"a": 1}'}, {"o": {"a": 1}}),
        ({"l": "[1, 2]"}, {"l": [1, 2]}),
        ({"l": '["3"]', "s": "[kept]"}, None),
        ({"n": ['{"o": "{\\"a\\": 1}"}']}, {"n": [{"o": {"a": 1}}]}),
        ({"u": '{"a": 1}'}, {"u": {"a": 1}}),
    ],
)
def test_objects_and_arrays_encoded_as_text_are_decoded_if_that_makes_them_fit(given, used):
    inner = fields(["a"], a={"type": "integer"})
    schema = fields(
        o=inner,
        l={"type": "array", "items": {"type": "integer"}},
        s={"type": "string"},
        n={"type": "array", "items": fields(["o"], o=inner)},
        u={"anyOf": [inner, {"type": "null"}]},
    )
    if used is None:
        assert refusal(schema, given) == '`l` must be an array, found the string "[\\"3\\"]".'
    else:
        before = repr(given)
        assert check(schema, given) == used
        assert repr(given) == before


@pytest.mark.parametrize("text", ['{"a": 1}', "[1]", '{"broken'])
def test_text_stays_text_where_text_is_wanted(text):
    assert check(fields(s={"type": "string"}), {"s": text}) == {"s": text}


@pytest.mark.parametrize("text", ['{"broken', "[" * 100_000, "{" * 10])
def test_text_that_only_looks_encoded_is_told_as_it_came(text):
    assert refusal(fields(o={"type": "object"}), {"o": text}).startswith(
        "`o` must be an object, found the string"
    )


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": ["a"]},
        {"properties": {"a": {"$ref": "#/$defs/Gone"}}},
        {"properties": {"a": {"$ref": "http://127.0.0.1:9/never-fetched.json"}}},
        {"properties": {"a": {"minimum": "low"}}},
        {"required": 3},
        {"$ref": "#"},
        {"patternProperties": {"(": {}}},
        {"$schema": ["odd"]},
        {"properties": {"a": {"$dynamicRef": "#gone"}}},
    ],
)
def test_a_broken_schema_lets_everything_through(schema):
    assert check(schema, {"a": 1}) == {"a": 1}


def test_a_pattern_of_another_language_is_left_unchecked_and_the_rest_is_checked():
    schema = fields(["b"], a={"type": "string", "pattern": r"^\p{L}+$"}, b={})
    assert check(schema, {"a": "x", "b": 1}) == {"a": "x", "b": 1}
    assert refusal(schema, {"a": 1}) == (
        "`a` must be a string, found the number 1. `b` is required but missing."
    )


@pytest.mark.parametrize("dialect", [{}, {"$schema": "http://json-schema.org/draft-07/schema#"}])
@pytest.mark.parametrize(
    ("schema", "value", "text"),
    [
        ({"items": [{"type": "integer"}]}, ["x"], '`a[0]` must be an integer, found the string "x".'),
        ({"items": [{}], "additionalItems": False}, [1, 2], "`a[1]` is not allowed here."),
        ({"minimum": 1, "exclusiveMinimum": True}, 1, "`a` must be greater than 1, found the number 1."),
        ({"maximum": 9, "exclusiveMaximum": False}, 10, "`a` must be at most 9, found the number 10."),
        ({"type": "string", "nullable": True}, 1, "`a` must be a string or null, found the number 1."),
        ({"dependencies": {"b": ["c"]}}, {"b": 1}, '`a` must be a valid value, found the object {"b": 1}.'),
    ],
)
def test_older_spellings_are_read(dialect, schema, value, text):
    assert refusal({**dialect, **fields(a=schema)}, {"a": value}) == text


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"maximum": 9, "exclusiveMaximum": True}, 8),
        ({"type": "string", "nullable": True, "enum": ["a"]}, None),
        ({"minimum": "low", "type": "integer"}, 1),
    ],
)
def test_older_spellings_let_through_what_they_mean(schema, value):
    assert check(fields(a=schema), {"a": value}) == {"a": value}


def test_a_text_may_fit_each_format_of_a_union():
    schema = fields(a={"oneOf": [{"type": "string", "format": "date"}, {"type": "string"}, {"type": "null"}]})
    assert check(schema, {"a": "2026-01-02"}) == {"a": "2026-01-02"}
    assert refusal(schema, {"a": 3}) == (
        "`a` must be a string in date format or a string or null, found the number 3."
    )


def test_what_is_broken_takes_no_other_check_with_it():
    schema = fields(a={"minimum": "low"}, b={"type": "integer"}, c={"$ref": "#/$defs/Gone"}, d=None)
    assert refusal(schema, {"a": 1, "b": "x", "c": 1, "d": 1}) == (
        '`b` must be an integer, found the string "x".'
    )


OTHER = {"$ref": "https://example.com/other.json"}


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ({"not": OTHER}, 1),
        ({"not": {"allOf": [OTHER]}}, 1),
        ({"not": {"properties": {"b": OTHER}}}, {"b": 1}),
        ({"not": {"$ref": "#/$defs/Behind"}}, 1),
        ({"oneOf": [OTHER, {"type": "string"}]}, "x"),
        ({"if": OTHER, "then": {"type": "string"}, "else": {"type": "integer"}}, 1),
        ({"contains": OTHER, "maxContains": 1}, [1, 2]),
        ({**OTHER, "unevaluatedProperties": False}, {"b": 1}),
        ({"allOf": [OTHER], "unevaluatedProperties": False}, {"b": 1}),
        ({"not": {"$ref": "#/$defs/Gone"}}, 1),
        ({"not": {"type": "widget"}}, 1),
        ({"not": {"type": ["widget", "gadget"]}}, 1),
        ({"not": {"minimum": "low"}}, 1),
        ({"not": {"enum": "red"}}, 1),
        ({"not": {"required": ["b", 5]}}, {"b": 1}),
        ({"not": {"required": [5]}}, {"b": 1}),
        ({"not": {"properties": {"b": "string"}}}, {"b": 1}),
        ({"oneOf": [{"pattern": 5}, {"type": "string"}]}, "x"),
        ({"properties": ["b"], "additionalProperties": False}, {"b": 1}),
        ({"patternProperties": ["b"], "unevaluatedProperties": False}, {"b": 1}),
        ({"prefixItems": {"type": "integer"}, "items": False}, [1]),
        ({"allOf": OTHER, "unevaluatedProperties": False}, {"b": 1}),
    ],
)
def test_what_is_left_out_of_a_schema_refuses_nothing(part, value):
    given = {**fields(a=part), "$defs": {"Behind": {"anyOf": [OTHER]}}}
    assert check(given, {"a": value}) == {"a": value}
    sent = json.loads(json.dumps(wire_schema(given).schema, default=dict))
    jsonschema.validate({"a": value}, sent, jsonschema.Draft202012Validator)


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ({"not": {"type": "any"}}, 1),
        ({"not": {"type": "int"}}, 1),
        ({"not": {"type": ["int", None]}}, 1),
        ({"not": {"type": "integer", "description": 5, "format": 7, "default": {}}}, 1),
        ({"not": {"minimum": 1, "exclusiveMinimum": True}}, 2),
        ({"not": {"items": [{"type": "integer"}]}}, [1]),
        ({"not": {"required": ["b", "b"]}}, {"b": 1}),
        ({"not": {"type": "integer", "required": True}}, 1),
        ({"properties": [], "additionalProperties": False}, {"b": 1}),
    ],
)
def test_what_is_only_rewritten_goes_on_refusing(part, value):
    refusal(fields(a=part), {"a": value})


def test_closed_objects_whose_patterns_cost_too_much_are_left_out_of_not():
    closed = {"patternProperties": {"^x": {}}, "unevaluatedProperties": False}
    assert check(fields(a={"not": closed}), {"a": {"b": 1}}) == {"a": {"b": 1}}


def test_an_unknown_dialect_is_none():
    unknown = {"$schema": "https://example.com/none", "properties": {"a": {"type": "integer"}}}
    assert refusal(unknown, {"a": "x"}) == '`a` must be an integer, found the string "x".'


def test_formats_are_not_enforced():
    assert check(fields(a={"type": "string", "format": "date-time"}), {"a": "soon"}) == {"a": "soon"}


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ((), "The arguments"),
        (("a", "b", 0, 1, "c-d", "e f"), '`a.b[0][1].c-d["e f"]`'),
        ((0,), "`[0]`"),
    ],
)
def test_paths(path, text):
    assert path_text(path) == text


def test_values_are_cut_and_foreign_ones_not_shown():
    assert found_text("x" * 100) == f'the string "{"x" * 38}…'
    assert found_text(object()) == "a value that JSON does not know"
    assert found_text([object()]) == 'the array ["…"]'
    assert choices_text(range(14)) == "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 2 more"


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        (True, "a valid value"),
        ({}, "a valid value"),
        ({"$ref": "#"}, "a valid value"),
        ({"allOf": [{"type": "object"}]}, "an object"),
        ({"type": "string", "format": "date"}, "a string in date format"),
        ({"oneOf": [{"type": "string"}, {"type": "string"}]}, "a string"),
        ({"type": "widget"}, "widget"),
    ],
)
def test_expectations(schema, text):
    assert expected_text(schema, schema) == text


def test_near_names_ignore_case_and_separators():
    assert near_name("repoName", ["repo_name", "name"]) == "repo_name"
    assert near_name("zzz", ["repo_name", "name"]) is None
    assert near_name("a", []) is None


# -- foreign schemas and long arguments never stall whoever checks


def refusal_if_any(schema, arguments, *, most_calls):
    """Return the refusal, or None, of a check that would take minutes if its cost were not bounded."""
    try:
        with counted_calls(most=most_calls):
            check(schema, arguments)
    except ToolArgumentsError as exc:
        return str(exc)
    return None


EVIL = "^(a+)+$"
LONG = "a" * 50_000 + "!"


@pytest.mark.parametrize(
    ("schema", "arguments", "refused"),
    [
        (fields(a={"type": "string", "pattern": EVIL}), {"a": LONG}, "`a` must be a string that matches"),
        ({"type": "object", "patternProperties": {EVIL: False}}, {LONG: 1}, None),
        (
            {"type": "object", "patternProperties": {EVIL: {}}, "additionalProperties": False},
            {LONG: 1},
            "is not a known field",
        ),
        ({"type": "object", "propertyNames": {"pattern": EVIL}}, {LONG: 1}, "matches the pattern"),
        (
            {"type": "object", "patternProperties": {EVIL: {}}, "unevaluatedProperties": False},
            {LONG: 1},
            None,
        ),
    ],
    ids=["pattern", "patternProperties", "additionalProperties", "propertyNames", "unevaluatedProperties"],
)
def test_patterns_run_in_linear_time(schema, arguments, refused):
    said = refusal_if_any(schema, arguments, most_calls=50_000)  # one backtracking match would never end
    assert said is None if refused is None else refused in said
    assert said is None or len(said) < 500


@pytest.mark.parametrize("pattern", [r"^(?!x)", r"(a)\1", "(((a{99}){99}){99})", "[", 5, "\ud800"])
def test_a_pattern_that_cannot_be_run_in_linear_time_is_left_unchecked(pattern):
    schema = fields(a={"type": "string", "pattern": pattern}, b={"type": "integer"})
    assert check(schema, {"a": "aab", "b": 1}) == {"a": "aab", "b": 1}
    assert "`b` must be an integer" in refusal(schema, {"a": "aab", "b": "c"})


def test_half_a_character_fits_any_pattern():
    assert check(fields(a={"pattern": "^x$"}), {"a": "\ud800"}) == {"a": "\ud800"}


def test_pattern_properties_are_checked_and_known():
    schema = {
        "type": "object",
        "patternProperties": {"^n_": {"type": "integer"}},
        "additionalProperties": {"type": "string"},
    }
    assert check(schema, {"n_1": 1, "other": "x"}) == {"n_1": 1, "other": "x"}
    assert refusal(schema, {"n_1": "x"}) == '`n_1` must be an integer, found the string "x".'
    assert refusal(schema, {"other": 1}) == "`other` must be a string, found the number 1."


MANY = [f"field_{i}" for i in range(10_000)]


@pytest.mark.parametrize(
    ("schema", "arguments", "refused"),
    [
        (fields(required=MANY), {}, "`field_0` is required but missing."),
        ({"type": "object", "dependentRequired": {"a": MANY}}, {"a": 1}, "is required where `a` is given"),
        (
            {**fields(**{name: {} for name in MANY}), "additionalProperties": False},
            {f"other_{i}": 1 for i in range(10_000)},
            "`other_0` is not a known field",
        ),
        (
            fields(a={"type": "array", "items": {"type": "string"}}),
            {"a": list(range(20_000))},
            "`a[0]` must be a string",
        ),
        (
            fields(a={"type": "array", "uniqueItems": True}),
            {"a": [{"n": i} for i in range(10_000)]},
            None,
        ),
    ],
    ids=["required", "dependentRequired", "unknown", "items", "uniqueItems"],
)
def test_thousands_of_problems_cost_little(schema, arguments, refused):
    said = refusal_if_any(schema, arguments, most_calls=2_000_000)
    assert said is None if refused is None else refused in said
    assert said is None or len(said) < 2_000


@pytest.mark.parametrize("items", [[1, 1.0], [{"a": [1]}, {"a": [1]}], ["x", "x"], [None, None]])
def test_repeated_items_are_refused(items):
    assert "without repeated items" in refusal(fields(a={"uniqueItems": True}), {"a": items})


@pytest.mark.parametrize(
    "items", [[1, True, "1", None, 0, False], [[1], {"1": 1}, [[1]]], [{"a": 1}, {"a": True}]]
)
def test_items_of_different_kinds_are_not_repeated(items):
    assert check(fields(a={"uniqueItems": True}), {"a": items}) == {"a": items}


def references(keyword, *, depth=30, **more):
    """Return a schema of `depth` definitions, each of which refers to the next one twice."""
    defs = {f"d{i}": {keyword: [{"$ref": f"#/$defs/d{i + 1}"}] * 2} for i in range(depth)}
    return {**fields(a={"$ref": "#/$defs/d0", **more}), "$defs": {**defs, f"d{depth}": {"type": "string"}}}


@pytest.mark.parametrize(
    ("keyword", "value"), [("allOf", "text"), ("anyOf", 1), ("oneOf", "text"), ("oneOf", 1)]
)
def test_a_schema_of_exponential_cost_checks_nothing(keyword, value):
    assert refusal_if_any(references(keyword), {"a": value}, most_calls=2_000_000) is None


def test_the_first_problems_are_told_before_a_check_costs_too_much():
    said = refusal_if_any(references("allOf"), {"a": 1}, most_calls=2_000_000)
    assert said == "`a` must be a string, found the number 1."


def test_unevaluated_fields_of_such_a_schema_are_not_looked_for():
    schema = {**references("anyOf"), "unevaluatedProperties": False, "$ref": "#/$defs/d0"}
    assert refusal_if_any(schema, {"a": 1, "b": 2}, most_calls=2_000_000) is None


def test_references_within_bounds_are_followed():
    assert "`a` must be a string" in refusal(references("allOf", depth=5), {"a": 1})


def test_a_schema_of_few_references_tells_unevaluated_fields():
    schema = {
        "type": "object",
        "allOf": [{"$ref": "#/$defs/base"}],
        "unevaluatedProperties": False,
        "$defs": {"base": {"properties": {"a": {}}}},
    }
    assert check(schema, {"a": 1}) == {"a": 1}
    assert "`b` is not a known field" in refusal(schema, {"a": 1, "b": 2})


@pytest.mark.parametrize("make", [lambda: 10**5000, lambda: [10**5000], lambda: nested(5000)])
def test_values_that_json_cannot_write_are_cut(make):
    assert len(found_text(make())) < 60


def nested(depth):
    return functools.reduce(lambda inner, _: [inner], range(depth), 1)


def counted(n: int) -> int:
    """Return it."""
    return n


def listed(numbers: list[int | None]) -> list[int | None]:
    """Return them."""
    return numbers


def measured(n: float) -> float:
    """Return it."""
    return n


WITH_INTEGER = Tool(
    "sent", "", {"type": "object", "properties": {"n": {"type": "integer"}}}, lambda arguments: arguments["n"]
)


@pytest.mark.parametrize("checked", [Tool.from_function(counted), WITH_INTEGER], ids=["function", "schema"])
@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("7.0", 7),
        ("9007199254740991.0", 2**53 - 1),
        ("9007199254740993", 2**53 + 1),
        ("12345678901234567890", 12345678901234567890),
        ("9007199254740993.0", None),
        ("-9007199254740994.0", None),
        ("1e30", None),
    ],
)
async def test_an_integer_that_a_decimal_point_may_have_changed_is_refused(checked, written, read):
    if read is not None:
        assert await checked.call(f'{{"n": {written}}}') == read
        return
    with pytest.raises(
        ToolArgumentsError, match=r"`n` must be an integer, .*write it without a decimal point"
    ):
        await checked.call(f'{{"n": {written}}}')


async def test_the_same_holds_inside_of_lists_and_not_for_numbers():
    numbers = Tool.from_function(listed)
    assert await numbers.call('{"numbers": [1.0, null, 9007199254740993]}') == [1, None, 2**53 + 1]
    with pytest.raises(ToolArgumentsError, match=r"`numbers\[1\]` must be an integer"):
        await numbers.call('{"numbers": [1, 9007199254740993.0]}')
    assert await Tool.from_function(measured).call('{"n": 1e30}') == 1e30


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ({"not": {"pattern": "^(?!x)"}}, "x"),
        ({"oneOf": [{"pattern": "^(?=x)"}, {"pattern": "^(?!x)"}]}, "x"),
        ({"if": {"pattern": "^(?=x)"}, "then": {"minLength": 5}}, "ab"),
        ({"contains": {"pattern": "^(?!x)"}, "maxContains": 1}, ["x", "a"]),
    ],
)
async def test_a_pattern_that_is_left_unchecked_refuses_nothing(part, value):
    given = {"type": "object", "properties": {"a": part}}
    assert await Tool("t", parameters=given, execute=lambda **given: given).call({"a": value}) == {"a": value}
