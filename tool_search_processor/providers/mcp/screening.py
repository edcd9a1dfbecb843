"""Checks a server's answers before the SDK does, so that a bad entry costs that entry at most.

The SDK checks an answer as a whole, so that one tool without a schema would cost a server all its tools, and
one block of a new kind a whole result.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from tool_search_processor.providers.mcp.failures import fault_text
from tool_search_processor.providers.mcp.left_out import LISTS, LeftOut, shortened
from tool_search_processor.providers.mcp.mending import mended
from tool_search_processor.providers.mcp.parts import has_more_levels
from tool_search_processor.wire.plain import mapping_of

if TYPE_CHECKING:
    from pydantic import ValidationError

logger = logging.getLogger(__name__)

_CONTENTS = {"tools/call": "content", "resources/read": "contents", "prompts/get": "messages"}
"""Where content stands in an answer; a note takes the place of a bad block."""

_MOST_LISTED = 20_000
"""Entries of one page of a list."""
_MOST_BLOCKS = 1_000
"""Blocks of one content."""
_DEEPEST_ENTRY = 190
"""Levels of an entry of a list; the SDK reads 200 of a message, and three stand around the entry."""
_PLACE = 2
"""How many parts of a fault's place are the list, and the entry's place in it."""


class Screen:
    """Mends the bad entries of one server's answers, or takes them out."""

    def __init__(self, left_out: LeftOut) -> None:
        """Set what records the entries that are left out; it knows the server."""
        self._left_out = left_out
        self._server = left_out.server

    def screened(self, method: str, result: dict[str, Any], *, version: Callable[[], str]) -> dict[str, Any]:
        """Return a result whose entries the SDK accepts.

        What is wrong outside the entries stays: nothing in such an answer can be used.

        Args:
            method: The request that it answers.
            result: As it came.
            version: Returns the protocol version that was agreed on.
        """
        key = _key_of(method)
        if not key:
            return result
        agreed = version()
        if method == "tools/call":
            result = _with_result(result, takes_any=_is_modern(agreed))
        if method in _CONTENTS and key in result:
            result = {**result, key: _blocks(method, result[key])}
        entries = result.get(key)
        if not isinstance(entries, list):
            return result
        fault_in = partial(_fault, method, agreed)
        if fault_in(result) is not None and fault_in({**result, key: []}) is None:
            kept = (
                self._kept(method, each, lambda one: fault_in({**result, key: [one]})) for each in entries
            )
            result = {**result, key: [each for each in kept if each is not None]}
        return self._without_bad_headers(result) if method == "tools/list" and _is_modern(agreed) else result

    def _kept(self, method: str, entry: Any, find_fault: Callable[[Any], ValidationError | None]) -> Any:
        """Return an entry as the SDK accepts it, mended or replaced by a note; None if it is left out."""
        if find_fault(entry) is None:
            return entry
        if method not in LISTS:
            return _note(method, entry)
        better = mended(method, entry, lambda each: _place(find_fault(each)))
        if (fault := find_fault(better)) is not None:
            self._left_out.note(method, _name_of(entry), fault_text(fault, skip=_PLACE))
            return None
        told = "%s of the MCP server %r is mended: %r"
        logger.info(told, LISTS[method].entry, self._server, shortened(_name_of(entry)))
        return better

    def _without_bad_headers(self, result: dict[str, Any]) -> dict[str, Any]:
        """Return a list of tools without those that the SDK drops silently, as the protocol asks it to."""
        from mcp.shared.inbound import find_invalid_x_mcp_header

        kept = []
        for tool in result["tools"]:
            if fault := find_invalid_x_mcp_header(mapping_of(tool).get("inputSchema")):
                self._left_out.note("tools/list", _name_of(tool), f"its x-mcp-header is invalid: {fault}")
            else:
                kept.append(tool)
        return {**result, "tools": kept}

    def cut(self, method: str, result: dict[str, Any]) -> dict[str, Any]:
        """Return a result whose list or content is cut to the entries that are checked."""
        key, most = _key_of(method), _MOST_LISTED if method in LISTS else _MOST_BLOCKS
        entries = result.get(key)
        if not isinstance(entries, list) or len(entries) <= most:
            return result
        logger.warning(
            "the MCP server %r gave %s %s; %s are taken", self._server, f"{len(entries):,}", key, most
        )
        return {**result, key: entries[:most]}

    def without_deep(self, method: str, result: Any) -> Any:
        """Return a list's answer without entries too deep for the SDK, and any other answer unchanged.

        Args:
            method: The request that it answers.
            result: As it was read by itself, of any shape.
        """
        key = _key_of(method)
        entries = result.get(key) if method in LISTS and isinstance(result, dict) else None
        if not isinstance(entries, list):
            return result
        kept = []
        for entry in entries:
            if has_more_levels(entry, _DEEPEST_ENTRY):
                self._left_out.note(
                    method, _name_of(entry), f"it is nested more than {_DEEPEST_ENTRY} levels deep"
                )
            else:
                kept.append(entry)
        return {**result, key: kept}


