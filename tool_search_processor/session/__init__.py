"""One model call at a time, for a loop of the user's own and for other frameworks."""

from tool_search_processor.session.foreign_tools import ForeignTool
from tool_search_processor.session.model_call import CallOptions, ModelCall
from tool_search_processor.session.prepared_calls import PreparedCall, ToolOutcome
from tool_search_processor.session.session import ToolSession

__all__ = ["CallOptions", "ForeignTool", "ModelCall", "PreparedCall", "ToolOutcome", "ToolSession"]
