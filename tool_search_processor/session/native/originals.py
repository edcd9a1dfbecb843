"""Converts a conversation to a provider's shape, keeping messages that came in that shape as they were."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from tool_search_processor.wire.messages import Given
from tool_search_processor.wire.notes import notes_of, without_notes

Take = Callable[[Mapping[str, Any]], dict[str, Any] | None]
Write = Callable[[Sequence[Mapping[str, Any]]], list[dict[str, Any]]]


def restored(
    messages: Sequence[Mapping[str, Any]], given: Iterable[Given], *, take: Take, write: Write
) -> list[dict[str, Any]]:
    """Return chat messages in another shape; a message that was not changed comes back as it was given.

    Chat shape has no place for much that providers want back: their own tools' results, ids, citations.

    Args:
        messages: The chat messages to send, with our notes.
        given: What they were made from.
        take: Returns an item as it is sent, or None if it is not in the shape.
        write: Makes items of the other messages; those that belong together are passed together.
    """
    originals = [*_originals(given, take)]
    keys = [*map(_key, messages)]
    result: list[dict[str, Any]] = []
    changed: list[Mapping[str, Any]] = []
    start = index = 0
    while index < len(messages):
        places = range(start, len(originals))
        place = next((n for n in places if _stands_at(originals[n].keys, keys, index)), None)
        if place is None:
            changed.append(messages[index])
            index += 1
            continue
        found = originals[place]
        end = index + len(found.keys)
        result += [
            *write(changed),
            *_silent_at_the_end(originals[start:place]),
            *_with_notes(found.items, messages[index:end]),
        ]
        changed, start, index = [], place + 1, end
    return [*result, *write(changed), *_silent_at_the_end(originals[start:])]


@dataclass(frozen=True, slots=True)
class _Original:
    """Items in the wanted shape, and the keys of the chat messages that were made from them."""

    items: list[dict[str, Any]]
    keys: list[str]


def _originals(given: Iterable[Given], take: Take) -> Iterator[_Original]:
    """Yield what was given in the wanted shape."""
    for one in given:
        taken = [item for item in map(take, one.items) if item is not None]
        if len(taken) == len(one.items):
            yield _Original(taken, [*map(_key, one.messages)])


def _stands_at(own: Sequence[str], keys: Sequence[str], index: int) -> bool:
    return bool(own) and own == keys[index : index + len(own)]


def _silent_at_the_end(originals: Sequence[_Original]) -> list[dict[str, Any]]:
    """Return the items of the last originals, as far as they have no counterpart in chat shape."""
    last = [*takewhile(lambda one: not one.keys, reversed(originals))]
    return [item for one in reversed(last) for item in one.items]


def _with_notes(
    items: Sequence[dict[str, Any]], messages: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return an original's items, the first with the notes that its turn has gained since."""
    turns = (message for message in messages if message.get("role") == "assistant")
    notes = {key: note for turn in turns for key, note in notes_of(turn).items()}
    return [{**items[0], **notes}, *items[1:]]


def _key(message: Mapping[str, Any]) -> str:
    return json.dumps(without_notes(message), sort_keys=True, default=str)
