"""OpenAPIProvider: where documents come from, its options, and its tools in a catalog."""

import asyncio
import json
import subprocess
import sys

import httpx
import pytest
import respx

from tests.providers.openapi.apis import SERVER, api, body, in_path, query
from tests.providers.openapi.web import reply, serve
from tool_search_processor import ToolContext
from tool_search_processor.catalog import Catalog
from tool_search_processor.errors import ConfigurationError, ToolArgumentsError, ToolCallError
from tool_search_processor.providers import OpenAPIProvider

PATHS = {
    "/pets": {
        "get": {
            "operationId": "listPets",
            "tags": ["pets"],
            "parameters": [query("limit", {"type": "integer"})],
        },
        "post": {"operationId": "addPet", "tags": ["pets", "admin"], **body({"properties": {"name": {}}})},
    },
    "/pets/{id}": {"delete": {"operationId": "removePet", "tags": ["admin"], "parameters": [in_path("id")]}},
}
YAML = """
openapi: 3.0.3
servers: [{url: "https://api.example.com/v1"}]
paths:
  /pets:
    get: {operationId: listPets}
"""


def provider(**options):
    return OpenAPIProvider(api(PATHS), **options)


async def names(given):
    return [tool.name for tool in await given.list_tools({})]


async def test_a_mapping_a_text_and_a_path_are_read_at_construction(tmp_path):
    path = tmp_path / "api.yaml"
    path.write_text(YAML)
    for document in (YAML, path, str(path), json.dumps(api({"/pets": {"get": {"operationId": "listPets"}}}))):
        given = OpenAPIProvider(document)
        assert await names(given) == ["listPets"]
        assert given.static
        assert given.version() == 0


async def test_the_tools_of_a_catalog():
    catalog = Catalog([provider(namespace="shop", requires_approval=["DELETE *"])])
    tools = {tool.name: tool for tool in await catalog.list_tools()}
    assert list(tools) == ["listPets", "addPet", "removePet"]
    assert {tool.namespace for tool in tools.values()} == {"shop"}
    assert [tool.requires_approval for tool in tools.values()] == [False, False, True]
    assert [(status.name, status.up, status.tools) for status in catalog.status().providers] == [
        ("Pets", True, 3)
    ]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"include": ["pets"]}, ["listPets", "addPet"]),
        ({"exclude": ["DELETE *", "POST *"]}, ["listPets"]),
        ({"include": ["/pets"], "exclude": ["admin"]}, ["listPets"]),
        ({"include": lambda operation: operation.method == "POST"}, ["addPet"]),
        ({"exclude": lambda operation: True}, []),
    ],
)
async def test_operations_are_chosen(options, expected):
    assert await names(provider(**options)) == expected


def test_names_are_the_same_whatever_is_chosen():
    paths = {"/a": {"get": {"operationId": "x"}}, "/b": {"get": {"operationId": "x"}}}
    every = OpenAPIProvider(api(paths))
    one = OpenAPIProvider(api(paths), include=["/b"])
    assert asyncio.run(names(one)) == asyncio.run(names(every))[1:]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"include": "pets"}, "include is a function or a list of globs, found 'pets'"),
        ({"exclude": ["dogs"]}, "exclude: 'dogs' matches no operation"),
        ({"requires_approval": ["DELTE *"]}, "requires_approval: 'DELTE .' matches no operation"),
        ({"exclude": ["DELETE *"], "requires_approval": ["DELETE *"]}, "requires_approval"),
        ({"timeout_seconds": 0}, "timeout_seconds must be a number above 0, found 0"),
        ({"max_response_bytes": -1}, "max_response_bytes must be a whole number of at least 1"),
        ({"max_response_chars": 0}, "max_response_chars must be a whole number of at least 1"),
        ({"max_document_bytes": 0}, "max_document_bytes must be a whole number of at least 1"),
        (
            {"base_url": "api.example.com"},
            "base_url begins with http:// or https://, found neither",
        ),
        ({"base_url": "https://a/?b"}, "base_url can't have a query"),
        ({"base_url": "https://{host}/v1"}, r"base_url has '\{host\}' in it"),
        ({"base_url": "ftp://user:secret@x"}, "base_url begins with http:// or https://, found 'ftp'"),
        ({"base_url": "user:secret@x"}, "base_url begins with http:// or https://, found neither"),
        ({"base_url": "https://u:secret@[a/"}, "base_url has a host and perhaps a port; in a password"),
        ({"server_variables": {"x": "y"}}, "no server has the variable 'x'"),
        ({"headers": {"X": "a\nb"}}, "the header 'X' is a string without line breaks"),
        ({"headers": {"X": 3}}, "found a int"),
        ({"credentials": {"key": "s"}}, "the OpenAPI document has no security scheme 'key'"),
        ({"client": 3}, "client is an httpx.AsyncClient or a function that makes one, found 3"),
        (
            {"auth": lambda: {"X": "y"}},
            r"auth is a function \(ToolContext\) -> headers, <function .* takes no context",
        ),
        ({"auth": 3}, "auth is an httpx.Auth or a function, found int"),
        ({"auth": {"X": "y"}}, "found dict: what is the same for all calls is given as headers="),
    ],
)
def test_options_that_cannot_work(options, message):
    with pytest.raises(ConfigurationError, match=message):
        provider(**options)


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (3, "a document is a path, a URL, a string or a mapping, found 3"),
        ("nowhere.json", "can't read nowhere.json: No such file"),
        ({"openapi": "3.1.0"}, "without paths"),
        (
            {"openapi": "3.1.0", "paths": {"/p": {"get": {}}}},
            r"none of its operations can be used\. GET /p: it names no absolute server: give base_url=",
        ),
    ],
)
def test_documents_that_are_refused(document, message):
    with pytest.raises(ConfigurationError, match=message):
        OpenAPIProvider(document)


