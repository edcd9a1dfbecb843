"""Long lists, page by page."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import TypeVar

from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, PaginatedRequestParams

PAGE_SIZE = 1000
"""The most entries of one page. Few clients ask for a second one, so that the first is long."""

_LONGEST_CURSOR = 200
_ItemT = TypeVar("_ItemT")


def page_of(
    items: Sequence[_ItemT], params: PaginatedRequestParams | None
) -> tuple[Sequence[_ItemT], str | None]:
    """Return the page of one of the protocol's lists that a request asks for, and the cursor of the next one.

    Raises:
        MCPError: The cursor is invalid, or no longer valid.
    """
    start: int | None = 0
    if params is not None and params.cursor is not None:
        start = place_of(params.cursor)
    if start is None or (start and start >= len(items)):
        raise MCPError(INVALID_PARAMS, "Unknown cursor: begin the list again without one")
    end = start + PAGE_SIZE
    return items[start:end], cursor_of(end) if end < len(items) else None


def cursor_of(place: int, *, within: str = "") -> str:
    """Return the cursor of the page that begins at a place of a list, which `within` identifies."""
    return base64.urlsafe_b64encode(f"{place}:{within}".encode()).decode()


def place_of(cursor: str, *, within: str = "") -> int | None:
    """Return where a page begins; None if the cursor is not one of this list."""
    try:
        place, _, found = base64.urlsafe_b64decode(cursor[:_LONGEST_CURSOR]).decode().partition(":")
        start = int(place)
    except ValueError:
        return None
    return start if start > 0 and found == within else None
