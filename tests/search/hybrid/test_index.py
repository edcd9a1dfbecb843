"""HybridIndex: both lists in one, worthless lists noticed, words alone until the vectors are there."""

import threading
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from tests.search.fake_embedder import FakeEmbedder, HeldEmbedder, vector_of
from tests.support import names
from tool_search_processor import Tool, ToolSearchProcessor
from tool_search_processor.errors import ConfigurationError
from tool_search_processor.search.bm25 import BM25Index
from tool_search_processor.search.documents import document_of
from tool_search_processor.search.embedders.workers import TimedCalls
from tool_search_processor.search.fuzzy import FuzzyIndex
from tool_search_processor.search.hybrid import HybridIndex
from tool_search_processor.search.protocol import Document, Hit
from tool_search_processor.search.vector import VectorIndex
from tool_search_processor.search.vector import index as vector
from tool_search_processor.search.vector.cohort import COHORT

DOCUMENTS = (
    Document(name="create_issue", description="Open a bug report in a repository."),
    Document(name="send_mail", description="Write a message to a person."),
    Document(name="get_forecast", description="Rain and sun of the coming days."),
    Document(name="search_files", description="Look for text in the files of a folder."),
)
MEANING = {"zorblax": "get_forecast: Rain and sun of the coming days."}


class Understanding(FakeEmbedder):
    """Knows that zorblax, which no other knows, means rain and sun."""

    def embed_query(self, text):
        self.queries.append(text)
        return vector_of(MEANING.get(text, text))


def hybrid(embedder=None, documents=DOCUMENTS, **settings):
    made = HybridIndex(vector=VectorIndex(embedder or Understanding()), **settings)
    made.update(documents)
    return made


FUSIONS = pytest.mark.parametrize("fusion", ["score", "rrf"])


@FUSIONS
@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("zorblax", "get_forecast"),
        ("bug report", "create_issue"),
        ("write a message", "send_mail"),
        ("text in files", "search_files"),
    ],
)
def test_finds_by_words_and_by_meaning(fusion, query, first):
    assert hybrid(fusion=fusion).search(query)[0].name == first


@FUSIONS
def test_hits_carry_both_ranks(fusion):
    made = hybrid(fusion=fusion)
    hit = made.search("bug report")[0]
    assert (hit.text_rank, hit.vector_rank) == (1, 1)
    by_meaning = made.search("zorblax")[0]
    assert (by_meaning.text_rank, by_meaning.vector_rank) == (None, 1)


@FUSIONS
def test_a_name_is_first_and_scores_one(fusion):
    near = Document(name="forecast_rain", description="Get the forecast of rain.")
    first, second = hybrid(documents=(near, *DOCUMENTS), fusion=fusion).search("get_forecast")
    assert (first.name, first.score) == ("get_forecast", 1.0)
    assert (second.name, second.score < 0.94) == ("forecast_rain", True)


def test_matched_words_come_from_the_words():
    assert "report" in hybrid().search("bug report")[0].matched


def test_a_query_in_a_language_that_the_embedder_does_not_know_is_left_to_the_words():
    misleading = FakeEmbedder(covered=0.0)
    misleading.embed_query = lambda text: vector_of("send mail: Write a message to a person.")
    lexical = BM25Index()
    lexical.update(DOCUMENTS)
    query = "bug report in a repository"
    made = hybrid(misleading)
    assert names(made.search(query))[: len(lexical.search(query))] == names(lexical.search(query))
    assert made.search(query)[0].score == pytest.approx(lexical.search(query)[0].score, abs=0.06)


def test_what_no_word_speaks_for_is_ordered_by_the_meaning_in_any_language():
    embedder = Understanding(covered=0.0)
    made = hybrid(embedder)
    assert names(made.search("zorblax"))[0] == "get_forecast"
    assert len(made.search("zorblax")) == len(DOCUMENTS)