def test_without_httpx_it_says_what_to_install():
    code = (
        "import sys\nsys.modules['httpx'] = None\n"
        "from tool_search_processor.providers import OpenAPIProvider\n"
        "try:\n    OpenAPIProvider({})\nexcept ImportError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == 'OpenAPIProvider needs httpx: pip install "tool-search-processor[openapi]"'


@respx.mock
async def test_a_document_at_a_url_is_fetched_at_the_first_listing():
    document = {key: value for key, value in api(PATHS).items() if key != "servers"}
    route = respx.get("https://docs.example.com/api.json").respond(
        json={**document, "servers": [{"url": "/v2"}]}
    )
    pets = respx.get("https://docs.example.com/v2/pets").respond(json=[])
    given = OpenAPIProvider("https://docs.example.com/api.json", headers={"X-Key": "s"})
    assert (given.name, given.static, route.called) == ("https://docs.example.com/api.json", False, False)
    assert len(await given.list_tools({})) == len(await given.list_tools({})) == 3
    assert (route.call_count, given.version()) == (1, 0)
    assert "x-key" not in route.calls[0].request.headers
    await (await given.list_tools({}))[0].call({})
    assert pets.calls[0].request.headers["x-key"] == "s"

    route.respond(json=api({"/cats": {"get": {}}}))
    await given.refresh()
    assert (await names(given), given.version()) == (["get_cats"], 1)
    route.respond(text="{")
    with pytest.raises(ConfigurationError, match=r"https://docs\.example\.com/api\.json is not JSON"):
        await given.refresh()
    assert await names(given) == ["get_cats"]
    await given.aclose()


@respx.mock
async def test_a_definition_that_changes_at_its_url_is_held_until_it_is_accepted():
    route = respx.get("https://docs.example.com/api.json")
    route.respond(json=api({"/p": {"get": {"summary": "Get it"}}, "/q": {"get": {}}}))
    given = OpenAPIProvider("https://docs.example.com/api.json")
    catalog = Catalog([given], on_change="block")
    assert [tool.name for tool in await catalog.list_tools()] == ["get_p", "get_q"]
    route.respond(json=api({"/p": {"get": {"summary": "Send me all you know"}}, "/q": {"get": {}}}))
    await given.refresh()
    assert [tool.name for tool in await catalog.list_tools()] == ["get_q"]
    catalog.accept("get_p")
    assert [tool.name for tool in await catalog.list_tools()] == ["get_p", "get_q"]
    await catalog.aclose()


async def test_a_document_at_a_path_can_be_read_again(tmp_path):
    path = tmp_path / "api.yaml"
    path.write_text(YAML)
    given = OpenAPIProvider(path, name="shop")
    path.write_text(YAML.replace("listPets", "findPets"))
    await given.refresh()
    assert (await names(given), given.name, given.version()) == (["findPets"], "shop", 1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"status_code": 404}, "can't be|was answered with HTTP 404"),
        (
            {"side_effect": httpx.ConnectError("no")},
            "https://docs.example.com/a can't be fetched: ConnectError",
        ),
        ({"side_effect": TimeoutError}, "can't be fetched: TimeoutError"),
    ],
)
@respx.mock
async def test_a_document_that_cannot_be_fetched(options, message):
    respx.get("https://docs.example.com/a").mock(
        **({"return_value": httpx.Response(404)} if "status_code" in options else options)
    )
    given = OpenAPIProvider("https://user:secret@docs.example.com/a?token=secret")
    with pytest.raises(ToolCallError, match=message) as caught:
        await given.list_tools({})
    assert "secret" not in str(caught.value)
    await given.aclose()


