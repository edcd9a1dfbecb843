"""The endpoint in this process: bad requests, tokens, filters, and what it shares."""

import asyncio
import json
import subprocess
import sys

import httpx
import pytest
from openapi_spec_validator import validate

from tests.counted import Compared, counted_calls
from tests.search.fake_embedder import FakeEmbedder, HeldEmbedder
from tests.server.rest.serving import MAIL, SEARCH, TOOLS, client, hybrid, names
from tests.support import Down
from tool_search_processor import StaticProvider, Tool
from tool_search_processor.catalog import Catalog
from tool_search_processor.errors import ConfigurationError
from tool_search_processor.policy.admission import BATCH
from tool_search_processor.providers import CallableProvider
from tool_search_processor.search.bm25 import BM25Index
from tool_search_processor.search.vector import VectorIndex
from tool_search_processor.server.rest import create_app
from tool_search_processor.server.rest.letta import embedded_text
from tool_search_processor.server.rest.search_requests import MAX_BODY_BYTES

NAMES = [tool.name for tool in TOOLS]


@pytest.mark.parametrize(
    ("body", "place", "kind"),
    [
        ({"limit": 0}, ["limit"], "greater_than_equal"),
        ({"limit": -1}, ["limit"], "greater_than_equal"),
        ({"limit": 101}, ["limit"], "less_than_equal"),
        ({"limit": 1.5}, ["limit"], "int_type"),
        ({"limit": "many"}, ["limit"], "int_type"),
        ({"limit": True}, ["limit"], "int_type"),
        ({"search_mode": "semantic"}, ["search_mode"], "literal_error"),
        ({"search_mode": 1}, ["search_mode"], "literal_error"),
        ({"query": ["a"]}, ["query"], "string_type"),
        ({"query": {"a": 1}}, ["query"], "string_type"),
        ({"tags": "mail"}, ["tags"], "list_type"),
        ({"tags": ["mail", 7]}, ["tags", 1], "string_type"),
        ({"tool_types": {"custom": True}}, ["tool_types"], "list_type"),
        ([], [], "model_type"),
        ("text", [], "model_type"),
    ],
)
async def test_a_bad_value_is_named_with_its_reason(body, place, kind):
    async with client() as http:
        answer = await http.post(SEARCH, json=body)
    assert answer.status_code == 422
    (problem,) = answer.json()["detail"]
    assert (problem["loc"], problem["type"]) == (["body", *place], kind)
    assert set(problem) == {"loc", "type", "msg"}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"query=mail",
        b"null",
        b'{"query": "\xff"}',
        b'{"query": "\\ud800"}',
        b"[" * 100_000,
        b'{"query": 1' + b"0" * 10_000 + b"}",
        "\ufeff{}".encode(),
    ],
    ids=["none", "cut", "form", "null", "bytes", "half", "deep", "digits", "mark"],
)
async def test_what_is_no_json_is_refused_in_a_sentence(body):
    async with client() as http:
        answer = await http.post(SEARCH, content=body)
    assert answer.status_code == 422
    assert answer.json()["detail"][0]["msg"]
    assert len(answer.content) < 500


@pytest.mark.parametrize(
    "body", [{"query": "send an email", "unknown": 1}, {"query": "send an email", "search_mode": None}]
)
async def test_what_is_not_known_and_what_is_null_count_as_left_out(body):
    async with client() as http:
        assert names(await http.post(SEARCH, json=body))[0] == "send_email"


@pytest.mark.parametrize("query", ["\0", "🙂" * 500, "\uff41\u202eb", "x" * 200_000, "a\n" * 1000, "'; DROP"])
async def test_any_text_is_a_query(query):
    async with client() as http:
        for mode in ("fts", "vector", "hybrid"):
            answer = await http.post(SEARCH, json={"query": query, "search_mode": mode})
            assert answer.status_code == 200


