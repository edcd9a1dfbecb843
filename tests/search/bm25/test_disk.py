"""Postings kept in a folder: a restart reads what was built, and nothing in the folder can do harm."""

import io
import os
import random
import subprocess
import sys
import time
from dataclasses import fields, replace
from enum import StrEnum

import numpy as np
import pytest

from tests.support import warnings
from tool_search_processor.search import kept_files
from tool_search_processor.search.bm25 import BM25Index, disk
from tool_search_processor.search.bm25.fields import indexed
from tool_search_processor.search.bm25.postings import build
from tool_search_processor.search.protocol import Document

SHELF = (
    *(Document(name=f"tool_{n}", description=f"Handles matter {n}.", tags=("shelf",)) for n in range(30)),
    Document(
        name="createIssue",
        namespace="github",
        description="Opens a ticket.\nSecond line, \u30d0\u30b0\u3092\u5831\u544a\u3059\u308b.",
        keywords=("bug \ud83d", "\U0001f41e"),
        parameter_names=("title",),
        parameter_texts=("The title",),
        example_requests=("report that the login is broken", "the build fails\nred build"),
    ),
)
QUERIES = (
    "report a bug",
    "matter 7",
    "create_issue",
    "the login is broken",
    "matterr",
    "\u30d0\u30b0",
    "red build",
)


def index_of(documents, folder=None):
    index = BM25Index(cache_path=folder)
    index.update(documents)
    return index


def answers(index):
    return [(index.search(query), index.log_odds(query).tobytes()) for query in QUERIES]


def arrays(index):
    terms, starts, ids, weights = index._snapshot.base.postings.parts()
    return terms, starts.tobytes(), ids.tobytes(), weights.tobytes()


@pytest.fixture
def built(monkeypatch):
    """Count the documents that are analyzed to build a whole index."""
    counts = []

    def counted(analyses):
        analyses = list(analyses)
        counts.append(len(analyses))
        return build(analyses)

    monkeypatch.setattr(disk, "build", counted)
    return counts


def file_in(folder):
    (path,) = folder.glob("bm25-*")
    return path


def test_what_was_read_is_to_the_bit_what_was_built(tmp_path, built, caplog):
    index_of(SHELF, tmp_path / "new" / "folder")
    read = index_of(SHELF, tmp_path / "new" / "folder")
    assert built == [len(SHELF)]
    assert arrays(read) == arrays(index_of(SHELF))
    assert answers(read) == answers(index_of(SHELF))
    assert warnings(caplog) == []


@pytest.mark.parametrize("field", ["name", "namespace", "description", "example_requests", "keywords"])
def test_a_catalog_that_has_changed_is_built_again(tmp_path, built, field):
    index_of(SHELF, tmp_path)
    value = ("thermostat",) if field in ("example_requests", "keywords") else "thermostat"
    changed = (*SHELF[:-1], replace(SHELF[-1], **{field: value}))
    assert answers(index_of(changed, tmp_path)) == answers(index_of(changed))
    assert len(built) == 2


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Document("a", "b"), Document("a", None, "b")),
        (Document("a", tags=("b", "c")), Document("a", tags=("b\nc",))),
        (Document("a", tags=("\ud83d\udc1e",)), Document("a", tags=("\U0001f41e",))),
        (Document("a"), Document("a", "")),
    ],
)
def test_documents_that_read_alike_are_kept_apart(one, other):
    assert disk._key([one]) != disk._key([other])


def test_equal_documents_have_one_key_however_they_came_to_be():
    again = [
        Document(*(copied(getattr(document, field.name)) for field in fields(Document))) for document in SHELF
    ]
    assert disk._key(again) == disk._key(SHELF)


def copied(value):
    """Return an equal value, of strings of its own."""
    if isinstance(value, tuple):
        return tuple(map(copied, value))
    return value and "".join(list(value))


def test_the_order_of_the_tools_counts(tmp_path):
    index_of(SHELF, tmp_path)
    assert answers(index_of(SHELF[::-1], tmp_path)) == answers(index_of(SHELF[::-1]))


def test_updates_after_reading_are_those_after_building(tmp_path):
    index_of(SHELF, tmp_path)
    read, made = index_of(SHELF, tmp_path), index_of(SHELF)
    steps = [
        (*SHELF[3:], Document("report_bug", description="Reports a bug.", example_requests=("red build",))),
        tuple(replace(document, description="Matter 7, red.") for document in SHELF[:9]) + SHELF[9:],
        SHELF[:2],
        (),
        SHELF,
    ]
    for documents in steps:
        read.update(documents)
        made.update(documents)
        assert answers(read) == answers(made)


