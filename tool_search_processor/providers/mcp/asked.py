"""The hooks that answer what a server asks, each given no longer than a call of the server's tools."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tool_search_processor.providers.mcp.settings import Settings

if TYPE_CHECKING:
    from mcp_types import ErrorData

logger = logging.getLogger(__name__)


def timed_hook(option: str, settings: Settings) -> Callable[..., Any] | None:
    """Return a hook of the settings that answers in time, or says that it did not; None where there is none.

    The call itself has as long, but a server may extend it by reports of progress, and ask without a call.

    Args:
        option: "sampling", "elicitation" or "list_roots".
        settings: The provider's options.
    """
    hook: Callable[..., Any] | None = getattr(settings, option)
    seconds = settings.call_timeout_seconds
    if hook is None or seconds is None:
        return hook

    async def answer(*asked: Any) -> Any:
        scope = asyncio.timeout(seconds)
        try:
            async with scope:
                return await hook(*asked)
        except TimeoutError:
            if not scope.expired():
                raise
            logger.warning(
                "%s took longer than %g s to answer the MCP server %r", option, seconds, settings.name
            )
            return _too_late(option)

    return answer


def _too_late(option: str) -> ErrorData:
    from mcp_types import REQUEST_TIMEOUT, ErrorData

    return ErrorData(code=REQUEST_TIMEOUT, message=f"{option.replace('_', ' ')} took too long".capitalize())
