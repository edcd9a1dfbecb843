"""The input processor: lists a few meta-tools and the loaded tools instead of the whole catalog."""

from tool_search_processor.processor.processor import ToolSearchProcessor

__all__ = ["ToolSearchProcessor"]
