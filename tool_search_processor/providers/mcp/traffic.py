"""Watches one connection: which request an answer belongs to, and whether the server reads."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from tool_search_processor.providers.mcp.failures import CUT_OFF, SERVERS_OWN, UNREACHED, UNREADABLE
from tool_search_processor.providers.mcp.left_out import LISTS
from tool_search_processor.providers.mcp.lines import ENDLESS
from tool_search_processor.providers.mcp.parts import MOST_LIST_PARTS, MOST_PARTS, has_more_parts
from tool_search_processor.providers.mcp.screening import Screen

if TYPE_CHECKING:
    from mcp_types import ErrorData
    from mcp_types.jsonrpc import JSONRPCError

_MOST_OPEN = 10_000
"""The most requests that are remembered: if the caller gave up, an answer may never come."""
_MOST_WAITING = 100
"""The most answers that the server has not taken; beyond it nothing is read until it takes one."""
_WAIT_SECONDS = 30.0

# JSON-RPC's members are unordered: the number comes before the result or after it.
_ID_FIRST = re.compile(r'\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d{1,18}|"[^"\\]{1,200}")\s*,')
_ID_LAST = re.compile(r',\s*"id"\s*:\s*(\d{1,18}|"[^"\\]{1,200}")\s*\}\s*$')
_END = 500
_UNREADABLE = "its answer is larger than what is read, or no message of the protocol"
_UNPARSED = ("Failed to parse JSON response", "Failed to parse SSE message")
"""How the SDK begins to say that an answer is not a message."""


class Traffic:
    """Follows the messages of one connection.

    The SDK starts a task for each request of the server. A server that asks without reading the answers
    would fill the memory with them, so nothing is read from a server that does not read.
    """

    def __init__(self, screen: Screen, *, version: Callable[[], str]) -> None:
        """Begin to follow.

        Args:
            screen: Checks and mends answers.
            version: Returns the agreed protocol version; called when lists and content arrive.
        """
        self._screen = screen
        self._version = version
        self._methods: dict[str, str] = {}
        self._waiting = 0
        self._has_room = asyncio.Event()
        self._has_room.set()
        self.fault = ""
        """Why nothing more is read from the server; empty while it is."""

    @contextlib.contextmanager
    def sending(self, message: Any) -> Iterator[None]:
        """Count a message as not yet taken by the server for as long as the block lasts."""
        if hasattr(message, "method"):
            if (number := getattr(message, "id", None)) is not None:
                if len(self._methods) >= _MOST_OPEN:
                    del self._methods[next(iter(self._methods))]
                self._methods[str(number)] = message.method
            yield
            return
        self._waiting += 1
        if self._waiting >= _MOST_WAITING:
            self._has_room.clear()
        try:
            yield
        finally:
            self._waiting -= 1
            self._has_room.set()

    async def has_room(self) -> bool:
        """Wait until more can be read from the server; return False if it takes no answers meanwhile."""
        try:
            async with asyncio.timeout(None if self._has_room.is_set() else _WAIT_SECONDS):
                await self._has_room.wait()
        except TimeoutError:
            self.fault = f"it asks, and has taken none of {self._waiting:,} answers for {_WAIT_SECONDS:g} s"
            return False
        return True

    def received(self, item: Any) -> Any:
        """Return what the SDK gets in an item's place: a message, or what could not be read as one."""
        from mcp.shared.message import SessionMessage

        if isinstance(item, Exception):
            found = self._unreadable(item)
            if found is None:
                return item
            item = SessionMessage(found)
        message = item.message
        if hasattr(message, "method"):
            if has_more_parts(message.params, MOST_PARTS):
                self.fault = "what it asks has more parts than anybody means"
            return item
        method = self._methods.pop(str(message.id), "")
        if hasattr(message, "error"):
            _retold(message.error)
            return item
        result = self._screen.cut(method, message.result)
        if has_more_parts(result, MOST_LIST_PARTS if method in LISTS else MOST_PARTS):
            return SessionMessage(_failed(message.id))
        message.result = self._screen.screened(method, result, version=self._version)
        return item

    def _unreadable(self, error: Exception) -> Any:
        """Return what is left of an answer, or the failure of its request; None if that is unknown."""
        from pydantic import ValidationError

        if not isinstance(error, ValidationError):
            return None
        line = error.errors(include_url=False)[0]["input"]
        if line == ENDLESS:
            self.fault = "it writes a line without an end"
            return None
        number = _number_in(line)
        if number is None or number not in self._methods:
            return None
        return self._without_deep(self._methods[number], line) or _failed(number)

    def _without_deep(self, method: str, line: object) -> Any:
        """Return the message of a line without what is nested too deeply; None if it still is not one."""
        from mcp_types.jsonrpc import jsonrpc_message_adapter

        if not isinstance(line, str):
            return None
        try:
            answer = json.loads(line)
            if not isinstance(answer, dict) or "result" not in answer:
                return None
            answer["result"] = self._screen.without_deep(method, answer["result"])
            # Read by the SDK again, which is stricter than `json`: it refuses half characters, for example.
            return jsonrpc_message_adapter.validate_json(json.dumps(answer), by_name=False)
        except (ValueError, RecursionError):
            return None


def _failed(number: Any) -> JSONRPCError:
    """Return the failure of a request whose answer can't be read."""
    from mcp_types import ErrorData
    from mcp_types.jsonrpc import JSONRPCError

    return JSONRPCError(jsonrpc="2.0", id=number, error=ErrorData(code=UNREADABLE, message=_UNREADABLE))


def _retold(error: ErrorData) -> None:
    """Give failures that the SDK found over HTTP codes of their own, by their code and words."""
    from mcp_types import CONNECTION_CLOSED, INVALID_REQUEST, PARSE_ERROR

    if error.code == PARSE_ERROR and error.message.startswith(_UNPARSED):
        error.code, error.message = UNREADABLE, _UNREADABLE
    elif error.code == INVALID_REQUEST and error.message.startswith("Redirect to "):
        error.code = UNREACHED
    elif error.code == CONNECTION_CLOSED:
        error.code = CUT_OFF if error.message.startswith("SSE stream ") else SERVERS_OWN


def _number_in(line: object) -> str | None:
    """Return the number of the request that a line answers although it isn't a message."""
    if isinstance(line, dict):
        number = line.get("id")
        return str(number) if isinstance(number, str | int) else None
    if not isinstance(line, str):
        return None
    found = _ID_FIRST.match(line) or _ID_LAST.search(line[-_END:])
    return found[1].strip('"') if found else None
