"""OpenAPI documents as catalogs."""

import json

import pytest

from tool_search_processor.evaluation import DataError, load_tools
from tool_search_processor.search.documents import document_of
from tool_search_processor.tools import Tool


@pytest.fixture
def read(tmp_path):
    """Return a function that reads the tools of a document made of paths and components."""

    def read(paths, components=None, **more):
        document = {"openapi": "3.1.0", "info": {"title": "T", "version": "1"}, "paths": paths, **more}
        if components:
            document["components"] = components
        path = tmp_path / "api.json"
        path.write_text(json.dumps(document), "utf-8")
        return load_tools(path)

    return read


def body(schema, *, media="application/json", required=True, **more):
    return {"requestBody": {"required": required, "content": {media: {"schema": schema}}, **more}}


def test_an_operation_is_a_tool(read):
    (tool,) = read(
        {
            "/repos/{owner}/issues": {
                "parameters": [
                    {"name": "owner", "in": "path", "required": True, "schema": {"type": "string"}}
                ],
                "post": {
                    "operationId": "issues/create",
                    "summary": "Create an issue.",
                    "description": "Anyone with read access can.",
                    "tags": ["issues"],
                    "parameters": [
                        {
                            "name": "dry",
                            "in": "query",
                            "description": "Only check.",
                            "schema": {"type": "boolean"},
                        }
                    ],
                    **body(
                        {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]}
                    ),
                },
            }
        }
    )
    assert tool == Tool(
        "issues_create",
        "Create an issue. Anyone with read access can.",
        {
            "type": "object",
            "properties": {
                "owner": {"type": "string"},
                "dry": {"type": "boolean", "description": "Only check."},
                "title": {"type": "string"},
            },
            "required": ["owner", "title"],
        },
        tags=frozenset({"issues"}),
        metadata={"original_name": "issues/create"},
    )


def test_without_an_id_the_name_is_made_of_method_and_path(read):
    tools = read(
        {"/users/{id}": {"get": {}, "delete": {}}, "/": {"get": {"operationId": ""}}, "/ü": {"patch": {}}}
    )
    assert [(tool.name, tool.metadata["original_name"]) for tool in tools] == [
        ("get_users_id", "GET /users/{id}"),
        ("delete_users_id", "DELETE /users/{id}"),
        ("get", "GET /"),
        ("patch", "PATCH /ü"),
    ]


def test_two_routes_that_meet_in_one_name_are_told_apart(read):
    tools = read({"/a/b": {"get": {}}, "/a_b": {"get": {}}})
    assert tools[0].name == "get_a_b"
    assert tools[1].name.startswith("get_a_b_")


@pytest.mark.parametrize(
    ("operation", "description"),
    [
        ({"summary": "Get a pet", "description": "By its id."}, "Get a pet. By its id."),
        ({"summary": "Get a pet", "description": "Get a pet by its id."}, "Get a pet by its id."),
        ({"summary": "Get a pet"}, "Get a pet"),
        ({"description": "By its id."}, "By its id."),
        ({"description": None}, ""),
    ],
)
def test_the_description_is_summary_and_description(read, operation, description):
    assert read({"/p": {"get": operation}})[0].description == description


def test_references_to_parameters_bodies_and_paths_are_followed(read):
    (tool,) = read(
        {"/pets": {"$ref": "#/components/pathItems/Pets"}},
        {
            "pathItems": {
                "Pets": {
                    "post": {
                        "parameters": [{"$ref": "#/components/parameters/Limit"}],
                        "requestBody": {"$ref": "#/components/requestBodies/Pet"},
                    }
                }
            },
            "parameters": {"Limit": {"name": "limit", "in": "query", "schema": {"type": "integer"}}},
            "requestBodies": {"Pet": body({"$ref": "#/components/schemas/Pet"})["requestBody"]},
            "schemas": {
                "Pet": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
            },
        },
    )
    assert tool.parameters == {
        "type": "object",
        "properties": {"limit": {"type": "integer"}, "name": {"type": "string"}},
        "required": ["name"],
    }


