"""Tool search for agents: a model finds and loads tools on demand instead of being sent all of them.

    from tool_search_processor import Agent, TokenLimiter, ToolSearchProcessor, tool

    search = ToolSearchProcessor(tools=[...], filter=lambda request: ...)
    agent = Agent(name="...", model="...", input_processors=[search, TokenLimiter(127_000)])

How a step goes:

    conversation ─▶ InputStep ─▶ processor ─▶ processor ─▶ model
                                    │
        catalog (providers ▶ transforms ▶ unique names ▶ index)
           ▲ search_tools: rank ▶ filter "search" ▶ cut
           ▲ load_tool:    name ▶ filter "load"   ▶ store (per thread, with a time to live)
           ▼ next step:    store ▶ filter "active" ▶ listed after everything that was listed before
"""

from tool_search_processor._version import __version__
from tool_search_processor.agent import Agent
from tool_search_processor.agent.runs import RunResult
from tool_search_processor.catalog import Catalog
from tool_search_processor.errors import (
    AbortRun,
    ConfigurationError,
    DuplicateToolError,
    InvalidPatternError,
    InvalidToolError,
    ReservedToolNameError,
    ResumeError,
    StoreError,
    TokenLimitError,
    ToolArgumentsError,
    ToolNotCallableError,
    ToolSearchError,
    ToolUnavailableError,
)
from tool_search_processor.filters import FilterRequest, cached_filter
from tool_search_processor.processor import ToolSearchProcessor
from tool_search_processor.providers import CallableProvider, StaticProvider, ToolProvider
from tool_search_processor.search.base import Document, Hit, SearchIndex
from tool_search_processor.session import ToolSession
from tool_search_processor.steps import InputProcessor, InputStep, ToolResolver, run_processors
from tool_search_processor.stores import LoadedToolStore, MemoryStore
from tool_search_processor.token_limiter import TokenLimiter
from tool_search_processor.tools import Tool, ToolContext, tool
from tool_search_processor.transforms import Transform

__all__ = [
    "AbortRun",
    "Agent",
    "CallableProvider",
    "Catalog",
    "ConfigurationError",
    "Document",
    "DuplicateToolError",
    "FilterRequest",
    "Hit",
    "InputProcessor",
    "InputStep",
    "InvalidPatternError",
    "InvalidToolError",
    "LoadedToolStore",
    "MemoryStore",
    "ReservedToolNameError",
    "ResumeError",
    "RunResult",
    "SearchIndex",
    "StaticProvider",
    "StoreError",
    "TokenLimitError",
    "TokenLimiter",
    "Tool",
    "ToolArgumentsError",
    "ToolContext",
    "ToolNotCallableError",
    "ToolProvider",
    "ToolResolver",
    "ToolSearchError",
    "ToolSearchProcessor",
    "ToolSession",
    "ToolUnavailableError",
    "Transform",
    "__version__",
    "cached_filter",
    "run_processors",
    "tool",
]
