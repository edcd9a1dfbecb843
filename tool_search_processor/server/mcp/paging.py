"""Long lists of the protocol, page by page."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from typing import TypeVar

from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, PaginatedRequestParams

PAGE_SIZE = 1000
"""The most entries of one page. Few clients ask for a second one, so that the first is long."""

_LONGEST_CURSOR = 100
_ItemT = TypeVar("_ItemT")


def page_of(
    items: Sequence[_ItemT], params: PaginatedRequestParams | None
) -> tuple[Sequence[_ItemT], str | None]:
    """Return the page of a list that a request asks for, and the cursor of the next one.

    Raises:
        MCPError: The cursor is invalid, or no longer valid.
    """
    start = 0 if params is None or params.cursor is None else _place(params.cursor)
    if start and start >= len(items):
        raise MCPError(INVALID_PARAMS, "Unknown cursor: begin the list again without one")
    end = start + PAGE_SIZE
    return items[start:end], _cursor(end) if end < len(items) else None


def _cursor(start: int) -> str:
    return base64.urlsafe_b64encode(str(start).encode()).decode()


def _place(cursor: str) -> int:
    """Return where a page begins; past the end of any list for a cursor that is not ours."""
    try:
        place = int(base64.urlsafe_b64decode(cursor[:_LONGEST_CURSOR]))
    except (ValueError, binascii.Error):
        place = -1
    return place if place > 0 else 1 << 62
