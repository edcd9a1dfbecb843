"""Servers of the Model Context Protocol as a provider; the SDK is imported at the first connection."""

from tool_search_processor.providers.mcp.asked import asking_call
from tool_search_processor.providers.mcp.provider import MCPProvider
from tool_search_processor.providers.mcp.settings import MCPProgress, is_destructive

__all__ = ["MCPProgress", "MCPProvider", "asking_call", "is_destructive"]