@pytest.mark.parametrize("seed", range(40))
def test_damage_anywhere_is_noticed_told_once_and_mended(tmp_path, caplog, built, seed):
    index_of(SHELF, tmp_path)
    path, rng = file_in(tmp_path), random.Random(seed)
    content = bytearray(path.read_bytes())
    if seed % 4 == 0:
        del content[rng.randrange(len(content)) :]
    else:
        for _ in range(rng.choice((1, 1, 50))):
            content[rng.randrange(len(content))] ^= rng.randrange(1, 256)
    path.write_bytes(content)
    assert arrays(index_of(SHELF, tmp_path)) == arrays(index_of(SHELF))
    assert len(warnings(caplog)) == 1
    assert "is made again" in caplog.text
    index_of(SHELF, tmp_path)
    assert len(built) == 2


def test_the_file_of_another_catalog_is_not_read(tmp_path, caplog):
    index_of(SHELF[:9], tmp_path / "a")
    index_of(SHELF, tmp_path / "b")
    file_in(tmp_path / "b").write_bytes(file_in(tmp_path / "a").read_bytes())
    assert answers(index_of(SHELF, tmp_path / "b")) == answers(index_of(SHELF))
    assert len(warnings(caplog)) == 1


class _Harmful:
    def __reduce__(self):
        return (pytest.fail, ("a pickle was loaded",))


def saved(**changes):
    """Return a file of arrays, some of them other than they should be."""
    terms, starts, ids, weights = build(map(indexed, SHELF)).parts()
    arrays = {"terms": np.frombuffer(disk.json.dumps(terms).encode(), np.uint8), "starts": np.array(starts)}
    body = io.BytesIO()
    np.savez(body, **{**arrays, "ids": ids, "weights": weights, **changes})
    return body


def text(content):
    return np.frombuffer(content, np.uint8)


FORGED = {
    "no list": lambda: saved(terms=text(b"3")),
    "a list of lists": lambda: saved(terms=text(b"[[], []]")),
    "too deep": lambda: saved(terms=text(b"[" * 100_000)),
    "numbers": lambda: saved(starts=np.array(3), ids=np.array(3)),
    "words": lambda: saved(weights=np.array(["a", "b"])),
    "out of order": lambda: saved(starts=np.array(build(map(indexed, SHELF)).parts()[1])[::-1].copy()),
}


@pytest.mark.parametrize("kind", FORGED)
def test_whatever_a_file_holds_the_catalog_is_searched(tmp_path, caplog, kind):
    index_of(SHELF, tmp_path)
    key, body = disk._key(SHELF), FORGED[kind]()
    file_in(tmp_path).write_bytes(kept_files._digest(key, body.getbuffer()) + body.getvalue())
    assert answers(index_of(SHELF, tmp_path)) == answers(index_of(SHELF))
    assert len(warnings(caplog)) == 1


@pytest.mark.parametrize("kind", ["pickle", "no arrays", "wrong document", "no zip"])
def test_a_forged_file_is_ignored_and_nothing_in_it_is_executed(tmp_path, caplog, kind):
    index_of(SHELF, tmp_path)
    path, key, body = file_in(tmp_path), disk._key(SHELF), io.BytesIO()
    if kind == "pickle":
        np.savez(body, terms=np.array([_Harmful()], object))
    elif kind == "no arrays":
        np.savez(body, other=np.zeros(3))
    elif kind == "wrong document":
        body.write(disk._encoded(build([{}] * len(SHELF) + [{"bug": 0.5}])))
    path.write_bytes(kept_files._digest(key, body.getbuffer()) + body.getvalue())
    assert answers(index_of(SHELF, tmp_path)) == answers(index_of(SHELF))
    assert len(warnings(caplog)) == 1


def test_another_version_has_files_of_its_own(tmp_path, built, monkeypatch, caplog):
    index_of(SHELF, tmp_path)
    disk._version.cache_clear()
    monkeypatch.setattr(disk, "__version__", "0.0.0")
    try:
        index_of(SHELF, tmp_path)
    finally:
        monkeypatch.undo()
        disk._version.cache_clear()
    index_of(SHELF, tmp_path)
    assert len(built) == 2
    assert len(list(tmp_path.iterdir())) == 2
    assert warnings(caplog) == []


def test_a_change_of_the_weights_between_releases_is_noticed(tmp_path, built, monkeypatch):
    index_of(SHELF, tmp_path)
    disk._version.cache_clear()
    monkeypatch.setattr(disk, "indexed", lambda document: {**indexed(document), "more": 0.5})
    index_of(SHELF, tmp_path)
    disk._version.cache_clear()
    assert len(built) == 2


def test_a_folder_that_cannot_be_is_a_warning(tmp_path, caplog):
    (tmp_path / "file").write_text("mine")
    index = index_of(SHELF, tmp_path / "file")
    index.update(SHELF[:2])
    index.update(SHELF)
    assert answers(index) == answers(index_of(SHELF))
    assert len(warnings(caplog)) == 1
    assert (tmp_path / "file").read_text() == "mine"


