"""Parameters and bodies as the arguments of one tool."""

import pytest
from jsonschema import Draft202012Validator

from tests.providers.openapi.apis import body, definitions, in_path, query, tools
from tool_search_processor.errors import ToolArgumentsError

TEXT = {"type": "string"}
BOTH = ["name", "age"]
PET = {"type": "object", "properties": {"name": TEXT, "age": {"type": "integer"}}, "required": ["name"]}


def arguments(operation, path="/p", **parts):
    """Return the schema of the arguments of one operation."""
    (tool,) = tools({path: {"post": operation}}, **parts)
    Draft202012Validator.check_schema(tool.parameters)
    return tool.parameters


def test_parameters_and_the_bodys_properties_stand_side_by_side():
    schema = arguments(
        {
            "parameters": [
                {"name": "session", "in": "cookie", "schema": TEXT},
                {"name": "X-Trace", "in": "header", "schema": TEXT},
                query("dry", {"type": "boolean"}, description="Only check.", required=True),
                in_path("owner"),
            ],
            **body(PET),
        },
        path="/p/{owner}",
    )
    assert schema == {
        "type": "object",
        "properties": {
            "owner": TEXT,
            "dry": {"type": "boolean", "description": "Only check."},
            "X-Trace": TEXT,
            "session": TEXT,
            "name": TEXT,
            "age": {"type": "integer"},
        },
        "required": ["owner", "dry", "name"],
        "additionalProperties": False,
    }


def test_a_slip_in_a_name_is_told():
    (tool,) = tools({"/p": {"post": body(PET)}})
    with pytest.raises(ToolArgumentsError, match=r"`nmae` is not a known field \(did you mean `name`\?\)"):
        tool.check_arguments({"nmae": "x"})


def test_parameters_of_one_name_are_told_apart_by_their_places():
    (one,) = definitions(
        {"/p/{id}": {"get": {"parameters": [query("id"), in_path("id"), {**query("id"), "in": "header"}]}}}
    )
    assert list(one.tool.parameters["properties"]) == ["id", "id__query", "id__header"]
    assert [(a.name, a.wire_name, a.place) for a in one.route.arguments] == [
        ("id", "id", "path"), ("id__query", "id", "query"), ("id__header", "id", "header"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("wire_name", "name"),
    [
        ("filter[status]", "filter_status"),
        ("$top", "top"),
        ("_id", "_id"),
        ("a.b-c", "a.b-c"),
        ("größe", "gr_e"),
        ("日本", "argument"),
        ("x" * 80, "x" * 64),
        ("operation_arguments", "operation_arguments__query"),
    ],
)
def test_names_are_such_as_every_provider_accepts(wire_name, name):
    (one,) = definitions({"/p": {"get": {"parameters": [query(wire_name)]}}})
    assert list(one.tool.parameters["properties"]) == [name]
    assert one.route.arguments[0].wire_name == wire_name


def test_names_that_become_one_are_all_there():
    names = ["a[b]", "a(b)", "a{b}", "a_b"]
    (tool,) = tools({"/p": {"get": {"parameters": [query(name) for name in names]}}})
    assert list(tool.parameters["properties"]) == ["a_b", "a_b__query", "a_b__query_2", "a_b__query_3"]


def test_a_body_with_a_parameters_name_stays_whole():
    schema = arguments({"parameters": [in_path("name")], **body(PET)}, path="/p/{name}")
    assert schema["properties"] == {"name": TEXT, "body": PET}
    assert schema["required"] == ["name", "body"]


def test_a_whole_body_gives_way_to_a_parameter_of_that_name():
    schema = arguments({"parameters": [query("body")], **body({"type": "array"})})
    assert list(schema["properties"]) == ["body", "body__body"]


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", "items": TEXT},
        TEXT,
        {"type": "object"},
        {**PET, "additionalProperties": True},
        {**PET, "additionalProperties": TEXT},
        {**PET, "anyOf": [{"required": ["name"]}, {"required": ["age"]}]},
        {**PET, "minProperties": 1},
        {"anyOf": [PET, TEXT]},
        {"allOf": [PET, {"properties": {"name": {"type": "integer"}}}]},
        {"allOf": [PET, {"minProperties": 1}]},
        {"allOf": [PET, True]},
        {"type": "object", "properties": {"a[b]": TEXT, "a(b)": TEXT}},
    ],
)
def test_a_body_that_says_more_than_its_properties_stays_whole(schema):
    assert arguments(body(schema))["properties"] == {"body": schema}


