"""Letta's own client, over real HTTP."""

import inspect

import httpx
import letta_client
import pytest
from letta_client import AsyncLetta, Letta

from tests.http_server import HttpServer
from tests.server.rest.serving import TOOLS
from tool_search_processor import Tool
from tool_search_processor.errors import ConfigurationError
from tool_search_processor.server.rest import create_app
from tool_search_processor.server.rest.letta import TOOL_FIELDS

NAMES = [tool.name for tool in TOOLS]


@pytest.fixture(scope="module")
def letta(rest_url):
    with Letta(base_url=rest_url, api_key="secret", max_retries=0) as client:
        yield client


def names(results):
    return [result.tool.name for result in results]


def test_by_default_words_and_meaning_are_searched(letta):
    results = letta.tools.search(query="send an email")
    first = results[0]
    assert names(results)[:2] == ["send_email", "read_email"]
    assert (first.fts_rank, first.vector_rank) == (1, 1)
    assert first.combined_score == pytest.approx(1 / 61)
    assert first.embedded_text == "send email: Send an email to somebody."


@pytest.mark.parametrize(
    ("mode", "ranks", "scores"),
    [
        ("fts", (1, None), [1, 1 / 2]),
        ("vector", (None, 1), [1, 1 / 2]),
        ("hybrid", (1, 1), [1 / 61, 1 / 62]),
    ],
)
def test_each_mode_fills_its_ranks_and_scores_as_letta_s_own_server(letta, mode, ranks, scores):
    results = letta.tools.search(query="send an email", search_mode=mode)
    assert names(results)[:2] == ["send_email", "read_email"]
    assert (results[0].fts_rank, results[0].vector_rank) == ranks
    assert [result.combined_score for result in results[:2]] == pytest.approx(scores)


def test_a_tool_comes_in_letta_s_schema(letta):
    tool = letta.tools.search(query="send_email", limit=1)[0].tool
    parameters = {"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]}
    assert tool.id.startswith("tool-")
    assert (tool.name, tool.description) == ("send_email", "Send an email to somebody.")
    assert (tool.tool_type, tool.tags) == ("custom", ["mail", "write"])
    assert tool.args_json_schema == parameters
    assert tool.json_schema == {
        "name": "send_email",
        "description": "Send an email to somebody.",
        "parameters": parameters,
    }
    assert tool.default_requires_approval is True
    assert tool.metadata == {"namespace": "mail"}
    assert tool.source_code is None


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({}, NAMES),
        ({"query": None}, NAMES),
        ({"query": ""}, NAMES),
        ({"query": " \n", "search_mode": "vector"}, NAMES),
        ({"limit": 2}, NAMES[:2]),
        ({"extra_body": {"limit": None}}, NAMES),
        ({"tags": ["finance", "write"]}, ["send_email", "stock_price"]),
        ({"tags": []}, NAMES),
        ({"tags": ["none"]}, []),
        ({"tool_types": ["external_mcp"]}, ["get_weather"]),
        ({"tool_types": []}, NAMES),
        ({"tool_types": ["letta_core"]}, []),
        ({"tool_types": ["custom"], "tags": ["mail"]}, ["send_email", "read_email"]),
        ({"query": "send an email", "limit": 1}, ["send_email"]),
        ({"query": "email", "tags": ["write"]}, ["send_email"]),
        ({"query": "price of a share", "tool_types": ["external_mcp"], "search_mode": "fts"}, []),
        (
            {"query": "weather", "tool_types": ["external_mcp", "custom"], "search_mode": "fts"},
            ["get_weather"],
        ),
        ({"query": "zzz qqq", "search_mode": "fts"}, []),
    ],
)
def test_filters_limits_and_searches_for_nothing(letta, asked, expected):
    assert names(letta.tools.search(**asked)) == expected


def test_without_a_query_nothing_is_ranked(letta):
    first = letta.tools.search()[0]
    assert (first.fts_rank, first.vector_rank, first.combined_score) == (None, None, 0.0)
    assert first.embedded_text


@pytest.mark.parametrize(
    ("asked", "place"),
    [
        ({"limit": 0}, ["body", "limit"]),
        ({"limit": 101}, ["body", "limit"]),
        ({"search_mode": "regex"}, ["body", "search_mode"]),
        ({"extra_body": {"query": 7}}, ["body", "query"]),
        ({"extra_body": {"tags": "mail"}}, ["body", "tags"]),
    ],
)
def test_a_bad_value_is_an_unprocessable_entity_with_its_reason(letta, asked, place):
    with pytest.raises(letta_client.UnprocessableEntityError) as caught:
        letta.tools.search(**asked)
    (problem,) = caught.value.body["detail"]
    assert problem["loc"] == place
    assert problem["msg"]


