"""OpenAPI documents, answers of APIs and arguments of models that mean harm."""

import asyncio
import gzip
import json
import zlib

import pytest

from tests.adversarial.http_answers import answering, endless
from tests.providers.openapi.apis import api, body, in_path, query
from tests.providers.openapi.web import reply, serve
from tool_search_processor import Catalog
from tool_search_processor.errors import ConfigurationError, ToolArgumentsError, ToolCallError
from tool_search_processor.providers import OpenAPIProvider
from tool_search_processor.session.tool_results import encode_result

GOOD = {"/good": {"get": {"operationId": "good"}}}


def nested(depth, *, key="a"):
    """Return an object in an object, and so on."""
    value = {}
    for _ in range(depth):
        value = {key: [value] if key == "allOf" else value}
    return value


def schemas_that_double(count, *, keyword):
    """Return definitions of which each holds the next twice."""
    following = [[{"$ref": f"#/components/schemas/s{number + 1}"}] * 2 for number in range(count)]
    last = {f"s{count}": {"type": "integer"}}
    return {f"s{number}": {keyword: pair} for number, pair in enumerate(following)} | last


def bad(schema, **schemas):
    return api({"/bad": {"get": {"operationId": "bad", "parameters": [query("a", schema)]}}, **GOOD},
               components={"schemas": schemas})  # fmt: skip


FIRST = {"$ref": "#/components/schemas/s0"}


@pytest.mark.parametrize(
    ("document", "names"),
    [
        (bad(FIRST, s0=FIRST), ["bad", "good"]),
        (bad(FIRST, s0={"allOf": [FIRST, {"type": "object"}]}), ["bad", "good"]),
        (bad(FIRST, **schemas_that_double(60, keyword="allOf")), ["bad", "good"]),
        (bad(FIRST, **schemas_that_double(60, keyword="anyOf")), ["bad", "good"]),
        (bad(nested(10_000, key="allOf")), ["good"]),
        (bad(nested(10_000, key="items")), ["good"]),
        (bad({"enum": list(range(200_000))}), ["good"]),
        (bad({"description": "d" * 2_000_000}), ["bad", "good"]),
        (bad({"$ref": "http://169.254.169.254/latest"}), ["good"]),
        (bad({"$ref": "../../../etc/passwd"}), ["good"]),
        (api({"/bad": {"get": {"parameters": [query(f"a{n}") for n in range(50_000)]}}, **GOOD}), ["good"]),
        (api({"/bad": {"get": {"parameters": {"a": 1}, "responses": [], "tags": 7, "servers": "x",
                               "security": 7, "requestBody": [], "summary": [], "operationId": []}},
              "/worse": None, "/worst": 7, **GOOD}), ["get_bad", "good"]),
        (api({"/a": {"get": {"operationId": "a.b"}, "put": {"operationId": "a/b"},
                     "post": {"operationId": "a b"}}, "/b": {"get": {"operationId": "a.b"}}, **GOOD}), 5),
    ],
    ids=["circle", "circle of allOf", "doubling allOf", "doubling anyOf", "deep allOf", "deep items",
         "long enum", "long text", "inner network", "other file", "many parameters", "odd parts",
         "ids that meet"],
)  # fmt: skip
async def test_a_bad_operation_costs_that_operation(document, names):
    tools = await Catalog([OpenAPIProvider(document)]).list_tools()
    listed = [tool.name for tool in tools]
    assert sorted(listed) == sorted(names) if isinstance(names, list) else len(set(listed)) == names
    for tool in tools:
        assert len(tool.definition_json) < 600_000
        assert tool.check_arguments({"a": 1} if "a" in tool.parameters["properties"] else {}) is not None


HEAD = "openapi: 3.1.0\ninfo: {title: t, version: '1'}\n"
LAUGHS = "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9) if before else '1'}]\n"
    for before, name in zip(["", *"abcdefghijk"], "abcdefghijkl", strict=True)
)


