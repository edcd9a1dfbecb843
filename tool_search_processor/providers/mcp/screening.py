"""Answers of a server, looked at before the SDK does: one bad entry costs that entry.

The SDK checks an answer as a whole, so that one tool without a schema would cost a server all its tools, and
one block of a kind that is new a whole result.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from tool_search_processor.providers.mcp.failures import fault_text
from tool_search_processor.providers.mcp.parts import MOST_LIST_PARTS, MOST_PARTS, has_more_levels

logger = logging.getLogger(__name__)

_LISTS = {
    "tools/list": ("tools", "a tool"),
    "resources/list": ("resources", "a resource"),
    "resources/templates/list": ("resourceTemplates", "a template of resources"),
    "prompts/list": ("prompts", "a prompt"),
}
"""Where a list stands in its answer, and what the log calls one entry; a bad one is left out."""

_CONTENTS = {"tools/call": "content", "resources/read": "contents", "prompts/get": "messages"}
"""Where content stands in an answer; a note takes the place of a bad block."""

_MOST_TOLD = 1_000
_MOST_LISTED = 20_000
"""Entries of one page of a list."""
_MOST_BLOCKS = 1_000
"""Blocks of one content."""
_DEEPEST_ENTRY = 190
"""Levels of an entry of a list; the SDK reads 200 of a message, and three stand around the entry."""
_LONGEST_NAME = 100


class Screen:
    """Takes the bad entries out of one server's answers."""

    def __init__(self, server: str) -> None:
        """Begin with nothing told; `server` is what warnings call it."""
        self._server = server
        self._told: set[tuple[str, ...]] = set()

    def screened(self, method: str, result: dict[str, Any], *, version: Callable[[], str]) -> dict[str, Any]:
        """Return a result whose entries the SDK accepts; the same object where nothing is wrong.

        What is wrong beside the entries stays: nothing of such an answer can be used.

        Args:
            method: The request that it answers.
            result: As it came.
            version: Tells the protocol's, as it was agreed on.
        """
        key = _key_of(method)
        entries = result.get(key)
        if not isinstance(entries, list):
            return result
        fault_in = partial(_fault, method, version())
        if fault_in(result) is None or fault_in({**result, key: []}) is not None:
            return result
        kept = []
        for entry in entries:
            fault = fault_in({**result, key: [entry]})
            if fault is None:
                kept.append(entry)
            elif method in _LISTS:
                self._tell(method, entry, fault)
            else:
                kept.append(_NOTES[method](entry))
        return {**result, key: kept}

    def cut(self, method: str, result: dict[str, Any]) -> dict[str, Any]:
        """Return a result whose list or content has no more entries than are looked at."""
        key, most = _key_of(method), _MOST_LISTED if method in _LISTS else _MOST_BLOCKS
        entries = result.get(key)
        if not isinstance(entries, list) or len(entries) <= most:
            return result
        logger.warning(
            "the MCP server %r gave %s %s; %s are taken", self._server, f"{len(entries):,}", key, most
        )
        return {**result, key: entries[:most]}

    def without_deep(self, method: str, result: Any) -> Any:
        """Return a list's answer less the entries that are too deep for the SDK, and any other as it is.

        Args:
            method: The request that it answers.
            result: As it was read by itself, of any shape.
        """
        key = _key_of(method)
        entries = result.get(key) if method in _LISTS and isinstance(result, dict) else None
        if not isinstance(entries, list):
            return result
        kept = []
        for entry in entries:
            if has_more_levels(entry, _DEEPEST_ENTRY):
                self._tell(method, entry, f"it is nested more than {_DEEPEST_ENTRY} levels deep")
            else:
                kept.append(entry)
        return {**result, key: kept}

    @staticmethod
    def most_parts(method: str) -> int:
        """Return how many parts an answer may have."""
        return MOST_LIST_PARTS if method in _LISTS else MOST_PARTS

    def _tell(self, method: str, entry: Any, fault: str) -> None:
        """Warn of an entry, once: lists are read again and again."""
        _, kind = _LISTS[method]
        name = _text_of(entry, "name") or _text_of(entry, "uri")
        if (method, name, fault) not in self._told and len(self._told) < _MOST_TOLD:
            self._told.add((method, name, fault))
            logger.warning("%s of the MCP server %r is left out: %r: %s", kind, self._server, name, fault)


def _key_of(method: str) -> str:
    """Return where the entries of an answer stand; nowhere where it has none."""
    return _LISTS[method][0] if method in _LISTS else _CONTENTS.get(method, "")


def _fault(method: str, version: str, result: Mapping[str, Any]) -> str | None:
    """Return what the SDK would find wrong, None where that is nothing."""
    from mcp.types import methods
    from pydantic import ValidationError

    try:
        methods.parse_server_result(method, version, result)
    except ValidationError as exc:
        return fault_text(exc, skip=2)  # the list, and the place in it
    return None


def _text_of(entry: Any, key: str) -> str:
    value = entry.get(key) if isinstance(entry, Mapping) else None
    return value[:_LONGEST_NAME] if isinstance(value, str) else ""


def _block(entry: Any) -> dict[str, Any]:
    kind = _text_of(entry, "type") or "unknown kind"
    return {"type": "text", "text": f"[{kind}: content that can't be read, not shown]"}


def _resource(entry: Any) -> dict[str, Any]:
    return {"uri": _text_of(entry, "uri"), "text": _block({})["text"]}


def _message(entry: Any) -> dict[str, Any]:
    content = entry.get("content") if isinstance(entry, Mapping) else None
    return {
        "role": "assistant" if _text_of(entry, "role") == "assistant" else "user",
        "content": _block(content),
    }


_NOTES: dict[str, Callable[[Any], dict[str, Any]]] = {
    "tools/call": _block,
    "resources/read": _resource,
    "prompts/get": _message,
}
