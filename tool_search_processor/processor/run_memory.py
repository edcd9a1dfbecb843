"""What one run of a conversation has seen, loaded and called.

Stores keep a loaded tool as an *entry*: its name, and a mark of its origin. A name alone could come to mean
another tool: its tool may go, and another provider may list the name.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from tool_search_processor.catalog.request_view import CatalogView
from tool_search_processor.processor.loop_guard import LoopGuard
from tool_search_processor.tools import Tool

SEPARATOR = "@"
"""Separates name and mark in an entry. No tool's name contains it, so stores can treat entries as names."""


class Forgotten(set[str]):
    """Names that were unloaded from a thread, shared by all current runs of the thread."""

    everything = False
    """Whether all tools of the thread were forgotten."""


@dataclass(slots=True)
class RunMemory:
    """What one run has seen; it is kept in `step.state` and ends with the run."""

    entries: dict[str, None] = field(default_factory=dict)
    """The loaded entries in load order; they stay until the run ends, even if they expire meanwhile."""
    seen: dict[str, str] = field(default_factory=dict)
    """The entries by name, without those whose name another tool has now."""
    view: CatalogView | None = None
    """The catalog as the run saw it last."""
    in_use: dict[str, None] = field(default_factory=dict)
    """Names loaded or called in this run, the least recent first; the run itself never evicts them."""
    left: set[str] = field(default_factory=set)
    """Names evicted or unloaded in this run and not loaded again since."""
    guard: LoopGuard = field(default_factory=LoopGuard)
    withheld: tuple[Tool, ...] = ()
    """Tools that the last step brought and that the model has to find first."""
    passed_through: bool = False
    """Whether the last step listed every tool and no meta-tool."""
    turn: tuple[int, str] | None = None
    """The user turn that tools were preloaded for."""
    forgotten: Forgotten = field(default_factory=Forgotten)
    """Names unloaded from the thread during this run, by the run or by a program."""
    unsettled: dict[str, str | None] = field(default_factory=dict)
    """Tools called without being listed, each with why the filter gave no verdict; None if it gave one."""

    def use(self, names: Iterable[str]) -> None:
        """Record that tools were loaded or called just now."""
        for name in names:
            self.in_use.pop(name, None)
            self.in_use[name] = None

    def used(self) -> list[str]:
        """Return the entries loaded or called and not unloaded since, the least recent first."""
        if self.forgotten.everything:
            return []
        used = (name for name in self.in_use if name not in self.forgotten)
        return [self.seen[name] for name in used if name in self.seen]

    def mark(self, name: str) -> str | None:
        """Return the mark of the tool that has a name now; None if there is no such tool."""
        return None if self.view is None else self.view.mark(name)

    def see(self, entries: Iterable[str]) -> None:
        """Record what a store holds; a tool that the catalog lacks right now counts as loaded too."""
        self.entries.update(dict.fromkeys(entries))
        self.seen = {
            name: entry
            for entry in self.entries
            for name, _, mark in [entry.partition(SEPARATOR)]
            if self.mark(name) in (None, mark)
        }

    def is_another(self, name: str) -> bool:
        """Return True if the tool of a loaded name is gone, and another has the name now."""
        mark = self.mark(name)
        is_known = mark is not None and name in names_of(self.entries)
        return is_known and entry_of(name, mark) not in self.entries

    def forget(self, names: Collection[str]) -> None:
        """Forget every entry of some names."""
        for name in names:
            self.seen.pop(name, None)
            self.in_use.pop(name, None)
        for entry in [entry for entry in self.entries if name_of(entry) in names]:
            del self.entries[entry]


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
