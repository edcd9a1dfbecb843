"""Keeps the notes of a session's native requests, in memory and on the results that it returns."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tool_search_processor.session.model_call import ModelCall
from tool_search_processor.session.native.declarations import Record
from tool_search_processor.session.prepared_calls import PreparedCall

Note = Mapping[str, Any]


class SessionNotes:
    """Keeps what a request declared, until the conversation itself says so.

    The caller owns the conversation, so only results of ours can carry a note. A turn without calls has no
    result: what it declared is remembered for as long as the session lives.
    """

    def __init__(self) -> None:
        """Begin without notes."""
        self._kept: dict[int, tuple[str, Note]] = {}
        self._fresh: Note | None = None
        self._waiting: list[Note] = []
        """Notes that no result carries yet."""
        self._is_given = False

    def keep(self, messages: Sequence[Mapping[str, Any]], note: Note | None) -> None:
        """Keep the note of a request over these messages; None for a request that has none."""
        self._waiting = [] if self._is_given else self._waiting
        self._is_given = False
        self._fresh = note
        if note is not None:
            self._kept[len(messages)] = (_key(messages[-1:]), note)
            self._waiting.append(note)

    def put(self, messages: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        """Return the messages with each note on the answer to its request, where that answer is present."""
        noted = list(messages)
        for index, (before, note) in self._kept.items():
            if index < len(noted) and _key(noted[index - 1 : index]) == before:
                noted[index] = {**noted[index], "declared": note}
        return noted

    def complete(self, record: Record | None) -> Record | None:
        """Return a record, with the session's own list of tools if the conversation has lost its list."""
        if record is None or record.tools is not None or not self._kept:
            return record
        fixed = dict.fromkeys(name for _, note in self._kept.values() for name in note["tools"])
        return replace(record, tools=tuple(fixed))

    def of_result(
        self, model_call: ModelCall | None, call: PreparedCall, *, is_first: bool
    ) -> dict[str, Any]:
        """Return the notes of one result of the answer to the last request."""
        if model_call is None or model_call.record is None:
            return {}
        receipt = model_call.receipt(call)
        notes: dict[str, Any] = {} if receipt is None else {"receipt": dict(receipt)}
        if is_first and self._waiting:
            self._is_given = True
            fixed = dict.fromkeys(name for note in self._waiting for name in note["tools"])
            notes["declared"] = {**self._waiting[-1], **(self._fresh or {"names": []}), "tools": list(fixed)}
        return notes


def _key(messages: Sequence[Mapping[str, Any]]) -> str:
    return json.dumps(messages, sort_keys=True, default=str)
