"""The status of a catalog and its providers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tool_search_processor.providers.changes import ToolChange
from tool_search_processor.providers.refusals import RefusedTool


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderStatus:
    """How one provider is doing."""

    name: str
    up: bool | None
    """False when its last listing failed, or it says that it is down; then its last good list is served, if
    all requests share it. None until it has been asked: nothing is known of it yet."""
    tools: int
    """How many of its tools are served; if it lists by request, how many the last list held."""
    last_read: float | None
    """When the list was last read, in seconds since the epoch; None before the first time."""
    age_seconds: float | None = None
    """How long ago the list was last known to hold; None before the first time."""
    error: str | None = None
    retry_in_seconds: float | None = None
    """For how long a provider that failed will not be asked again; None if it may be asked at once."""

    @property
    def state(self) -> Literal["up", "down", "not asked yet"]:
        """`up` in words."""
        if self.up is None:
            return "not asked yet"
        return "up" if self.up else "down"


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogStatus:
    """How the catalog's providers are doing, and which of their tools are not served."""

    providers: tuple[ProviderStatus, ...]
    refused: tuple[RefusedTool, ...]
    changed: tuple[ToolChange, ...] = ()
    """Foreign tools that changed after they were first seen, and were not accepted since."""

    def __str__(self) -> str:
        """Return a table: a line for each provider, refused tool and changed tool."""
        rows = [("provider", "state", "tools", "read", "")]
        rows += [
            (row.name, row.state, str(row.tools), _ago(row.age_seconds), row.error or "")
            for row in self.providers
        ]
        widths = [max(len(row[place]) for row in rows) for place in range(4)]
        lines = ["  ".join(map(str.ljust, row, [*widths, 0])).rstrip() for row in rows]
        lines += [f"refused: {tool.name} of {tool.provider}: {tool.reason}" for tool in self.refused]
        for change in self.changed:
            blocked = ", blocked until it is accepted" if change.blocked else ""
            lines.append(f"changed: {change.name} of {change.provider}: {', '.join(change.parts)}{blocked}")
        return "\n".join(lines)


def _ago(seconds: float | None) -> str:
    return "never" if seconds is None else f"{seconds:.0f} s ago"