@pytest.mark.parametrize(
    ("schema", "names", "required"),
    [
        ({"properties": {"a": TEXT}}, ["a"], None),
        ({**PET, "type": ["object", "null"]}, ["name", "age"], ["name"]),
        ({**PET, "additionalProperties": False, "description": "D"}, ["name", "age"], ["name"]),
        ({"allOf": [PET, {"properties": {"b": TEXT}}]}, ["name", "age", "b"], ["name"]),
        ({"allOf": [PET, {"properties": {"name": TEXT}}], "required": ["age"]}, BOTH, ["age", "name"]),
        ({"allOf": [{"description": "D"}], "properties": {"a": TEXT}}, ["a"], None),
        ({"type": "object", "properties": {"a[b]": TEXT}}, ["a_b"], None),
    ],
)  # fmt: skip
def test_a_body_of_properties_is_taken_apart(schema, names, required):
    found = arguments(body(schema))
    assert list(found["properties"]) == names
    assert sorted(found.get("required", ())) == sorted(required or ())


def test_the_parts_of_a_body_may_refer_and_hold_one_another():
    schemas = {f"S{n}": {"allOf": [ref(n + 1), ref(n + 1)], "properties": {f"p{n}": TEXT}} for n in range(40)}
    schemas["S40"] = {"allOf": [ref(0)], "properties": {"last": TEXT}}
    found = arguments(body(ref(0)), components={"schemas": schemas})
    assert len(found["properties"]) == 41


def ref(number):
    return {"$ref": f"#/components/schemas/S{number}"}


def test_a_body_that_may_be_left_out_requires_nothing():
    assert "required" not in arguments(body(PET, required=False))
    assert "required" not in arguments(body(TEXT, required=False))
    assert arguments(unstated(TEXT))["properties"] == {"body": TEXT}
    assert "required" not in arguments(unstated(TEXT))


def test_a_body_that_does_not_say_whether_it_is_required_is_so_where_a_field_is():
    assert arguments(unstated(PET))["required"] == ["name"]
    assert arguments(unstated({**PET, "minProperties": 1}))["required"] == ["body"]
    assert "required" not in arguments(unstated({"properties": {"a": TEXT}}))
    assert "required" not in arguments(unstated({"properties": {"a": TEXT}, "required": ["ghost"]}))
    parameter = {"name": "pet", "in": "body", "schema": PET}
    (tool,) = tools({"/p": {"post": {"parameters": [parameter]}}}, version="2.0")
    assert tool.parameters["required"] == ["name"]


def unstated(schema):
    content = body(schema)["requestBody"]["content"]
    return {"requestBody": {"content": content}}


def test_a_whole_bodys_own_description_counts():
    operation = body({"type": "array", "description": "inner"})
    operation["requestBody"]["description"] = "The new names."
    assert arguments(operation)["properties"]["body"] == {"type": "array", "description": "The new names."}


