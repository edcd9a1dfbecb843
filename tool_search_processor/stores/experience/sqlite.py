"""Experience in a file, which several processes may share."""

from __future__ import annotations

import sqlite3
import threading
import time
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike, fspath

from tool_search_processor.concurrency.closing import AsyncClosing
from tool_search_processor.wire.checks import check_positive

_TABLE = """
CREATE TABLE IF NOT EXISTS experience (
    scope TEXT NOT NULL, tool TEXT NOT NULL, content TEXT NOT NULL, stamp INTEGER NOT NULL,
    PRIMARY KEY (scope, tool)
) WITHOUT ROWID
"""
# One statement each, so that a change costs one transaction. A removed text leaves an empty one with its
# stamp: without it, a scope that is emptied would look as if nothing had happened.
_INSERT = """
INSERT INTO experience VALUES (?, ?, ?, ?)
ON CONFLICT DO UPDATE SET content = excluded.content, stamp = excluded.stamp WHERE content = ''
"""
_UPDATE = "UPDATE experience SET content = ?, stamp = ? WHERE scope = ? AND tool = ? AND content = ?"
_TOOLS = "SELECT tool, content FROM experience WHERE scope = ? AND content != ''"
_SCOPES = "SELECT DISTINCT scope FROM experience WHERE content != ''"
_VERSION = "SELECT COUNT(*), MAX(stamp) FROM experience WHERE scope = ?"


class SQLiteExperienceStore(AsyncClosing):
    """Keeps experience in an SQLite file; processes of one machine may share it (write-ahead log).

    ```python
    search = ToolSearchProcessor([create_issue], experience=Experience(SQLiteExperienceStore("learned.db")))
    ```

    A call waits at most `timeout_seconds` for another process that is writing.
    """

    def __init__(self, path: str | PathLike[str], *, timeout_seconds: float = 0.2) -> None:
        """Take the file's path; it is opened when it is first needed.

        Raises:
            ConfigurationError: If the time is not a number above 0.
        """
        check_positive("timeout_seconds", timeout_seconds, finite=True)
        self._path = fspath(path)
        self._timeout_seconds = timeout_seconds
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None

    async def read(self, scope: str) -> Mapping[str, str]:
        """Return the text of each tool of a scope."""
        with self._open() as connection:
            return dict(connection.execute(_TOOLS, (scope,)))

    async def version(self, scope: str) -> object:
        """Return how many tools the scope has, and when it was last changed."""
        with self._open() as connection:
            return tuple(connection.execute(_VERSION, (scope,)).fetchone())

    async def swap(self, scope: str, tool: str, old: str | None, new: str | None) -> bool:
        """Replace the text of a tool if it is still `old`; see `ExperienceStore.swap`."""
        stamp = time.time_ns()
        with self._open() as connection:
            if old is None and new is None:
                return tool not in dict(connection.execute(_TOOLS, (scope,)))
            if old is None:
                done = connection.execute(_INSERT, (scope, tool, new, stamp))
            else:
                done = connection.execute(_UPDATE, (new or "", stamp, scope, tool, old))
            return done.rowcount == 1

    async def scopes(self) -> Sequence[str]:
        """Return all scopes."""
        with self._open() as connection:
            return [row[0] for row in connection.execute(_SCOPES)]

    async def aclose(self) -> None:
        """Close the file; it is opened again when it is needed."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            if self._connection is None:
                self._connection = self._connected()
                # a store that nobody closes leaves no open file behind
                weakref.finalize(self, self._connection.close)
            yield self._connection

    def _connected(self) -> sqlite3.Connection:
        # Statements are short, so they run where they are called, one thread at a time.
        connection = sqlite3.connect(
            self._path, timeout=self._timeout_seconds, isolation_level=None, check_same_thread=False
        )
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            # A crash of the machine may lose the last calls; nothing else waits for the disk.
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(_TABLE)
        except sqlite3.Error:
            connection.close()
            raise
        return connection