@pytest.mark.parametrize(
    ("path", "asked"), [(SEARCH, "tool_types"), (SEARCH, "tags"), ("/v1/inspect", "namespaces")]
)
async def test_a_long_list_of_what_is_wanted_holds_nobody_up(path, asked):
    many = Compared("many")
    tools = [Tool(f"tool_{number}", namespace=many, tool_type=many) for number in range(3000)]
    async with client(tools, search="bm25") as http:
        assert (await http.post(path, json={"query": "tool"})).status_code == 200
        with counted_calls(most=1_000_000):
            answer = await http.post(path, json={"query": "tool", asked: [f"{n:x}" for n in range(30_000)]})
    assert answer.status_code == 200


async def test_a_body_that_is_too_long_is_not_read():
    sent = []

    async def chunks():
        for number in range(1000):
            sent.append(number)
            yield b" " * 65536

    async with client() as http:
        announced = await http.post(SEARCH, content=b" " * (MAX_BODY_BYTES + 1))
        streamed = await http.post(SEARCH, content=chunks())
    assert announced.status_code == streamed.status_code == 413
    assert streamed.json() == {"detail": "a body holds at most 262,144 bytes"}
    assert len(sent) < 10


async def test_a_body_is_no_longer_where_more_is_let_through():
    async with client(search="bm25", max_body_bytes=2 * MAX_BODY_BYTES) as http:
        assert (await http.post(SEARCH, content=b" " * (MAX_BODY_BYTES + 1))).status_code == 413


async def test_a_body_that_never_comes_ends():
    app = create_app(TOOLS, search="bm25", body_timeout_seconds=0.01)
    sent = []

    async def send(message):
        sent.append(message)

    headers = [(b"host", b"localhost")]
    scope = {"type": "http", "method": "POST", "path": SEARCH, "headers": headers, "query_string": b""}
    await app(scope, asyncio.Event().wait, send)
    assert sent[0]["status"] == 408


@pytest.mark.parametrize(
    "path", ["/", "/v1/tools", "/v1/tools/tool-1", "/metrics", "/openapi.json", "/health"]
)
@pytest.mark.parametrize(
    ("options", "host", "origin", "served"),
    [
        ({}, "localhost:8000", None, True),
        ({}, "rebound.example:8000", None, False),
        ({}, "localhost:8000", "https://evil.example", False),
        ({"allowed_hosts": ["tools.example"]}, "tools.example", None, True),
        ({"token": "secret"}, "tools.example", None, True),
        ({"token": "secret"}, "tools.example", "https://evil.example", False),
    ],
)
async def test_a_page_that_lured_a_browser_here_gets_nothing(options, host, origin, served, path):
    async with client(search="bm25", **options) as http:
        answer = await http.get(path, headers={"host": host, **({"origin": origin} if origin else {})})
    assert (answer.status_code not in (403, 421)) == served or (path == "/" and host == "tools.example")
    if not served:
        assert "detail" in answer.json()


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/nothing", 404), ("DELETE", "/v1/tools", 405), ("PUT", SEARCH, 405), ("POST", "/health", 405)],
)
async def test_every_failure_has_one_shape(method, path, status):
    async with client() as http:
        answer = await http.request(method, path)
    assert answer.status_code == status
    assert isinstance(answer.json()["detail"], str)


class Broken(FakeEmbedder):
    failure: type[BaseException] = OSError

    def embed_query(self, text):
        raise self.failure("password=hunter2")


class Panic(BaseException):
    """As native code raises it."""


@pytest.mark.parametrize("failure", [OSError, SystemExit, Panic])
async def test_an_index_that_fails_is_a_sentence_and_a_line_in_the_log(failure, caplog):
    embedder = Broken()
    embedder.failure = failure
    async with client(search=hybrid(embedder)) as http:
        answer = await http.post(SEARCH, json={"query": "mail", "search_mode": "vector"})
        assert (await http.post(SEARCH, json={"query": "mail", "search_mode": "fts"})).status_code == 200
    assert answer.status_code == 500
    assert answer.json() == {"detail": "the server failed to answer: its log says why"}
    assert "hunter2" in caplog.text


async def test_a_bad_pattern_is_the_query_s_fault():
    async with client(search="regex") as http:
        answer = await http.post(SEARCH, json={"query": "("})
        assert names(await http.post(SEARCH, json={"query": "^send"})) == ["send_email"]
    assert answer.status_code == 422
    assert answer.json()["detail"][0]["loc"] == ["body", "query"]


