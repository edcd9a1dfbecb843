"""The input processor: a few meta-tools and what is loaded, in place of the whole catalog."""

from tool_search_processor.processor.processor import ToolSearchProcessor

__all__ = ["ToolSearchProcessor"]
