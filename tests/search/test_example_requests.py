"""Example requests in every index: what they find, what they leave alone, and how much they can add."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.search.fake_embedder import FakeEmbedder
from tests.search.makers import MAKERS
from tests.support import names
from tool_search_processor import Tool
from tool_search_processor.search.bm25 import BM25Index, request_field
from tool_search_processor.search.bm25.fields import analyze, indexed
from tool_search_processor.search.bm25.postings import REQUEST
from tool_search_processor.search.bm25.request_documents import RequestDocuments
from tool_search_processor.search.bm25.snapshot import Snapshot
from tool_search_processor.search.documents import document_of
from tool_search_processor.search.hybrid import HybridIndex
from tool_search_processor.search.milvus.publisher import content_hash
from tool_search_processor.search.milvus.terms import stored_text
from tool_search_processor.search.protocol import Document
from tool_search_processor.search.regex import RegexIndex
from tool_search_processor.search.vector import VectorIndex

WORDS = [
    "invoice",
    "customer",
    "branch",
    "weather",
    "forecast",
    "mail",
    "calendar",
    "meeting",
    "deploy",
    "server",
    "ticket",
    "photo",
]
ASKED = ("chase the overdue payment", "who still owes us money", "remind late payers")


def catalog(size=40, seed=0):
    draw = random.Random(seed)
    return [
        Document(
            f"tool_{number}", description=f"Handles the {' '.join(draw.sample(WORDS, 4))} of a {number} team."
        )
        for number in range(size)
    ]


def asked(document, *requests):
    return Document(document.name, description=document.description, example_requests=requests)


BY_WORDS = {name: make for name, make in MAKERS.items() if name != "regex"}
EVERY = pytest.mark.parametrize("make", BY_WORDS.values(), ids=BY_WORDS)
QUERIES = ("chase a payment that is overdue", "the invoice of a customer", "deploy it. then open a ticket")


def filled(make, documents):
    index = make()
    index.update(documents)
    return index


@EVERY
def test_a_tool_is_found_by_words_that_only_its_requests_have(make):
    documents = catalog()
    documents[7] = asked(documents[7], *ASKED)
    hits = filled(make, documents).search("an overdue payment to chase")
    assert hits[0].name == "tool_7"


def test_a_short_request_says_more_of_its_words_than_a_long_one():
    documents = catalog()
    short = "feed the parrot"
    more = "water the garden, knit a scarf, paint fences, polish shoes, mend bicycles, wash windows"
    documents[3], documents[7] = asked(documents[3], f"{short}, {more}"), asked(documents[7], short)
    hits = filled(BM25Index, documents).search("hungry parrot feed")
    assert [hit.name for hit in hits[:2]] == ["tool_7", "tool_3"]
    assert hits[0].score > hits[1].score


def test_what_the_definition_says_counts_less_in_its_requests():
    plain = Document("left", description="Handles the invoice of a team.")
    other = Document("right", description="Handles the ticket of a team.")
    documents = [*catalog(), asked(plain, "chase the invoice"), asked(other, "chase the invoice")]
    index = filled(BM25Index, documents)
    left, right = index._rank(index._snapshot, "chase the invoice payment", ())._of_requests()
    assert left < right


def test_what_all_requests_have_in_common_with_the_query_counts_less():
    alone = [*catalog(), asked(Document("op"), "water the parrot")]
    shared = [asked(document, "water the garden") for document in catalog()] + alone[-1:]
    for query, common in (("water", True), ("parrot", False)):
        found = []
        for documents in (alone, shared):
            index = filled(BM25Index, documents)
            found.append(float(index._rank(index._snapshot, query, ())._of_requests()[-1]))
        assert (found[1] < found[0] / 2) is common


requests = st.lists(st.sampled_from(["chase payments", "water the parrot", "chase a parrot"]), max_size=3)
requests_of_tools = st.dictionaries(st.sampled_from("abcdef"), requests.map(tuple))


@settings(max_examples=60)
@given(requests_of_tools, requests_of_tools, requests_of_tools)
def test_words_weigh_what_they_do_in_the_documents_that_are_left(first, second, own):
    index = filled(BM25Index, [Document(name, example_requests=said) for name, said in first.items()])
    index.update(left := [Document(name, example_requests=said) for name, said in second.items()])
    extra = tuple(Document(name, example_requests=said) for name, said in own.items())
    seen = {document.name: document for document in (*left, *extra)}
    words = [REQUEST, *(REQUEST + word for word in ("chase", "payment", "parrot", "nothing"))]
    analyses = list(map(indexed, seen.values()))
    expected = [sum(float(np.float32(one.get(word, 0.0))) for one in analyses) for word in words]
    source = RequestDocuments.of(extra, index._snapshot) if extra else index._snapshot
    assert [total for _, _, total in source.weighed(words)] == expected
    assert len(source.example_requests.slots) == sum(REQUEST in one for one in analyses)


@pytest.mark.parametrize("asked_of", [3, 1])
def test_frequent_words_say_as_much_as_rows_as_at_places(monkeypatch, asked_of):
    documents = [
        asked(document, *ASKED[number % 3 :]) if number % asked_of == 0 else document
        for number, document in enumerate(catalog())
    ]
    at_places = [filled(BM25Index, documents).search(query) for query in QUERIES]
    monkeypatch.setattr(request_field, "_MANY", 0)
    monkeypatch.setattr(request_field, "_FREQUENT", 1000)
    index = filled(BM25Index, documents)
    for _ in range(2):  # made, and then kept
        as_rows = [index.search(query) for query in QUERIES]
        assert list(map(names, as_rows)) == list(map(names, at_places))
        for one, other in zip(as_rows, at_places, strict=True):
            assert [hit.score for hit in one] == pytest.approx([hit.score for hit in other])
    assert index._snapshot.example_requests._rows


@pytest.mark.parametrize("query", ["what is it", "the", "?", "\0="])
def test_words_that_say_nothing_meet_no_request(query):
    assert filled(BM25Index, [*catalog(), asked(Document("op"), *ASKED, "what is it")]).search(query) == []


@EVERY
def test_requests_that_are_gone_leave_no_trace(make):
    documents = catalog()
    index = filled(make, [asked(document, *ASKED, "the invoice of a customer") for document in documents])
    index.update(documents)
    fresh = filled(make, documents)
    for query in QUERIES:
        assert index.search(query) == fresh.search(query)


def test_a_document_without_requests_is_indexed_as_if_the_field_did_not_exist():
    for document in catalog():
        assert list(indexed(document).items()) == list(analyze(document).items())
    weights = indexed(asked(catalog()[0], *ASKED))
    assert {key: weight for key, weight in weights.items() if not key.startswith(REQUEST)} == analyze(
        catalog()[0]
    )


def test_without_any_requests_the_field_is_never_looked_up(monkeypatch):
    monkeypatch.setattr(Snapshot, "weighed", None)
    index = filled(BM25Index, catalog())
    assert [index.search(query) for query in QUERIES]


@EVERY
def test_requests_of_others_change_no_order_where_they_don_t_fit(make):
    documents = catalog()
    before = filled(make, documents).search("the invoice of a customer", limit=5)
    documents[3] = asked(documents[3], *ASKED)
    after = filled(make, documents).search("the invoice of a customer", limit=5)
    assert [hit.name for hit in after] == [hit.name for hit in before]


def test_a_request_asked_again_word_for_word_brings_its_tool_to_the_top():
    documents = [Document("pay_bill", description="Pays a bill: electricity, water."), Document("op_7")]
    documents[1] = asked(documents[1], "Settle my electricity bill, please!")
    assert filled(BM25Index, documents).search("settle the electricity bill")[0].name == "op_7"


def test_requests_add_at_most_what_a_perfect_answer_has():
    documents = [*catalog(), asked(Document("pushed", description="Unrelated."), *["send the mail"] * 5_000)]
    index = filled(BM25Index, documents)
    [pushed] = [hit for hit in index.search("send the mail") if hit.name == "pushed"]
    ranking = index._rank(index._snapshot, "send the mail", ())
    assert float(np.max(ranking._of_requests())) <= ranking._asked
    assert pushed.score < index.search("tool_5")[0].score == 1.0


def test_requests_lift_no_tool_over_one_that_the_query_names():
    documents = [asked(Document("other", description="x"), *["tool_5"] * 100), *catalog()]
    assert filled(BM25Index, documents).search("tool_5")[0].name == "tool_5"


def test_the_last_state_is_the_same_whatever_came_before():
    draw = random.Random(1)
    index, documents = BM25Index(), catalog(300)
    index.update(documents)
    for _ in range(30):
        place = draw.randrange(len(documents))
        documents[place] = asked(documents[place], *draw.sample(ASKED, draw.randrange(4)))
        index.update(documents)
    fresh = filled(BM25Index, documents)
    for query in (*QUERIES, "late payers"):
        assert index.search(query, limit=20) == fresh.search(query, limit=20)


@EVERY
def test_requests_of_a_request_s_own_documents_count(make):
    documents = catalog()
    hits = filled(make, documents).search("overdue payment", extra=[asked(Document("own"), *ASKED)])
    assert hits[0].name == "own"


def test_a_hidden_document_is_not_found_by_its_requests():
    documents = catalog()
    documents[7] = asked(documents[7], *ASKED)
    index = filled(BM25Index, documents)
    assert index.search("overdue payment", within=["tool_1"]) == []
    assert "tool_7" not in [hit.name for hit in index.search("overdue payment", extra=[Document("tool_7")])]


def test_requests_are_found_by_their_own_words_without_synonyms():
    index = filled(BM25Index, [*catalog(5), asked(Document("op"), "delete the parrot")])
    assert [hit.name for hit in index.search("delete it")] == ["op"]
    assert index.search("erase it") == []


def test_misspelled_words_of_requests_are_no_words_of_the_catalog():
    index = filled(BM25Index, [Document("send_mail"), asked(Document("list_rooms"), "zebra crossing")])
    assert index.search("zebar") == []


def test_an_embedder_that_does_not_know_the_language_does_not_count_requests():
    documents = [Document("a", description="x"), asked(Document("b", description="y"), "\u6253\u5f00\u706f")]
    knows = filled(lambda: VectorIndex(FakeEmbedder()), documents)
    doesnt = filled(lambda: VectorIndex(FakeEmbedder(covered=0.4)), documents)
    assert knows.search("\u6253\u5f00\u706f")[0].name == "b"
    assert doesnt.search("\u6253\u5f00\u706f") == []


def test_one_of_many_requests_has_to_be_nearer_than_an_only_one():
    requests = "chase the overdue payment", *(f"request {number} about nothing" for number in range(30))
    few, many = asked(Document("few"), requests[0]), asked(Document("many"), *requests)
    index = filled(lambda: VectorIndex(FakeEmbedder()), [*catalog(5), many, few])
    first, second = index.search("chase an overdue payment")[:2]
    assert (first.name, second.name) == ("few", "many")
    assert first.score > second.score


def test_new_requests_embed_nothing_that_has_a_vector():
    embedder = FakeEmbedder()
    index = VectorIndex(embedder)
    documents = catalog(5)
    index.update(documents)
    del embedder.texts[:]
    index.update([asked(documents[0], "first", "second"), *documents[1:]])
    index.update([asked(documents[0], "second", "third"), *documents[1:]])
    assert embedder.texts == ["first", "second", "third"]


def test_a_line_break_in_a_tool_s_request_is_a_space():
    made = document_of(Tool("a", example_requests=["file\n a bug"]))
    assert made.example_requests == ("file a bug",)


def test_what_was_asked_in_several_ways_counts_once_and_each_way_as_a_whole():
    ways = asked(Document("op"), "file a bug\nreport that the login is broken")
    index = filled(BM25Index, [ways, *catalog()])
    assert index._snapshot.example_requests.total == pytest.approx(1 / 5.7)
    for query in ("file a bug", "the login is broken, report that"):
        assert index.search(query)[0].name == "op"


@pytest.mark.parametrize("own", [False, True], ids=["stored", "of the request"])
def test_a_pattern_finds_a_tool_by_what_only_its_requests_say(own):
    documents = [Document("a"), asked(Document("b"), *ASKED)]
    index = filled(RegexIndex, [] if own else documents)
    extra = documents if own else ()
    assert [hit.name for hit in index.search("^who .* money$", extra=extra)] == ["b"]


def test_an_engine_outside_gets_their_words_with_little_weight():
    bare = Document("open_issue", description="Open an issue.")
    before, after = stored_text(bare).split(), stored_text(asked(bare, "file a bug", "open a bug")).split()
    assert [word for word in after if word in set(before)] == before
    assert set(after) - set(before) >= {"file", "bug"}
    assert content_hash(bare) != content_hash(asked(bare, "file a bug"))


@pytest.mark.parametrize("query", [ASKED[0], "please chase that overdue payment"])
@pytest.mark.parametrize("own", [False, True], ids=["stored", "of the request"])
def test_a_request_of_one_tool_says_nothing_about_the_others(query, own):
    documents = catalog(8)
    chased = asked(documents[3], *ASKED)

    def scores(*changed):
        index = HybridIndex(vector=VectorIndex("minilm"))
        index.update(documents if own else [*documents[:3], *changed, *documents[4:]])
        return {hit.name: round(hit.score, 4) for hit in index.search(query, extra=changed if own else ())}

    before, after = scores(documents[3]), scores(chased)
    assert after.pop("tool_3") > 0.8
    assert max(after.values(), default=0) <= max(before.values(), default=0) + 0.01 < 0.3
