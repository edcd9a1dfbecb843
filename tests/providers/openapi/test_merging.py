"""Objects of several parts: none of them refuses what another one has."""

import pytest

from tests.providers.openapi.apis import body, converted, tools
from tool_search_processor.errors import ToolArgumentsError

TEXT = {"type": "string"}
BASE = {"type": "object", "additionalProperties": False, "properties": {"id": TEXT}, "required": ["id"]}
ITEM = {"type": "object", "properties": {"item": TEXT}}


def ref(name):
    return {"$ref": f"#/components/schemas/{name}"}


ORDER = {"allOf": [ref("Base"), ITEM], "description": "An order."}
MERGED = {
    "description": "An order.",
    "type": "object",
    "properties": {"id": TEXT, "item": TEXT},
    "required": ["id"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    "order",
    [
        ORDER,
        {"allOf": [{"allOf": [ref("Base"), {}]}, ITEM], "description": "An order."},
        {"allOf": [ref("Base")], **ITEM, "description": "An order."},
        {"allOf": [{"properties": {"id": TEXT}, "required": ["id"]}, ITEM], "description": "An order.",
         "additionalProperties": False},
        {"allOf": [{**BASE, "additionalProperties": None, "unevaluatedProperties": False}, ITEM],
         "description": "An order."},
        {"allOf": [ref("Alias"), ITEM], "description": "An order."},
    ],
)  # fmt: skip
@pytest.mark.parametrize("depth", range(3))
def test_parts_that_refuse_other_fields_are_one_object(order, depth):
    wrap = [
        lambda schema: schema,
        lambda schema: {"type": "array", "items": schema},
        lambda schema: {"type": "object", "properties": {"inner": schema}},
    ][depth]
    schemas = {"Base": BASE, "Alias": ref("Base")}
    assert converted(wrap(order), schemas=schemas).parameters["properties"]["a"] == wrap(MERGED)


def test_a_slip_is_told_as_in_any_object():
    tool = converted(ref("Order"), schemas={"Base": BASE, "Order": ORDER})
    assert tool.check_arguments({"a": {"id": "1", "item": "x"}})
    with pytest.raises(ToolArgumentsError, match=r"`a\.itme` is not a known field .*`item`"):
        tool.check_arguments({"a": {"id": "1", "itme": "x"}})


def test_a_property_that_two_parts_have_is_what_both_say():
    order = {"allOf": [ref("Base"), {"properties": {"id": {"enum": ["a"]}}}]}
    tool = converted(order, schemas={"Base": BASE})
    assert tool.parameters["properties"]["a"]["properties"]["id"] == {"allOf": [TEXT, {"enum": ["a"]}]}


@pytest.mark.parametrize(
    "more",
    [
        {"minProperties": 1},
        {"anyOf": [{"required": ["item"]}, {"required": ["id"]}]},
        {"additionalProperties": TEXT},
    ],
)
def test_parts_that_say_more_are_opened(more):
    tool = converted({"allOf": [ref("Base"), {**ITEM, **more}]}, schemas={"Base": BASE})
    assert tool.check_arguments({"a": {"id": "1", "item": "x"}})
    assert tool.parameters["$defs"]["Base_base"] == {
        key: value for key, value in BASE.items() if key != "additionalProperties"
    }


def test_a_mere_name_of_a_closed_object_stays_closed():
    tool = converted({"allOf": [ref("Base"), {"description": "D"}]}, schemas={"Base": BASE})
    assert tool.parameters["properties"]["a"]["allOf"][0] == {"$ref": "#/$defs/Base"}
    with pytest.raises(ToolArgumentsError, match=r"`a\.x` is not a known field"):
        tool.check_arguments({"a": {"id": "1", "x": 1}})


def test_objects_that_hold_one_another():
    node = {**BASE, "properties": {"id": TEXT, "child": {"allOf": [ref("Node"), ITEM]}}}
    tool = converted(ref("Node"), schemas={"Node": node})
    assert tool.check_arguments({"a": {"id": "1", "child": {"id": "2", "item": "x"}}})
    loop = {"allOf": [ref("Loop"), BASE, ITEM]}
    assert converted(ref("Loop"), schemas={"Loop": loop}).check_arguments({"a": {"id": "1", "item": "x"}})


def test_answers_are_merged_as_well():
    answer = {"responses": {"200": {"content": {"application/json": {"schema": ref("Order")}}}}}
    (tool,) = tools(
        {"/p": {"post": {**body(ref("Order")), **answer}}},
        components={"schemas": {"Base": BASE, "Order": ORDER}},
    )
    assert tool.output_schema == MERGED
    assert tool.parameters == {key: value for key, value in MERGED.items() if key != "description"}
