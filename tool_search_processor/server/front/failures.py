"""What foreign code raised: told to the log in full, and to the client in its own words, or masked."""

from __future__ import annotations

import logging

from mcp.shared.exceptions import MCPError

from tool_search_processor.errors import ToolArgumentsError, ToolSearchError
from tool_search_processor.results import error_text, innermost, is_fit_for_the_model

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
    told = error_text(error)
    logger.log(level, "%s failed: %s", what, told.removeprefix("Error: "), exc_info=error)
    # What is wrong with the client's own arguments doesn't come here.
    is_meant = is_fit_for_the_model(error) and not isinstance(innermost(error), ToolArgumentsError)
    if not is_masked or is_meant or isinstance(error, MCPError):
        return told
    return f"Error: {what} failed; the server's log says why."