def test_one_known_word_of_many_says_little_against_the_meaning():
    embedder = Understanding()
    embedder.cosine_range = (-1.5, 1.5)  # far less sure than the word alone would be
    query = "zorblax repository qintar wumfle"
    embedder.embed_query = lambda text: vector_of(MEANING["zorblax"])
    lexical = BM25Index()
    lexical.update(DOCUMENTS)
    assert lexical.search(query)[0].name == "create_issue"
    assert names(hybrid(embedder).search(query))[:2] == ["get_forecast", "create_issue"]


@pytest.mark.slow
@pytest.mark.parametrize("others", [100, 2_000, 30_000])
def test_among_many_tools_what_is_somewhat_near_by_meaning_alone_is_found(others):
    crowd = [
        Document(name=f"tool_{number}", description=f"Handles matter {number}.") for number in range(others)
    ]
    embedder = Understanding()
    embedder.cosine_range = (-1.0, 3.0)  # the same direction is nearness 0.5
    hits = hybrid(embedder, documents=(*DOCUMENTS, *crowd)).search("zorblax", limit=5)
    assert hits[0].name == "get_forecast"


def test_among_many_tools_what_neither_words_nor_meaning_speak_for_is_no_hit():
    crowd = [
        Document(name=f"tool_{number}", description=f"Handles matter {number}.") for number in range(2_000)
    ]
    made = hybrid(documents=(*DOCUMENTS, *crowd))
    assert made.count("rain and sun of the coming days") < 200


def test_a_vector_list_that_tells_nothing_apart_changes_no_order():
    flat = FakeEmbedder()
    flat.embed_documents = lambda texts: np.ones((len(texts), 64), np.float32)
    flat.embed_query = lambda text: np.ones(64, np.float32)
    lexical = BM25Index()
    lexical.update(DOCUMENTS)
    query = "text in the files of a repository"
    assert names(hybrid(flat).search(query))[:2] == names(lexical.search(query))[:2]


def test_a_query_without_any_word_in_common_is_left_to_the_meaning():
    embedder = Understanding()
    embedder.cosine_range = (-0.5, 0.5)
    assert hybrid(embedder).search("zorblax")[0].name == "get_forecast"


@FUSIONS
@pytest.mark.parametrize("query", ["", "  "])
def test_a_blank_query_finds_nothing(fusion, query):
    assert hybrid(fusion=fusion).search(query) == []
    assert hybrid(fusion=fusion, documents=()).search("bug") == []


@FUSIONS
def test_weight_decides_between_the_lists(fusion):
    embedder = FakeEmbedder()
    embedder.embed_query = lambda text: vector_of("send mail: Write a message to a person.")
    assert hybrid(embedder, fusion=fusion, weight=0.0).search("bug report")[0].name == "create_issue"
    assert hybrid(embedder, fusion=fusion, weight=1.0).search("bug report")[0].name == "send_mail"


def test_with_all_weight_on_the_meaning_its_list_is_what_is_found():
    made = hybrid(weight=1.0)
    by_meaning = names(made.vector.search("rain, a message and the text in the files"))
    assert len(by_meaning) > 2
    assert names(made.search("rain, a message and the text in the files"))[: len(by_meaning)] == by_meaning


def test_reciprocal_rank_fusion_by_hand():
    made = hybrid(fusion="rrf", k=60.0)
    top = made.search("bug report")[0]
    assert top.score == pytest.approx(0.93)


@FUSIONS
def test_a_smaller_limit_is_the_beginning_of_a_greater_one(fusion):
    documents = [Document(name=f"tool_{n % 9}_{n}", description="open a bug report") for n in range(150)]
    made = hybrid(documents=documents, fusion=fusion, depth=30)
    whole = made.search("bug report 7")
    for limit in (0, 1, 10, 29, 31, 500):
        assert made.search("bug report 7", limit=limit) == whole[:limit]


