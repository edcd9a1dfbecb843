"""Documents: versions, references within and to files beside, and those that are not followed."""

from types import MappingProxyType

import pytest

from tests.providers.openapi.apis import api, body, query
from tool_search_processor.errors import ConfigurationError
from tool_search_processor.providers.openapi.document_tools import read_definitions, read_tools
from tool_search_processor.providers.openapi.documents import OpenAPIDocument
from tool_search_processor.providers.openapi.operations import list_operations
from tool_search_processor.providers.openapi.texts import parse_text

MAIN = """
openapi: 3.1.0
paths:
  /pets:
    $ref: paths/pets.yaml
"""
PETS = """
post:
  operationId: addPet
  parameters:
    - $ref: ../shared.json#/parameters/limit
  requestBody:
    content:
      application/json:
        schema: {$ref: "../shared.json#/schemas/Pet"}
"""
SHARED = """{
  "parameters": {"limit": {"name": "limit", "in": "query", "schema": {"$ref": "#/schemas/Limit"}}},
  "schemas": {
    "Limit": {"type": "integer"},
    "Pet": {"properties": {"owner": {"$ref": "schemas/owner.yaml"}, "mate": {"$ref": "#/schemas/Pet"}}}
  }
}"""
OWNER = "properties: {name: {type: string}, pets: {items: {$ref: '../shared.json#/schemas/Pet'}}}"