def test_a_folder_in_the_place_of_a_file_is_a_warning(tmp_path, caplog):
    index_of(SHELF, tmp_path)
    path = file_in(tmp_path)
    path.unlink()
    path.mkdir()
    assert answers(index_of(SHELF, tmp_path)) == answers(index_of(SHELF))
    assert len(warnings(caplog)) == 1
    assert [found.name for found in tmp_path.iterdir()] == [path.name]


def elsewhere(path):
    target = path.with_name("mine.txt")
    target.write_text("mine")
    path.symlink_to(target)


@pytest.mark.parametrize(
    ("make", "warned"),
    [
        (elsewhere, True),
        (lambda path: path.symlink_to("nowhere"), False),
        (lambda path: path.symlink_to(path), True),
        (os.mkfifo, True),
    ],
    ids=["a link", "a link to nothing", "a link to itself", "a pipe"],
)
def test_what_is_no_file_is_replaced_and_never_written_through(tmp_path, caplog, make, warned):
    folder = tmp_path / "made"
    index_of(SHELF, folder)
    path = file_in(folder)
    path.unlink()
    make(path)
    assert answers(index_of(SHELF, folder)) == answers(index_of(SHELF))
    assert len(warnings(caplog)) == warned
    assert path.is_file()
    assert not path.is_symlink()
    assert [found.read_text() for found in folder.glob("mine.txt")] == ["mine"] * (make is elsewhere)


class Tag(StrEnum):
    """A member of this enum is a string, but not exactly."""

    MAIL = "mail"


def test_strings_of_a_subclass_are_indexed_too(tmp_path, built, caplog):
    documents = (Document(name="a", tags=(Tag.MAIL,), keywords=(Tag.MAIL,)), *SHELF)
    first = answers(index_of(documents, tmp_path))
    assert answers(index_of(documents, tmp_path)) == first
    assert built == [len(documents)]
    assert warnings(caplog) == []


PROGRAM = """
import logging, os, sys
from pathlib import Path
from tool_search_processor.search.bm25 import BM25Index
from tool_search_processor.search.protocol import Document

logging.basicConfig(format="%(levelname)s %(message)s")
shelf = [Document(f"tool_{n}", description=f"Handles matter {n}.") for n in range(300)]
FIRST
for _ in range(10):
    index = BM25Index(cache_path=sys.argv[1])
    index.update(shelf)
    THEN
print([hit.name for hit in index.search("matter 7", limit=3)])
"""


def started(folder, first="pass", then="pass"):
    program = PROGRAM.replace("FIRST", first).replace("THEN", then)
    return subprocess.Popen(
        [sys.executable, "-c", program, str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_two_processes_may_build_and_read_at_the_same_time(tmp_path):
    remove = "[path.unlink(missing_ok=True) for path in Path(sys.argv[1]).glob('*.index')]"
    processes = [started(tmp_path, then=remove), started(tmp_path)]
    first, second = [process.communicate(timeout=60) for process in processes]
    assert first == second
    assert first[0].startswith("['tool_7'")
    assert first[1] == ""
    assert not list(tmp_path.glob("*.tmp"))


def test_a_writer_that_is_killed_leaves_nothing_that_is_read(tmp_path, caplog):
    killed = started(tmp_path, first="Path.replace = lambda *_: os._exit(9)")
    killed.communicate(timeout=60)
    assert killed.returncode == 9
    assert [path.suffix for path in tmp_path.iterdir()] == [".tmp"]
    out, err = started(tmp_path).communicate(timeout=60)
    assert out.startswith("['tool_7'")
    assert err == ""


@pytest.mark.skipif(sys.platform == "win32", reason="limits of the system")
def test_a_full_disk_is_a_warning(tmp_path):
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))"
    out, err = started(tmp_path, first=limit).communicate(timeout=60)
    assert out.startswith("['tool_7'")
    assert err.count("WARNING no file can be kept in") == 10  # an index each
    assert list(tmp_path.iterdir()) == []


def test_old_files_and_what_killed_writers_left_are_removed(tmp_path):
    old, young = tmp_path / "bm25-a.tmp", tmp_path / "bm25-b.tmp"
    for path in (old, young, tmp_path / "mine.txt"):
        path.touch()
    os.utime(old, (time.time() - 7200,) * 2)
    for number in range(1, 20):
        index_of(SHELF[:number], tmp_path)
        os.utime(max(tmp_path.glob("*.index"), key=lambda path: path.stat().st_mtime_ns), (number, number))
    kept = sorted(path.stat().st_mtime for path in tmp_path.glob("*.index"))
    assert kept == list(range(4, 20))
    assert not old.exists()
    assert young.exists()
    assert (tmp_path / "mine.txt").exists()
