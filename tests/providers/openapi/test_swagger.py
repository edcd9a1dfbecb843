"""Swagger 2.0 in the shape of OpenAPI 3."""

import pytest
from jsonschema import Draft202012Validator

from tests.providers.openapi.apis import definitions
from tool_search_processor.providers.openapi.http_requests import build_request
from tool_search_processor.providers.openapi.swagger import to_servers

TEXT = {"type": "string"}
POD = {"type": "object", "properties": {"name": TEXT, "next": {"$ref": "#/definitions/Pod"}}}


def define(operation, *, path="/p", **parts):
    """Return the one definition of a Swagger document."""
    (one,) = definitions({path: {"post": operation}}, version="2.0", **parts)
    Draft202012Validator.check_schema(one.tool.parameters)
    return one


def test_parameters_bear_their_types_themselves():
    one = define(
        {
            "parameters": [
                {"name": "id", "in": "path", "required": True, "type": "integer", "format": "int64"},
                {"name": "q", "in": "query", "description": "Words.", "type": "string", "minLength": 1},
                {"$ref": "#/parameters/limit"},
            ]
        },
        path="/p/{id}",
        parameters={"limit": {"name": "limit", "in": "query", "type": "integer", "default": 5}},
    )
    assert one.tool.parameters["properties"] == {
        "id": {"type": "integer", "format": "int64"},
        "q": {"type": "string", "description": "Words.", "minLength": 1},
        "limit": {"type": "integer", "default": 5},
    }
    assert one.tool.parameters["required"] == ["id"]


@pytest.mark.parametrize(
    ("place", "given", "style", "explode"),
    [
        ("query", None, "form", False),
        ("query", "csv", "form", False),
        ("query", "ssv", "spaceDelimited", False),
        ("query", "tsv", "tabDelimited", False),
        ("query", "pipes", "pipeDelimited", False),
        ("query", "multi", "form", True),
        ("header", "csv", "simple", False),
        ("path", None, "simple", False),
    ],
)
def test_collection_formats_are_styles(place, given, style, explode):
    parameter = {"name": "a", "in": place, "type": "array", "items": TEXT, "required": True}
    if given:
        parameter["collectionFormat"] = given
    one = define({"parameters": [parameter]}, path="/p/{a}" if place == "path" else "/p")
    (argument,) = one.route.arguments
    assert (argument.style, argument.explode) == (style, explode)
    assert one.tool.parameters["properties"]["a"] == {"type": "array", "items": TEXT}


def test_a_body_and_its_definitions():
    body = {"name": "body", "in": "body", "required": True, "schema": {"$ref": "#/definitions/Pod"}}
    one = define(
        {"parameters": [body], "consumes": ["application/merge-patch+json"]}, definitions={"Pod": POD}
    )
    assert one.tool.parameters["properties"] == {"name": TEXT, "next": {"$ref": "#/$defs/Pod"}}
    assert one.tool.parameters["$defs"] == {
        "Pod": {**POD, "properties": {"name": TEXT, "next": {"$ref": "#/$defs/Pod"}}}
    }
    assert (one.route.body.media_type, one.route.body.required) == ("application/merge-patch+json", True)


def test_the_documents_consumes_and_a_bodys_description_count():
    body = {"name": "names", "in": "body", "description": "New names.", "schema": {"type": "array"}}
    one = define({"parameters": [body]}, consumes=["text/json"])
    assert one.route.body.media_type == "text/json"
    assert one.tool.parameters["properties"] == {"body": {"type": "array", "description": "New names."}}
    assert define({"parameters": [body]}).route.body.media_type == "application/json"


def test_form_data_is_a_form():
    fields = [
        {"name": "name", "in": "formData", "type": "string", "required": True, "description": "Its name."},
        {"name": "tags", "in": "formData", "type": "array", "items": TEXT, "collectionFormat": "pipes"},
    ]
    one = define(
        {"parameters": fields, "consumes": ["application/json", "application/x-www-form-urlencoded"]}
    )
    assert one.route.body.kind == "form"
    assert one.route.body.encodings["tags"].style == "pipeDelimited"
    assert one.tool.parameters["properties"]["name"] == {"type": "string", "description": "Its name."}
    assert one.tool.parameters["required"] == ["name"]
    assert define({"parameters": fields[1:]}).route.body.media_type == "application/x-www-form-urlencoded"


def test_a_file_makes_it_multipart():
    fields = [{"name": "photo", "in": "formData", "type": "file"}]
    one = define({"parameters": fields, "consumes": ["application/x-www-form-urlencoded"]})
    assert (one.route.body.kind, one.route.body.files) == ("multipart", {"photo"})
    assert one.tool.parameters["properties"]["photo"]["format"] == "binary"


def test_a_list_beside_a_file_is_joined_as_it_says():
    tags = {"name": "tags", "in": "formData", "type": "array", "items": TEXT}
    one = define({"parameters": [{"name": "photo", "in": "formData", "type": "file"}, tags]})
    sent = build_request(one.route, {"tags": ["a", "b"]})
    assert sent.fields == (("tags", (None, b"a,b", None)),)


def test_answers_and_what_they_are_made_of():
    responses = {"200": {"$ref": "#/responses/Pod"}, "404": {"schema": {}}}
    parts = {"responses": {"Pod": {"description": "D", "schema": {"$ref": "#/definitions/Pod"}}}}
    one = define(
        {"responses": responses, "produces": ["application/json", "text/csv"]},
        definitions={"Pod": POD},
        **parts,
    )
    assert one.tool.output_schema["properties"]["name"] == TEXT
    assert one.route.accept == "application/json, */*;q=0.1"
    assert define({"responses": {"200": {"description": "none"}}}).tool.output_schema is None


@pytest.mark.parametrize(
    ("root", "node", "urls"),
    [
        ({"host": "a.example", "basePath": "/v1"}, {}, ["https://a.example/v1"]),
        (
            {"host": "a.example", "schemes": ["http", "https", "ws"]},
            {},
            ["https://a.example/", "http://a.example/"],
        ),
        ({"host": "a.example", "schemes": ["https"]}, {"schemes": ["http"]}, ["http://a.example/"]),
        ({"host": "a.example", "schemes": ["ws"]}, {}, ["https://a.example/"]),
        ({"basePath": "/v1"}, {}, ["/v1"]),
        ({}, {}, ["/"]),
    ],
)
def test_servers(root, node, urls):
    assert [server["url"] for server in to_servers(root, node)] == urls