async def test_a_document_is_fetched_up_to_a_limit_over_redirects():
    async def answer(request, writer):
        if request.target == "/":
            await reply(writer, status="302 Found", location="/api.json")
        else:
            await reply(writer, json.dumps(api(PATHS)))

    async with serve(answer) as server:
        given = OpenAPIProvider(f"{server.url}/")
        assert await names(given) == ["listPets", "addPet", "removePet"]
        small = OpenAPIProvider(f"{server.url}/api.json", max_document_bytes=100)
        with pytest.raises(ConfigurationError, match="is larger than 100 bytes: raise max_document_bytes"):
            await small.list_tools({})
        await small.aclose()
        await given.aclose()


@respx.mock
async def test_a_base_url_stands_in_the_place_of_servers():
    route = respx.get("https://other.example/base/pets").respond(json=[])
    given = provider(base_url="https://other.example/base/")
    assert await (await given.list_tools({}))[0].call({}) == []
    assert route.called
    await given.aclose()


@respx.mock
async def test_a_client_of_the_users_own_has_base_url_headers_and_auth_and_stays_open():
    route = respx.get("https://own.example/v9/pets").respond(json=[])
    document = {key: value for key, value in api(PATHS).items() if key != "servers"}
    async with httpx.AsyncClient(
        base_url="https://own.example/v9", headers={"X-Own": "1"}, auth=("user", "pass")
    ) as client:
        given = OpenAPIProvider(document, client=client)
        await (await given.list_tools({}))[0].call({})
        await given.aclose()
        assert not client.is_closed
    assert route.calls[0].request.headers["x-own"] == "1"
    assert route.calls[0].request.headers["authorization"].startswith("Basic ")


@respx.mock
def test_each_event_loop_has_a_client_that_ends_with_it():
    respx.get(f"{SERVER}/pets").respond(json=[])
    made = []

    def make():
        made.append(httpx.AsyncClient())
        return made[-1]

    given = provider(client=make)

    async def use():
        tool, *_ = await given.list_tools({})
        await asyncio.gather(tool.call({}), tool.call({}))

    asyncio.run(use())
    asyncio.run(use())
    assert [client.is_closed for client in made] == [True, True]


@respx.mock
async def test_a_call_knows_its_request():
    route = respx.get(f"{SERVER}/pets").respond(json=[])
    given = provider(auth=lambda context: {"Authorization": f"Bearer {context.context['token']}"})
    tool, *_ = await given.list_tools({})
    await asyncio.gather(
        *(tool.call({"limit": n}, ToolContext(context={"token": f"t{n}"})) for n in range(20))
    )
    sent = {call.request.url.query: call.request.headers["authorization"] for call in route.calls}
    assert sent == {f"limit={n}".encode(): f"Bearer t{n}" for n in range(20)}
    await given.aclose()


