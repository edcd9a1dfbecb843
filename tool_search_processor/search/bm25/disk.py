"""Keeps the postings of catalogs in a folder, so that a restart doesn't analyze every document again."""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import platform
import time
import unicodedata
import zipfile
from array import array
from collections.abc import Sequence
from dataclasses import fields
from functools import cache
from io import BytesIO
from operator import attrgetter
from os import PathLike
from pathlib import Path
from tempfile import NamedTemporaryFile

import numpy as np

from tool_search_processor._version import __version__
from tool_search_processor.search.bm25.fields import indexed
from tool_search_processor.search.bm25.postings import Postings, build
from tool_search_processor.search.protocol import Document

logger = logging.getLogger(__name__)

_FORMAT = 1
_KEPT_FILES = 16
_ABANDONED_SECONDS = 3600.0
"""A temporary file of this age belongs to a process that was killed."""
_BEGINNING, _END, _TEMPORARY = "bm25-", ".index", ".tmp"
_DIGEST_BYTES = 32
_content = attrgetter(*(field.name for field in fields(Document)))
_SAMPLE = Document(
    "createIssue_v2",
    "github",
    "Opens new tickets, e.g. for the bugs of a repository; \u30d0\u30b0\u3092\u5831\u544a\u3059\u308b.",
    ("tracking",),
    ("defect",),
    ("issueTitle",),
    ("The title's text",),
    ("report that the login is broken",),
)


class PostingsCache:
    """A folder of postings, one file for each set of documents; any number of processes may share it.

    A file is found by the content of the documents and by the version of this package, so a changed catalog
    or another version never reads the wrong one. A file that is damaged is ignored and replaced. The latest
    16 files are kept. Nothing in a file is ever executed, and no failure of the disk is raised: an object of
    this class logs its first as a warning.
    """

    def __init__(self, folder: str | PathLike[str]) -> None:
        """Use a folder; the first write creates it."""
        self._folder = Path(folder)
        self._warned = False

    def postings(self, documents: Sequence[Document]) -> Postings:
        """Return the postings of documents, read from the folder, or else built and written there."""
        key = _key(documents)
        path = self._folder / f"{_BEGINNING}{key.hex()[:40]}{_END}"
        found = self._read(path, key, len(documents))
        if found is None:
            found = build(map(indexed, documents))
            self._write(path, key, found)
        return found

    def _read(self, path: Path, key: bytes, size: int) -> Postings | None:
        try:
            found = _decoded(path.read_bytes(), key, size)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            self._warn(f"the index file {path} can't be used, so the index is built again", error)
            return None
        with contextlib.suppress(OSError):  # the files used last are kept
            os.utime(path)
        return found

    def _write(self, path: Path, key: bytes, postings: Postings) -> None:
        """Put the whole file in place at once: a reader never sees a part of it."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._clean()
            with NamedTemporaryFile(
                dir=self._folder, prefix=_BEGINNING, suffix=_TEMPORARY, delete=False
            ) as file:
                written = Path(file.name)
                try:
                    file.write(_encoded(postings, key))
                    file.close()  # Windows renames no open file
                    written.replace(path)
                except BaseException:
                    file.close()
                    written.unlink(missing_ok=True)
                    raise
        except OSError as error:
            self._warn(f"the index can't be kept in {self._folder}", error)

    def _clean(self) -> None:
        """Remove all but the latest files, and what killed processes left behind."""
        now = time.time()
        for path in self._folder.glob(f"{_BEGINNING}*{_TEMPORARY}"):
            if now - _age_mark(path) > _ABANDONED_SECONDS:
                path.unlink(missing_ok=True)
        files = sorted(self._folder.glob(f"{_BEGINNING}*{_END}"), key=_age_mark, reverse=True)
        for path in files[_KEPT_FILES - 1 :]:
            path.unlink(missing_ok=True)

    def _warn(self, message: str, error: Exception) -> None:
        logger.log(logging.DEBUG if self._warned else logging.WARNING, "%s: %s", message, error)
        self._warned = True


def _age_mark(path: Path) -> float:
    """Return when a file was last used; the time now if another process has just removed it."""
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return time.time()


def _key(documents: Sequence[Document]) -> bytes:
    """Return a digest of all that the postings depend on."""
    content = json.dumps([_version(), *map(_content, documents)], ensure_ascii=False)
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).digest()


@cache
def _version() -> list[object]:
    """Return the versions that shape postings besides the documents: those of this package and of Python.

    The analysis of a sample notices a change of the weights or the words between two releases.
    """
    import Stemmer  # type: ignore[import-not-found]  # it brings no types

    return [
        _FORMAT,
        __version__,
        Stemmer.version(),
        platform.python_version_tuple()[:2],
        unicodedata.unidata_version,
        indexed(_SAMPLE),
    ]


def _encoded(postings: Postings, key: bytes) -> bytes:
    terms, starts, ids, weights = postings.parts()
    text = json.dumps(terms, ensure_ascii=False).encode("utf-8", "surrogatepass")
    body = BytesIO()
    np.savez(
        body,
        terms=np.frombuffer(text, np.uint8),
        starts=np.array(starts, "<i8"),
        ids=ids.astype("<i4"),
        weights=weights.astype("<f4"),
    )
    return _digest(key, body.getbuffer()) + body.getvalue()


def _decoded(content: bytes, key: bytes, size: int) -> Postings:
    """Return the postings in a file.

    Raises:
        ValueError: If the file is damaged, or was written for other documents or by another version.
    """
    body = memoryview(content)[_DIGEST_BYTES:]
    if content[:_DIGEST_BYTES] != _digest(key, body):
        raise ValueError("it is damaged, or was not written for these tools by this version")
    with np.load(BytesIO(body), allow_pickle=False) as arrays:
        terms = json.loads(arrays["terms"].tobytes().decode("utf-8", "surrogatepass"))
        starts = arrays["starts"].astype(np.int64)
        ids, weights = arrays["ids"].astype(np.int32), arrays["weights"].astype(np.float32)
    numbers = {term: number for number, term in enumerate(terms)}
    fits = len(numbers) == len(starts) - 1 and starts[-1] == len(ids) == len(weights)
    if not fits or (len(ids) and not 0 <= int(ids.min()) <= int(ids.max()) < size):
        raise ValueError("its arrays don't fit together")
    return Postings(numbers, array("q", starts.tobytes()), ids, weights)


def _digest(key: bytes, body: memoryview) -> bytes:
    digest = hashlib.sha256(key)
    digest.update(body)
    return digest.digest()
