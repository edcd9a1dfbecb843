"""What an index asks of an embedder, and what it refuses."""

import math

import numpy as np
import pytest

from tests.search.fake_embedder import FakeEmbedder
from tool_search_processor.errors import ConfigurationError
from tool_search_processor.search.embedders import CallableEmbedder, DescribedEmbedder, Embedder


def test_an_embedder_with_nothing_beside_the_two_methods_gets_cautious_defaults():
    class Plain:
        def embed_documents(self, texts):
            return np.ones((len(texts), 2))

        def embed_query(self, text):
            return np.ones(2)

    described = DescribedEmbedder.of(Plain())
    assert (described.model_id, described.cosine_range, described.blocking) == (None, (0.0, 1.0), True)
    assert described.coverage("天") == 1.0


def test_what_an_embedder_says_of_itself_is_taken():
    described = DescribedEmbedder.of(FakeEmbedder(covered=0.25))
    assert described.model_id == "fake-1"
    assert described.blocking is False
    assert described.coverage("x") == 0.25


def test_a_function_is_an_embedder():
    described = DescribedEmbedder.of(lambda texts: [[len(text), 0.0] for text in texts])
    assert described.documents(["ab", "abcd"]).tolist() == [[1.0, 0.0], [1.0, 0.0]]
    assert described.query("abc").tolist() == [1.0, 0.0]
    assert isinstance(CallableEmbedder(function=len), Embedder)


@pytest.mark.parametrize("wrong", [None, 3, "text", object()])
def test_anything_else_is_refused(wrong):
    with pytest.raises(ConfigurationError, match="embedder must be"):
        DescribedEmbedder.of(wrong)


def test_a_range_must_rise():
    embedder = FakeEmbedder()
    embedder.cosine_range = (0.5, 0.5)
    with pytest.raises(ConfigurationError, match="cosine_range must rise"):
        DescribedEmbedder.of(embedder)


@pytest.mark.parametrize(
    "wrong", [None, 3, "up", (0.1, 0.2, 0.3), (0, math.inf), (-math.inf, 1), (0, math.nan)]
)
def test_a_range_is_two_finite_numbers(wrong):
    embedder = FakeEmbedder()
    embedder.cosine_range = wrong
    with pytest.raises(ConfigurationError, match="cosine_range"):
        DescribedEmbedder.of(embedder)


@pytest.mark.parametrize(
    ("told", "share"), [(5.0, 1.0), (-1, 0.0), (math.nan, 0.0), (math.inf, 1.0), (np.float32(0.5), 0.5)]
)
def test_a_share_of_what_is_known_is_kept_within_0_to_1(told, share):
    assert DescribedEmbedder.of(FakeEmbedder(covered=told)).coverage("a") == share


def test_a_share_that_is_no_method_is_refused():
    embedder = FakeEmbedder()
    embedder.coverage = 0.5
    with pytest.raises(ConfigurationError, match=r"coverage must be a method .*; found 0.5"):
        DescribedEmbedder.of(embedder)


@pytest.mark.parametrize("wrong", [FakeEmbedder, dict])
def test_a_class_is_no_embedder(wrong):
    with pytest.raises(ConfigurationError, match="embedder must be"):
        DescribedEmbedder.of(wrong)


@pytest.mark.parametrize(
    "answer",
    [
        [[1.0], [1.0, 2.0]],
        [["a"], ["b"]],
        [[object()], [object()]],
        np.ones((2, 3), complex),
        ([1.0] for _ in range(2)),
    ],
    ids=["ragged", "texts", "objects", "complex", "iterator"],
)
def test_an_answer_that_is_no_numbers_is_refused(answer):
    embedder = FakeEmbedder()
    embedder.embed_documents = embedder.embed_query = lambda asked: answer
    described = DescribedEmbedder.of(embedder)
    with pytest.raises(ConfigurationError, match="embed_documents must return an array of numbers; found "):
        described.documents(["a", "b"])
    with pytest.raises(ConfigurationError, match="embed_query must return an array of numbers; found "):
        described.query("a")


def test_an_async_embedder_is_told():
    async def embed(texts):
        raise AssertionError

    with pytest.raises(ConfigurationError, match=r"is a plain `def`, found <coroutine object .*: embedders"):
        DescribedEmbedder.of(embed).documents(["a"])


@pytest.mark.parametrize("size", [1e30, 1e-30, 1e300, 1e-300, np.float32(3e38), 7])
def test_the_size_of_numbers_does_not_matter(size):
    made = DescribedEmbedder.of(lambda texts: np.array([[3, 4]]) / 4 * size).documents(["a"])
    assert made == pytest.approx(np.array([[0.6, 0.8]]))


@pytest.mark.parametrize("answer", [[[1.0, 2.0]], [1.0, 2.0], [[[1.0]], [[2.0]]]])
def test_an_answer_of_the_wrong_shape_is_refused(answer):
    with pytest.raises(ConfigurationError, match=r"must return shape \(texts, dimensions\)"):
        DescribedEmbedder.of(lambda texts: answer).documents(["a", "b"])


def test_a_query_of_the_wrong_shape_is_refused():
    embedder = FakeEmbedder()
    embedder.embed_query = lambda text: np.ones((1, 4))
    with pytest.raises(ConfigurationError, match="embed_query returned an array of shape"):
        DescribedEmbedder.of(embedder).query("a")


def test_vectors_become_unit_vectors_and_broken_ones_zero():
    rows = [[3.0, 4.0], [0.0, 0.0], [np.nan, 1.0], [np.inf, 1.0]]
    made = DescribedEmbedder.of(lambda texts: rows).documents(["a", "b", "c", "d"])
    assert made.dtype == np.float32
    assert made == pytest.approx(np.array([[0.6, 0.8], [0, 0], [0, 0], [0, 0]]))


class Batching(FakeEmbedder):
    """Has `embed_queries`, and remembers what it was asked by it."""

    def __init__(self, answer=None):
        super().__init__()
        self.asked = []
        self.answer = answer

    def embed_queries(self, texts):
        self.asked.append(list(texts))
        return np.ones((len(texts), 2)) if self.answer is None else self.answer


def test_a_query_and_its_clauses_are_embedded_by_one_call():
    embedder = Batching()
    assert DescribedEmbedder.of(embedder).queries(["a", "b", "c"]).shape == (3, 2)
    assert embedder.asked == [["a", "b", "c"]]
    assert embedder.queries == []


def test_an_embedder_of_one_query_at_a_time_is_asked_for_each():
    embedder = FakeEmbedder()
    made = DescribedEmbedder.of(embedder).queries(["a", "b"])
    assert embedder.queries == ["a", "b"]
    assert np.linalg.norm(made, axis=1) == pytest.approx([1, 1])


@pytest.mark.parametrize("answer", [np.ones((3, 2)), np.ones(2), [["a"], ["b"]]])
def test_a_wrong_answer_for_queries_is_refused(answer):
    with pytest.raises(ConfigurationError, match="embed_queries must return"):
        DescribedEmbedder.of(Batching(answer)).queries(["a", "b"])
