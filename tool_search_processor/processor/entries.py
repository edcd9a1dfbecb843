"""How a store keeps a loaded tool: its name, and the mark of where it is from.

A name alone may come to mean another tool: its own is gone, and another provider lists one of the same name.
"""

from __future__ import annotations

from collections.abc import Iterable

SEPARATOR = "@"
"""In no tool's name, so that every store keeps entries as it keeps names."""


def entry_of(name: str, mark: str | None) -> str:
    """Return the entry of a tool: its name alone where it has no mark."""
    return f"{name}{SEPARATOR}{mark}" if mark else name


def name_of(entry: str) -> str:
    """Return the name in an entry."""
    return entry.partition(SEPARATOR)[0]


def mark_in(entry: str) -> str:
    """Return the mark in an entry, which is empty for tools that were given directly."""
    return entry.partition(SEPARATOR)[2]


def names_of(entries: Iterable[str]) -> dict[str, str]:
    """Return the entries by name, the last one of a name, in order."""
    return {name_of(entry): entry for entry in entries}
