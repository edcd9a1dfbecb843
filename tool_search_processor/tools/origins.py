"""Where a tool comes from: for catalogs only, and not part of its definition."""

from __future__ import annotations

_KEY = "_origin"
"""Kept outside the fields, like computed values: equal tools stay equal, and copies by `replace` keep it."""
_SOURCE = "_source"


class Origin:
    """A source of tools, equal only to itself."""

    __slots__ = ("label",)

    def __init__(self, label: str) -> None:
        """Name the source; the name is the same in every process."""
        self.label = label


def mark_origin(tool: object, origin: Origin) -> Origin:
    """Return the origin of a tool; the first catalog that lists it sets it to this one."""
    found: Origin = tool.__dict__.setdefault(_KEY, origin)
    return found


def origin_of(tool: object) -> Origin | None:
    """Return the origin of a tool, or of the tool it is a copy of; None if no catalog has listed it."""
    found: Origin | None = tool.__dict__.get(_KEY)
    return found


def keep_origin(copy: object, tool: object) -> None:
    """Give a copy the origin of its original."""
    if (origin := origin_of(tool)) is not None:
        copy.__dict__[_KEY] = origin


def put_source(tool: object, source: str) -> None:
    """Record on a step's copy of a tool where it is from, in the same words in every process."""
    tool.__dict__[_SOURCE] = source


def source_of(tool: object) -> str | None:
    """Return what `put_source` has noted; None without a note."""
    found: str | None = tool.__dict__.get(_SOURCE)
    return found
