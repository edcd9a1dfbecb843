"""Parents with a discriminator: the fields of their kinds are shown and taken."""

import pytest

from tests.providers.openapi.apis import body, converted, tools
from tool_search_processor.errors import ToolArgumentsError

TEXT = {"type": "string"}
KIND = {"type": "object", "required": ["kind"], "properties": {"kind": TEXT}}


def ref(name):
    return {"$ref": f"#/components/schemas/{name}"}


def kind_of(parent, properties, **more):
    return {"allOf": [ref(parent), {"type": "object", "properties": properties, **more}]}


PET = {**KIND, "discriminator": {"propertyName": "kind", "mapping": {"dog": "#/components/schemas/Dog"}}}
DOG = kind_of("Pet", {"pack": {"type": "integer"}}, required=["pack"])
CAT = kind_of("Pet", {"lives": {"type": "integer"}})
SCHEMAS = {"Pet": PET, "Dog": DOG, "Cat": CAT, "Kitten": kind_of("Cat", {"age": {"type": "integer"}})}


def add(schemas, schema=None, **parts):
    schema = ref("Pet") if schema is None else schema
    (tool,) = tools({"/pets": {"post": body(schema)}}, components={"schemas": schemas}, **parts)
    return tool


def test_a_body_has_the_fields_of_all_kinds_and_needs_those_of_the_parent():
    schema = add(SCHEMAS).parameters
    assert list(schema["properties"]) == ["kind", "pack", "lives", "age"]
    assert schema["required"] == ["kind"]
    assert schema["properties"]["kind"] == {**TEXT, "examples": ["dog", "Cat", "Kitten"]}


def test_a_field_that_two_kinds_have_otherwise_is_either():
    schemas = {"Pet": PET, "Dog": DOG, "Cat": kind_of("Pet", {"pack": TEXT})}
    assert add(schemas).parameters["properties"]["pack"] == {"anyOf": [{"type": "integer"}, TEXT]}


def test_inside_of_a_body_each_kind_is_an_alternative():
    tool = add(SCHEMAS, {"type": "object", "properties": {"pet": ref("Pet")}})
    assert tool.parameters["$defs"]["Pet"]["anyOf"] == [
        {"$ref": "#/$defs/Dog"},
        {"$ref": "#/$defs/Cat"},
        {"$ref": "#/$defs/Kitten"},
        {"$ref": "#/$defs/Pet_base"},
    ]
    assert tool.parameters["$defs"]["Dog"]["allOf"][0] == {"$ref": "#/$defs/Pet_base"}
    assert tool.check_arguments({"pet": {"kind": "dog", "pack": 3}})
    with pytest.raises(ToolArgumentsError, match=r"`pet\.kind` is required"):
        tool.check_arguments({"pet": {"pack": 3}})


def test_a_parent_that_refuses_other_fields_takes_those_of_its_kinds():
    schemas = {**SCHEMAS, "Pet": {**PET, "additionalProperties": False}}
    tool = add(schemas, {"type": "object", "properties": {"pet": ref("Pet")}})
    assert tool.check_arguments({"pet": {"kind": "dog", "pack": 3}})
    assert tool.check_arguments({"pet": {"kind": "Kitten", "lives": 9, "age": 1}})
    assert list(add(schemas).parameters["properties"]) == ["kind", "pack", "lives", "age"]


def test_a_parent_that_lists_its_kinds_is_none_of_them_within_them():
    pet = {**KIND, "oneOf": [ref("Dog")], "discriminator": {"propertyName": "kind"}}
    tool = converted({"type": "array", "items": ref("Pet")}, schemas={"Pet": pet, "Dog": DOG})
    assert tool.check_arguments({"a": [{"kind": "dog", "pack": 3}]})
    with pytest.raises(ToolArgumentsError, match=r"`a\[0\]\.pack` must be an integer"):
        tool.check_arguments({"a": [{"kind": "dog", "pack": "x"}]})


def test_the_discriminator_of_swagger_is_a_name():
    definitions = {
        "Pet": {**KIND, "discriminator": "kind"},
        "Dog": {
            "x-ms-discriminator-value": "#dog",
            "allOf": [{"$ref": "#/definitions/Pet"}, {"properties": {"pack": {"type": "integer"}}}],
        },
    }
    parameter = {"name": "pet", "in": "body", "schema": {"$ref": "#/definitions/Pet"}}
    paths = {"/pets": {"post": {"parameters": [parameter]}}}
    (tool,) = tools(paths, version="2.0", definitions=definitions)
    assert tool.parameters["properties"] == {
        "kind": {**TEXT, "examples": ["#dog"]},
        "pack": {"type": "integer"},
    }


@pytest.mark.parametrize(
    "discriminator",
    [
        {"propertyName": "kind", "mapping": {"dog": "Dog"}},
        {"propertyName": "kind", "mapping": {"dog": "#/components/schemas/Dog", "self": "Pet", "x": "#/no"}},
        {"propertyName": "kind", "mapping": {"x": "x.json", "y": "https://example.com/y.json", "z": "z"}},
        {"propertyName": 3},
        {"mapping": []},
    ],
)
def test_odd_discriminators(discriminator):
    unused = {"allOf": [{"$ref": "elsewhere.json"}, {"$ref": 3}, 3]}
    tool = add({"Pet": {**PET, "discriminator": discriminator}, "Dog": DOG, "Unused": unused})
    assert list(tool.parameters["properties"]) == ["kind", "pack"]


def test_a_name_with_a_description_beside_it_is_still_a_parent():
    pet = {"allOf": [ref("Pet"), {"description": "The new one."}]}
    tool = add(SCHEMAS, {"type": "object", "properties": {"pet": pet, "x": {}}}, version="3.0.3")
    assert tool.parameters["properties"]["pet"]["allOf"][0] == {"$ref": "#/$defs/Pet"}
    assert tool.check_arguments({"pet": {"kind": "dog", "pack": 1}})


def test_kinds_without_end_are_left_out_and_still_taken():
    many = {f"Kind{n}": kind_of("Pet", {f"f{n}_{k}": TEXT for k in range(50)}) for n in range(100)}
    tool = add({"Pet": KIND | {"discriminator": {"propertyName": "kind"}}, **many})
    assert list(tool.parameters["properties"]) == ["body"]
    assert tool.parameters["$defs"].keys() == {"Pet", "Pet_base"}
    assert tool.check_arguments({"body": {"kind": "Kind3", "f3_0": "x"}})


def test_answers_keep_what_the_parent_says():
    answer = {"responses": {"200": {"content": {"application/json": {"schema": ref("Pet")}}}}}
    (tool,) = tools({"/p": {"get": answer}}, components={"schemas": SCHEMAS})
    assert tool.output_schema == KIND
