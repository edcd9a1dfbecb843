"""Watches the definitions of foreign tools: a harmless tool may be changed later."""

from __future__ import annotations

import logging
import threading
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, get_args

from tool_search_processor.errors import ConfigurationError
from tool_search_processor.providers.changes import (
    HeldTool,
    ToolChange,
    changed_parts,
    definition_fingerprint,
    hold,
)
from tool_search_processor.tools import Tool
from tool_search_processor.wire.checks import check_choice

logger = logging.getLogger(__name__)

OnChange = Literal["warn", "block"]

_EXTERNAL = "external"
_MAX_GONE = 10_000
"""The most unlisted tools that are remembered, since a tool may come back changed."""
_MAX_TOLD = 5


@dataclass(slots=True)
class _Record:
    """What is known of one tool."""

    accepted: str
    offered: str
    tool: Callable[[], Tool | None] = lambda: None
    """The object last looked at, if it is still alive: the same object has the same definition."""


class Drift:
    """Remembers how each foreign tool was defined when it was first seen, or last accepted.

    Tools are known by the name that their provider lists them under.
    """

    def __init__(self, on_change: OnChange, known: Mapping[str, str]) -> None:
        """Start with what an earlier process knew.

        Raises:
            ConfigurationError: When an option can't work.
        """
        check_choice("on_change", on_change, get_args(OnChange))
        if not isinstance(known, Mapping) or not all(isinstance(item, str) for item in known.values()):
            raise ConfigurationError(
                f"known_fingerprints is what fingerprints() returned, found {known!r:.80}"
            )
        self._blocks = on_change == "block"
        self._records = {name: _Record(mark, mark) for name, mark in known.items()}
        self._changes: dict[str, ToolChange] = {}
        self._lock = threading.Lock()
        self.epoch = 0
        """Changes when something is accepted, and when the transforms change."""

    def watch(self, tools: Iterable[Tool], *, provider: str, foreign: bool) -> list[Tool]:
        """Return a provider's tools, with blocked tools as held ones, and report what changed.

        Args:
            tools: What it lists, each under a name of its own.
            provider: What the provider is called.
            foreign: Whether all of them are foreign; else only those whose type says so.
        """
        watched, news = [], []
        with self._lock:
            for tool in tools:
                if isinstance(tool, HeldTool) or not (foreign or tool.tool_type.startswith(_EXTERNAL)):
                    watched.append(tool)
                    continue
                if (change := self._look(tool, provider)) is not None:
                    news.append(change)
                blocking = self._changes.get(tool.name) if self._blocks else None
                watched.append(
                    tool if blocking is None else hold(tool, blocking, partial(self.accept, tool.name))
                )
            self._forget()
        if news:
            _warn(news, provider)
        return watched

    def accept(self, name: str, fingerprint: str | None = None) -> None:
        """Accept a tool's changed definition.

        Raises:
            ConfigurationError: When it has not changed, or has changed to something else.
        """
        with self._lock:
            change = self._changes.get(name)
            if change is None:
                raise ConfigurationError(f"no tool {name!r} has changed: see status().changed")
            if fingerprint not in (None, change.new_fingerprint):
                raise ConfigurationError(f"the tool {name!r} has changed again: see status().changed")
            del self._changes[name]
            self._records[name].accepted = change.new_fingerprint
            self.epoch += 1

    def renew(self) -> None:
        """Make every catalog that uses this unite its lists again."""
        with self._lock:
            self.epoch += 1

    def changes(self) -> Sequence[ToolChange]:
        """Return the changes that were not accepted."""
        with self._lock:
            return tuple(self._changes.values())

    def fingerprints(self) -> dict[str, str]:
        """Return the accepted fingerprint of each foreign tool that was seen, by name."""
        with self._lock:
            return {name: record.accepted for name, record in self._records.items()}

    def _look(self, tool: Tool, provider: str) -> ToolChange | None:
        """Return what changed since the last look."""
        record = self._records.get(tool.name)
        if record is not None and record.tool() is tool:
            return None
        offered = definition_fingerprint(tool)
        if record is None:
            self._records[tool.name] = _Record(offered, offered, weakref.ref(tool))
            return None
        record.tool = weakref.ref(tool)
        if offered == record.offered:
            return None
        record.offered, accepted = offered, record.accepted
        if offered == accepted:
            self._changes.pop(tool.name, None)
            return None
        change = ToolChange(
            name=tool.name,
            provider=provider,
            parts=changed_parts(accepted, offered),
            old_fingerprint=accepted,
            new_fingerprint=offered,
            blocked=self._blocks,
        )
        self._changes[tool.name] = change
        if not self._blocks:
            record.accepted = offered
        return change

    def _forget(self) -> None:
        """Drop the oldest of the tools that are no longer listed if there are too many."""
        if len(self._records) <= _MAX_GONE:
            return
        gone = [name for name, record in self._records.items() if record.tool() is None]
        for name in gone[: max(len(gone) - _MAX_GONE, 0)]:
            del self._records[name]
            self._changes.pop(name, None)


def _warn(changes: Sequence[ToolChange], provider: str) -> None:
    told = ", ".join(f"{change.name!r} ({', '.join(change.parts)})" for change in changes[:_MAX_TOLD])
    more = f" and {len(changes) - _MAX_TOLD} more" if len(changes) > _MAX_TOLD else ""
    result = "not served until catalog.accept(name)" if changes[0].blocked else "served as it is now"
    logger.warning(
        "the provider %r changed tools after they were first seen: %s%s: %s", provider, told, more, result
    )
