"""The page for people, as it is served: to whom, and with what a browser may do with it."""

import base64
import hashlib
import re

import httpx
import pytest

from tests.server.rest.serving import TOOLS, client, hybrid
from tool_search_processor.server.rest import create_app

INSPECT = "/v1/inspect"


async def test_the_page_is_one_file_that_may_run_only_its_own_script():
    async with client() as http:
        answer = await http.get("/")
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    for kind in ("script", "style"):
        (content,) = re.findall(rf"<{kind}>(.*?)</{kind}>", answer.text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert not re.search(
        r"\b(src|href|style|on\w+)=|innerHTML|insertAdjacent|document\.write|https?://", answer.text
    )
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    ("peer", "host", "headers", "status"),
    [
        ("127.0.0.1", "localhost:8000", {}, 200),
        ("127.0.0.1", "127.0.0.1", {}, 200),
        ("::1", "[::1]:8000", {}, 200),
        ("127.0.0.1", "rebound.example", {}, 403),
        ("127.0.0.1", "localhost", {"Host": "[::1"}, 403),
        ("127.0.0.1", "localhost", {"Host": "[x]:y"}, 403),
        ("127.0.0.1", "localhost", {"Host": ""}, 403),
        ("127.0.0.1", "localhost", {"X-Forwarded-For": "203.0.113.7"}, 403),
        ("203.0.113.7", "localhost", {}, 403),
        ("203.0.113.7", "tools.example", {}, 403),
        ("unknown", "localhost", {}, 403),
    ],
)
@pytest.mark.parametrize(("method", "path"), [("GET", "/"), ("GET", INSPECT), ("POST", INSPECT)])
async def test_without_a_token_it_is_for_this_machine_alone(peer, host, headers, status, method, path):
    app = create_app(TOOLS, search="bm25", allowed_hosts=None)
    transport = httpx.ASGITransport(app, client=(peer, 5000))
    async with httpx.AsyncClient(transport=transport, base_url=f"http://{host}") as http:
        answer = await http.request(method, path, headers=headers, json={})
    assert answer.status_code == status
    if status == 403:
        assert "unless the server is given a token" in answer.json()["detail"]


async def test_with_a_token_it_is_for_whoever_has_it():
    app = create_app(TOOLS, search="bm25", token="secret")
    transport = httpx.ASGITransport(app, client=("203.0.113.7", 5000))
    async with httpx.AsyncClient(transport=transport, base_url="http://tools.example") as http:
        refused = await http.get("/")
        assert refused.status_code == 401
        assert refused.headers["www-authenticate"] == 'Basic realm="tool search"'
        assert (await http.get("/", auth=("me", "wrong"))).status_code == 401
        for path in ("/", INSPECT):
            assert (await http.get(path, auth=("me", "secret"))).status_code == 200
            assert (await http.get(path, headers={"Authorization": "Bearer secret"})).status_code == 200


async def test_facts_are_those_of_the_tools_that_may_be_found():
    async with client(filter=lambda request: request.tool_name != "read_email") as http:
        facts = (await http.get(INSPECT)).json()
    assert (facts["tools"], facts["ready"]) == (3, True)
    assert facts["tokens"] > 0
    assert facts["rankings"] == ["score", "hybrid", "vector", "fts"]
    assert facts["namespaces"] == {"mail": 1, "weather": 1}
    assert facts["tags"] == {"mail": 1, "write": 1, "finance": 1}


@pytest.mark.parametrize("ranking", ["score", "hybrid", "vector", "fts"])
async def test_a_ranking_explains_each_place(ranking):
    async with client(search=hybrid()) as http:
        answer = (await http.post(INSPECT, json={"query": "send an email", "ranking": ranking})).json()
    first = answer["results"][0]
    assert answer["milliseconds"] >= 0
    assert first.pop("score") > 0
    assert first.pop("tokens") > 10
    assert first.pop("parameters")["required"] == ["to"]
    vector_rank = None if ranking == "fts" and first["vector_rank"] is None else 1
    assert first == {
        "name": "send_email",
        "namespace": "mail",
        "description": "Send an email to somebody.",
        "tags": ["mail", "write"],
        "fts_rank": 1,
        "vector_rank": vector_rank,
        "matched": ["send", "email"],
        "requires_approval": True,
    }


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({}, [tool.name for tool in TOOLS]),
        ({"query": " "}, [tool.name for tool in TOOLS]),
        ({"namespaces": ["mail"]}, ["send_email", "read_email"]),
        ({"namespaces": ["mail"], "tags": ["write"]}, ["send_email"]),
        ({"query": "weather", "namespaces": ["mail"]}, []),
        ({"query": "email", "namespaces": ["weather", "mail"], "limit": 1}, ["read_email"]),
    ],
)
async def test_filters_and_nothing_to_look_for(asked, expected):
    async with client(search="bm25") as http:
        answer = await http.post(INSPECT, json=asked)
    assert [result["name"] for result in answer.json()["results"]] == expected


@pytest.mark.parametrize(
    ("asked", "status"), [({"ranking": "fts"}, 400), ({"ranking": "best"}, 422), ({"limit": 0}, 422)]
)
async def test_what_cannot_be_ranked_is_refused(asked, status):
    async with client(search="bm25") as http:
        assert (await http.post(INSPECT, json={"query": "mail", **asked})).status_code == status