@pytest.mark.parametrize("key", ["wrong", None, "secre", "secret2"])
def test_without_the_token_nothing_is_told(rest_url, key, monkeypatch):
    monkeypatch.delenv("LETTA_API_KEY", raising=False)
    with (
        Letta(base_url=rest_url, api_key=key, max_retries=0) as letta,
        pytest.raises(letta_client.AuthenticationError, match="valid token"),
    ):
        letta.tools.search(query="email")


def test_listing_goes_from_page_to_page(letta):
    assert [tool.name for tool in letta.tools.list(limit=3)] == NAMES
    assert [tool.name for tool in letta.tools.list(limit=3, order="desc")] == NAMES[::-1]
    last = letta.tools.list(name=NAMES[-1]).items[0]
    assert [tool.name for tool in letta.tools.list(limit=2, before=last.id).items] == NAMES[1:3]
    assert [tool.name for tool in letta.tools.list(limit=2, before=last.id)] == [*NAMES[1:3], NAMES[0]]


def test_a_tool_is_found_by_its_id_and_the_server_is_well(letta):
    tool = letta.tools.list(name="get_weather").items[0]
    assert letta.tools.retrieve(tool.id) == tool
    assert letta.health().status == "ok"
    with pytest.raises(letta_client.NotFoundError, match="no tool with the id"):
        letta.tools.retrieve("tool-unknown")


async def test_the_async_client_asks_many_at_once(rest_url):
    import asyncio

    async with AsyncLetta(base_url=rest_url, api_key="secret", max_retries=0) as letta:
        found = await asyncio.gather(*(letta.tools.search(query="weather", limit=1) for _ in range(20)))
    assert [names(results) for results in found] == [["get_weather"]] * 20


FULL = Tool(
    "greet",
    "Greet somebody.",
    execute=names,
    namespace="social",
    metadata={
        "team": "hello",
        "return_char_limit": 500,
        "pip_requirements": [{"name": "httpx", "version": "0.28"}],
        "enable_parallel_execution": True,
        "source_type": 7,
        "project_id": None,
    },
)
WRITTEN = Tool("written", "Write.", metadata={"source_code": "def written(): ...", "source_type": "python"})
EVERY_FIELD = TOOL_FIELDS


def test_what_a_server_is_told_to_show_is_shown_where_the_tool_has_it():
    app = create_app([FULL, WRITTEN, *TOOLS], search="bm25", tool_fields=EVERY_FIELD)
    with HttpServer(app) as server, Letta(base_url=server.url, max_retries=0) as letta:
        (found,) = letta.tools.search(query="greet")
        assert letta.tools.retrieve(found.tool.id) == found.tool == letta.tools.list(name="greet").items[0]
        assert found.tool.source_code == inspect.getsource(names)
        assert found.tool.return_char_limit == 500
        assert found.tool.pip_requirements[0].name == "httpx"
        assert found.tool.enable_parallel_execution is True
        # Another type than Letta's is left out, and stands in the metadata.
        assert found.tool.source_type is None
        assert found.tool.metadata["source_type"] == 7
        assert found.tool.metadata["team"] == "hello"
        assert found.tool.metadata["namespace"] == "social"
        written = letta.tools.list(name="written").items[0]
        assert (written.source_code, written.source_type) == ("def written(): ...", "python")
        assert letta.tools.list(name="get_weather").items[0].source_code is None


def test_unless_a_server_is_told_to_show_them_code_and_metadata_stay_there():
    with (
        HttpServer(create_app([FULL, WRITTEN], search="bm25")) as server,
        httpx.Client(base_url=server.url) as http,
    ):
        for told in http.get("/v1/tools").json():
            assert not {*EVERY_FIELD} & {*told}
            assert not {"team", "source_code"} & {*told["metadata_"]}


def test_a_field_that_there_is_not_is_refused_at_once():
    with pytest.raises(ConfigurationError, match="'secrets': choose from metadata, source_code"):
        create_app(TOOLS, search="bm25", tool_fields=["metadata", "secrets"])


def test_without_vectors_words_answer_and_the_rest_is_refused_in_a_sentence():
    with (
        HttpServer(create_app(TOOLS, search="bm25")) as server,
        Letta(base_url=server.url, max_retries=0) as letta,
    ):
        for asked in ({}, {"search_mode": "fts"}):
            first = letta.tools.search(query="send an email", **asked)[0]
            assert (first.tool.name, first.fts_rank, first.vector_rank) == ("send_email", 1, None)
            assert first.embedded_text is None
        for mode in ("vector", "hybrid"):
            with pytest.raises(letta_client.BadRequestError, match=f"no index for search_mode '{mode}'"):
                letta.tools.search(query="send an email", search_mode=mode)
