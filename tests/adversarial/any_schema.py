"""Schemas of any shape, right or wrong."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.adversarial.models import json_values

FIELDS = ["a", "b", "$defs", "type", "items", "required", "ü", ""]
KINDS = [
    "string",
    "integer",
    "object",
    "array",
    "null",
    "boolean",
    "dict",
    "float",
    "nothing",
    ["string", "null"],
]
REFERENCES = ["#", "#/$defs/a", "#/$defs/none", "#/properties/a", "#/definitions/b", "http://x/y", "", 5]


def schemas(leaves: int = 10) -> st.SearchStrategy[Any]:
    return st.recursive(
        st.one_of(
            st.booleans(),
            st.just({}),
            st.sampled_from(KINDS).map(lambda kind: {"type": kind}),
            st.sampled_from(REFERENCES).map(lambda target: {"$ref": target}),
            st.lists(json_values, max_size=3).map(lambda values: {"enum": values}),
        ),
        lambda inner: st.fixed_dictionaries(
            {},
            optional={
                "type": st.sampled_from(KINDS),
                "properties": st.dictionaries(st.sampled_from(FIELDS), inner, max_size=3),
                "patternProperties": st.dictionaries(
                    st.sampled_from(["^a", "(", "[a-z]+"]), inner, max_size=1
                ),
                "required": st.one_of(st.lists(st.sampled_from(FIELDS), max_size=2), st.booleans()),
                "items": st.one_of(inner, st.lists(inner, max_size=2)),
                "additionalProperties": inner,
                "anyOf": st.lists(inner, max_size=2),
                "oneOf": st.lists(inner, max_size=2),
                "allOf": st.lists(inner, max_size=2),
                "not": inner,
                "if": inner,
                "$defs": st.dictionaries(st.sampled_from(["a", "b"]), inner, max_size=2),
                "definitions": st.dictionaries(st.sampled_from(["a", "b"]), inner, max_size=1),
                "$ref": st.sampled_from(REFERENCES),
                "default": json_values,
                "const": json_values,
                "title": st.one_of(st.text(max_size=5), st.integers()),
                "description": st.one_of(st.text(max_size=5), st.none()),
                "nullable": st.booleans(),
                "x-own": json_values,
            },
        ),
        max_leaves=leaves,
    )
