"""What a client sends over standard input, where the SDK leaves a request without an answer."""

from __future__ import annotations

import json
from typing import Any, Self

from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter
from pydantic import ValidationError

from tool_search_processor.wire.plain import sendable


class MendedMessages:
    """A stream of messages in which half a character, say, costs that character, and not the request.

    The SDK reads less than JSON allows (no lone surrogate, 200 levels), and over standard input passes what
    it can't read over in silence: the client would wait for an answer that never comes.
    """

    def __init__(self, stream: Any) -> None:
        """Wrap the SDK's stream of messages, and of problems with messages that it couldn't read."""
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        """Return what the stream itself has."""
        return getattr(self._stream, name)

    def __aiter__(self) -> Self:
        """Read on to the end."""
        return self

    async def __anext__(self) -> Any:
        """Return the next message, or its problem."""
        item = await self._stream.__anext__()
        return _mended(item) if isinstance(item, ValidationError) else item


def _mended(problem: ValidationError) -> SessionMessage | ValidationError:
    first = problem.errors(include_url=False)[0]
    if first["type"] != "json_invalid":
        return problem
    try:
        message = sendable(json.loads(first["input"]))
        return SessionMessage(jsonrpc_message_adapter.validate_python(message, by_name=False))
    except (ValueError, RecursionError):
        return problem
