"""VectorIndex: ranking, keeping of vectors, building in the background."""

import logging
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

from tests.search.fake_embedder import FakeEmbedder, HeldEmbedder, vector_of
from tests.support import names
from tool_search_processor.errors import ConfigurationError
from tool_search_processor.search.protocol import Document
from tool_search_processor.search.vector import VectorIndex
from tool_search_processor.search.vector import index as vector
from tool_search_processor.search.vector.cohort import COHORT
from tool_search_processor.search.vector.texts import clauses, document_text, query_texts

DOCUMENTS = (
    Document(name="create_issue", description="open a bug report"),
    Document(name="sendMail", description="write a message to a person"),
    Document(name="get_weather", description="rain and sun of tomorrow"),
)


def index(embedder=None, documents=DOCUMENTS, **settings):
    made = VectorIndex(embedder or FakeEmbedder(), **settings)
    made.update(documents)
    return made


def test_the_nearest_comes_first_with_its_rank():
    hits = index().search("a message to a person")
    assert hits[0].name == "sendMail"
    assert [hit.vector_rank for hit in hits] == list(range(1, len(hits) + 1))
    assert all(0 < hit.score < 1 for hit in hits)
    assert index().count("a message to a person") == len(hits)
    assert index().count("a message to a person", min_score=hits[0].score) == 1


def test_an_exact_name_scores_one():
    assert [(hit.name, hit.score) for hit in index().search(" get_weather ", limit=1)] == [
        ("get_weather", 1.0)
    ]


@pytest.mark.parametrize("query", ["", " \n"])
def test_a_blank_query_finds_nothing(query):
    embedder = FakeEmbedder()
    assert index(embedder).search(query) == []
    assert embedder.queries == []


def test_an_empty_index_asks_no_embedder_for_documents():
    embedder = FakeEmbedder()
    assert index(embedder, documents=()).search("anything") == []
    assert embedder.texts == []


@pytest.mark.parametrize("order", [1, -1])
def test_equal_texts_tie_in_the_documents_order_whatever_their_place(order):
    class Forgetful(FakeEmbedder):
        """Reads the same in every tool of that name."""

        def embed_documents(self, texts):
            return super().embed_documents(
                ["open a bug report" if "same" in text else text for text in texts]
            )

    same = [Document(name=f"same{'x' * n}") for n in range(3)][::order]
    hits = index(Forgetful(), documents=same).search("a bug report")
    assert names(hits) == names(same)
    assert len({hit.score for hit in hits}) == 1


def test_within_narrows_and_extra_comes_last_and_hides():
    made = index()
    extra = (Document(name="sendMail", description="a bug report"), DOCUMENTS[0])
    assert names(made.search("rain and sun", within={"get_weather"}, extra=())) == ["get_weather"]
    assert made.search("bug report", within={"get_weather"}, extra=()) == []
    found = made.search("a bug report", within=frozenset(), extra=extra)
    assert sorted(names(found)) == ["create_issue", "sendMail"]
    assert made.search("sendMail", extra=extra)[0].score == 1.0
    assert names(made.search("sendMail", extra=extra)).count("sendMail") == 1
    assert made.search("a bug report")[0].name == "create_issue"


def test_extra_documents_are_embedded_once():
    embedder = FakeEmbedder()
    made = index(embedder)
    extra = (Document(name="mine", description="only for this request"),)
    made.search("x", extra=extra)
    made.search("y", extra=extra)
    assert len(embedder.texts) == len(DOCUMENTS) + 1


def test_an_update_embeds_only_what_is_new():
    embedder = FakeEmbedder()
    made = index(embedder)
    changed = Document(name="sendMail", description="post a letter")
    made.update([changed, DOCUMENTS[2]])
    assert embedder.texts == [*map(document_text, DOCUMENTS), document_text(changed)]
    assert names(made.search("post a letter"))[0] == "sendMail"
    made.update(DOCUMENTS)
    assert len(embedder.texts) == 4
    assert made.search("open a bug report")[0].name == "create_issue"


def test_a_restart_embeds_nothing_again(tmp_path):
    index(cache_path=tmp_path / "vectors.db")
    embedder = FakeEmbedder()
    assert index(embedder, cache_path=tmp_path / "vectors.db").search("bug report")[0].name == "create_issue"
    assert embedder.texts == []


def test_a_request_for_several_things_is_near_each():
    embedder = FakeEmbedder()
    index(embedder).search("open a bug report. Then write a message to a person!")
    assert embedder.queries == [
        "open a bug report. Then write a message to a person!",
        "open a bug report.",
        "Then write a message to a person!",
    ]