@pytest.mark.parametrize(
    ("document", "words"),
    [
        (HEAD + LAUGHS + "paths: {/a: {get: {x: *l}}}\n", "aliases .* stand for too much"),
        (HEAD + "paths: &p {/a: {get: {x: *p}}}\n", "holds itself"),
        (HEAD + "paths: {/a: {get: {x: !!python/object/apply:os.getcwd []}}}\n", "is not YAML"),
        (HEAD + "paths: " + "[" * 100_000, "nested too deeply"),
        ('{"openapi": "3.1.0", "paths": ' + '{"a":' * 100_000, "nested too deeply"),
        (api({"/a": {"get": {"parameters": [{"$ref": "file:///etc/passwd"}]}}}), "is not fetched"),
        (api(GOOD, servers=[{"url": "file:///etc"}, {"url": "ftp://example.com"}]), "no absolute server"),
        (api(GOOD, servers=[{"url": "javascript:alert(1)"}]), "no absolute server"),
        (api(GOOD, servers=[{"url": "http://[broken/"}, {"url": "http://a:b/"}]), "no absolute server"),
        (api({"/a": {"get": {"parameters": [query("a", nested(10_000, key="items"))]}}}), "too deeply"),
    ],
)
def test_a_document_that_cannot_be_read_is_refused_in_words(document, words):
    with pytest.raises(ConfigurationError, match=words):
        OpenAPIProvider(document)


@pytest.mark.parametrize(
    "reference", ["../secret.yaml", "sub/../../secret.yaml", "linked.yaml", "%2e%2e/secret.yaml"]
)
def test_references_stay_in_the_folder(reference, tmp_path):
    folder = tmp_path / "api"
    folder.mkdir()
    (tmp_path / "secret.yaml").write_text("type: string\n")
    (folder / "linked.yaml").symlink_to(tmp_path / "secret.yaml")
    (folder / "api.json").write_text(json.dumps(bad({"$ref": reference})))
    (refused,) = OpenAPIProvider(folder / "api.json").refused_tools()
    assert refused.name == "bad"
    assert f"refers to {reference!r}, which is outside of its folder" in refused.reason


async def call(answer, operation=None, arguments=None, *, path="/p", method="get", **options):
    """Call the one operation of an API that answers in its own way; return what is said, and the requests."""
    async with serve(answer) as web:
        document = api({path: {method: operation or {}}}, servers=[{"url": f"{web.url}/v1"}])
        provider = OpenAPIProvider(document, **options)
        (tool,) = await provider.list_tools({})
        try:
            said = await tool.call(arguments or {})
        except (ToolCallError, ToolArgumentsError) as exc:
            said = exc
        finally:
            await provider.aclose()
        return said, web.requests


async def drip(request, writer):
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n")
    while True:
        writer.write(b"x")
        await writer.drain()
        await asyncio.sleep(0)


BOMB = gzip.compress(bytes(100_000_000), 1)
RAW = zlib.compressobj(wbits=-zlib.MAX_WBITS)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (endless("text/plain"), "the first 20,000 of more than 2,000,000 characters"),
        (
            answering(BOMB, content_type="text/plain", content_encoding="gzip"),
            "of more than 2,000,000 characters",
        ),
        (answering(gzip.compress(BOMB), content_encoding="gzip, gzip"), "can't be read: it is packed as"),
        (answering(b"x", content_encoding="br"), "can't be read: it is packed as 'br'"),
        (answering(b"x", content_encoding="zstd"), "can't be read: it is packed as 'zstd'"),
        (answering(b"no gzip", content_encoding="gzip"), "can't be read: it is packed, and broken"),
        (answering(gzip.compress(b'{"a": 1}'), content_encoding="GZIP "), '{"a":1}'),
        (answering(zlib.compress(b'{"a": 1}'), content_encoding="deflate"), '{"a":1}'),
        (answering(RAW.compress(b'{"a": 1}') + RAW.flush(), content_encoding="deflate"), '{"a":1}'),
        (answering(b'{"a": \xff'), "\ufffd"),
        (answering("[" * 100_000), "[[[["),
        (answering("[" * 900 + "]" * 900), "["),
        (answering("1" * 10_000), "1111"),
        (answering('{"a": NaN, "b": 1e999}'), "a"),
        (answering("<script>" * 100_000 + "<p>Hi", content_type="text/html"), "Hi"),
        (
            answering("<!--<script></script>" * 50_000 + "<p>Hi", content_type="text/html"),
            "the first 20,000 of",
        ),
        (
            answering("x", status="302 Found", location="http://169.254.169.254/latest"),
            "redirected to an address of this machine's own network: not followed",
        ),
        (answering("x", status="302 Found", location="/v1/p"), "redirected more than 5 times"),
        (answering("x", status="302 Found", location="file:///etc/passwd"), "could not be sent"),
        (answering("x", status="302 Found", location="http://[broken"), "could not be sent"),
        (answering("", status="401 Unauthorized"), "HTTP 401 Unauthorized"),
        (
            answering("busy", status="503 \x1b[31mNo", content_type="text/plain"),
            "HTTP 503 Service Unavailable",
        ),
    ],
)
async def test_answers_are_bounded_and_told(answer, words):
    said, _ = await call(answer)
    text = str(said) if isinstance(said, Exception) else encode_result(said)
    assert words in text
    assert len(text) < 21_000


