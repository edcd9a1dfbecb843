"""Experience in a file, which several processes may share."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike, fspath

from tool_search_processor.wire.checks import check_positive

_TABLE = """
CREATE TABLE IF NOT EXISTS experience (
    scope TEXT NOT NULL, tool TEXT NOT NULL, content TEXT NOT NULL, PRIMARY KEY (scope, tool)
) WITHOUT ROWID
"""
_VERSIONS = (
    "CREATE TABLE IF NOT EXISTS versions (scope TEXT PRIMARY KEY, version INTEGER NOT NULL) WITHOUT ROWID"
)
_MOVED = """
INSERT INTO versions VALUES (?, 1) ON CONFLICT (scope) DO UPDATE SET version = version + 1
"""


class SQLiteExperienceStore:
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
            return dict(connection.execute("SELECT tool, content FROM experience WHERE scope = ?", (scope,)))

    async def version(self, scope: str) -> object:
        """Return the number of changes of the scope."""
        with self._open() as connection:
            return connection.execute("SELECT version FROM versions WHERE scope = ?", (scope,)).fetchone()

    async def swap(self, scope: str, tool: str, old: str | None, new: str | None) -> bool:
        """Replace the text of a tool if it is still `old`; see `ExperienceStore.swap`."""
        key = (scope, tool)
        with self._open() as connection, _transaction(connection):
            select = "SELECT content FROM experience WHERE scope = ? AND tool = ?"
            found = connection.execute(select, key).fetchone()
            if (None if found is None else found[0]) != old:
                return False
            if new is None:
                connection.execute("DELETE FROM experience WHERE scope = ? AND tool = ?", key)
            else:
                connection.execute("INSERT OR REPLACE INTO experience VALUES (?, ?, ?)", (*key, new))
            connection.execute(_MOVED, (scope,))
            return True

    async def scopes(self) -> Sequence[str]:
        """Return all scopes."""
        with self._open() as connection:
            return [row[0] for row in connection.execute("SELECT DISTINCT scope FROM experience")]

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
            connection.execute(_VERSIONS)
        except sqlite3.Error:
            connection.close()
            raise
        return connection


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")