def test_nearness_to_the_cohort_is_the_mean_of_the_ten_nearest():
    def cosine(one, other):
        return one @ other / np.linalg.norm(one) / np.linalg.norm(other)

    query = vector_of("send an email")
    nearest = sorted((cosine(query, vector_of(name)) for name in COHORT), reverse=True)[:10]
    assert index().cohort_cosine("send an email") == pytest.approx(sum(nearest) / 10, abs=1e-5)


@pytest.mark.parametrize("timeout_seconds", [None, 60])
def test_the_cohort_is_embedded_once_by_all_who_ask_at_a_time(timeout_seconds):
    asked, embedder = [], HeldEmbedder()
    made = VectorIndex(embedder, timeout_seconds=timeout_seconds)
    threads = [threading.Thread(target=lambda: asked.append(made.cohort_cosine("bug"))) for _ in range(4)]
    for thread in threads:
        thread.start()
    embedder.go.set()
    for thread in threads:
        thread.join(60)
    assert len(asked) == 4
    assert sorted(embedder.texts) == sorted(COHORT)


def test_a_clause_may_be_what_is_near_the_cohort():
    made = index()
    asked = made.cohort_cosine("Zorblax the quux of wibble. Then send an email")
    assert asked > made.cohort_cosine("Zorblax the quux of wibble.")
    assert made.cohort_cosine("  ") == 0.0


@pytest.mark.parametrize(
    ("query", "parts"),
    [
        ("open a bug report", []),
        ("Open it. Close the other issue.", []),
        ("find the latest news and then send it to me", ["find the latest news", "send it to me"]),
        ("Book a flight home; reserve a hotel room", ["Book a flight home;", "reserve a hotel room"]),
        ("version 3.5 of node.js is out", []),
    ],
)
def test_clauses(query, parts):
    assert clauses(query) == parts


LONG_CLAUSES = [
    "I am planning a journey through the north of Italy with my family in the second half of September.",
    "Please find the cheapest flights from Hamburg to Milan for two adults and three children.",
    "Reserve a hotel near the lake with breakfast and a place to park a car for five nights.",
]


@pytest.mark.parametrize(
    ("query", "texts"),
    [
        ("open a bug report", ["open a bug report"]),
        (" ".join(LONG_CLAUSES[1:]), [" ".join(LONG_CLAUSES[1:]), *LONG_CLAUSES[1:]]),
        (" ".join(LONG_CLAUSES), LONG_CLAUSES),
        (" ".join(LONG_CLAUSES * 3), [" ".join(LONG_CLAUSES * 3), *(LONG_CLAUSES * 3)[:8]]),
        (
            " ".join([*LONG_CLAUSES, "旅行" * 60]),
            [" ".join([*LONG_CLAUSES, "旅行" * 60]), *LONG_CLAUSES],
        ),
    ],
    ids=["one clause", "short", "long", "more clauses than are read", "words without spaces"],
)
def test_a_long_query_is_left_to_its_clauses_if_they_hold_nearly_all_of_it(query, texts):
    assert query_texts(query) == texts


def test_a_long_query_is_embedded_with_its_clauses_where_requests_are_compared_with_it():
    embedder = FakeEmbedder()
    made = index(embedder)
    query = " ".join(LONG_CLAUSES)
    made.search(query)
    assert embedder.queries == LONG_CLAUSES
    embedder.queries.clear()
    made.update([Document(name="book_trip", example_requests=("book a trip to Rome",))])
    made.search(query)
    assert embedder.queries == [query]
    assert made.search(query)[0].name == "book_trip"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("createPullRequest", "create Pull Request: x"),
        ("HTTPServer_start-up.now", "HTTP Server start up now: x"),
        ("поиск_файла", "поиск файла: x"),
    ],
)
def test_a_name_is_embedded_as_words(name, text):
    assert document_text(Document(name=name, description="x")) == text


def test_a_model_whose_dimensions_change_is_noticed():
    embedder = FakeEmbedder()
    made = index(embedder)
    embedder._dimensions = 8
    with pytest.raises(ConfigurationError, match=r"vectors of \[8, 64\] dimensions for one index"):
        made.update([*DOCUMENTS, Document(name="new")])
    with pytest.raises(ConfigurationError, match="64 dimensions for tools and of 8 for queries"):
        made.search("anything new")


def many(count, word="tool"):
    return [Document(name=f"{word}_{n}", description="open a bug report") for n in range(count)]


def test_a_search_sees_the_old_content_until_the_background_is_done(caplog):
    caplog.set_level(logging.INFO, logger="tool_search_processor.search.vector")
    embedder = HeldEmbedder()
    made = VectorIndex(embedder, background=True)
    made.update(many(40))
    assert embedder.asked.wait(10)
    assert not made.ready
    assert made.search("bug report") == []
    made.update(many(50))
    embedder.go.set()
    assert made.wait(10)
    assert made.ready
    assert len(made.search("bug report")) == 50
    told = ["vectors of 40 tools are made in the background", "vectors of 50 tools are ready"]
    assert [record.message for record in caplog.records] == told