async def test_an_answer_that_drips_ends_with_the_time_of_the_call():
    said, _ = await call(drip, timeout_seconds=0.3)
    assert "took longer than 0.3 seconds" in str(said)


HOSTILE = [
    "../secret", "..%2fsecret", "%2e%2e", "%2e%2e%2fsecret", "a/../../b", "..\\secret", "a\r\nEvil: 1",
    "a\x00b", "@example.com", "//example.com", "?admin=1", "#top", "a;b", "\ud800", "\u202e", " ",
    "x" * 1_000_000,
]  # fmt: skip


@pytest.mark.parametrize("value", HOSTILE, ids=lambda value: ascii(value)[:20])
@pytest.mark.parametrize("place", ["path", "query", "header", "cookie"])
async def test_an_argument_stays_in_its_place(place, value):
    path = "/p/{a}" if place == "path" else "/p"
    parameter = in_path("a") if place == "path" else {**query("a"), "in": place}
    said, requests = await call(answering('"fine"'), {"parameters": [parameter]}, {"a": value}, path=path)
    if not requests:
        assert isinstance(said, ToolArgumentsError | ToolCallError)
        return
    (request,) = requests
    assert "evil" not in request.headers
    assert request.headers["host"].startswith("127.0.0.1:")
    step, _, asked = request.target.partition("?")
    assert step.count("/") == (3 if place == "path" else 2)
    assert step.startswith("/v1/p")
    assert "#" not in request.target
    assert asked.count("&") == 0
    assert ".." not in step.replace("%2E", ".").replace("%2e", ".").split("/")


@pytest.mark.parametrize("value", [["a", "b"], {"a": "b"}, 7, True, nested(50), 1e308])
@pytest.mark.parametrize("place", ["path", "query", "header", "cookie"])
async def test_an_argument_of_another_kind_is_refused_or_sent(place, value):
    path = "/p/{a}" if place == "path" else "/p"
    parameter = in_path("a", {}) if place == "path" else {**query("a", {}), "in": place}
    said, requests = await call(answering('"fine"'), {"parameters": [parameter]}, {"a": value}, path=path)
    assert said == "fine"
    assert requests[0].target.startswith("/v1/p")


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        *(("text/plain", value) for value in HOSTILE[6:8]),
        *(
            (kind, value)
            for kind in ("application/json", "application/x-www-form-urlencoded", "multipart/form-data")
            for value in (*HOSTILE[6:8], "\ud800", ["x\r\n--"], {"\r\nEvil": "1"}, nested(50))
        ),
    ],
    ids=lambda value: ascii(value)[:20],
)
async def test_a_body_stays_a_body(kind, value):
    schema = {"type": "object", "properties": {"a\r\nEvil: 1": {}, "b": {}}}
    operation = body({} if kind == "text/plain" else schema, kind=kind)
    arguments = {"body": value} if kind == "text/plain" else {"body": {"b": value, "a\r\nEvil: 1": value}}
    async with serve(answering('"fine"')) as web:
        provider = OpenAPIProvider(api({"/p": {"post": operation}}, servers=[{"url": web.url}]))
        (tool,) = await provider.list_tools({})
        if "body" not in tool.parameters["properties"]:
            arguments = dict.fromkeys(tool.parameters["properties"], value)
        said = await tool.call(arguments)
        await provider.aclose()
        assert said == "fine"
        assert "evil" not in web.requests[0].headers
        assert web.requests[0].target == "/p"


