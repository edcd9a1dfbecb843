"""A loop of the user's own over any input processors."""

from tool_search_processor.session.session import ToolSession

__all__ = ["ToolSession"]