def test_few_new_tools_are_embedded_at_once():
    embedder = HeldEmbedder()
    embedder.go.set()
    made = VectorIndex(embedder, background=True)
    made.update(many(20))
    assert made.ready
    assert made.wait()


def test_a_quick_embedder_needs_no_background():
    made = VectorIndex(FakeEmbedder(), background=True)
    made.update(many(500))
    assert made.ready


@pytest.mark.parametrize("failure", [RuntimeError("no key"), SystemExit(1)])
def test_a_failure_in_the_background_is_logged_and_tried_again_at_the_next_update(failure, caplog):
    embedder = HeldEmbedder()
    embedder.failure = failure
    embedder.go.set()
    made = VectorIndex(embedder, background=True)
    with caplog.at_level(logging.WARNING):
        made.update(many(40))
        made.wait(10)
    assert not made.ready
    assert "embedding of 40 tools failed" in caplog.text
    embedder.failure = None
    made.update(many(40))
    assert made.wait(10)


def test_a_build_that_failed_is_tried_again_at_a_search_some_time_later(monkeypatch):
    embedder = HeldEmbedder()
    embedder.failure = ConnectionError("down")
    embedder.go.set()
    made = VectorIndex(embedder, background=True)
    made.update(many(40))
    made.wait(10)
    embedder.failure = None
    made.search("bug report")
    assert not made.wait(10)
    monkeypatch.setattr(vector, "_RETRY_SECONDS", 0.0)
    made.search("bug report")
    assert made.wait(10)
    assert len(made.search("bug report")) == 40


def test_an_update_that_succeeds_at_last_leaves_nothing_to_build(monkeypatch):
    embedder = HeldEmbedder()
    embedder.failure = ConnectionError("down")
    embedder.go.set()
    made = VectorIndex(embedder)
    with pytest.raises(ConnectionError):
        made.update(many(3))
    embedder.failure = None
    made.update(many(3))
    monkeypatch.setattr(vector, "_RETRY_SECONDS", 0.0)
    monkeypatch.setattr(VectorIndex, "ready", property(lambda _: pytest.fail("compares all documents")))
    assert len(made.search("bug report")) == 3


@pytest.mark.parametrize("again", [lambda made: made.update(many(41)), lambda made: made.search("bug")])
def test_a_process_that_is_forked_while_vectors_are_built_builds_them(again):
    made = VectorIndex(FakeEmbedder(blocking=True), background=True)
    made._wanted, made._worker = tuple(many(40)), threading.Thread()  # as fork leaves them: it is not alive
    again(made)
    assert made.wait(10)


def test_an_embedder_that_hangs_fails_the_search_in_time():
    embedder = HeldEmbedder("queries")
    made = index(embedder, timeout_seconds=0.05)
    with pytest.raises(TimeoutError, match=r"the embedder gave no answer within 0\.05 seconds"):
        made.search("bug report")
    embedder.go.set()


def test_what_was_given_up_on_is_kept_when_it_comes():
    embedder = HeldEmbedder("queries")
    made = index(embedder, timeout_seconds=0.05)
    with pytest.raises(TimeoutError):
        made.search("bug")
    embedder.go.set()
    for thread in threading.enumerate():
        if thread.name == "embedder":
            thread.join(60)
    assert names(made.search("bug"))[0] == "create_issue"
    assert embedder.queries == ["bug"]


@pytest.mark.parametrize("seconds", [0, -1, "9", float("nan"), float("inf"), True])
def test_a_time_that_cannot_be_waited_is_refused(seconds):
    with pytest.raises(
        ConfigurationError, match=r"timeout_seconds must be a (finite )?number above 0 or None, found"
    ):
        VectorIndex(FakeEmbedder(), timeout_seconds=seconds)


def test_a_program_that_ends_while_it_embeds_ends_after_the_batch_that_is_under_way():
    program = """
        import threading
        import threading
        import numpy
        from tool_search_processor.search import vector
        from tool_search_processor.search.embedders import workers
        from tool_search_processor.search.protocol import Document

        begun = threading.Event()

        begun = threading.Event()

        class Slow:
            model_id, blocking = "slow", True
            def embed_documents(self, texts):
                print("batch", flush=True)
                begun.set()
                begun.set()
                workers.exiting.wait(60)
                return numpy.ones((len(texts), 4), numpy.float32)
            def embed_query(self, text):
                return numpy.ones(4, numpy.float32)

        index = vector.VectorIndex(Slow(), background=True)
        index.update([Document(name=f"tool_{number}") for number in range(2000)])
        begun.wait(60)
    """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "batch\n", "")