def test_schemas_that_are_referred_to_come_along_even_in_a_circle(read):
    (tool,) = read(
        {
            "/p": {
                "post": body(
                    {"type": "object", "properties": {"owner": {"$ref": "#/components/schemas/User"}}}
                )
            }
        },
        {
            "schemas": {
                "User": {
                    "type": "object",
                    "properties": {
                        "email": {"type": "string", "description": "Where to write to."},
                        "friends": {"type": "array", "items": {"$ref": "#/components/schemas/User"}},
                        "home": {"$ref": "#/components/schemas/Home"},
                    },
                },
                "Home": {"type": "object", "properties": {"street": {"type": "string"}}},
            }
        },
    )
    assert tool.parameters["properties"]["owner"] == {"$ref": "#/$defs/User"}
    assert tool.parameters["$defs"]["User"]["properties"]["friends"]["items"] == {"$ref": "#/$defs/User"}
    assert set(tool.parameters["$defs"]) == {"User", "Home"}
    document = document_of(tool)
    assert document.parameter_names == ("owner", "email", "friends", "home", "street")
    assert document.parameter_texts == ("Where to write to.",)
    assert tool.check_arguments({"owner": {"friends": [{"email": "x"}]}})


def test_two_references_with_one_last_name_stay_two(read):
    (tool,) = read(
        {
            "/p": {
                "get": {
                    "parameters": [
                        {"name": "a", "in": "query", "schema": {"$ref": "#/components/schemas/Id"}},
                        {"name": "b", "in": "query", "schema": {"$ref": "#/x-more/Id"}},
                    ]
                }
            }
        },
        {"schemas": {"Id": {"type": "string"}}},
        **{"x-more": {"Id": {"type": "integer"}}},
    )
    assert tool.parameters["properties"] == {"a": {"$ref": "#/$defs/Id"}, "b": {"$ref": "#/$defs/Id_1"}}
    assert tool.parameters["$defs"] == {"Id": {"type": "string"}, "Id_1": {"type": "integer"}}


def test_references_that_lead_nowhere_or_in_a_circle_of_themselves_leave_nothing(read):
    tools = read(
        {
            "/a": {
                "get": {"parameters": [{"$ref": "#/components/parameters/None"}, {"$ref": "other.json#/P"}]}
            },
            "/b": {
                "post": body({"type": "object", "properties": {"x": {"$ref": "#/nowhere", "title": "X"}}})
            },
            "/c": {"post": body({"$ref": "#/components/schemas/Loop"})},
            "/d": {"$ref": "#/nowhere"},
        },
        {"schemas": {"Loop": {"$ref": "#/components/schemas/Loop"}}},
    )
    assert [tool.name for tool in tools] == ["get_a", "post_b", "post_c"]
    assert tools[0].parameters["properties"] == {}
    assert tools[1].parameters["properties"] == {"x": {"title": "X"}}


def test_a_body_of_parts_is_their_union(read):
    (tool,) = read(
        {"/p": {"post": body({"allOf": [{"$ref": "#/components/schemas/A"}, {"properties": {"b": {}}}]})}},
        {"schemas": {"A": {"properties": {"a": {"type": "string"}}, "required": ["a", 7]}}},
    )
    assert tool.parameters == {
        "type": "object", "properties": {"a": {"type": "string"}, "b": {}}, "required": ["a"],
    }  # fmt: skip


def test_a_body_that_is_no_object_is_one_property(read):
    list_schema = {"type": "array", "items": {"type": "string"}}
    (tool,) = read({"/p": {"put": body(list_schema, description="The new names.")}})
    assert tool.parameters["properties"] == {"body": {**list_schema, "description": "The new names."}}
    assert tool.parameters["required"] == ["body"]


def test_a_body_that_may_be_left_out_requires_nothing(read):
    schema = {"type": "object", "properties": {"a": {}}, "required": ["a"]}
    assert "required" not in read({"/p": {"put": body(schema, required=False)}})[0].parameters
    assert "required" not in read({"/p": {"put": body({"type": "string"}, required=False)}})[0].parameters


