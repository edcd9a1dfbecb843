"""A catalog over the Model Context Protocol: `ToolServer`."""

from __future__ import annotations

try:
    import mcp  # noqa: F401 - imported here, so that its absence is one clear error
except ImportError as exc:
    raise ImportError('ToolServer needs the MCP SDK: pip install "tool-search-processor[server]"') from exc

from tool_search_processor.meta_tools import TARGET_META
from tool_search_processor.server.mcp.middleware import ToolCall
from tool_search_processor.server.mcp.questions import forward_elicitation, forward_progress, forward_sampling
from tool_search_processor.server.mcp.rules import SessionRules
from tool_search_processor.server.mcp.server import ToolServer
from tool_search_processor.server.mcp.tool_modes import Mode, on_demand

__all__ = [
    "TARGET_META",
    "Mode",
    "SessionRules",
    "ToolCall",
    "ToolServer",
    "forward_elicitation",
    "forward_progress",
    "forward_sampling",
    "on_demand",
]