def load(folder, files):
    """Write files and return the document of the first."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    path = folder / next(iter(files))
    return OpenAPIDocument(parse_text(path.read_text("utf-8"), label="main"), label="main", path=path)


def test_references_lead_to_files_beside_and_below(tmp_path):
    document = load(
        tmp_path,
        {"a b.yaml": MAIN, "paths/pets.yaml": PETS, "shared.json": SHARED, "schemas/owner.yaml": OWNER},
    )
    (tool,) = read_tools(document)
    assert tool.parameters == {
        "type": "object",
        "properties": {
            "limit": {"$ref": "#/$defs/Limit"},
            "owner": {"$ref": "#/$defs/owner_yaml"},
            "mate": {"$ref": "#/$defs/Pet"},
        },
        "additionalProperties": False,
        "$defs": {
            "Limit": {"type": "integer"},
            "owner_yaml": {
                "properties": {"name": {"type": "string"}, "pets": {"items": {"$ref": "#/$defs/Pet"}}}
            },
            "Pet": {"properties": {"owner": {"$ref": "#/$defs/owner_yaml"}, "mate": {"$ref": "#/$defs/Pet"}}},
        },
    }


def test_a_swagger_body_of_another_file_refers_to_that_file(tmp_path):
    main = "swagger: '2.0'\npaths: {/p: {post: {parameters: [{$ref: 'shared.yaml#/body'}]}}}"
    shared = "body: {name: b, in: body, schema: {$ref: '#/Pet'}}\nPet: {properties: {name: {type: string}}}"
    (tool,) = read_tools(load(tmp_path, {"main.yaml": main, "shared.yaml": shared}))
    assert tool.parameters["properties"] == {"name": {"type": "string"}}


def test_an_operation_may_be_a_reference(tmp_path):
    main = "openapi: 3.0.3\npaths: {/books: {get: {$ref: ops/find.yaml, summary: Own.}}}"
    find = """
      operationId: find_books
      summary: Find books.
      parameters: [{name: q, in: query, schema: {$ref: 'words.yaml#/Word'}}]
    """
    files = {"main.yaml": main, "ops/find.yaml": find, "ops/words.yaml": "Word: {type: string}"}
    (tmp_path / "ops").mkdir()
    (tool,) = read_tools(load(tmp_path, files))
    assert (tool.name, tool.description) == ("find_books", "Own.")
    assert tool.parameters["$defs"] == {"Word": {"type": "string"}}


def test_what_stands_beside_a_paths_reference_counts_too(tmp_path):
    main = "openapi: 3.1.0\npaths: {/p: {$ref: item.yaml, post: {parameters: [{$ref: 'main.yaml#/x-q'}]}}}\n"
    main += "x-q: {name: q, in: query}"
    item = "get: {$ref: '#/x-get'}\nx-get: {operationId: read}\npost: {}"
    first, second = read_tools(load(tmp_path, {"main.yaml": main, "item.yaml": item}))
    assert (first.name, second.name) == ("read", "post_p")
    assert list(second.parameters["properties"]) == ["q"]


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("https://example.com/pet.json", r"refers to 'https://example\.com/pet\.json', which is not fetched"),
        ("//example.com/pet.json", "which is not fetched"),
        ("file://example.com/pet.json", "which is not fetched"),
        ("../outside.json", "outside of its folder"),
        ("/etc/passwd", "outside of its folder"),
        ("link.json", "outside of its folder"),
        ("nowhere.json#/a", r"refers to 'nowhere\.json#/a': can't read .*nowhere\.json: No such file"),
        ("broken.json", r"refers to 'broken\.json': .* is not JSON"),
        ("latin.json", "is not UTF-8 text"),
    ],
)
def test_references_that_are_not_followed(tmp_path, reference, message):
    folder = tmp_path / "api"
    folder.mkdir()
    (tmp_path / "outside.json").write_text("{}")
    (folder / "link.json").symlink_to(tmp_path / "outside.json")
    (folder / "broken.json").write_text("{")
    (folder / "latin.json").write_bytes(b'{"\xe9": 1}')
    document = load(folder, {"main.yaml": f"openapi: 3.1.0\npaths: {{/p: {{$ref: '{reference}'}}}}"})
    with pytest.raises(ConfigurationError, match=message):
        read_tools(document)


OUTSIDE = "https://example.com/api.json#/x"


@pytest.mark.parametrize(
    ("paths", "parts", "left_out"),
    [
        ({"/a": {"get": {"parameters": [{"$ref": OUTSIDE}]}}}, {}, "GET /a"),
        ({"/a": {"parameters": [{"$ref": OUTSIDE}], "get": {}}}, {}, "GET /a"),
        ({"/a": {"get": {"parameters": [query("q", {"$ref": OUTSIDE})]}}}, {}, "GET /a"),
        ({"/a": {"post": {"requestBody": {"$ref": OUTSIDE}}}}, {}, "POST /a"),
        ({"/a": {"post": body({"not": {"$ref": OUTSIDE}})}}, {}, "POST /a"),
        (
            {"/a": {"post": body({"$ref": "#/components/schemas/A"})}},
            {"components": {"schemas": {"A": {"allOf": [{"properties": {"b": {"$ref": OUTSIDE}}}]}}}},
            "POST /a",
        ),
        ({"/a": {"get": {"$ref": OUTSIDE}}}, {}, "GET /a"),
        ({"/a": {"$ref": OUTSIDE, "post": {}}}, {}, "* /a"),
    ],
)
def test_a_reference_that_is_not_followed_costs_the_operations_that_need_it(paths, parts, left_out):
    document = OpenAPIDocument(api({**paths, "/b": {"get": {}}}, **parts), label="api")
    gone = {}
    found = read_definitions(
        document,
        list_operations(document),
        on_left_out=lambda operation, reason: gone.update({operation.route: reason}),
    )
    assert [one.tool.name for one in found] == ["get_b"]
    (reason,) = gone.values()
    assert list(gone) == [left_out]
    assert f"the document refers to '{OUTSIDE}', which is not fetched: bundle everything" in reason


def test_each_operation_that_needs_such_a_reference_is_left_out():
    whole = {"schemas": {"A": {"properties": {"b": {"$ref": OUTSIDE}}}}}
    paths = {f"/{n}": {"post": body({"$ref": "#/components/schemas/A"})} for n in range(3)}
    document = OpenAPIDocument(api({**paths, "/b": {"get": {}}}, components=whole), label="api")
    assert [tool.name for tool in read_tools(document)] == ["get_b"]


@pytest.mark.parametrize(
    "responses",
    [{"200": {"$ref": OUTSIDE}}, {"200": {"content": {"application/json": {"schema": {"$ref": OUTSIDE}}}}}],
)
def test_answers_that_are_not_read_cost_the_output_schema_alone(responses, caplog):
    (tool,) = read_tools(OpenAPIDocument(api({"/a": {"get": {"responses": responses}}}), label="api"))
    assert (tool.name, tool.output_schema) == ("get_a", None)
    assert "api, GET /a: without an output schema: the document refers to" in caplog.text


def test_a_broken_file_beside_is_read_once(tmp_path, monkeypatch):
    (tmp_path / "broken.json").write_text("{")
    ops = "".join(f"  /p{n}: {{get: {{parameters: [{{$ref: 'broken.json#/{n}'}}]}}}}\n" for n in range(3))
    document = load(tmp_path, {"main.yaml": f"openapi: 3.1.0\npaths:\n{ops}  /b: {{get: {{}}}}\n"})
    read = []
    monkeypatch.setattr(
        "tool_search_processor.providers.openapi.documents.read_text", lambda path: read.append(path) or "{"
    )
    assert [tool.name for tool in read_tools(document)] == ["get_b"]
    assert len(read) == 1


def test_a_document_without_a_path_has_no_files_beside_it():
    with pytest.raises(ConfigurationError, match="or give the path of the document"):
        read_tools(OpenAPIDocument(api({"/p": {"$ref": "pet.json"}}), label="api"))


@pytest.mark.parametrize(
    ("root", "message"),
    [
        ([], "main is not an OpenAPI document: it is not an object"),
        ({"paths": {"/": {}}}, "main is not an OpenAPI document: it has neither 'openapi' nor 'swagger'"),
        ({"openapi": "4.0.0", "paths": {"/": {}}}, r"of version '4\.0\.0': 2\.0 and 3\.x are read"),
        ({"swagger": "1.2", "paths": {"/": {}}}, r"of version '1\.2'"),
        ({"swagger": "3.0", "paths": {"/": {}}}, r"of version '3\.0'"),
        ({"openapi": "3.0.3"}, "main is an OpenAPI document without paths"),
        ({"openapi": "3.0.3", "paths": []}, "without paths"),
    ],
)
def test_documents_that_are_none(root, message):
    with pytest.raises(ConfigurationError, match=message):
        OpenAPIDocument(root, label="main")


@pytest.mark.parametrize(
    "version", [{"openapi": 3.1}, {"openapi": "3.2.0"}, {"swagger": 2.0}, {"swagger": "2.0"}]
)
def test_versions_that_are_read_also_as_numbers_and_from_any_mapping(version):
    root = MappingProxyType({**version, "paths": MappingProxyType({"/p": MappingProxyType({"get": {}})})})
    assert [tool.name for tool in read_tools(OpenAPIDocument(root, label="main"))] == ["get_p"]
