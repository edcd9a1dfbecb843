"""Converts a conversation to a provider's shape, keeping messages that came in that shape as they were."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from tool_search_processor.wire.messages import Given
from tool_search_processor.wire.notes import notes_of, without_notes

Take = Callable[[Mapping[str, Any]], dict[str, Any] | None]
Write = Callable[[Sequence[Mapping[str, Any]]], list[dict[str, Any]]]


def restored(
    messages: Sequence[Mapping[str, Any]],
    given: Iterable[Given],
    *,
    take: Take,
    write: Write,
) -> list[dict[str, Any]]:
    """Return chat messages in another shape; a message that was not changed comes back as it was given.

    Chat shape has no place for much that providers want back: their own tools' results, ids, citations.

    Args:
        messages: The chat messages to send, with our notes.
        given: What they were made from.
        take: Returns an item as it is sent, or None if it is not in the shape.
        write: Makes items of the other messages; those that belong together are passed together.
    """
    originals = _Originals(given, take)
    result: list[dict[str, Any]] = []
    changed: list[Mapping[str, Any]] = []
    index = 0
    while index < len(messages):
        found = originals.next_for(messages, index)
        if found is None:
            changed.append(messages[index])
            index += 1
            continue
        result += [
            *write(changed),
            *found.before,
            *_with_notes(found.items, messages[index : index + found.length]),
        ]
        changed = []
        index += found.length
    return [*result, *write(changed), *originals.at_the_end()]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    items: Sequence[dict[str, Any]]
    length: int
    """How many chat messages were made from the items."""
    before: Sequence[dict[str, Any]]
    """Items that have no counterpart in chat shape."""


class _Originals:
    """The items that were given in the wanted shape, in order, found by their chat messages."""

    def __init__(self, given: Iterable[Given], take: Take) -> None:
        self._keys: list[list[str]] = []
        self._items: list[list[dict[str, Any]]] = []
        for one in given:
            taken = [item for item in map(take, one.items) if item is not None]
            if len(taken) == len(one.items):
                self._keys.append([*map(_key, one.messages)])
                self._items.append(taken)
        self._next = 0

    def next_for(self, messages: Sequence[Mapping[str, Any]], index: int) -> _Found | None:
        """Return the next original whose messages are at an index; originals before it are skipped."""
        wanted = _key(messages[index])
        for place in range(self._next, len(self._keys)):
            keys = self._keys[place]
            if keys[:1] == [wanted] and keys == [*map(_key, messages[index : index + len(keys)])]:
                first = place
                while first > self._next and not self._keys[first - 1]:
                    first -= 1
                before = [item for items in self._items[first:place] for item in items]
                self._next = place + 1
                return _Found(items=self._items[place], length=len(keys), before=before)
        return None

    def at_the_end(self) -> list[dict[str, Any]]:
        """Return the last items, if they have no counterpart in chat shape."""
        rest = reversed(list(zip(self._keys, self._items, strict=True))[self._next :])
        last = [items for _, items in takewhile(lambda pair: not pair[0], rest)]
        return [item for items in reversed(last) for item in items]


def _with_notes(
    items: Sequence[dict[str, Any]], messages: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return an original's items, the first with the notes that its turn has gained since."""
    turns = (message for message in messages if message.get("role") == "assistant")
    notes = {key: note for turn in turns for key, note in notes_of(turn).items()}
    return [{**items[0], **notes}, *items[1:]]


def _key(message: Mapping[str, Any]) -> str:
    return json.dumps(without_notes(message), sort_keys=True, default=str)
