"""OpenAPI documents as catalogs, read from files."""

import json
import subprocess
import sys

import pytest

from tool_search_processor.evaluation import DataError, load_tools

PATHS = {"/users/{id}": {"get": {"tags": ["users"]}, "delete": {"operationId": "users/remove"}}}


@pytest.fixture
def write(tmp_path):
    """Return a function that writes a file and returns its path."""

    def write(document, *, name="api.json"):
        path = tmp_path / name
        path.write_text(document if isinstance(document, str) else json.dumps(document), "utf-8")
        return path

    return write


@pytest.mark.parametrize("version", [{"openapi": "3.1.0"}, {"openapi": "3.0.3"}, {"swagger": "2.0"}])
def test_an_operation_is_a_tool(write, version):
    tools = load_tools(write({**version, "paths": PATHS}))
    assert [(tool.name, tool.metadata["original_name"], tool.execute) for tool in tools] == [
        ("get_users_id", "GET /users/{id}", None),
        ("users_remove", "users/remove", None),
    ]
    assert tools[0].tags == frozenset({"users"})


def test_two_routes_that_meet_in_one_name_are_told_apart(write):
    tools = load_tools(write({"openapi": "3.1.0", "paths": {"/a/b": {"get": {}}, "/a_b": {"get": {}}}}))
    assert tools[0].name == "get_a_b"
    assert tools[1].name.startswith("get_a_b_")


def test_yaml_and_files_beside_it(write):
    write("Pet: {type: object, properties: {name: {type: string}}}\n", name="schemas.yaml")
    path = write(
        "# pets\nopenapi: 3.0.3\npaths:\n  /pets:\n    post:\n      operationId: addPet\n      requestBody:\n"
        "        content: {application/json: {schema: {$ref: 'schemas.yaml#/Pet'}}}\n",
        name="api",
    )
    (tool,) = load_tools(path)
    assert (tool.name, list(tool.parameters["properties"])) == ("addPet", ["name"])


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"openapi": "4.0.0", "paths": PATHS}, r"api\.json is an OpenAPI document of version '4\.0\.0'"),
        (
            {"openapi": {"pets": {"document": "pets.json"}}},
            r"api\.json names servers, not tools: .* --config",
        ),
        ({"mcpServers": {}, "openapi": {}}, r"api\.json names servers, not tools"),
        ({"openapi": "3.0.3"}, r"api\.json is an OpenAPI document without paths"),
        ({"openapi": "3.0.3", "paths": {"/a": {}}}, "holds no tools"),
    ],
)
def test_documents_that_are_not_read(write, document, message):
    with pytest.raises(DataError, match=message):
        load_tools(write(document))


def test_a_schema_that_is_nested_too_deeply_is_told(write):
    deep = '{"items":' * 2000 + "{}" + "}" * 2000
    operation = f'{{"parameters": [{{"name": "a", "in": "query", "schema": {deep}}}]}}'
    # Either the reader of JSON gives up, or what follows it: interpreters differ.
    with pytest.raises(DataError, match=r"api\.json(, GET /deep: it| is) is nested too deeply|nested"):
        load_tools(write(f'{{"openapi": "3.1.0", "paths": {{"/deep": {{"get": {operation}}}}}}}'))


def test_definitions_are_read_without_an_http_client(write):
    code = (
        "import sys\nsys.modules['httpx'] = None\nfrom tool_search_processor.evaluation import load_tools\n"
        "print([tool.name for tool in load_tools(sys.argv[1])])"
    )
    path = write({"openapi": "3.1.0", "paths": PATHS})
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['get_users_id', 'users_remove']"
