"""Foreign tools whose definition changed after they were first seen."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from tool_search_processor.tools import Tool
from tool_search_processor.tools.origins import keep_origin

_PART_LENGTH = 32
"""Hexadecimal digits for each part of a definition: 128 bits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolChange:
    """A foreign tool whose definition differs from when it was first seen, or last accepted."""

    name: str
    provider: str
    parts: tuple[str, ...]
    """What changed: "description", "parameters", "output_schema", "annotations", "tags", "title", "route"."""
    old_fingerprint: str
    new_fingerprint: str
    blocked: bool
    """Whether it is not served until it is accepted."""


@dataclass(frozen=True)
class HeldTool(Tool):
    """A changed tool that keeps its place and its name on the way through transforms and catalogs.

    The outermost catalog removes it from its list, and knows it by the name that users see. It never
    runs.
    """

    __hash__ = Tool.__hash__

    change: ToolChange | None = field(default=None, repr=False, compare=False)
    accept: Callable[[str | None], None] | None = field(default=None, repr=False, compare=False)
    """Takes the fingerprint that is accepted, or None for the one now offered."""


def hold(tool: Tool, change: ToolChange, accept: Callable[[str | None], None]) -> HeldTool:
    """Return the tool as a held tool."""
    known = {f.name: getattr(tool, f.name) for f in fields(Tool)} | {"execute": None}
    held = HeldTool(**known, change=change, accept=accept)
    keep_origin(held, tool)
    return held


def definition_fingerprint(tool: Tool) -> str:
    """Return hashes of the parts of a tool's definition, one after the other.

    The name is not a part, nor is what the program adds: namespace, keywords, and metadata except for the
    title and, for an operation of an API, where it is called.
    """
    texts = (json.dumps(value, sort_keys=True, default=repr) for value in _parts(tool).values())
    return "".join(hashlib.sha256(text.encode()).hexdigest()[:_PART_LENGTH] for text in texts)


def changed_parts(old: str, new: str) -> tuple[str, ...]:
    """Return the names of the parts in which two fingerprints differ."""
    names = tuple(_parts(Tool("none")))
    if len(old) != len(new) or len(new) != len(names) * _PART_LENGTH:
        return ("definition",)
    places = range(0, len(new), _PART_LENGTH)
    return tuple(
        name
        for name, at in zip(names, places, strict=True)
        if old[at : at + _PART_LENGTH] != new[at : at + _PART_LENGTH]
    )


def _parts(tool: Tool) -> Mapping[str, Any]:
    return {
        "description": tool.description,
        "parameters": tool.parameters,
        "output_schema": tool.output_schema,
        "annotations": tool.annotations,
        "tags": sorted(tool.tags),
        "title": tool.metadata.get("title"),
        # of an operation of an API: whoever gets its calls
        "route": [tool.metadata.get(key) for key in ("method", "path", "server")],
    }