@FUSIONS
def test_within_narrows_and_extra_comes_last_and_hides(fusion):
    made = hybrid(fusion=fusion)
    extra = (Document(name="send_mail", description="Paint a wall."), Document(name="paint_wall"))
    assert names(made.search("bug report", within={"create_issue"})) == ["create_issue"]
    assert names(made.search("paint a wall", within=frozenset(), extra=extra))[0] in (
        "send_mail",
        "paint_wall",
    )
    assert set(names(made.search("paint a wall", within=frozenset(), extra=extra))) == {
        "send_mail",
        "paint_wall",
    }
    assert names(made.search("write a message to a person", extra=extra)).count("send_mail") <= 1
    assert made.search("send_mail", extra=extra)[0].score == 1.0
    assert "paint_wall" not in names(made.search("paint a wall"))


@FUSIONS
def test_each_document_of_a_request_is_called_by_its_name(fusion):
    extra = [Document(name=f"{verb}_wall", description="Paint.") for verb in ("clean", "paint", "build")]
    for document in extra:
        hit = hybrid(fusion=fusion).search(document.name, extra=extra)[0]
        assert (hit.name, hit.score, hit.text_rank) == (document.name, 1.0, 1)


@FUSIONS
def test_ranks_are_told_as_far_as_the_depth(fusion):
    documents = [Document(name=f"report_{n}", description="Open a bug report.") for n in range(4)]
    for depth in (1, 3):
        hits = hybrid(documents=documents, fusion=fusion, depth=depth).search("bug report")
        assert {hit.text_rank for hit in hits} - {None} == {*range(1, depth + 1)}
        assert {hit.vector_rank for hit in hits} - {None} == {*range(1, depth + 1)}


@FUSIONS
def test_what_a_request_may_not_see_is_neither_called_by_name_nor_ranked(fusion):
    made = hybrid(fusion=fusion)
    assert "create_issue" not in names(made.search("create_issue", within={"send_mail", "get_forecast"}))
    (hit,) = made.search("bug report message", within={"send_mail"})
    assert (hit.text_rank, hit.vector_rank) == (1, 1)


def test_a_document_of_a_request_scores_as_a_stored_one_by_any_index():
    own = Document(name="paint_wall", description="Open a can and paint.")
    beside = hybrid(lexical=FuzzyIndex()).search("open and paint", extra=[own])
    inside = hybrid(lexical=FuzzyIndex(), documents=(*DOCUMENTS, own)).search("open and paint")
    assert {hit.name: hit.score for hit in beside} == pytest.approx({hit.name: hit.score for hit in inside})


def test_count_counts_hits():
    made = hybrid()
    hits = made.search("bug report")
    assert made.count("bug report") == len(hits)
    assert made.count("bug report", min_score=hits[0].score) == 1


def test_any_index_can_be_the_lexical_part():
    class Fixed:
        def update(self, documents):
            self.documents = documents

        def search(self, query, *, limit=None, within=None, extra=()):
            return [Hit(name="send_mail", score=0.9), Hit(name="create_issue", score=0.2)][:limit]

    flat = FakeEmbedder()
    flat.embed_query = lambda text: np.zeros(64, np.float32)
    assert names(hybrid(flat, lexical=Fixed()).search("anything"))[0] == "send_mail"


@FUSIONS
def test_words_answer_while_vectors_are_being_built(fusion):
    embedder = HeldEmbedder()
    documents = [*DOCUMENTS, *(Document(name=f"other_{n}", description="something else") for n in range(60))]
    made = HybridIndex(vector=VectorIndex(embedder, background=True), fusion=fusion)
    made.update(documents)
    assert not made.ready
    hits = made.search("bug report")
    assert hits[0].name == "create_issue"
    assert hits[0].vector_rank is None
    embedder.go.set()
    assert made.wait(10)
    assert made.ready
    assert made.search("bug report")[0].vector_rank == 1


