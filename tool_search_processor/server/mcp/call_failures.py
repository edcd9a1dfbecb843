"""What foreign code raised: told to the log in full, and to the client in its own words, or masked."""

from __future__ import annotations

import logging

from mcp.shared.exceptions import MCPError

from tool_search_processor.errors import ToolArgumentsError, ToolSearchError
from tool_search_processor.session.tool_results import error_text, innermost, told_text

logger = logging.getLogger(__name__)


def failure_text(error: BaseException, *, what: str, is_masked: bool) -> str:
    """Log what foreign code raised, and return what its client is told.

    Args:
        error: What was raised.
        what: What failed.
        is_masked: Whether the client is told no more than that; errors that are meant to be read by it, those
            of this package and `MCPError`, are told all the same, unless they are about other arguments
            than its own.
    """
    level = logging.DEBUG if isinstance(error, ToolSearchError) else logging.WARNING
    logger.log(level, "%s failed: %s", what, error_text(error).removeprefix("Error: "), exc_info=error)
    masked = f"Error: {what} failed; the server's log says why."
    if is_masked and isinstance(innermost(error), ToolArgumentsError):
        return masked  # what is wrong with the client's own arguments doesn't come here
    return told_text(error, masked=masked if is_masked and not isinstance(error, MCPError) else None)
