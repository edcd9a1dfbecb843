"""Experience in a file, which several processes may share."""

from __future__ import annotations

import logging
import os
import sqlite3
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from os import PathLike, fspath
from typing import TypeVar

from tool_search_processor.concurrency.closing import AsyncClosing
from tool_search_processor.concurrency.threads import Threads
from tool_search_processor.errors import StoreError
from tool_search_processor.stores.experience.sqlite_file import is_read_only, opened
from tool_search_processor.wire.checks import check_count, check_positive

_ValueT = TypeVar("_ValueT")

_INSERT = "INSERT OR IGNORE INTO experience VALUES (?, ?, ?)"
_UPDATE = "UPDATE experience SET content = ? WHERE scope = ? AND tool = ? AND content = ?"
_DELETE = "DELETE FROM experience WHERE scope = ? AND tool = ? AND content = ?"
_TOOL = "SELECT 1 FROM experience WHERE scope = ? AND tool = ?"
_TOOLS = "SELECT tool, content FROM experience WHERE scope = ?"
_SCOPES = "SELECT DISTINCT scope FROM experience"
_VERSION = "SELECT mark FROM scopes WHERE scope = ?"
_COUNT = "SELECT COUNT(*) FROM scopes"
_OLDEST = "SELECT scope FROM scopes ORDER BY changed LIMIT ?"

_logger = logging.getLogger(__name__)
_threads = Threads(4, name="tool-search-experience")
_inherited: list[sqlite3.Connection | None] = []
"""Connections of a parent process. A child must not even close them."""


class SQLiteExperienceStore(AsyncClosing):
    """Keeps experience in an SQLite file; processes of one machine may share it (write-ahead log).

    ```python
    search = ToolSearchProcessor([create_issue], experience=Experience(SQLiteExperienceStore("learned.db")))
    ```

    A file that can't be written is read, with a warning that nothing is learned.

    A statement takes less time than handing it to a thread, so it runs where it is called. Only while another
    process is writing, a thread waits for it.
    """

    def __init__(
        self, path: str | PathLike[str], *, timeout_seconds: float = 0.2, max_scopes: int = 10_000
    ) -> None:
        """Take the file's path; the file, and its folder, are made when they are first needed.

        Args:
            path: The file, used by nothing else.
            timeout_seconds: The longest to wait for another process that is writing.
            max_scopes: The most scopes to keep; the scope that was changed longest ago goes first.

        Raises:
            ConfigurationError: If an option can't work.
        """
        check_positive("timeout_seconds", timeout_seconds, finite=True)
        check_count("max_scopes", max_scopes)
        self._path = fspath(path)
        self._timeout_seconds = timeout_seconds
        self._max_scopes = max_scopes
        self._begin()

    def _begin(self) -> None:
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self.read_only = False
        """Whether the file, since it was opened, can only be read."""
        self._finalizer: weakref.finalize[[], SQLiteExperienceStore] | None = None

    async def read(self, scope: str) -> Mapping[str, str]:
        """Return the text of each tool of a scope."""
        return dict(await self._ask(lambda connection: connection.execute(_TOOLS, (scope,)).fetchall()))

    async def version(self, scope: str) -> object:
        """Return the scope's mark, which is another one after each change; None if it never had a tool."""
        row = await self._ask(lambda connection: connection.execute(_VERSION, (scope,)).fetchone())
        return row and row[0]

    async def swap(self, scope: str, tool: str, old: str | None, new: str | None) -> bool:
        """Replace the text of a tool if it is still `old`; see `ExperienceStore.swap`."""
        if old is None and new is None:
            found = await self._ask(lambda connection: connection.execute(_TOOL, (scope, tool)).fetchone())
            return found is None
        if old is None:
            is_done = await self._changes(_INSERT, scope, tool, new)
            if is_done:
                await self._ask(self._make_room)
            return is_done
        if new is None:
            return await self._changes(_DELETE, scope, tool, old)
        return await self._changes(_UPDATE, new, scope, tool, old)

    async def scopes(self) -> Sequence[str]:
        """Return all scopes."""
        return [row[0] for row in await self._ask(lambda asked: asked.execute(_SCOPES).fetchall())]

    async def purge(self) -> None:
        """Leave nothing of what was removed or replaced in the file and its write-ahead log.

        Raises:
            StoreError: If another process is reading or writing all the time.
        """
        command = "PRAGMA wal_checkpoint(TRUNCATE)"
        is_busy, *_ = await _threads.run(
            lambda: self._patiently(lambda asked: asked.execute(command).fetchone())
        )
        if is_busy:
            raise StoreError(
                f"{self._path!r} is in use, so its write-ahead log may still hold what was removed: try again"
            )

    async def aclose(self) -> None:
        """Close the file; it is opened again when it is needed."""
        with self._lock:
            if self._finalizer is not None:
                self._finalizer()
            self._connection = None

    async def _changes(self, statement: str, *values: str | None) -> bool:
        return bool(await self._ask(lambda connection: connection.execute(statement, values).rowcount == 1))

    def _make_room(self, connection: sqlite3.Connection) -> None:
        """Remove the scopes that were changed longest ago, if there are too many."""
        too_many = connection.execute(_COUNT).fetchone()[0] - self._max_scopes
        if too_many > 0:
            for (scope,) in connection.execute(_OLDEST, (too_many,)).fetchall():
                connection.execute("DELETE FROM experience WHERE scope = ?", (scope,))
                connection.execute("DELETE FROM scopes WHERE scope = ?", (scope,))

    async def _ask(self, ask: Callable[[sqlite3.Connection], _ValueT]) -> _ValueT:
        """Return the file's answer: at once, or from a thread while another caller uses the file."""
        if self._process != os.getpid():
            self._leave_parent()
        if self._connection is not None and self._lock.acquire(blocking=False):
            try:
                if self._connection is not None:
                    return ask(self._connection)
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:  # of which there are several kinds
                    raise
            finally:
                self._lock.release()
        return await _threads.run(lambda: self._patiently(ask))

    def _patiently(self, ask: Callable[[sqlite3.Connection], _ValueT]) -> _ValueT:
        with self._lock:
            if self._connection is None:
                self.read_only = is_read_only(self._path)
                self._connection = opened(
                    self._path, timeout_seconds=self._timeout_seconds, read_only=self.read_only
                )
                if self.read_only:
                    _logger.warning(
                        "%r can't be written: what it holds is used, and nothing is learned", self._path
                    )
                # a store that nobody closes leaves no open file behind
                self._finalizer = weakref.finalize(self, self._connection.close)
            try:
                _wait_for(self._connection, self._timeout_seconds)
                return ask(self._connection)
            finally:
                _wait_for(self._connection, 0)

    def _leave_parent(self) -> None:
        """Begin with a connection of this process, after a fork: SQLite's must not be used by two."""
        if self._finalizer is not None:
            self._finalizer.detach()
        _inherited.append(self._connection)
        self._begin()


def _wait_for(connection: sqlite3.Connection, seconds: float) -> None:
    """Make statements wait so long for another process."""
    connection.execute(f"PRAGMA busy_timeout = {int(1000 * seconds)}")
