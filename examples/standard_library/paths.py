"""File paths and command lines as text, by `pathlib` and `shlex`; no file is touched."""

from __future__ import annotations

import posixpath
import shlex
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any


def parse_file_path(path: str) -> dict[str, Any]:
    """Take a file path apart: folder, name, stem and extensions.

    Args:
        path: A path with slashes, such as "/var/log/app.tar.gz".
    """
    parsed = PurePosixPath(path)
    return {
        "folder": str(parsed.parent),
        "name": parsed.name,
        "stem": parsed.stem,
        "extensions": parsed.suffixes,
        "absolute": parsed.is_absolute(),
    }


def join_file_path(parts: list[str]) -> str:
    """Join folders and a file name into one path.

    Args:
        parts: The parts, from the root.
    """
    return str(PurePosixPath(*parts))


def normalize_file_path(path: str) -> str:
    """Resolve the . and .. of a file path, without looking at the disk.

    Args:
        path: The path.
    """
    return posixpath.normpath(path)


def relative_file_path(path: str, start: str) -> str:
    """Find the relative path from a folder to a file.

    Args:
        path: Where to go.
        start: The folder to start from.
    """
    return posixpath.relpath(path, start)


def change_file_extension(path: str, extension: str) -> str:
    """Change the extension of a file name.

    Args:
        path: The path.
        extension: The new extension with its dot, such as ".md".
    """
    return str(PurePosixPath(path).with_suffix(extension))


def windows_path_to_posix(path: str) -> str:
    r"""Write a Windows path with forward slashes.

    Args:
        path: With backslashes, such as "C:\Users\ada".
    """
    return PureWindowsPath(path).as_posix()


def common_folder(paths: list[str]) -> str:
    """Find the deepest folder that several paths share.

    Args:
        paths: The paths, all absolute or all relative.
    """
    return posixpath.commonpath(paths)


def path_matches_glob(path: str, glob: str) -> bool:
    """Check whether a path fits a glob pattern such as *.py.

    Args:
        path: The path.
        glob: The pattern, matched from the right.
    """
    return PurePosixPath(path).match(glob)


def path_to_file_url(path: str) -> str:
    """Write an absolute file path as a file:// URL.

    Args:
        path: The absolute path.
    """
    return PurePosixPath(path).as_uri()


def split_command_line(command: str) -> list[str]:
    """Split a shell command line into its words, quotes respected; runs nothing.

    Args:
        command: Such as "grep -r 'two words' src".
    """
    return shlex.split(command)


def quote_command_line(words: list[str]) -> str:
    """Join words into a shell command line, quoted where needed; runs nothing.

    Args:
        words: The words.
    """
    return shlex.join(words)