@pytest.mark.parametrize(
    ("kinds", "chosen", "kind"),
    [
        (["text/plain", "application/json"], "application/json", "json"),
        (["application/xml", "application/hal+json"], "application/hal+json", "json"),
        (
            ["application/json-patch+json", "application/merge-patch+json"],
            "application/merge-patch+json",
            "json",
        ),
        (["application/json; charset=utf-8"], "application/json; charset=utf-8", "json"),
        (["*/*"], "application/json", "json"),
        ([""], "application/json", "json"),
        (["application/x-ndjson"], "application/x-ndjson", "raw"),
        (["application/jsonl", "text/plain"], "text/plain", "raw"),
        (
            ["multipart/form-data", "application/x-www-form-urlencoded"],
            "application/x-www-form-urlencoded",
            "form",
        ),
        (["text/plain", "multipart/form-data"], "multipart/form-data", "multipart"),
        (["application/octet-stream", "text/markdown"], "text/markdown", "raw"),
        (["image/*"], "image/*", "raw"),
    ],
)
def test_json_is_preferred_among_the_forms_of_a_body(kinds, chosen, kind):
    content = {one: {"schema": PET} for one in kinds}
    (one,) = definitions({"/p": {"post": {"requestBody": {"content": content}}}})
    assert (one.route.body.media_type, one.route.body.kind) == (chosen, kind)


PHOTO = {"type": "string", "format": "binary"}


@pytest.mark.parametrize(
    ("schemas", "chosen"),
    [
        ({"application/json": PHOTO, "multipart/form-data": PHOTO}, "multipart/form-data"),
        ({"application/x-www-form-urlencoded": PHOTO, "multipart/form-data": PHOTO}, "multipart/form-data"),
        ({"application/json": None, "multipart/form-data": PHOTO}, "multipart/form-data"),
        ({"application/json": {"type": "array", "items": PHOTO}, "multipart/form-data": PHOTO},
         "multipart/form-data"),
        ({"application/json": TEXT, "multipart/form-data": PHOTO}, "application/json"),
        ({"application/json": PHOTO}, "application/json"),
    ],
)  # fmt: skip
def test_multipart_is_preferred_for_files(schemas, chosen):
    def media(schema):
        return {} if schema is None else {"schema": {"type": "object", "properties": {"photo": schema}}}

    content = {kind: media(schema) for kind, schema in schemas.items()}
    (one,) = definitions({"/p": {"post": {"requestBody": {"content": content}}}})
    assert one.route.body.media_type == chosen


def test_of_xml_the_model_writes_the_text():
    schema = arguments(body({**PET, "description": "A pet."}, kind="application/xml"))
    text = "Text of the type application/xml. A pet."
    assert schema["properties"] == {"body": {"type": "string", "description": text}}
    assert arguments(body(TEXT, kind="text/plain"))["properties"] == {"body": TEXT}


def test_an_object_among_bytes_is_json():
    (one,) = definitions({"/p": {"post": body(PET, kind="application/octet-stream")}})
    assert (one.route.body.kind, one.route.body.media_type) == ("json", "application/octet-stream")
    assert list(one.tool.parameters["properties"]) == BOTH


def test_files_say_how_they_are_written():
    form = {"type": "object", "properties": {
        "photo": {"type": "string", "format": "binary", "description": "Of the pet."},
        "more": {"type": "array", "items": {"type": "string", "contentMediaType": "image/png"}},
        "name": TEXT,
    }}  # fmt: skip
    hint = "Text, or a data: URL for other content."
    found = arguments(body(form, kind="multipart/form-data"))["properties"]
    assert (found["photo"]["description"], found["more"]["description"]) == (f"Of the pet. {hint}", hint)
    assert found["name"] == TEXT
    (one,) = definitions({"/p": {"post": body(form, kind="multipart/form-data")}})
    assert one.route.body.files == {"photo", "more"}
    whole = arguments(body({"type": "string", "format": "binary"}, kind="application/octet-stream"))
    assert whole["properties"]["body"]["description"] == hint


@pytest.mark.parametrize("content", [{}, None, {"application/json": 3}])
def test_a_body_without_a_form_is_none(content):
    (one,) = definitions({"/p": {"post": {"requestBody": {"content": content}}}})
    assert one.route.body is None
    assert one.tool.parameters["properties"] == {}


def test_the_operations_own_parameter_counts_more_than_the_paths():
    item = {"parameters": [query("id", description="path"), query("q")]}
    (tool,) = tools({"/p": {**item, "get": {"parameters": [query("id", description="own")]}}})
    assert tool.parameters["properties"] == {"id": {"type": "string", "description": "own"}, "q": TEXT}


