"""A file of vectors, keyed by the content that they were made from."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from tool_search_processor.concurrency.rare_warnings import RareWarnings
from tool_search_processor.search.embedders.embedder import Floats
from tool_search_processor.search.kept_files import KeptFiles

logger = logging.getLogger(__name__)

_AT_ONCE = 500  # SQLite's oldest limit of variables in a statement is 999
_BUSY_SECONDS = 30.0
_LENGTH_ERROR = 1e-3
_WHOLE = 256
"""Longer lists have a file of their own: row by row, the database takes ten times as long."""
_KEPT_LISTS = 4
_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS vectors "
    "(model TEXT NOT NULL, content BLOB NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (model, content)) "
    "WITHOUT ROWID"
)


def content_key(text: str) -> bytes:
    """Return the key of a string's vector: 16 bytes of a BLAKE2 hash."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


class VectorCache:
    """A file of unit vectors, shared by any number of processes; an SQLite database.

    Vectors of different models are kept apart. An unreadable file is put aside with a warning, and a new one
    is started: everything in it can be made again. So is a damaged vector. The file only grows; delete it to
    free the space. The latest four long lists of vectors have files of their own beside it, `NAME-….vectors`.
    """

    def __init__(self, path: Path, *, model_id: str) -> None:
        """Use a file; it and its folder are created by the first write.

        Args:
            path: The file.
            model_id: Names the model, and everything that shapes its vectors.
        """
        self._path = path
        self._model_id = model_id
        self._lists = KeptFiles(path.parent, beginning=f"{path.name}-", ending=".vectors", most=_KEPT_LISTS)
        self._warnings = RareWarnings(logger)

    def get_list(self, keys: Sequence[bytes]) -> Floats | None:
        """Return the vectors of a long list if it was put as a whole; shape (n, dimensions), read-only."""
        body = self._lists.read(self._list_key(keys)) if len(keys) > _WHOLE else None
        if not body or len(body) % (4 * len(keys)):
            return None
        return np.frombuffer(body, "<f4").reshape(len(keys), -1)

    def put_list(self, keys: Sequence[bytes], vectors: Floats) -> None:
        """Add a long list as a whole, unless a vector in it is missing (zeros)."""
        if len(keys) > _WHOLE and vectors.any(axis=1).all():
            stored = np.ascontiguousarray(vectors, "<f4")
            self._lists.write(self._list_key(keys), memoryview(stored).cast("B"))

    def _list_key(self, keys: Sequence[bytes]) -> bytes:
        model = content_key(self._model_id)  # all have 16 bytes, so no two lists read alike
        return hashlib.sha256(b"".join((model, *keys))).digest()

    def get(self, keys: Sequence[bytes]) -> dict[bytes, Floats]:
        """Return the stored vectors by key."""
        found: dict[bytes, Floats] = {}
        with self._mended():
            if self._path.exists():
                found = self._found(keys)
        return {key: vector for key, vector in found.items() if _is_whole(vector)}

    def _found(self, keys: Sequence[bytes]) -> dict[bytes, Floats]:
        found: dict[bytes, Floats] = {}
        with self._open() as connection:
            for start in range(0, len(keys), _AT_ONCE):
                some = keys[start : start + _AT_ONCE]
                marks = ",".join("?" * len(some))
                rows = connection.execute(
                    f"SELECT content, vector FROM vectors WHERE model = ? AND content IN ({marks})",  # noqa: S608 - only question marks
                    (self._model_id, *some),
                )
                found.update((key, _read(vector)) for key, vector in rows)
        return found

    def put(self, vectors: Mapping[bytes, Floats]) -> None:
        """Add vectors; either all of them are written or none."""
        rows = [(self._model_id, key, vector.astype("<f4").tobytes()) for key, vector in vectors.items()]
        with self._mended():
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._open() as connection, connection:
                connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)

    @contextlib.contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        # A new connection each time: none is shared between threads or survives a fork.
        with contextlib.closing(sqlite3.connect(self._path, timeout=_BUSY_SECONDS)) as connection:
            connection.execute(_SCHEMA)
            yield connection

    @contextlib.contextmanager
    def _mended(self) -> Iterator[None]:
        """Continue without the file if it is unusable: it only saves work."""
        try:
            yield
        except (sqlite3.OperationalError, OSError) as error:  # locked, full, read-only: it may be whole
            self._warnings.warn(f"the vector cache {self._path} can't be used now: {error}")
        except sqlite3.DatabaseError as error:
            aside = self._path.with_name(self._path.name + ".broken")
            logger.warning("the vector cache %s is broken (%s); put aside as %s", self._path, error, aside)
            with contextlib.suppress(OSError):
                self._path.replace(aside)


def _read(stored: object) -> Floats:
    is_readable = isinstance(stored, bytes) and len(stored) % 4 == 0
    return np.frombuffer(stored if is_readable else b"", "<f4")


def _is_whole(vector: Floats) -> bool:
    """Return True if a vector has length 1, like every vector written: SQLite misses a flipped bit."""
    return bool(abs(float(vector @ vector) - 1) < _LENGTH_ERROR)
