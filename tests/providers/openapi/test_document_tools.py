"""Operations as tools: names, texts, hints, answers; and a document with an odd operation."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from tests.providers.openapi.apis import api, body, definitions, in_path, query, tools
from tool_search_processor.errors import ConfigurationError
from tool_search_processor.providers.openapi.document_tools import OperationTool, read_tools
from tool_search_processor.providers.openapi.documents import OpenAPIDocument
from tool_search_processor.tools.schema_walk import schemas_in
from tool_search_processor.tools.tool_names import is_tool_name


def answer(schema, *, code="200", kind="application/json"):
    return {"responses": {code: {"description": "D", "content": {kind: {"schema": schema}}}}}


def test_example_requests_of_an_operation_are_read():
    operation = {"operationId": "create", "x-example-requests": ["file a bug", 3], **answer({})}
    (tool,) = tools({"/issues": {"post": operation}})
    assert tool.example_requests == ("file a bug",)


def test_an_operation_is_a_tool():
    (tool,) = tools(
        {
            "/repos/{owner}/issues": {
                "parameters": [in_path("owner")],
                "post": {
                    "operationId": "issues/create",
                    "summary": "Create an issue.",
                    "description": "Anyone with read access can.",
                    "tags": ["issues", 3],
                    **answer({"type": "object", "properties": {"id": {"type": "integer"}}}, code="201"),
                },
            }
        }
    )
    assert tool == OperationTool(
        "issues_create",
        "Create an issue. Anyone with read access can.",
        {
            "type": "object",
            "properties": {"owner": {"type": "string"}},
            "required": ["owner"],
            "additionalProperties": False,
        },
        tags=frozenset({"issues"}),
        output_schema={"type": "object", "properties": {"id": {"type": "integer"}}},
        annotations={"readOnlyHint": False},
        metadata={"method": "POST", "path": "/repos/{owner}/issues", "original_name": "issues/create"},
    )


@pytest.mark.parametrize(
    ("operation", "description"),
    [
        ({"summary": "Get a pet", "description": "By its id."}, "Get a pet. By its id."),
        ({"summary": "Get a pet", "description": "Get a pet by its id."}, "Get a pet by its id."),
        ({"summary": "Get a pet"}, "Get a pet"),
        ({"description": "By its id."}, "By its id."),
        ({"description": None}, ""),
        ({"summary": "Get a pet", "deprecated": True}, "Get a pet (deprecated)"),
        ({"deprecated": True}, "(deprecated)"),
    ],
)
def test_the_description_is_summary_and_description(operation, description):
    assert tools({"/p": {"get": operation}})[0].description == description


@pytest.mark.parametrize(
    ("method", "hints"),
    [
        ("get", {"readOnlyHint": True, "idempotentHint": True}),
        ("head", {"readOnlyHint": True, "idempotentHint": True}),
        ("post", {"readOnlyHint": False}),
        ("patch", {"readOnlyHint": False}),
        ("put", {"readOnlyHint": False, "idempotentHint": True}),
        ("delete", {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": True}),
    ],
)
def test_a_method_tells_what_it_does(method, hints):
    assert tools({"/p": {method: {}}})[0].annotations == hints


@pytest.mark.parametrize(
    ("responses", "expected"),
    [
        (answer({"type": "object", "title": "T"}), {"type": "object", "title": "T"}),
        (answer({"type": "object", "title": "T"}, code="2XX"), {"type": "object", "title": "T"}),
        (answer({"$ref": "#/components/schemas/Node"}),
         {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}},
          "$defs": {"Node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}}}),
        (answer({"type": "array"}), None),
        (answer({"type": "object"}, code="404"), None),
        (answer({"type": "object"}, kind="text/plain"), None),
        (answer({"type": "object", "description": "x" * 5000}), None),
        (answer({"type": "object", "properties": {"a": {"$ref": "#/components/schemas/Large"}}}), None),
        (answer(None), None),
        ({"responses": {"200": {"$ref": "#/components/responses/Ok"}}}, {"type": "object", "title": "Ok"}),
        ({"responses": []}, None),
    ],
)  # fmt: skip
def test_the_schema_of_an_answer_is_taken_where_it_is_a_small_object(responses, expected):
    components = {
        "schemas": {
            "Node": {"type": "object", "properties": {"next": {"$ref": "#/components/schemas/Node"}}},
            "Large": {"description": "x" * 5000},
        },
        "responses": {"Ok": answer({"type": "object", "title": "Ok"})["responses"]["200"]},
    }
    (tool,) = tools({"/p": {"get": responses}}, components=components)
    assert tool.output_schema == expected


THING = {"type": "object", "title": "T"}


@pytest.mark.parametrize(
    ("others", "expected"),
    [
        ({"201": THING}, THING),
        ({"400": {"type": "object"}, "default": {"type": "object"}}, THING),
        ({"204": None}, None),
        ({"202": {"type": "object", "title": "Job"}}, None),
        ({"206": {"type": "array"}}, None),
        ({"2XX": {"type": "object"}}, None),
    ],
)
def test_a_schema_is_promised_only_where_every_success_has_it(others, expected):
    given = dict(answer(THING)["responses"])
    for code, schema in others.items():
        given |= answer(schema, code=code)["responses"] if schema else {code: {"description": "nothing"}}
    (tool,) = tools({"/p": {"get": {"responses": given}}})
    assert tool.output_schema == expected


@pytest.mark.parametrize(
    ("kinds", "accept"),
    [
        (["application/json", "text/html"], "application/json, */*;q=0.1"),
        (
            ["application/vnd.a+json", "application/json"],
            "application/vnd.a+json, application/json, */*;q=0.1",
        ),
        (["text/csv", "application/pdf"], "text/csv, application/pdf"),
        (["*/*"], "*/*"),
        ([], "*/*"),
    ],
)
def test_what_the_request_says_it_takes(kinds, accept):
    content = {kind: {} for kind in kinds}
    (one,) = definitions({"/p": {"get": {"responses": {"200": {"content": content}}}}})
    assert one.route.accept == accept


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        ({}, (("key",),)),
        ({"security": []}, ()),
        ({"security": [{"key": []}, {"a": [], "b": []}, {}, 3]}, (("key",), ("a", "b"), ())),
    ],
)
def test_the_operations_security_counts_more_than_the_documents(operation, expected):
    (one,) = definitions({"/p": {"get": operation}}, security=[{"key": []}])
    assert one.route.security == expected


def test_an_operation_that_cannot_be_a_tool_is_left_out_and_named(caplog):
    deep = {}
    for _ in range(300):
        deep = {"items": deep}
    odd = {"parameters": [query("a", {"default": object()})]}
    paths = {"/deep": {"get": {"parameters": [query("a", deep)]}}, "/odd": {"get": odd}, "/fine": {"get": {}}}
    assert [tool.name for tool in tools(paths)] == ["get_fine"]
    first, second = caplog.messages
    assert first.startswith("an operation is left out: api, GET /deep: ")
    assert "nested too deeply" in first
    assert "GET /odd: parameters of the tool 'get_odd' is a JSON Schema, but <object object" in second


def test_a_document_of_which_nothing_can_be_read_is_refused():
    with pytest.raises(
        ConfigurationError, match=r"api: none of .* GET /odd: .*not a value that JSON can carry"
    ):
        tools({"/odd": {"get": {"parameters": [query("a", {"default": object()})]}}})


TEXT = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z", "M"]), max_size=8)
SCHEMAS = st.recursive(
    st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(["string", "integer", "object", "array", "file", "any", 3, None]),
            "nullable": st.booleans(),
            "enum": st.lists(TEXT | st.integers(), max_size=2),
            "minimum": st.integers() | st.booleans(),
            "exclusiveMinimum": st.integers() | st.booleans(),
            "required": st.lists(TEXT, max_size=2) | st.booleans(),
            "$ref": st.sampled_from(["#/components/schemas/A", "#/components/schemas/B", "#/no", 3]),
            "description": TEXT | st.none(),
            "readOnly": st.booleans(),
        },
    ),
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "properties": st.dictionaries(TEXT, inner | st.none(), max_size=3),
            "items": inner | st.lists(inner, max_size=2),
            "allOf": st.lists(inner, max_size=2),
            "anyOf": st.lists(inner | st.booleans(), max_size=2),
            "additionalProperties": inner | st.booleans(),
            "nullable": st.booleans(),
            "$ref": st.sampled_from(["#/components/schemas/A", "#/components/schemas/B"]),
        },
    ),
    max_leaves=6,
)
PARAMETERS = st.lists(
    st.fixed_dictionaries(
        {"name": TEXT, "in": st.sampled_from(["path", "query", "header", "cookie"]), "schema": SCHEMAS}
    ),
    max_size=4,
)  # fmt: skip
OPERATIONS = st.fixed_dictionaries(
    {"parameters": PARAMETERS},
    optional={
        "operationId": st.sampled_from(["a", "a/b", "a.b", "Ä", "", "x" * 70]),
        "requestBody": st.builds(
            lambda schema, kind, required: body(schema, kind=kind, required=required)["requestBody"],
            SCHEMAS,
            st.sampled_from(["application/json", "multipart/form-data", "text/plain"]),
            st.booleans(),
        ),
    },
)
PATHS = st.dictionaries(
    st.sampled_from(["/", "/a", "/a/b", "/a_b", "/{a}", "/{a}/{b}"]),
    st.dictionaries(st.sampled_from(["get", "put", "delete"]), OPERATIONS, max_size=3),
    min_size=1,
    max_size=4,
)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    paths=PATHS,
    schemas=st.fixed_dictionaries({"A": SCHEMAS, "B": SCHEMAS}),
    version=st.sampled_from(["3.0.3", "3.1.0"]),
)
def test_whatever_a_document_holds_its_tools_are_valid(paths, schemas, version):
    document = api(paths, version=version, components={"schemas": schemas})
    found = read_tools(OpenAPIDocument(document, label="api"))
    assert len(found) == sum(len(item) for item in paths.values())
    assert len({tool.name for tool in found}) == len(found)
    for tool in found:
        assert is_tool_name(tool.name)
        Draft202012Validator.check_schema(tool.parameters)
        definitions = tool.parameters.get("$defs", {})
        assert not definitions.keys() - {"A", "B", "A_base", "B_base"}
        parts = [definitions[name] for name in definitions if name.endswith("_base")]
        assert all(part.get("additionalProperties") is not False for part in parts)
        references = {part["$ref"] for part in schemas_in(tool.parameters) if "$ref" in part}
        assert references == {f"#/$defs/{name}" for name in definitions}
        assert set(tool.parameters.get("required", ())) <= set(tool.parameters["properties"])


def test_characters_that_nobody_sees_are_taken_out_and_told(caplog):
    (tool,) = tools({"/a": {"get": {"summary": "Get a pet.\u200b\U000e0041", **answer({})}}})
    assert tool.description == "Get a pet."
    assert tool.metadata["hidden_characters"] == 2
    assert "2 hidden characters were taken out of an operation" in caplog.text
    assert repr(tool.name) in caplog.text
