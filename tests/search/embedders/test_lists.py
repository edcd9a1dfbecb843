"""Long lists of vectors are kept as a whole: a large catalog's vectors are there at once after a restart."""

import random

import numpy as np
import pytest

from tests.search.fake_embedder import FakeEmbedder
from tests.support import warnings
from tool_search_processor.search import kept_files
from tool_search_processor.search.embedders import CachedEmbedder, DescribedEmbedder
from tool_search_processor.search.embedders.disk import VectorCache, content_key
from tool_search_processor.search.protocol import Document
from tool_search_processor.search.vector import VectorIndex

TEXTS = [f"text {number}" for number in range(300)]


def cached(embedder, path):
    return CachedEmbedder(DescribedEmbedder.of(embedder), path=path)


@pytest.fixture
def rows(monkeypatch):
    """Record how many vectors are read one by one."""
    counts = []
    found = VectorCache._found

    def counted(self, keys):
        counts.append(len(keys))
        return found(self, keys)

    monkeypatch.setattr(VectorCache, "_found", counted)
    return counts


def list_in(folder):
    (path,) = folder.glob("*.vectors")
    return path


def test_a_long_list_is_read_as_a_whole_and_to_the_bit(tmp_path, rows, caplog):
    path, embedder = tmp_path / "deep" / "vectors.db", FakeEmbedder()
    made = cached(embedder, path).documents(TEXTS)
    rows.clear()
    assert cached(embedder, path).documents(TEXTS).tobytes() == made.tobytes()
    assert rows == []
    list_in(path.parent).unlink()
    assert cached(embedder, path).documents(TEXTS).tobytes() == made.tobytes()
    assert sum(rows) == len(TEXTS), "without it they are read one by one"
    assert embedder.texts == TEXTS
    assert warnings(caplog) == []


def test_short_lists_have_no_file(tmp_path):
    cached(FakeEmbedder(), tmp_path / "vectors.db").documents(TEXTS[:256])
    assert [path.name for path in tmp_path.iterdir()] == ["vectors.db"]


def test_another_list_is_read_row_by_row_and_only_what_is_new_is_made(tmp_path):
    path, embedder = tmp_path / "vectors.db", FakeEmbedder()
    made = cached(embedder, path).documents(TEXTS)
    again = cached(embedder, path).documents([*TEXTS[::-1], "new"])
    assert again[:-1].tobytes() == made[::-1].tobytes()
    assert embedder.texts == [*TEXTS, "new"]


def test_lists_of_two_models_never_mix(tmp_path):
    path = tmp_path / "vectors.db"
    cached(FakeEmbedder(model_id="a"), path).documents(TEXTS)
    assert cached(FakeEmbedder(model_id="b", dimensions=8), path).documents(TEXTS).shape == (300, 8)
    assert cached(FakeEmbedder(model_id="a"), path).documents(TEXTS).shape == (300, 64)


@pytest.mark.parametrize("seed", range(12))
def test_damage_is_told_once_and_the_rows_take_its_place(tmp_path, caplog, seed):
    path, embedder = tmp_path / "vectors.db", FakeEmbedder()
    made = cached(embedder, path).documents(TEXTS)
    whole, rng = list_in(tmp_path), random.Random(seed)
    content = bytearray(whole.read_bytes())
    if seed % 4:
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    else:
        del content[rng.randrange(len(content)) :]
    whole.write_bytes(content)
    assert cached(embedder, path).documents(TEXTS).tobytes() == made.tobytes()
    assert len(warnings(caplog)) == 1
    assert cached(embedder, path).documents(TEXTS).tobytes() == made.tobytes()
    assert len(warnings(caplog)) == 1
    assert embedder.texts == TEXTS


@pytest.mark.parametrize("body", [b"", b"1234", bytes(1201)])
def test_a_file_of_another_size_is_ignored(tmp_path, body):
    path, embedder = tmp_path / "vectors.db", FakeEmbedder()
    made = cached(embedder, path).documents(TEXTS)
    key = VectorCache(path, model_id="fake-1")._list_key(list(map(content_key, TEXTS)))
    list_in(tmp_path).write_bytes(kept_files._digest(key, memoryview(body)) + body)
    assert cached(embedder, path).documents(TEXTS).tobytes() == made.tobytes()


def test_a_list_with_a_missing_vector_is_not_kept(tmp_path):
    class Partly(FakeEmbedder):
        def embed_documents(self, texts):
            return np.stack([np.zeros(64) if text == "text 7" else np.ones(64) for text in texts])

    cached(Partly(), tmp_path / "vectors.db").documents(TEXTS)
    assert list(tmp_path.glob("*.vectors")) == []


@pytest.mark.parametrize("name", ["vectors.db", "[of] *.db"])
def test_only_the_latest_lists_are_kept(tmp_path, name):
    cache = cached(FakeEmbedder(), tmp_path / name)
    for number in range(6):
        cache.documents([*TEXTS, f"more {number}"])
    assert len(list(tmp_path.glob("*.vectors"))) == 4


def test_a_disk_that_fails_is_told_once_however_many_batches_there_are(tmp_path, caplog):
    (tmp_path / "file").touch()
    cache = cached(FakeEmbedder(), tmp_path / "file" / "vectors.db")
    assert cache.documents([f"text {number}" for number in range(1500)]).shape == (1500, 64)
    assert len(warnings(caplog)) == 2  # one of the rows, one of the list


def test_an_index_goes_on_from_what_was_read(tmp_path):
    shelf = [Document(f"tool_{number}", description=f"Handles matter {number}.") for number in range(300)]
    embedder = FakeEmbedder()
    VectorIndex(embedder, cache_path=tmp_path / "vectors.db").update(shelf)
    read = VectorIndex(embedder, cache_path=tmp_path / "vectors.db")
    read.update(shelf)
    made = VectorIndex(FakeEmbedder())
    changed = [*shelf[5:], Document("thermostat", example_requests=("it is cold",))]
    for documents in (shelf, changed, shelf[:3], changed):
        read.update(documents)
        made.update(documents)
        for query in ("matter 9", "it is cold"):
            assert read.search(query) == made.search(query)
