"""Vectors are made once: in memory, across restarts, between processes, and never mixed."""

import contextlib
import logging
import sqlite3
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from tests.search.fake_embedder import FakeEmbedder, vector_of
from tool_search_processor.errors import ConfigurationError
from tool_search_processor.search.embedders import CachedEmbedder, DescribedEmbedder
from tool_search_processor.search.embedders.disk import VectorCache, content_key

TEXTS = ["read a file", "write a file", "read a file"]


def cached(embedder, path=None):
    return CachedEmbedder(DescribedEmbedder.of(embedder), path=path)


def unit(text):
    vector = vector_of(text)
    return vector / np.linalg.norm(vector)


def test_each_text_is_embedded_once():
    embedder = FakeEmbedder()
    cache = cached(embedder)
    made = cache.documents(TEXTS)
    assert made == pytest.approx(np.stack([unit(text) for text in TEXTS]), abs=1e-6)
    assert cache.documents(TEXTS[:2]) == pytest.approx(made[:2])
    assert embedder.texts == ["read a file", "write a file"]
    assert cache.documents([]).shape == (0, 0)


def test_each_query_is_embedded_once():
    embedder = FakeEmbedder()
    cache = cached(embedder)
    assert cache.query("find") == pytest.approx(unit("find"), abs=1e-6)
    cache.query("find")
    assert embedder.queries == ["find"]


def test_only_clauses_without_a_vector_are_embedded():
    embedder = FakeEmbedder()
    cache = cached(embedder)
    cache.query("find")
    clauses = ["find", "send", "find", "write"]
    assert cache.queries(clauses) == pytest.approx(np.stack([*map(unit, clauses)]), abs=1e-6)
    assert embedder.queries == ["find", "send", "write"]


def test_a_restart_embeds_nothing_again(tmp_path):
    path = tmp_path / "deep" / "vectors.db"
    before = cached(FakeEmbedder(), path).documents(TEXTS)
    embedder = FakeEmbedder()
    assert cached(embedder, str(path)).documents([*TEXTS, "new"])[:3] == pytest.approx(before)
    assert embedder.texts == ["new"]


def test_models_never_mix(tmp_path):
    path = tmp_path / "vectors.db"
    cached(FakeEmbedder(model_id="a"), path).documents(TEXTS)
    other = FakeEmbedder(model_id="b", dimensions=8)
    assert cached(other, path).documents(TEXTS).shape == (3, 8)
    assert other.texts == TEXTS[:2]


def test_a_model_that_changes_under_one_id_is_noticed(tmp_path):
    path = tmp_path / "vectors.db"
    cached(FakeEmbedder(), path).documents(TEXTS)
    with pytest.raises(ConfigurationError, match=r"'fake-1' made vectors of \[8, 64\] dimensions"):
        cached(FakeEmbedder(dimensions=8), path).documents([*TEXTS, "new"])


def test_a_file_needs_a_model_id(tmp_path):
    with pytest.raises(ConfigurationError, match="needs an embedder with a model_id"):
        cached(FakeEmbedder(model_id=None), tmp_path / "vectors.db")


def test_a_build_that_was_cut_short_goes_on(tmp_path):
    path = tmp_path / "vectors.db"
    texts = [f"text {number}" for number in range(300)]

    class Failing(FakeEmbedder):
        def embed_documents(self, texts):
            if self.texts:
                raise RuntimeError("the plug was pulled")
            return super().embed_documents(texts)

    with pytest.raises(RuntimeError, match="plug"):
        cached(Failing(), path).documents(texts)
    embedder = FakeEmbedder()
    cached(embedder, path).documents(texts)
    assert len(embedder.texts) == 300 - 256


def test_a_broken_file_is_put_aside_and_started_again(tmp_path, caplog):
    path = tmp_path / "vectors.db"
    path.write_bytes(b"this is not a database, but long enough to be read as one" * 100)
    embedder = FakeEmbedder()
    with caplog.at_level(logging.WARNING):
        cached(embedder, path).documents(TEXTS)
    assert "is broken" in caplog.text
    assert (tmp_path / "vectors.db.broken").exists()
    again = FakeEmbedder()
    cached(again, path).documents(TEXTS)
    assert again.texts == []


@pytest.mark.parametrize("path", [".", "file/vectors.db", "file/folder/vectors.db"])
def test_a_file_that_cannot_be_opened_only_costs_time(tmp_path, caplog, path):
    (tmp_path / "file").write_text("no folder")
    with caplog.at_level(logging.WARNING):
        assert cached(FakeEmbedder(), tmp_path / path).documents(TEXTS).shape == (3, 64)
    assert "can't be used now" in caplog.text


@pytest.mark.parametrize(
    "stored",
    [
        b"",
        b"\0" * 5,
        b"\0" * 256,
        np.full(64, np.nan, "<f4").tobytes(),
        np.ones(64, "<f4").tobytes(),
        "text",
        None,
    ],
)
def test_a_vector_that_is_not_whole_is_made_again(tmp_path, stored):
    path = tmp_path / "vectors.db"
    expected = cached(FakeEmbedder(), path).documents(TEXTS)
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE odd AS SELECT * FROM vectors")
        connection.execute("UPDATE odd SET vector = ? WHERE content = ?", (stored, content_key(TEXTS[0])))
        connection.execute("DROP TABLE vectors")
        connection.execute("ALTER TABLE odd RENAME TO vectors")
        connection.execute("CREATE UNIQUE INDEX once ON vectors (model, content)")
    for embedded in ([TEXTS[0]], []):
        embedder = FakeEmbedder()
        assert np.array_equal(cached(embedder, path).documents(TEXTS), expected)
        assert embedder.texts == embedded


def test_two_writers_share_a_file(tmp_path):
    path = tmp_path / "vectors.db"

    def write(first):
        cached(FakeEmbedder(), path).documents([f"text {n}" for n in range(first, first + 60)])

    with ThreadPoolExecutor() as pool:
        list(pool.map(write, (0, 30, 60)))
    with contextlib.closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM vectors").fetchone() == (120,)


def test_many_keys_are_asked_in_parts(tmp_path):
    cache = VectorCache(tmp_path / "vectors.db", model_id="m")
    vectors = {content_key(str(n)): np.array([1], np.float32) for n in range(1200)}
    assert cache.get(list(vectors)) == {}
    cache.put(vectors)
    assert cache.get(list(vectors)) == vectors


def test_a_text_with_lone_surrogates_has_a_key():
    assert content_key("\ud800") != content_key("\ud801")


@pytest.mark.parametrize("kept", ["memory", "disk"])
def test_an_answer_of_no_numbers_is_not_kept(tmp_path, kept):
    embedder = FakeEmbedder()
    good = embedder.embed_documents
    path = tmp_path / "vectors.db" if kept == "disk" else None
    cached = CachedEmbedder(DescribedEmbedder.of(embedder), path=path)
    embedder.embed_documents = lambda texts: np.full((len(texts), 4), np.nan)
    embedder.embed_query = lambda text: np.full(4, np.nan)
    assert not cached.documents(["abc"]).any()
    assert not cached.query("abc").any()
    embedder.embed_documents, embedder.embed_query = good, lambda text: good([text])[0]
    again = cached if kept == "memory" else CachedEmbedder(DescribedEmbedder.of(embedder), path=path)
    assert again.documents(["abc"]).any()
    assert cached.query("abc").any()
