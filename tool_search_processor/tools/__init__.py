"""Tools: definitions, and what runs when they are called."""

from tool_search_processor.tools.tool import Tool, ToolContext, ToolFields, tool

__all__ = ["Tool", "ToolContext", "ToolFields", "tool"]