def test_a_variable_of_the_path_that_nobody_declares_is_an_argument_and_one_too_many_is_none(caplog):
    (tool,) = tools(
        {"/p/{a}/{b}": {"get": {"parameters": [in_path("b", {"type": "integer"}), in_path("c")]}}}
    )
    assert tool.parameters["properties"] == {"b": {"type": "integer"}, "a": TEXT}
    assert tool.parameters["required"] == ["b", "a"]
    assert caplog.messages == ["api, GET /p/{a}/{b}: the path has no place for its parameter 'c'"]


@pytest.mark.parametrize(
    "name",
    [
        "Accept",
        "content-type",
        "Authorization",
        "Host",
        "Content-Length",
        "Cookie",
        "X\r\nHost: evil",
        "Ü",
        "",
    ],
)
def test_headers_that_are_no_parameters(name):
    (tool,) = tools({"/p": {"get": {"parameters": [{"name": name, "in": "header", "schema": TEXT}]}}})
    assert tool.parameters["properties"] == {}


@pytest.mark.parametrize(
    ("path", "parameters", "required"),
    [
        ("/p?q={q}", [query("q", required=True)], ["q"]),
        ("/p?q={q}", [query("q")], []),
        ("/p?q={q}", [in_path("q")], ["q"]),
        ("/p?q={q}", [], ["q"]),
        ("/p/{q}?q={q}", [query("q", required=True)], ["q", "q__query"]),
        ("/p#{q}", [], []),
    ],
)
def test_variables_of_the_query_in_a_paths_key(path, parameters, required):
    (tool,) = tools({path: {"get": {"parameters": parameters}}})
    assert tool.parameters.get("required", []) == required
    assert list(tool.parameters["properties"]) == (required or [one["name"] for one in parameters])


def test_what_a_parameter_says_itself_counts_more_than_its_schema():
    parameters = [
        query(
            "a", {"type": "string", "description": "schema"}, description="own", deprecated=True, example="x"
        ),
        query("b", examples={"one": {"value": 1}, "two": {"summary": "none"}, "three": 3}),
        {"name": "c", "in": "query", "content": {"application/json": {"schema": PET}}},
        {"name": "d", "in": "query"},
    ]
    (one,) = definitions({"/p": {"get": {"parameters": parameters}}})
    assert one.tool.parameters["properties"] == {
        "a": {"type": "string", "description": "own", "deprecated": True, "examples": ["x"]},
        "b": {"type": "string", "examples": [1]},
        "c": PET,
        "d": {},
    }
    assert [argument.is_json for argument in one.route.arguments] == [False, False, True, False]


def test_odd_parts_are_passed_over(caplog):
    parameters = [3, {"in": "query"}, {"name": "a"}, {"name": 3, "in": "query"}, {"name": "b", "in": "body"}]
    (tool,) = tools(
        {"/p": {"get": {"parameters": parameters, "tags": "pets"}, "x-get": {}, "post": "later"}, "/q": 3}
    )
    assert tool.parameters["properties"] == {}
    assert tool.tags == frozenset()
    assert caplog.messages == ["api, GET /p: a parameter without a name or a place is left out"] * 4


def test_references_to_parameters_bodies_and_paths_are_followed():
    (tool,) = tools(
        {"/pets": {"$ref": "#/components/pathItems/Pets"}},
        components={
            "pathItems": {
                "Pets": {
                    "post": {
                        "parameters": [{"$ref": "#/components/parameters/Limit"}, {"$ref": "#/nowhere"}],
                        "requestBody": {"$ref": "#/components/requestBodies/Pet"},
                    }
                }
            },
            "parameters": {"Limit": query("limit", {"type": "integer"})},
            "requestBodies": {"Pet": body({"$ref": "#/components/schemas/Pet"})["requestBody"]},
            "schemas": {"Pet": PET},
        },
    )
    assert list(tool.parameters["properties"]) == ["limit", "name", "age"]
    assert "$defs" not in tool.parameters
