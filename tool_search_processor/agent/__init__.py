"""The agent: a small loop of model calls and tool calls on LiteLLM."""

from tool_search_processor.agent.agent import Agent
from tool_search_processor.agent.runs import (
    Done,
    Event,
    RunResult,
    StepEnd,
    StepStart,
    TextDelta,
    ToolCallEvent,
    ToolResultEvent,
    Usage,
)
from tool_search_processor.session.prepared_calls import PendingCall

__all__ = [
    "Agent",
    "Done",
    "Event",
    "PendingCall",
    "RunResult",
    "StepEnd",
    "StepStart",
    "TextDelta",
    "ToolCallEvent",
    "ToolResultEvent",
    "Usage",
]