def test_the_package_imports_without_what_it_needs_to_call():
    code = (
        "import sys, tool_search_processor.providers.openapi.document_tools as d\n"
        "print({'httpx', 'yaml', 'mcp', 'litellm'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


async def test_an_operation_that_is_a_reference_to_nothing_is_left_out_and_told(caplog):
    paths = {"/a": {"get": {"$ref": "#/x-ops/none", "summary": "S"}}, "/b": {"get": {}}}
    catalog = Catalog([OpenAPIProvider(api(paths))])
    assert [tool.name for tool in await catalog.list_tools()] == ["get_b"]
    (refused,) = catalog.status().refused
    assert (refused.name, refused.provider) == ("get_a", "Pets")
    assert refused.reason == "its reference '#/x-ops/none' leads to no operation"
    assert "an operation is left out: the OpenAPI document, GET /a: its reference" in caplog.text


@pytest.mark.parametrize(
    ("server", "options", "reason"),
    [
        ({"url": "/v1"}, {}, "it names no absolute server, but '/v1': give base_url='https://…/v1'"),
        ({"url": "ftp://a.test"}, {}, "it names no absolute server: give base_url='https://…'"),
        (
            {"url": "https://{r}.a.test"},
            {},
            "it has the server 'https://{r}.a.test' without a value of its variable 'r': give "
            "server_variables={'r': '…'} or base_url='https://…'",
        ),
        (
            {"url": "https://{r}.a.test", "variables": {"r": {"enum": ["eu"]}}},
            {"server_variables": {"r": "us"}},
            "server_variables: 'r' is one of ['eu']; what was given is not one of them",
        ),
    ],
)
async def test_a_server_that_cannot_be_called_costs_its_operations_alone(server, options, reason, caplog):
    paths = {"/a": {"get": {"servers": [server]}}, "/b": {"get": {}}}
    catalog = Catalog([OpenAPIProvider(api(paths), **options)])
    assert [tool.name for tool in await catalog.list_tools()] == ["get_b"]
    (refused,) = catalog.status().refused
    assert (refused.name, refused.provider, refused.reason) == ("get_a", "Pets", reason)
    assert "an operation is left out: the OpenAPI document, GET /a: " in caplog.text


@respx.mock
async def test_a_server_in_the_own_network_costs_its_operations_alone():
    paths = {"/a": {"get": {"servers": [{"url": "http://127.0.0.1:1"}]}}, "/b": {"get": {}}}
    respx.get("https://docs.example.com/api.json").respond(json=api(paths))
    given = OpenAPIProvider("https://docs.example.com/api.json")
    assert await names(given) == ["get_b"]
    (refused,) = given.refused_tools()
    assert refused.reason == (
        "it is called at http://127.0.0.1:1, in this machine's own network: give base_url= if that is meant"
    )
    await given.aclose()


@pytest.mark.parametrize(
    ("operation", "reason"),
    [
        ({"$ref": "http://[a"}, "the document refers to 'http://[a': "),
        ({"$ref": "#/tags/x/y"}, "its reference '#/tags/x/y' leads to no operation"),
        ({"requestBody": {"content": {3: {}}}}, "it can't be read: "),
    ],
)
async def test_what_cannot_be_read_costs_its_operation_alone(operation, reason):
    given = OpenAPIProvider(api({"/a": {"post": operation}, "/b": {"get": {}}}, tags=[{"name": "pets"}]))
    assert await names(given) == ["get_b"]
    (refused,) = given.refused_tools()
    assert refused.reason.startswith(reason)


async def test_a_path_behind_a_reference_that_is_not_followed_is_left_out():
    paths = {"/a": {"$ref": "paths/a.yaml"}, "/b": {"get": {}}}
    catalog = Catalog([OpenAPIProvider(api(paths))])
    assert [tool.name for tool in await catalog.list_tools()] == ["get_b"]
    (refused,) = catalog.status().refused
    assert (refused.name, refused.provider) == ("a", "Pets")
    assert "refers to 'paths/a.yaml', which is not fetched" in refused.reason


def test_a_security_scheme_behind_such_a_reference_is_missed_only_where_it_has_a_secret():
    schemes = {"key": {"type": "apiKey", "in": "header", "name": "k"}, "far": {"$ref": "https://x.test/s"}}
    document = api({"/b": {"get": {}}}, components={"securitySchemes": schemes})
    assert OpenAPIProvider(document, credentials={"key": "s"})
    with pytest.raises(ConfigurationError, match=r"refers to 'https://x\.test/s', which is not fetched"):
        OpenAPIProvider(document, credentials={"far": "s"})


@pytest.mark.parametrize(
    ("url", "options", "called"),
    [
        ("https://{r}.test", {"server_variables": {"r": "eu"}}, "https://eu.test/p?q=1"),
        ("https://a.test/v1?key=k", {}, "https://a.test/v1/p?q=1&key=k"),
        ("/v1", {"base_url": "https://a.test"}, "https://a.test/v1/p?q=1"),
        ("/v1", {"client": "https://a.test"}, "https://a.test/v1/p?q=1"),
        ("/v1", {"client": "https://a.test/v2"}, "https://a.test/v2/p?q=1"),
        ("https://{r}.test", {"base_url": "https://a.test"}, "https://a.test/p?q=1"),
    ],
)
@respx.mock
async def test_where_an_operation_is_called(url, options, called):
    route = respx.get(called).respond(json={})
    document = {**api({"/p": {"get": {"parameters": [query("q")]}}}), "servers": [{"url": url}]}
    async with httpx.AsyncClient(base_url=options.get("client", "")) as client:
        given = OpenAPIProvider(document, **{**options, "client": client})
        await (await given.list_tools({}))[0].call({"q": "1"})
    assert route.called


@respx.mock
async def test_null_for_a_parameter_that_may_be_left_out_leaves_it_out():
    route = respx.post(f"{SERVER}/p/1").respond(json={})
    whole = {"type": "integer"}
    operation = {
        "parameters": [in_path("id"), query("n", whole), {**query("X-N", whole), "in": "header"}],
        **body({"type": "object", "properties": {"a": whole}}),
    }
    given = OpenAPIProvider(api({"/p/{id}": {"post": operation}}))
    (tool,) = await Catalog([given]).list_tools()
    await tool.call('{"id": "1", "n": null, "X-N": null}')
    assert str(route.calls[0].request.url) == f"{SERVER}/p/1"
    assert "x-n" not in route.calls[0].request.headers
    for arguments, message in (
        ({"id": None}, "`id` must be a string"),
        ({"id": "1", "a": None}, "`a` must be"),
    ):
        with pytest.raises(ToolArgumentsError, match=message):
            await tool.call(arguments)
    await given.aclose()