def test_vectors_of_what_is_gone_are_not_used():
    embedder = HeldEmbedder()
    embedder.go.set()
    made = HybridIndex(vector=VectorIndex(embedder, background=True))
    made.update(DOCUMENTS)
    made.search("rain")  # the cohort is embedded
    embedder.go.clear()
    newer = [
        DOCUMENTS[2],
        Document(name="create_issue", description="changed"),
        *(Document(name=f"other_{n}", description="something else") for n in range(60)),
    ]
    made.update(newer)
    assert not made.ready
    assert {hit.name for hit in made.search("write a message to a person")} <= {d.name for d in newer}
    assert made.search("rain and sun")[0].name == "get_forecast"
    embedder.go.set()
    assert made.wait(10)


def test_a_request_that_a_tool_serves_scores_more_than_one_that_everyday_tools_serve_better():
    without = hybrid(documents=DOCUMENTS[:1] + DOCUMENTS[2:])
    assert without.search("send email")[0].score < hybrid().search("send mail to a person")[0].score


def test_as_near_a_request_counts_for_less_where_everyday_tools_are_near_it_too():
    (tool,) = DOCUMENTS[1:2]
    made = hybrid(documents=[replace(tool, name="zorb", description="book hotel flurb glorp")])
    everyday, peculiar = (made.search(query)[0].score for query in ("book hotel", "flurb glorp"))
    assert everyday < peculiar


def test_what_a_caller_does_not_see_makes_nothing_likelier():
    made = hybrid()
    query = "write a message about a bug report"
    whole = {hit.name: hit.score for hit in made.search(query)}
    (seen,) = made.search(query, within={"create_issue"})
    assert seen.score < whole["create_issue"] < whole["send_mail"]


class Squeezed(FakeEmbedder):
    """Tells the same as the one it is, by cosines of half the span."""

    def __init__(self):
        super().__init__()
        self.cosine_range = (0.5, 1.0)

    def embed_documents(self, texts):
        vectors = super().embed_documents(texts)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.hstack([vectors, np.ones((len(texts), 1), np.float32)])

    def embed_query(self, text):
        return self.embed_documents([text])[0]


def test_the_span_of_an_embedders_cosines_makes_no_difference():
    for query in ("rain and mail", "send email", "files"):
        plain, squeezed = (hybrid(embedder).search(query) for embedder in (FakeEmbedder(), Squeezed()))
        assert names(squeezed) == names(plain)
        assert [hit.score for hit in squeezed] == pytest.approx([hit.score for hit in plain], abs=1e-3)


def test_the_cohort_is_embedded_once():
    embedder = Understanding()
    made = hybrid(embedder)
    for query in ("rain", "bug report", "zorblax"):
        made.search(query)
    made.update(DOCUMENTS[:2])
    made.search("rain")
    assert [embedder.texts.count(name) for name in COHORT] == [1] * len(COHORT)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"fusion": "sum"}, "fusion must be 'score' or 'rrf', found 'sum'"),
        ({"weight": 1.5}, "0 to 1, found 1.5"),
        ({"k": 0}, "k must be a number above 0"),
        ({"k": float("nan")}, "k must be a number above 0"),
        ({"weight": "0.5"}, "0 to 1, found '0.5'"),
        ({"depth": 0}, "depth must be a whole number of at least 1"),
        ({"depth": 1.5}, "depth must be a whole number of at least 1"),
        ({"lexical": BM25Index}, r"lexical must be an index .*, such as BM25Index\(\); found <class"),
        ({"vector": FakeEmbedder()}, r"vector must be a VectorIndex, such as VectorIndex\(embedder\); found"),
        ({"vector": VectorIndex}, "vector must be a VectorIndex"),
    ],
)
def test_options_that_cannot_work_are_refused(options, said):
    with pytest.raises(ConfigurationError, match=said):
        HybridIndex(**{"vector": VectorIndex(FakeEmbedder()), **options})


class Unreachable(FakeEmbedder):
    """Reads tools, but no query, or only queries."""

    def __init__(self, *, after: int = 0) -> None:
        super().__init__()
        self.after = after

    def embed_query(self, text):
        if self.after == 0:
            raise ValueError("the model is gone")
        return super().embed_query(text)

    def embed_documents(self, texts):
        if COHORT[0] in texts:
            raise ConnectionError("the model is gone")
        return super().embed_documents(texts)