def _with_result(result: dict[str, Any], *, takes_any: bool) -> dict[str, Any]:
    """Return a tool's result that has `content`; the first protocol had `toolResult`, which may be anything.

    Data that isn't an object is put into one, unless the protocol takes any.
    """
    if result.get("resultType", "complete") != "complete":
        return result
    data = result.get("structuredContent")
    if data is not None and not isinstance(data, Mapping) and not takes_any:
        result = {**result, "structuredContent": {"result": data}}
    content = result.get("content")
    if content is None and result.get("toolResult") is not None:
        given = result["toolResult"]
        content = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
    return {**result, "content": content or []}


def _blocks(method: str, content: Any) -> Any:
    """Return content as a list of blocks, even if it is a single block or a string."""
    if isinstance(content, str):
        content = _of_text(method, content)
    blocks = [content] if isinstance(content, Mapping) else content
    if method != "prompts/get" or not isinstance(blocks, list):
        return blocks
    return [inner for block in blocks for inner in _messages(block)]


def _messages(message: Any) -> list[Any]:
    """Return a prompt's message, whose content is one block, or a message for each block that it has."""
    content = message.get("content") if isinstance(message, Mapping) else None
    if not isinstance(content, str | list):
        return [message]
    return [{**message, "content": block} for block in _blocks("tools/call", content)]


def _key_of(method: str) -> str:
    """Return the key that holds an answer's entries; empty if it has no entries."""
    return LISTS[method].wire_key if method in LISTS else _CONTENTS.get(method, "")


def _fault(method: str, version: str, result: Mapping[str, Any]) -> ValidationError | None:
    """Return what the SDK would find wrong; None if nothing is wrong."""
    from mcp.types import methods
    from pydantic import ValidationError

    try:
        methods.parse_server_result(method, version, result)
    except ValidationError as exc:
        return exc
    return None


def _place(fault: ValidationError | None) -> tuple[str, ...] | None:
    """Return where the first fault of an entry is, as keys from the outside in; None if it has no fault."""
    if fault is None:
        return None
    first = fault.errors(include_url=False, include_input=False)[0]
    return tuple(map(str, first["loc"][_PLACE:]))


def _is_modern(version: str) -> bool:
    from mcp_types.version import MODERN_PROTOCOL_VERSIONS

    return version in MODERN_PROTOCOL_VERSIONS


def _name_of(entry: Any) -> str:
    return _text_of(entry, "name") or _text_of(entry, "uri") or _text_of(entry, "uriTemplate")


def _text_of(entry: Any, key: str) -> str:
    value = mapping_of(entry).get(key)
    return value if isinstance(value, str) else ""


def _note(method: str, entry: Any) -> dict[str, Any]:
    """Return what takes the place of content that can't be read."""
    block = mapping_of(entry).get("content") if method == "prompts/get" else entry
    kind = shortened(_text_of(block, "type")) or "unknown kind"
    return _of_text(method, f"[{kind}: content that can't be read, not shown]", entry)


def _of_text(method: str, text: str, entry: Any = None) -> dict[str, Any]:
    """Return a text as content, with what can be kept of the entry in whose place it stands."""
    if method == "resources/read":
        return {"uri": _text_of(entry, "uri"), "text": text}
    block = {"type": "text", "text": text}
    if method == "tools/call":
        return block
    return {"role": "assistant" if _text_of(entry, "role") == "assistant" else "user", "content": block}
