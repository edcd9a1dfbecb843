"""Keeps the postings of catalogs in a folder, so that a restart doesn't analyze every document again."""

from __future__ import annotations

import hashlib
import json
import marshal
import platform
import unicodedata
from array import array
from collections.abc import Sequence
from dataclasses import fields
from functools import cache
from io import BytesIO
from operator import attrgetter
from os import PathLike
from pathlib import Path

import numpy as np

from tool_search_processor._version import __version__
from tool_search_processor.search.bm25.fields import indexed
from tool_search_processor.search.bm25.postings import Postings, build
from tool_search_processor.search.kept_files import KeptFiles
from tool_search_processor.search.protocol import Document

_FORMAT = 1
_KEPT_FILES = 16
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
    or another version never reads the wrong one. Nothing in a file is ever executed. The latest 16 are kept;
    for what goes wrong, see `KeptFiles`.
    """

    def __init__(self, folder: str | PathLike[str]) -> None:
        """Use a folder; the first write creates it."""
        self._files = KeptFiles(Path(folder), beginning="bm25-", ending=".index", most=_KEPT_FILES)

    def postings(self, documents: Sequence[Document]) -> Postings:
        """Return the postings of documents, read from the folder, or else built and written there."""
        key = _key(documents)
        found = self._read(key, len(documents))
        if found is None:
            found = build(map(indexed, documents))
            self._files.write(key, _encoded(found))
        return found

    def _read(self, key: bytes, size: int) -> Postings | None:
        body = self._files.read(key)
        try:
            return None if body is None else _decoded(body, size)
        except Exception as error:  # noqa: BLE001 - whoever may write to the folder may write anything
            self._files.warn_unusable(key, error)
            return None


def _key(documents: Sequence[Document]) -> bytes:
    """Return a digest of all that the postings depend on."""
    content = [_version(), *map(_content, documents)]
    try:
        # Three times as fast as JSON. Later formats of marshal note which objects are the same one.
        written = marshal.dumps(content, 2)
    except ValueError:  # of a subclass of str, such as an enum's member, which marshal refuses
        written = json.dumps(content).encode()
    return hashlib.sha256(written).digest()


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


def _encoded(postings: Postings) -> memoryview:
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
    return body.getbuffer()


def _decoded(body: memoryview, size: int) -> Postings:
    """Return the postings in a file.

    Raises:
        ValueError: If its arrays don't fit together, or hold objects.
    """
    with np.load(BytesIO(body), allow_pickle=False) as arrays:
        terms = json.loads(arrays["terms"].tobytes().decode("utf-8", "surrogatepass"))
        starts = arrays["starts"].astype(np.int64)
        ids, weights = arrays["ids"].astype(np.int32), arrays["weights"].astype(np.float32)
    numbers = {term: number for number, term in enumerate(terms)}
    fits = len(numbers) == len(starts) - 1 and starts[-1] == len(ids) == len(weights)
    is_ordered = starts[0] == 0 and bool((np.diff(starts) >= 0).all())
    if not fits or not is_ordered or (len(ids) and not 0 <= int(ids.min()) <= int(ids.max()) < size):
        raise ValueError("its arrays don't fit together")
    return Postings(numbers, array("q", starts.tobytes()), ids, weights)
