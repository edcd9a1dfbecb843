"""Pydantic's errors in the words of JSON, where the JSON Schema alone finds nothing to say."""

import pytest
from pydantic import BaseModel, ConfigDict, ValidationError

from tool_search_processor.tools.model_errors import model_problems


class Inner(BaseModel):
    model_config = ConfigDict(extra="forbid")

    price: float


class Model(BaseModel):
    items: list[Inner] = []
    table: dict[str, int] = {}


SCHEMA = {
    "properties": {
        "items": {"items": {"$ref": "#/$defs/Inner"}},
        "table": {"type": "object", "additionalProperties": {"type": "integer"}},
    },
    "$defs": {"Inner": {"properties": {"price": {"type": "number"}}}},
}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"items": [{}]}, "`items[0].price` is required but missing."),
        ({"items": [{"price": 1, "x": 2}]}, "`items[0].x` is not a known field; none is expected here."),
        ({"items": [{"price": "x"}]}, '`items[0].price` must be a number, found the string "x".'),
        ({"table": {"a": "x"}}, '`table.a` must be a valid value, found the string "x".'),
        ({"table": 3}, "`table` must be an object, found the number 3."),
        (3, "The arguments must be a valid value, found the number 3."),
    ],
)
def test_places_and_words(arguments, sentence):
    with pytest.raises(ValidationError) as caught:
        Model.model_validate(arguments)
    problems = list(model_problems(caught.value, arguments, by_schema=(), schema=SCHEMA))
    assert [problem.sentence() for problem in problems] == [sentence]


def test_a_schema_that_leads_nowhere():
    with pytest.raises(ValidationError) as caught:
        Model.model_validate({"items": [{"price": "x"}]})
    schema = {"properties": {"items": {"items": True}}}
    problems = list(model_problems(caught.value, {"items": [{"price": "x"}]}, by_schema=(), schema=schema))
    assert problems[0].text == 'must be a valid value, found the string "x"'
