"""Where schemas stand in a JSON Schema, and the pointers that lead to them."""

import pytest

from tool_search_processor.tools.schema_walk import (
    branches,
    edit_schemas,
    passed_by,
    pointer_parts,
    pointer_to,
    schemas_in,
    with_inner,
)

SCHEMA = {
    "properties": {"default": {"type": "string"}, "odd": 3},
    "items": [{"title": "first"}, True],
    "additionalProperties": False,
    "anyOf": [{"title": "branch"}, None],
    "default": {"properties": {"a": {"title": "data"}}},
}


def test_data_and_names_are_not_visited():
    found = [part for part in schemas_in(SCHEMA) if part is not SCHEMA]
    assert found == [{"type": "string"}, {"title": "first"}, {"title": "branch"}]


def test_what_stands_directly_in_a_schema_is_changed_by_keyword():
    seen = []

    def change(keyword, value):
        seen.append((keyword, value))
        return {} if value is True else value

    assert with_inner(SCHEMA, change) == {**SCHEMA, "items": [{"title": "first"}, {}]}
    assert seen == [
        ("properties", {"type": "string"}),
        ("properties", 3),
        ("items", {"title": "first"}),
        ("items", True),
        ("additionalProperties", False),
        ("anyOf", {"title": "branch"}),
        ("anyOf", None),
    ]


def test_where_nothing_changes_the_same_object_is_returned():
    assert edit_schemas(SCHEMA, lambda part: part) is SCHEMA
    assert with_inner(SCHEMA, lambda _, value: value) is SCHEMA


def test_branches_are_those_of_all_or_of_some_keywords():
    schema = {"anyOf": [1], "allOf": [2], "oneOf": "odd"}
    assert list(branches(schema)) == [2, 1]
    assert list(branches(schema, "anyOf")) == [1]


@pytest.mark.parametrize("parts", [("$defs", "a/b~c"), ("properties", "ü x", "items"), ("$defs", "100%")])
def test_a_pointer_leads_through_its_parts(parts):
    pointer = pointer_to(*parts)
    assert pointer_parts(pointer) == list(parts)
    target = root = {}
    for part in parts:
        target[part] = target = {}
    assert passed_by(root, pointer)[-1] is target
