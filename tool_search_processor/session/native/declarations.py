"""Where a conversation declares each tool, so that the list of tools stays the same for the whole thread."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from tool_search_processor.meta_tools import MetaTool
from tool_search_processor.stores.conversations import receipts_in
from tool_search_processor.tools import Tool
from tool_search_processor.wire.answers import is_result
from tool_search_processor.wire.plain import field_of, items_of, mapping_of

_DECLARED = "tool-search/declared"
_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Tools that become available, or are withdrawn, at one place of a conversation."""

    slot: int
    """The index of the message that it precedes."""
    added: tuple[Tool, ...] = ()
    """Declared here for the first time."""
    again: tuple[Tool, ...] = ()
    """Available again after having been withdrawn."""
    removed: tuple[str, ...] = ()
    result: tuple[int, str] | None = None
    """The index and call id of the meta-tool's result that loaded the tools; None if none did."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Declarations:
    """What one request declares, and where."""

    tools: tuple[Tool, ...]
    """The list of tools, which is the same at every request of a thread."""
    changes: tuple[Change, ...] = ()
    """In the order of the conversation."""
    note: Mapping[str, Any] | None = None
    """What only this request says: keep it as `declared` of the model's answer. None if there is nothing."""

    @property
    def declared(self) -> tuple[Tool, ...]:
        """Every tool that the request declares."""
        return (*self.tools, *(tool for change in self.changes for tool in change.added))


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What a conversation says was declared in it, read before anything was cut off."""

    tools: tuple[str, ...] | None = None
    """The names in the list of tools; None if no request of the conversation has noted them."""
    names: Mapping[str, int] = field(default_factory=dict)
    """The names that were declared in the conversation itself, in order, and how often."""
    withdrawn: frozenset[str] = frozenset()
    """The names that were unloaded or evicted, and not loaded again."""

    @property
    def all_names(self) -> tuple[str, ...]:
        """Every name that was declared."""
        return (*(self.tools or ()), *self.names)


def read_record(messages: Sequence[Any], tools: Iterable[Tool]) -> Record:
    """Read from a conversation what was declared in it.

    Args:
        messages: Of any shape: see `declare`.
        tools: The tools that are listed; results of the meta-tools among them are read.
    """
    events = [*_events(messages, tools)]
    lists = [event.fixed for event in events if event.fixed is not None]
    fixed = tuple(dict.fromkeys(chain(*lists)))
    withdrawn: set[str] = set()
    for event in events:
        withdrawn = (withdrawn | {*event.removed}) - {*event.names}
    names = {name: times for name, times in _counted(events).items() if name not in fixed}
    return Record(tools=fixed if lists else None, names=names, withdrawn=frozenset(withdrawn))


def declare(
    messages: Sequence[Any],
    tools: Sequence[Tool],
    *,
    standing: Sequence[Tool] = (),
    record: Record | None = None,
    fixed: Collection[str] = (),
) -> Declarations:
    """Decide where each tool is declared.

    A tool is declared after the results of the turn that loaded it. Tools that no result names (pinned,
    preloaded, or kept by a store) go into the list of tools at the first request that lists any; at a later
    one they are declared at the conversation's end, and a note keeps that place. Tools whose place was cut
    off with its messages are declared after the first message of the user, unless they were unloaded before
    the cut.

    Args:
        messages: What is sent: OpenAI chat messages, Anthropic messages or Responses items, as dicts or as
            SDK objects, with the notes in them.
        tools: The tools that are listed, in order.
        standing: Tools that were declared earlier and are no longer listed, but that policy still allows.
        record: Of the whole conversation, if messages were cut off; by default that of `messages`.
        fixed: Names that must be in the list of tools, such as those that a `tool_choice` names.
    """
    record = record or read_record(messages, tools)
    known = {tool.name: tool for tool in (*reversed(standing), *reversed(tools))}
    listed = [tool.name for tool in tools]
    events = [*_events(messages, tools)]
    placed = _counted(events)
    gone = record.withdrawn.difference(*(event.removed for event in events))
    lost = [name for name, times in record.names.items() if placed[name] < times and name not in gone]
    # providers take no empty list: where none of a list is left, such as another agent's, another begins
    is_first = not any(name in known for name in record.tools or ())
    new = [name for name in listed if name not in record.names and name not in (record.tools or ())]
    first = new if is_first else [name for name in new if name in fixed]
    named = [name for name in listed if name in fixed and name in record.names]
    base = dict.fromkeys((*(record.tools or ()), *first, *named))
    walk = _Walk(known, base)
    if lost:
        walk.add(_behind_first_user(messages), lost)
    for event in events:
        walk.apply(event)
    late = [name for name in listed if name not in walk.available]
    walk.add(len(messages), late)
    extended = [*first, *named]
    return Declarations(
        tools=tuple(known[name] for name in base if name in known),
        changes=tuple(sorted(walk.changes, key=lambda change: change.slot)),
        note=_note(extended, late) if record.tools is None or extended or late else None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Event:
    """What one result or one note says."""

    slot: int
    names: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    fixed: tuple[str, ...] | None = None
    """The names in the list of tools, if it says which."""
    result: tuple[int, str] | None = None


def _counted(events: Iterable[_Event]) -> Counter[str]:
    return Counter(name for event in events for name in event.names)


class _Walk:
    """Follows a conversation, keeping track of which tools are available and where that changes."""

    def __init__(self, known: Mapping[str, Tool], base: Iterable[str]) -> None:
        self._known = known
        self.available = {name for name in base if name in known}
        self._declared = set(self.available)
        self.changes: list[Change] = []

    def apply(self, event: _Event) -> None:
        """Apply an event."""
        removed = tuple(name for name in event.removed if name in self.available)
        if removed:
            self.changes.append(Change(slot=event.slot, removed=removed))
            self.available.difference_update(removed)
        self.add(event.slot, event.names, result=event.result)

    def add(self, slot: int, names: Iterable[str], *, result: tuple[int, str] | None = None) -> None:
        """Make tools available, as far as they are known."""
        new = [name for name in dict.fromkeys(names) if name in self._known and name not in self.available]
        if not new:
            return
        added = tuple(self._known[name] for name in new if name not in self._declared)
        again = tuple(self._known[name] for name in new if name in self._declared)
        self.changes.append(Change(slot=slot, added=added, again=again, result=result))
        self.available.update(new)
        self._declared.update(new)


def _events(messages: Sequence[Any], tools: Iterable[Tool]) -> Iterator[_Event]:
    """Yield what results and notes say, in the order of their places."""
    kinds: dict[str, str | None] = {tool.name: tool.notes for tool in tools if isinstance(tool, MetaTool)}
    spoke = 0
    waiting: list[_Event] = []
    for answer, found in receipts_in(messages, kinds):
        if answer.name is None:
            yield from waiting
            waiting, spoke = [], answer.index
        yield from _noted(messages[answer.index] if answer.name is None else answer.item, spoke)
        if found is not None:
            loads = found.kind == "loaded"
            event = _Event(
                slot=_behind_batch(messages, answer.index),
                names=found.names if loads else (),
                removed=found.evicted if loads else found.names,
                # another tool's answer must reach the model, so nothing may replace it
                result=(answer.index, answer.call_id) if answer.name in kinds else None,
            )
            waiting.append(event)
    yield from waiting


def _note(fixed: Sequence[str], late: Sequence[str]) -> dict[str, Any]:
    note = {"type": _DECLARED, "v": _VERSION, "tools": list(fixed), "names": list(late)}
    return {key: value for key, value in note.items() if value or key == "tools"}


def _noted(holder: Any, slot: int) -> Iterator[_Event]:
    note = mapping_of(field_of(holder, "declared"))
    if note.get("type") != _DECLARED or note.get("v") != _VERSION:
        return
    fixed, names = (
        tuple(name for name in items_of(note.get(key)) if isinstance(name, str)) for key in ("tools", "names")
    )
    yield _Event(slot=slot, names=names, fixed=fixed)


def _behind_batch(messages: Sequence[Any], index: int) -> int:
    """Return the place after all results of the turn that a result belongs to."""
    slot = index + 1
    while slot < len(messages) and is_result(messages[slot]):
        slot += 1
    return slot


def _behind_first_user(messages: Sequence[Any]) -> int:
    users = (
        index
        for index, message in enumerate(messages)
        if field_of(message, "role") == "user" and not is_result(message)
    )
    return next(users, len(messages) - 1) + 1
