"""How a store keeps a loaded tool: its name, and a mark of its origin.

A name alone may come to mean another tool, when its own is gone and another provider lists the name.
"""

from __future__ import annotations

from collections.abc import Iterable

SEPARATOR = "@"
"""Occurs in no tool's name, so that stores can keep entries as they keep names."""


def entry_of(name: str, mark: str | None) -> str:
    """Return the entry of a tool: its name, and its mark if it has one."""
    return f"{name}{SEPARATOR}{mark}" if mark else name


def name_of(entry: str) -> str:
    """Return the name in an entry."""
    return entry.partition(SEPARATOR)[0]


def mark_in(entry: str) -> str:
    """Return the mark in an entry; empty for tools that were given directly."""
    return entry.partition(SEPARATOR)[2]


def names_of(entries: Iterable[str]) -> dict[str, str]:
    """Return the entries by name, in order; of several entries with one name the last."""
    return {name_of(entry): entry for entry in entries}