@pytest.mark.parametrize(
    ("search", "modes"),
    [("bm25", ["fts"]), ("fuzzy", ["fts"]), (VectorIndex(FakeEmbedder()), ["vector"]), (BM25Index, ["fts"])],
)
async def test_a_mode_without_an_index_is_refused_and_says_what_there_is(search, modes):
    async with client(search=search) as http:
        for mode in ("fts", "vector", "hybrid"):
            answer = await http.post(SEARCH, json={"query": "send_email", "search_mode": mode})
            assert answer.status_code == (200 if mode in modes else 400)
            if mode not in modes:
                assert answer.json()["detail"].endswith(f"it has: {modes[0]}")
        assert names(await http.post(SEARCH, json={"query": "send_email"}))[0] == "send_email"


# -- tokens


async def test_all_but_health_asks_for_the_token():
    async with client(token="secret") as http:
        for path in (
            "/v1/tools",
            "/v1/tools/",
            "/v1/tools/x",
            "/openapi.json",
            "/",
            "/v1/inspect",
            "/metrics",
        ):
            answer = await http.get(path)
            assert answer.status_code == 401, path
            assert answer.headers["WWW-Authenticate"].startswith(("Bearer", "Basic"))
            assert "mail" not in answer.text
        assert (await http.post(SEARCH, content=b"{")).status_code == 401
        assert (await http.get("/health")).json()["status"] == "ok"
        http.headers["Authorization"] = "Bearer secret"
        assert names(await http.post(SEARCH, json={})) == NAMES


async def test_a_filter_sees_the_user_and_the_headers():
    seen = []

    def allow(request):
        seen.append((request.phase, request.context["user"], request.context["headers"]["x-plan"]))
        with pytest.raises(TypeError):
            request.context["headers"]["x-plan"] = "pro"
        return request.context["user"] == "ada" or request.tool_name != "send_email"

    async with client(token={"a": "ada", "b": "bob"}.get, filter=allow) as http:
        for token in ("a", "b"):
            headers = [("Authorization", f"Bearer {token}"), ("X-Plan", "free"), ("X-Plan", "trial")]
            found = await http.post(SEARCH, json={"query": "send_email"}, headers=headers)
            listed = await http.get("/v1/tools", headers=headers)
            for shown in (names(found), [tool["name"] for tool in listed.json()]):
                assert ("send_email" in shown) == (token == "a")
    assert set(seen) == {("search", "ada", "free, trial"), ("search", "bob", "free, trial")}


async def test_a_filter_that_fails_hides_everything(caplog):
    async with client(filter=lambda request: 1 / 0) as http:
        assert names(await http.post(SEARCH, json={"query": "send an email"})) == []
        assert names(await http.post(SEARCH, json={})) == []
        assert (await http.get("/v1/tools")).json() == []
    assert "the filter failed" in caplog.text


async def test_providers_see_the_request():
    def tools_of(context):
        return [Tool(f"of_{context['headers']['x-tenant']}", "Does what a tenant wants.")]

    async with client([MAIL, CallableProvider(tools_of)]) as http:
        for tenant in ("a", "b"):
            found = await http.post(SEARCH, json={"query": "tenant"}, headers={"X-Tenant": tenant})
            assert names(found)[0] == f"of_{tenant}"


@pytest.mark.parametrize(
    "options", [{"filter": "all"}, {"token": ""}, {"search": "none"}, {"max_body_bytes": 0}]
)
def test_bad_options_raise_at_once(options):
    with pytest.raises(ConfigurationError):
        create_app(TOOLS, **{"search": "bm25", **options})


@pytest.mark.slow
@pytest.mark.parametrize("package", ["starlette", "prometheus_client"])
@pytest.mark.parametrize("module", ["rest", "gateway"])
def test_without_the_extra_the_import_says_what_to_install(module, package):
    code = f"import sys; sys.modules['{package}'] = None; import tool_search_processor.server.{module}"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.stderr.endswith('pip install "tool-search-processor[server]"\n')


