"""LiteLLMEmbedder on the wire: batches, order, retries, and answers that don't fit."""

import json

import httpx
import numpy as np
import pytest
import respx

from tool_search_processor.errors import ConfigurationError, ToolSearchError
from tool_search_processor.search.embedders import Embedder, LiteLLMEmbedder

BASE = "http://llm.test/v1"
ONCE = {"x-should-retry": "false"}  # keeps OpenAI's own client, below LiteLLM, from trying again by itself


def embedder(**settings):
    waits = settings.pop("waits", [])
    return LiteLLMEmbedder(
        "openai/embed", api_base=BASE, api_key="x", timeout=5, sleep=waits.append, **settings
    )


def answer(request, *, turned=False, dropped=0):
    texts = json.loads(request.content)["input"]
    rows = [
        {"object": "embedding", "index": place, "embedding": [float(len(text)), 1.0]}
        for place, text in enumerate(texts)
    ]
    rows = rows[: len(rows) - dropped]
    data = rows[::-1] if turned else rows
    usage = {"prompt_tokens": 1, "total_tokens": 1}
    return httpx.Response(200, json={"object": "list", "model": "embed", "usage": usage, "data": data})


@pytest.fixture
def wire():
    with respx.mock(base_url=BASE, using="httpx", assert_all_called=False) as router:
        yield router.post("/embeddings")


def sent(route):
    return [json.loads(call.request.content)["input"] for call in route.calls]


def test_texts_go_in_batches_and_come_back_in_order(wire):
    wire.mock(side_effect=lambda request: answer(request, turned=True))
    made = embedder(batch_size=2).embed_documents(["a", "bb", "ccc", "dddd", "eeeee"])
    assert isinstance(embedder(), Embedder)
    assert sent(wire) == [["a", "bb"], ["ccc", "dddd"], ["eeeee"]]
    assert made.tolist() == [[1, 1], [2, 1], [3, 1], [4, 1], [5, 1]]
    assert made.dtype == np.float32


def test_a_query_is_one_vector(wire):
    wire.mock(side_effect=answer)
    assert embedder().embed_query("four").tolist() == [4.0, 1.0]


def test_a_batch_keeps_within_its_tokens_and_a_text_within_its_own(wire):
    wire.mock(side_effect=answer)
    embedder(max_batch_tokens=10, max_text_tokens=8).embed_documents(["x" * 20, "y" * 20, "z" * 50, ""])
    assert sent(wire) == [["x" * 20], ["y" * 20], ["z" * 24, " "]]


def test_nothing_is_asked_for_no_texts(wire):
    assert embedder().embed_documents([]).shape == (0, 0)
    assert not wire.called


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_failure_that_may_pass_is_tried_again_with_longer_waits(wire, status):
    failure = httpx.Response(status, headers=ONCE, json={"error": {"message": "later"}})
    waits = []
    wire.side_effect = [failure, failure, answer(httpx.Request("POST", BASE, json={"input": ["abc"]}))]
    assert embedder(waits=waits).embed_documents(["abc"]).tolist() == [[3, 1]]
    assert waits == [0.5, 1.0]


def test_tries_end(wire):
    wire.respond(503, headers=ONCE, json={"error": {"message": "down"}})
    waits = []
    with pytest.raises(Exception, match="down"):
        embedder(max_retries=2, waits=waits).embed_documents(["abc"])
    assert waits == [0.5, 1.0]
    assert wire.call_count == 3


def test_a_failure_that_stays_is_raised_at_once(wire):
    wire.respond(401, json={"error": {"message": "bad key"}})
    waits = []
    with pytest.raises(Exception, match="bad key"):
        embedder(waits=waits).embed_documents(["abc"])
    assert (waits, wire.call_count) == ([], 1)


def test_an_answer_with_too_few_vectors_is_refused(wire):
    wire.mock(side_effect=lambda request: answer(request, dropped=1))
    with pytest.raises(ToolSearchError, match="answered 2 texts with 1 vectors"):
        embedder().embed_documents(["a", "b"])


def test_dimensions_are_part_of_the_model_and_are_sent(wire):
    wire.mock(side_effect=answer)
    small = LiteLLMEmbedder("openai/text-embedding-3-small", dimensions=2, api_base=BASE, api_key="x")
    assert small.model_id == "litellm:openai/text-embedding-3-small:2"
    assert embedder().model_id == "litellm:openai/embed"
    small.embed_query("q")
    assert json.loads(wire.calls.last.request.content)["dimensions"] == 2


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"batch_size": 0}, "batch_size must be a whole number from 1 to 2048, found 0"),
        ({"batch_size": 2049}, "batch_size must be a whole number from 1 to 2048, found 2049"),
        ({"max_batch_tokens": 0}, "max_batch_tokens must be a whole number of at least 1"),
        ({"max_text_tokens": 0}, "max_text_tokens must be a whole number of at least 1"),
        ({"max_retries": -1}, "max_retries must be a whole number of at least 0"),
    ],
)
def test_numbers_out_of_range_are_refused_at_construction(options, said):
    with pytest.raises(ConfigurationError, match=said):
        LiteLLMEmbedder("openai/embed", **options)
