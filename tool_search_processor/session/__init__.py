"""Tool search one model call at a time, for your own loop and for other frameworks."""

from tool_search_processor.session.foreign_tools import ForeignTool
from tool_search_processor.session.model_call import CallOptions, ModelCall
from tool_search_processor.session.prepared_calls import PreparedCall, ToolOutcome
from tool_search_processor.session.session import ToolSession

__all__ = ["CallOptions", "ForeignTool", "ModelCall", "PreparedCall", "ToolOutcome", "ToolSession"]
