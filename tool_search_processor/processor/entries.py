"""The form in which stores keep a loaded tool: its name, and a mark of its origin.

A name alone could come to mean another tool: its tool may go, and another provider may list the name.
"""

from __future__ import annotations

from collections.abc import Iterable

SEPARATOR = "@"
"""Separates name and mark. No tool's name contains it, so stores can treat entries as names."""


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
    """Return the entries by name, in order; the last one if several have the same name."""
    return {name_of(entry): entry for entry in entries}