def test_a_property_of_the_body_gives_way_to_a_parameter(read):
    parameter = {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}
    schema = {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}
    (tool,) = read({"/p/{id}": {"put": {"parameters": [parameter], **body(schema)}}})
    assert tool.parameters["properties"] == {"id": {"type": "integer"}, "body_id": {"type": "string"}}
    assert tool.parameters["required"] == ["id", "body_id"]


def test_the_operations_own_parameter_counts_more_than_the_paths(read):
    def parameter(text):
        return {"name": "id", "in": "query", "description": text, "schema": {}}

    (tool,) = read({"/p": {"parameters": [parameter("path")], "get": {"parameters": [parameter("own")]}}})
    assert tool.parameters["properties"]["id"]["description"] == "own"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ({"text/plain": {"schema": {"type": "string"}}, "text/x+json": {"schema": {"type": "number"}}},
         {"type": "number"}),
        ({"text/plain": {"schema": {"type": "string"}}}, {"type": "string"}),
        ({"application/json": {}}, {}),
    ],
)  # fmt: skip
def test_json_is_preferred_among_the_forms_of_a_body(read, content, expected):
    (tool,) = read({"/p": {"post": {"requestBody": {"content": content}}}})
    assert tool.parameters["properties"]["body"] == expected


@pytest.mark.parametrize("content", [{}, None, {"application/json": 3}])
def test_a_body_without_a_form_has_no_property(read, content):
    assert read({"/p": {"post": {"requestBody": {"content": content}}}})[0].parameters["properties"] == {}


def test_odd_parts_are_passed_over(read):
    (tool,) = read(
        {
            "/p": {
                "get": {
                    "tags": "pets",
                    "parameters": [
                        3,
                        {"in": "query"},
                        {"name": "a", "content": {"application/json": {"schema": {"type": "object"}}}},
                        {"name": "b"},
                    ],
                },
                "x-get": {},
                "post": "later",
            },
            "/q": 3,
        }
    )
    assert tool.tags == frozenset()
    assert tool.parameters["properties"] == {"a": {"type": "object"}, "b": {}}


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"swagger": "2.0", "paths": {}}, r"is an OpenAPI document of version '2\.0', and only 3\.x is read"),
        ({"openapi": 3.1}, "of version 3.1"),
        ({"openapi": "4.0.0"}, "of version '4.0.0'"),
        ({"openapi": "3.0.3"}, "is an OpenAPI document without paths"),
        ({"openapi": "3.0.3", "paths": []}, "without paths"),
        ({"openapi": "3.0.3", "paths": {"/a": {}}}, "holds no tools"),
    ],
)
def test_documents_that_are_not_read(tmp_path, document, message):
    path = tmp_path / "api.json"
    path.write_text(json.dumps(document), "utf-8")
    with pytest.raises(DataError, match=message):
        load_tools(path)


def test_a_schema_that_is_nested_too_deeply_is_told(tmp_path):
    deep = '{"items":' * 2000 + "{}" + "}" * 2000
    operation = f'{{"parameters": [{{"name": "a", "in": "query", "schema": {deep}}}]}}'
    path = tmp_path / "api.json"
    path.write_text(f'{{"openapi": "3.1.0", "paths": {{"/deep": {{"get": {operation}}}}}}}')
    # Either the reader of JSON gives up, or what follows it: interpreters differ.
    with pytest.raises(DataError, match=r"api\.json(, GET /deep: | is nested too deeply)"):
        load_tools(path)


def test_yaml_documents(tmp_path):
    pytest.importorskip("yaml")
    path = tmp_path / "api"
    path.write_text("# pets\nopenapi: 3.0.3\npaths:\n  /pets:\n    get: {operationId: listPets}\n", "utf-8")
    assert [tool.name for tool in load_tools(path)] == ["listPets"]