# -- one index


def embedded(embedder, tool):
    """Return how often a tool was embedded."""
    return embedder.texts.count(embedded_text(tool))


class Counting(StaticProvider):
    closed = 0

    async def aclose(self):
        self.closed += 1


async def test_documents_are_embedded_once_for_all_modes_and_before_the_first_request():
    embedder = FakeEmbedder()
    provider = Counting(TOOLS)
    async with client(provider, search=hybrid(embedder)) as http:
        assert embedded(embedder, MAIL) == 1
        for mode in ("fts", "vector", "hybrid"):
            await http.post(SEARCH, json={"query": "mail", "search_mode": mode})
        new = Tool("new_tool", "Does something entirely new.")
        provider.add(new)
        found = await http.post(SEARCH, json={"query": "entirely new", "search_mode": "vector"})
        assert names(found)[0] == "new_tool"
        assert [embedded(embedder, tool) for tool in (*TOOLS, new)] == [1] * 5
        assert provider.closed == 0
    assert provider.closed == 1


async def test_a_catalog_is_shared_with_its_index_and_stays_open():
    embedder, provider = FakeEmbedder(), Counting(TOOLS)
    index = hybrid(embedder)
    catalog = Catalog(provider, search=index)
    async with client(catalog, search=index) as http:
        found = await http.post(SEARCH, json={"query": "mail"})
        assert [hit.name for hit in await catalog.search("mail", limit=1)] == names(found)[:1]
    assert [embedded(embedder, tool) for tool in TOOLS] == [1] * 4
    assert provider.closed == 0


async def test_a_catalog_with_another_strategy_gets_one_more_index():
    catalog = Catalog(TOOLS, search="fuzzy")
    async with client(catalog) as http:
        found = (await http.post(SEARCH, json={"query": "send an email"})).json()
    assert found[0]["vector_rank"] == 1
    assert (await catalog.search("send_email"))[0].vector_rank is None


async def test_a_slow_embedder_holds_no_other_request_up():
    embedder = HeldEmbedder("queries")
    async with client(search=hybrid(embedder)) as http:
        slow = asyncio.create_task(http.post(SEARCH, json={"query": "send an email"}))
        await asyncio.to_thread(embedder.asked.wait, 20)
        assert (await http.get("/health")).status_code == 200
        assert names(await http.post(SEARCH, json={"query": "weather", "search_mode": "fts"})) == [
            "get_weather"
        ]
        assert not slow.done()
        embedder.go.set()
        assert names(await slow)[0] == "send_email"


async def test_a_new_tool_that_is_slow_to_embed_holds_no_other_request_up():
    embedder, provider = HeldEmbedder(), StaticProvider(TOOLS)
    embedder.go.set()
    async with client(provider, search=hybrid(embedder)) as http:
        embedder.go.clear()
        embedder.asked.clear()
        provider.add(Tool("new_tool", "Does something entirely new."))
        search = asyncio.create_task(http.post(SEARCH, json={"query": "new", "search_mode": "fts"}))
        await asyncio.to_thread(embedder.asked.wait, 20)
        assert (await http.get("/health")).status_code == 200
        assert not search.done()
        embedder.go.set()
        assert names(await search) == ["new_tool"]


async def test_until_tools_are_embedded_words_answer_and_the_client_is_asked_to_come_back():
    embedder = HeldEmbedder()
    index = hybrid(embedder, background=True)
    tools = [*TOOLS, *(Tool(f"tool_{number}", f"Number {number}.") for number in range(40))]
    async with client(tools, search=index) as http:
        try:
            asked = {"query": "send an email"}
            assert (await http.get("/health")).json()["ready"] is False
            early = await http.post(SEARCH, json={**asked, "search_mode": "vector"})
            assert (early.status_code, early.headers["Retry-After"]) == (503, "5")
            first = (await http.post(SEARCH, json=asked)).json()[0]
            assert (first["tool"]["name"], first["fts_rank"], first["vector_rank"]) == ("send_email", 1, None)
        finally:
            embedder.go.set()
        assert await asyncio.to_thread(index.wait, 20)
        assert (await http.get("/health")).json()["ready"] is True
        assert names(await http.post(SEARCH, json={**asked, "search_mode": "vector"}))[0] == "send_email"


