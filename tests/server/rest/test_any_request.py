"""Whatever is sent, the answer is what the document says, and never a failure of the server."""

import json

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.server.rest.serving import SEARCH, TOOLS, hybrid
from tool_search_processor.server.rest import create_app

pytestmark = pytest.mark.slow

APP = create_app(TOOLS, search=hybrid())

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
anything = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)
texts = st.lists(st.text(max_size=8) | st.sampled_from(["mail", "custom"]), max_size=3)
likely = st.fixed_dictionaries(
    {},
    optional={
        "query": st.none() | st.text(max_size=60) | st.sampled_from(["send_email", "price of a share"]),
        "search_mode": st.sampled_from(["fts", "vector", "hybrid", None]),
        "tags": st.none() | texts,
        "tool_types": st.none() | texts,
        "limit": st.integers(1, 100),
    },
)
odd = st.dictionaries(
    st.sampled_from(["query", "search_mode", "tags", "tool_types", "limit", "other"]), anything, max_size=4
)
QUICK = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


async def send(method, path, content=None):
    transport = httpx.ASGITransport(APP, client=("127.0.0.1", 5000))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as http:
        return await http.request(method, path, content=content)


@QUICK
@given(likely)
async def test_a_request_that_fits_is_answered_in_order_and_within_its_limits(body):
    answer = await send("POST", SEARCH, json.dumps(body))
    assert answer.status_code == 200
    results = answer.json()
    scores = [result["combined_score"] for result in results]
    assert len(results) <= body.get("limit", 50)
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)
    if body.get("tags"):
        assert all(set(result["tool"]["tags"]) & set(body["tags"]) for result in results)
    if body.get("tool_types"):
        assert all(result["tool"]["tool_type"] in body["tool_types"] for result in results)
    for rank in ("fts_rank", "vector_rank"):
        ranks = [result[rank] for result in results if result[rank] is not None]
        assert len(set(ranks)) == len(ranks)
        assert all(given >= 1 for given in ranks)


@QUICK
@given(
    st.sampled_from([SEARCH, "/v1/inspect"]),
    odd.map(json.dumps) | anything.map(json.dumps) | st.binary(max_size=40),
)
async def test_a_request_that_does_not_fit_is_told_so(path, content):
    answer = await send("POST", path, content)
    assert answer.status_code in (200, 422)
    if answer.status_code == 422:
        assert all(set(problem) == {"type", "loc", "msg"} for problem in answer.json()["detail"])


@QUICK
@given(
    st.text(
        alphabet=st.characters(codec="ascii", exclude_categories=["Cc"], exclude_characters="#?% "),
        max_size=30,
    )
)
async def test_any_parameters_list_or_are_refused(text):
    for path in (
        f"/v1/tools?{text}",
        f"/v1/tools?limit={text}",
        f"/v1/tools?after={text}",
        f"/v1/tools/{text}",
    ):
        assert (await send("GET", path)).status_code in (200, 404, 422)