@FUSIONS
@pytest.mark.parametrize("after", [0, 1])
def test_while_the_embedder_fails_the_words_answer_and_a_warning_is_logged(fusion, after, caplog):
    made = hybrid(Unreachable(after=after), fusion=fusion)
    own = Document(name="merge_bugs", description="Merge bug reports.")
    hits = made.search("bug report", extra=[own])
    assert sorted(names(hits)[:2]) == ["create_issue", "merge_bugs"]
    if fusion == "score" or not after:
        assert "the embedder failed, so words answer alone" in caplog.text
        assert "the model is gone" in caplog.text


def test_an_embedder_that_goes_on_failing_is_warned_of_once_a_minute(caplog, monkeypatch):
    made = hybrid(Unreachable())
    for _ in range(3):
        made.search("bug report")
    assert len(caplog.records) == 1
    monkeypatch.setattr(made.vector._warnings, "_seconds", 0.0)
    made.search("bug report")
    assert len(caplog.records) == 2


@pytest.mark.filterwarnings("error")
def test_after_the_embedder_is_back_the_meaning_counts_again(caplog):
    embedder = Understanding()
    there, embedder.embed_query = embedder.embed_query, Unreachable().embed_query
    made = hybrid(embedder)
    assert names(made.search("zorblax"))[:1] != ["get_forecast"]
    embedder.embed_query = there
    assert names(made.search("zorblax"))[0] == "get_forecast"


class Down(FakeEmbedder):
    """A hosted embedder that fails, or hangs, until it is back."""

    def __init__(self, *, hangs: bool) -> None:
        super().__init__(blocking=True)
        self.hangs = hangs
        self.back = threading.Event()

    def embed_documents(self, texts):
        self._wait()
        return super().embed_documents(texts)

    def embed_query(self, text):
        self._wait()
        return super().embed_query(text)

    def _wait(self):
        if not self.back.is_set() and not self.hangs:
            raise ConnectionError("down")
        self.back.wait(60)


@FUSIONS
@pytest.mark.parametrize("hangs", [False, True])
@pytest.mark.parametrize("size", [4, 40])
def test_an_embedder_that_is_down_when_the_index_is_made_is_made_up_for(
    fusion, hangs, size, caplog, monkeypatch
):
    more = [Document(name=f"tool_{number}", description="Does it.") for number in range(size - 4)]
    embedder = Down(hangs=hangs)
    made = HybridIndex(
        vector=VectorIndex(embedder, background=True, timeout_seconds=0.05 if hangs else 10), fusion=fusion
    )
    made.update([*DOCUMENTS, *more])
    assert names(made.search("bug report"))[0] == "create_issue"
    assert not made.wait(60)
    assert "the embedder failed, so words answer alone" in caplog.text
    embedder.back.set()
    monkeypatch.setattr(vector, "_RETRY_SECONDS", 0.0)
    made.search("bug report")
    assert made.wait(60)
    monkeypatch.setattr(made.vector.embedder, "_calls", TimedCalls(60))
    assert made.search("bug report")[0].vector_rank == 1


class OneShort(FakeEmbedder):
    def embed_documents(self, texts):
        return super().embed_documents(texts)[1:]


class NoNumbers(FakeEmbedder):
    def embed_documents(self, texts):
        return super().embed_documents(texts) * np.nan


class OtherQueries(FakeEmbedder):
    def embed_query(self, text):
        return np.ones(8, np.float32)


class FlatQueries(FakeEmbedder):
    def embed_query(self, text):
        return np.ones((1, 64), np.float32)


class QueriesOfNoNumbers(FakeEmbedder):
    def embed_query(self, text):
        return np.full(64, np.nan)


class NoArray(FakeEmbedder):
    def embed_documents(self, texts):
        return "sorry"


