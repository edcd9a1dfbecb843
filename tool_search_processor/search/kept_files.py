"""Files that save work after a restart: found by what they were made from, and never half written."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import time
from glob import escape
from pathlib import Path
from stat import S_ISREG
from uuid import uuid4

from tool_search_processor.concurrency.rare_warnings import RareWarnings

logger = logging.getLogger(__name__)

_ABANDONED_SECONDS = 3600.0
"""A temporary file of this age belongs to a process that was killed."""
_TEMPORARY = ".tmp"
_DIGEST_BYTES = 32


class KeptFiles:
    """The files of one kind in a folder, found by a key; any number of processes may share it.

    A file that is damaged, or was not written for its key, is ignored and replaced. The files used last are
    kept. No failure of the disk is raised: it is logged, as a warning once in ten minutes.
    """

    def __init__(self, folder: Path, *, beginning: str, ending: str, most: int) -> None:
        """Use a folder; the first write creates it.

        Args:
            folder: Where the files are.
            beginning: What the names of these files begin with, and those of no others.
            ending: What they end with.
            most: How many to keep.
        """
        self._folder = folder
        self._beginning = beginning
        self._ending = ending
        self._most = most
        self._warnings = RareWarnings(logger)

    def read(self, key: bytes) -> memoryview | None:
        """Return what was written for a key; None if that is missing or damaged."""
        path = self._path(key)
        try:
            if not S_ISREG(path.stat().st_mode):  # a pipe would be waited for
                self.warn_unusable(key, "it is not a file")
                return None
            content = memoryview(path.read_bytes())
        except FileNotFoundError:
            return None
        except OSError as error:
            self.warn_unusable(key, error)
            return None
        body = content[_DIGEST_BYTES:]
        if content[:_DIGEST_BYTES] != _digest(key, body):
            self.warn_unusable(key, "it is damaged, or was not written for this catalog and version")
            return None
        with contextlib.suppress(OSError):  # the files used last are kept
            os.utime(path)
        return body

    def write(self, key: bytes, body: memoryview) -> None:
        """Put a whole file in place at once: a reader never sees a part of it."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._clean()
            self._put(self._path(key), _digest(key, body), body)
        except OSError as error:
            self._warn(f"no file can be kept in {self._folder}", error)

    def warn_unusable(self, key: bytes, why: object) -> None:
        """Log that the file of a key can't be used."""
        self._warn(f"{self._path(key)} can't be used, so it is made again", why)

    def _put(self, path: Path, *parts: bytes | memoryview) -> None:
        written = self._folder / f"{self._beginning}{uuid4().hex}{_TEMPORARY}"
        try:
            with written.open("xb") as file:
                file.writelines(parts)
            written.replace(path)  # after closing: Windows renames no open file
        except BaseException:
            written.unlink(missing_ok=True)
            raise

    def _path(self, key: bytes) -> Path:
        return self._folder / f"{self._beginning}{key.hex()[:40]}{self._ending}"

    def _clean(self) -> None:
        """Remove all but the latest files, and what killed processes left behind."""
        now = time.time()
        for path in self._folder.glob(f"{escape(self._beginning)}*{_TEMPORARY}"):
            if now - _last_use(path) > _ABANDONED_SECONDS:
                path.unlink(missing_ok=True)
        files = sorted(
            self._folder.glob(f"{escape(self._beginning)}*{self._ending}"), key=_last_use, reverse=True
        )
        for path in files[self._most - 1 :]:
            path.unlink(missing_ok=True)

    def _warn(self, message: str, why: object) -> None:
        self._warnings.warn(f"{message}: {why}", about="the disk")


def _last_use(path: Path) -> float:
    """Return when a file was last used; the time now if another process has just removed it."""
    try:
        return path.lstat().st_mtime
    except FileNotFoundError:
        return time.time()


def _digest(key: bytes, body: memoryview) -> bytes:
    digest = hashlib.sha256(key)
    digest.update(body)
    return digest.digest()