async def test_foreign_definitions_reach_the_wire_whole():
    odd = Tool(
        "odd",
        "Half a \ud83d character.",
        {
            "type": "object",
            "properties": {"n": {"type": "number", "default": float("nan"), "title": "\udc00"}},
        },
        tags={"\ud800"},
        metadata={"title": "A title", "secret": "key", "original_name": "odd.name"},
    )
    async with client([odd]) as http:
        tool = (await http.post(SEARCH, json={"query": "odd"})).json()[0]["tool"]
        assert (await http.get("/v1/inspect")).json()["tools"] == 1
        assert (await http.post("/v1/inspect", json={})).json()["results"][0]["name"] == "odd"
    assert tool["args_json_schema"]["properties"]["n"]["default"] is None
    assert tool["metadata_"] == {"original_name": "odd.name", "title": "A title"}


# -- the document


async def test_the_openapi_document_is_valid_and_names_every_endpoint():
    app = create_app(TOOLS, search="bm25")
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as http:
        document = (await http.get("/openapi.json")).json()
    validate(document)
    assert set(document["paths"]) == {"/v1/tools/search", "/v1/tools", "/v1/tools/{tool_id}", "/health"}
    assert {route.path.rstrip("/") for route in app.routes} >= set(document["paths"])


async def test_answers_are_as_the_document_says():
    from jsonschema import Draft202012Validator

    async with client() as http:
        document = (await http.get("/openapi.json")).json()

        def check(answer, path, method):
            stated = document["paths"][path][method]["responses"][str(answer.status_code)]
            schema = {**stated["content"]["application/json"]["schema"], "components": document["components"]}
            Draft202012Validator(json.loads(json.dumps(schema))).validate(answer.json())

        check(await http.post(SEARCH, json={"query": "mail"}), SEARCH, "post")
        check(await http.post(SEARCH, json={"limit": 0}), SEARCH, "post")
        check(await http.get("/v1/tools"), "/v1/tools", "get")
        check(await http.get("/v1/tools?limit=x"), "/v1/tools", "get")
        check(await http.get("/v1/tools/none"), "/v1/tools/{tool_id}", "get")
        check(await http.get("/health"), "/health", "get")


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/v1/tools/search", {"query": "tool", "limit": 100}),
        ("POST", "/v1/tools/search", {"query": "", "limit": 100}),
        ("GET", "/v1/tools", None),
        ("GET", "/v1/inspect", None),
        ("POST", "/v1/inspect", {"query": "tool", "ranking": "score"}),
    ],
)
async def test_a_hung_policy_costs_one_time_limit_a_request(method, path, body):
    asked = []

    async def hung(request):
        asked.append(request.tool_name)
        await asyncio.Event().wait()

    many = [Tool(f"tool_{number}", "A tool.") for number in range(300)]
    async with client(many, search="bm25", filter=hung, filter_timeout_seconds=0.01) as http:
        response = await http.request(method, path, json=body)
    assert response.status_code == 200
    assert 0 < len(asked) <= BATCH


def test_a_time_limit_of_the_filter_that_cannot_work_is_refused():
    with pytest.raises(
        ConfigurationError, match="filter_timeout_seconds must be a number above 0 or None, found 0"
    ):
        create_app(TOOLS, search="bm25", filter_timeout_seconds=0)


@pytest.mark.parametrize(
    ("query", "options", "told"),
    [
        ("zeppelin", {}, "Some tools can't be reached now."),
        ("email", {}, None),
        ("zeppelin", {"filter": lambda request: True}, None),
    ],
)
async def test_where_nothing_is_found_a_header_tells_of_an_outage_that_the_caller_may_know_of(
    query, options, told
):
    async with client([*TOOLS, Down()], search="bm25", **options) as http:
        answer = await http.post(SEARCH, json={"query": query})
    assert bool(answer.json()) == (query == "email")
    assert answer.headers.get("tool-search-message") == told