def file_of_another_model(path, tools):
    class Other(FakeEmbedder):
        def __init__(self):
            super().__init__(dimensions=8)

    VectorIndex(Other(), cache_path=path).update([document_of(tool) for tool in tools[:5]])


@pytest.mark.parametrize("kind", [HybridIndex, VectorIndex])
@pytest.mark.parametrize(
    ("embedder", "count"),
    [
        *product([OneShort, NoNumbers, OtherQueries, FlatQueries, QueriesOfNoNumbers, NoArray], [1, 20, 60]),
        *product(["another model's file"], [20, 60]),  # one vector alone always fits itself
    ],
)
async def test_an_embedder_whose_answers_are_no_vectors_leaves_the_search_to_the_words_with_one_warning(
    embedder, count, kind, tmp_path, caplog
):
    tools = [
        Tool("create_invoice", description="Create an invoice"),
        *(Tool(f"t{number}", description=f"Thing {number}") for number in range(count - 1)),
    ]
    path = None
    if isinstance(embedder, str):
        path, embedder = tmp_path / "vectors.db", FakeEmbedder
        file_of_another_model(path, tools)
    index = vector = VectorIndex(embedder(), cache_path=path, background=kind is HybridIndex)
    if kind is HybridIndex:
        index = HybridIndex(vector=vector)
    search = ToolSearchProcessor(tools, search=index)
    for query in ("an invoice", "create an invoice"):
        assert [hit.name for hit in await search.search(query, limit=1)] == ["create_invoice"]
        assert vector.wait(60) is not None
    assert len([record for record in caplog.records if record.levelname == "WARNING"]) == 1


@pytest.mark.parametrize("size", [4, 40])
async def test_an_embedder_that_hangs_over_documents_is_given_up_on_in_time(size, caplog):
    embedder = Down(hangs=True)
    tools = [Tool(f"tool_{number}", description="Does it.") for number in range(size)]
    alone = VectorIndex(embedder, timeout_seconds=0.05)
    search = ToolSearchProcessor([Tool("create_issue"), *tools], search=alone)
    assert [hit.name for hit in await search.search("create an issue", limit=1)] == ["create_issue"]
    behind = VectorIndex(embedder, timeout_seconds=0.05, background=True)
    search = ToolSearchProcessor([Tool("create_issue"), *tools], search=HybridIndex(vector=behind))
    assert [hit.name for hit in await search.search("create an issue", limit=1)] == ["create_issue"]
    assert not behind.wait(60)
    assert [record.levelname for record in caplog.records].count("WARNING") == 2
    embedder.back.set()


def test_tools_without_a_vector_are_ranked_by_their_words():
    class Half(FakeEmbedder):
        def embed_documents(self, texts):
            made = super().embed_documents(texts)
            made[0] = np.nan
            return made

    documents = [
        Document("create_invoice", description="Create an invoice"),
        Document("other"),
        Document("x"),
    ]
    made, words = hybrid(Half(), documents=documents), BM25Index()
    words.update(documents)
    (best, *_), (by_words, *_) = made.search("an invoice"), words.search("an invoice")
    assert best.name == by_words.name == "create_invoice"
    assert best.vector_rank is None


def test_an_error_of_the_words_is_raised_as_it_is():
    class Broken(BM25Index):
        def search(self, query, **options):
            raise ValueError("the index is gone")

    with pytest.raises(ValueError, match="the index is gone"):
        hybrid(lexical=Broken()).search("bug")


@pytest.mark.parametrize("size", [len(DOCUMENTS), len(DOCUMENTS) + 3])
def test_a_search_that_an_update_overtakes_sees_the_content_of_after(size):
    newer = [Document(name=f"tool_{n}", description="bug " * n + "report") for n in range(size)]

    class Overtaken(BM25Index):
        def search(self, query, **view):
            hits = super().search(query, **view)
            if pending:
                made.update(pending.pop())
            return hits

    pending: list[list[Document]] = []
    made = hybrid(lexical=Overtaken())
    pending.append(newer)
    assert made.search("bug report") == hybrid(documents=newer).search("bug report")
