"""What foreign code raised: logged in full, and shown to the client in its own words, or masked."""

from __future__ import annotations

import logging

from mcp.shared.exceptions import MCPError

from tool_search_processor.errors import ToolArgumentsError, ToolSearchError
from tool_search_processor.session.tool_results import error_text, innermost, told_text

logger = logging.getLogger(__name__)


def failure_text(error: BaseException, *, what: str, is_masked: bool) -> str:
    """Log what foreign code raised, and return what its client reads.

    Args:
        error: What was raised.
        what: What failed.
        is_masked: Whether the client reads no more than that; errors that are meant for it, those of this
            package and `MCPError`, are shown in any case, unless they are about other arguments
            than its own.
    """
    level = logging.DEBUG if isinstance(error, ToolSearchError) else logging.WARNING
    logger.log(level, "%s failed: %s", what, error_text(error).removeprefix("Error: "), exc_info=error)
    masked = f"Error: {what} failed; the server's log says why."
    if is_masked and isinstance(innermost(error), ToolArgumentsError):
        return masked  # problems of the client's own arguments don't come here
    return told_text(error, masked=masked if is_masked and not isinstance(error, MCPError) else None)
