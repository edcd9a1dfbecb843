"""The SQLite file of experience: opened, checked, and made."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from tool_search_processor.errors import StoreError

_APPLICATION_ID = 0x54535850
"""Says, in the header of a file, that it is one of experience."""
_FORMAT = 1

# A change of a scope gives it another mark, which is random so that it depends on no clock.
_MARK = """
    INSERT INTO scopes VALUES ({row}.scope, random(), CAST(strftime('%s') AS INTEGER))
    ON CONFLICT DO UPDATE SET mark = excluded.mark, changed = excluded.changed;
"""
# Rows of some thousand bytes: without a rowid they would be kept in overflow pages.
_SCHEMA = f"""
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS scopes (scope TEXT PRIMARY KEY, mark INTEGER NOT NULL, changed INTEGER NOT NULL)
WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS experience
(scope TEXT NOT NULL, tool TEXT NOT NULL, content TEXT NOT NULL, UNIQUE (scope, tool));
CREATE TRIGGER IF NOT EXISTS added AFTER INSERT ON experience BEGIN {_MARK.format(row="new")} END;
CREATE TRIGGER IF NOT EXISTS changed AFTER UPDATE ON experience BEGIN {_MARK.format(row="new")} END;
CREATE TRIGGER IF NOT EXISTS removed AFTER DELETE ON experience BEGIN {_MARK.format(row="old")} END;
PRAGMA application_id = {_APPLICATION_ID};
PRAGMA user_version = {_FORMAT};
COMMIT;
"""


def is_read_only(path: str) -> bool:
    """Return True if a file is there, but it or its folder can't be written."""
    file = Path(path)
    return file.exists() and not (os.access(file, os.W_OK) and os.access(file.parent, os.W_OK))


def opened(path: str, *, timeout_seconds: float, read_only: bool) -> sqlite3.Connection:
    """Open a file, and make it, with its folder, if it isn't there and may be written.

    Raises:
        StoreError: If it is a database of another kind, or of another version of this package.
        sqlite3.Error: If it can't be opened, or is damaged.
        OSError: If its folder can't be made.
    """
    if not read_only:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(
        _address(path) if read_only else path,
        timeout=timeout_seconds,
        isolation_level=None,
        check_same_thread=False,
        uri=read_only,
    )
    try:
        _prepare(connection, path, read_only=read_only)
    except BaseException:
        connection.close()
        raise
    return connection


def _address(path: str) -> str:
    """Return a file's address for reading."""
    file = Path(path).absolute()
    # Where nobody writes, SQLite would still make files beside it for those who might.
    is_fixed = not os.access(file.parent, os.W_OK) and not Path(f"{file}-wal").exists()
    return f"{file.as_uri()}?mode=ro{'&immutable=1' if is_fixed else ''}"


def _prepare(connection: sqlite3.Connection, path: str, *, read_only: bool) -> None:
    kind, version, tables = (
        connection.execute(f"SELECT * FROM {source}").fetchone()[0]  # noqa: S608 - the three names below
        for source in ("pragma_application_id", "pragma_user_version", "(SELECT COUNT(*) FROM sqlite_master)")
    )
    if tables and kind != _APPLICATION_ID:
        raise StoreError(f"{path!r} is a database of another kind: give experience a file of its own")
    if tables and version != _FORMAT:
        raise StoreError(
            f"{path!r} has format {version} of experience, and this version of the package reads format "
            f"{_FORMAT}: give it another file"
        )
    if read_only:
        return
    if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        connection.execute("PRAGMA journal_mode = WAL")
    # A crash of the machine may lose the last calls; nothing else waits for the disk.
    connection.execute("PRAGMA synchronous = NORMAL")
    # What is replaced or removed is overwritten, not only left out.
    connection.execute("PRAGMA secure_delete = ON")
    if not tables:
        connection.executescript(_SCHEMA)