@pytest.mark.parametrize(
    "name",
    ["X\r\nEvil: 1", "Host", "Content-Length", "Transfer-Encoding", "Connection", ":path", "", "ü", "a b"],
)
async def test_headers_that_would_change_the_request_are_no_parameters(name):
    parameters = [{"name": name, "in": "header", "schema": {"type": "string"}}]
    said, requests = await call(answering('"fine"'), {"parameters": parameters})
    assert said == "fine"
    assert "evil" not in requests[0].headers


@pytest.mark.parametrize("name", ["a&b=1", "a#b", "a\r\nb", "a b", "ü", "../a", "x" * 10_000])
@pytest.mark.parametrize("place", ["query", "cookie"])
async def test_names_of_parameters_stay_names(place, name):
    async with serve(answering('"fine"')) as web:
        document = api(
            {"/p": {"get": {"parameters": [{**query(name), "in": place}]}}}, servers=[{"url": web.url}]
        )
        provider = OpenAPIProvider(document)
        (tool,) = await provider.list_tools({})
        assert await tool.call(dict.fromkeys(tool.parameters["properties"], "v")) == "fine"
        await provider.aclose()
        (request,) = web.requests
    assert request.target.count("&") == 0
    assert request.target.count("=") == (place == "query")
    assert not {"b", "evil"} & set(request.headers)


async def test_a_document_that_moves_its_tools_to_another_host_has_changed_them():
    document = api(GOOD, servers=[{"url": "https://api.example.com"}])

    async def answer(request, writer):
        await reply(writer, json.dumps(document))

    async with serve(answer) as web:
        provider = OpenAPIProvider(f"{web.url}/api.json")
        catalog = Catalog([provider], on_change="block")
        assert [tool.name for tool in await catalog.list_tools()] == ["good"]
        await provider.refresh()
        assert [tool.name for tool in await catalog.list_tools()] == ["good"]
        document["servers"] = [{"url": "https://evil.example.net"}]
        await provider.refresh()
        assert await catalog.list_tools() == []
        (change,) = catalog.status().changed
        assert change.parts == ("route",)
        catalog.accept("good")
        assert [tool.name for tool in await catalog.list_tools()] == ["good"]
        await provider.aclose()


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (
            answering(gzip.compress(bytes(60_000_000)), content_encoding="gzip"),
            "larger than 50,000,000 bytes",
        ),
        (answering("x", content_encoding="br"), "can't be read: it is packed as 'br'"),
        (answering("x", status="302 Found", location="/api.json"), "redirected more than 5 times"),
        (answering("x", status="302 Found", location="http://[broken"), "can't be fetched"),
        (answering(b"\xff\xfe\x00"), "is no|is not YAML"),
        (answering("<html>", content_type="text/html"), "is no"),
    ],
)
async def test_a_document_that_cannot_be_fetched_is_told(answer, words):
    async with serve(answer) as web:
        provider = OpenAPIProvider(f"{web.url}/api.json")
        with pytest.raises((ConfigurationError, ToolCallError), match=words):
            await provider.list_tools({})
        await provider.aclose()


@pytest.mark.parametrize("server", ["http://169.254.169.254/", "http://[fe80::1]/"])
async def test_a_document_from_outside_leads_nowhere_inside(server):
    document = api(GOOD, servers=[{"url": server}])

    async def answer(request, writer):
        await reply(writer, json.dumps(document))

    async with serve(answer) as web:
        provider = OpenAPIProvider(f"{web.url}/api.json")
        with pytest.raises(
            ConfigurationError, match=r"GET /good: it is called at .* own network: give base_url="
        ):
            await provider.list_tools({})
        await provider.aclose()
        pinned = OpenAPIProvider(f"{web.url}/api.json", base_url=server)
        assert [tool.name for tool in await pinned.list_tools({})] == ["good"]
        await pinned.aclose()
