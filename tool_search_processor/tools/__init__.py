"""Tools: definitions, and what runs when they are called."""

from tool_search_processor.tools.decorator import tool
from tool_search_processor.tools.execution import ToolContext
from tool_search_processor.tools.importers import ToolFields
from tool_search_processor.tools.tool import Tool

__all__ = ["Tool", "ToolContext", "ToolFields", "tool"]
