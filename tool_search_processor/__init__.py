"""Tool search for agents: a model finds and loads tools on demand instead of being sent all of them.

```python
from tool_search_processor import Agent, TokenLimiter, ToolSearchProcessor, tool

search = ToolSearchProcessor(tools=[...], filter=lambda request: ...)
agent = Agent(name="...", model="...", input_processors=[search, TokenLimiter(127_000)])
```

Begin with the help of `ToolSearchProcessor`, the searcher; `Agent`, which runs it; `ToolSession`, for a loop
of your own; `tool`, which makes a tool of a function; `FilterRequest`, what a filter is asked; `MCPProvider`
and `OpenAPIProvider`, tools of servers and APIs; `Catalog`, which holds tools of all kinds.

How a step goes:

    providers: functions, MCP servers, OpenAPI documents, yours; each with transforms of its own
        │  read side by side, within limits of time, and again only when they have changed
        ▼
    catalog: unique names ▶ drift (changed foreign tools held) ▶ transforms ▶ unique names ▶ index
        │
        │  search_tools   rank ▶ filter "search" ▶ cut
        │  load_tool      name ▶ filter "load" ▶ store (per thread, with a time to live)
        │  next step      store ▶ filter "active" ▶ listed after all that was listed before
        │  a call         filter "active" again ▶ arguments checked ▶ run ▶ result cut
        ▼
    messages ▶ InputStep ▶ ToolSearchProcessor ▶ yours ▶ TokenLimiter ▶ model ▶ its calls ▶ messages

`ToolServer` (MCP), `create_app` (REST) and `Gateway` (both, over many upstreams) serve a catalog to clients
without this loop, and ask the filter at search, listing and call.

The folders, in rows: a module imports only from rows above it, or from folders to its left in its own row:

    errors, telemetry                           what is raised; spans
    wire, concurrency                           values, calls and messages of any provider; threads and loops
    tools, components                           a tool and its schema; resources and prompts
    steps, policy, meta_tools, search           one model call; who may; what a model reads; documents to hits
    transforms, providers, stores, tokens       list to list; where tools come from; loaded names; costs
    catalog                                     many providers, one set of tools, and finding in it
    session, testing                            the calls of one step; a scripted model
    processor, agent, server, evaluation        beside each other: the searcher, the loop, MCP and REST, proof
    adapters                                    the searcher inside other frameworks
    cli                                         `tool-search`

Most public names are imported from here. A part with many names, or with an extra, has its own package:
`agent` (events), `catalog` (status), `search.*` (indexes, embedders), `transforms`, `evaluation`, `testing`,
`server.*`, `adapters.*`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tool_search_processor._version import __version__
from tool_search_processor.agent import Agent
from tool_search_processor.agent.runs import RunResult
from tool_search_processor.catalog import Catalog
from tool_search_processor.catalog.experience import Experience
from tool_search_processor.errors import (
    AbortRun,
    ConfigurationError,
    DuplicateToolError,
    InvalidPatternError,
    InvalidToolError,
    ProviderError,
    ReservedToolNameError,
    ResumeError,
    RunningLoopError,
    StoreError,
    TokenLimitError,
    ToolArgumentsError,
    ToolCallError,
    ToolNotCallableError,
    ToolSearchError,
    ToolUnavailableError,
)
from tool_search_processor.policy.cached_filters import cached_filter
from tool_search_processor.policy.filters import Filter, FilterRequest, Phase
from tool_search_processor.processor import ToolSearchProcessor
from tool_search_processor.providers import CallableProvider, StaticProvider, ToolProvider
from tool_search_processor.search.protocol import Document, Hit, SearchIndex
from tool_search_processor.session import ToolSession
from tool_search_processor.steps import InputProcessor, InputStep, ToolResolver, run_processors
from tool_search_processor.stores import LoadedToolStore, MemoryStore
from tool_search_processor.tokens.limiter import TokenLimiter
from tool_search_processor.tools import Tool, ToolContext, tool
from tool_search_processor.transforms import (
    ArgTransform,
    Namespace,
    TagFilter,
    ToolTransform,
    ToolTransformConfig,
    Transform,
    Visibility,
)

if TYPE_CHECKING:
    from tool_search_processor.providers import MCPProvider, OpenAPIProvider
    from tool_search_processor.stores import HistoryStore, RedisStore

__docformat__ = "google"  # for pdoc

__all__ = [
    "AbortRun",
    "Agent",
    "ArgTransform",
    "CallableProvider",
    "Catalog",
    "ConfigurationError",
    "Document",
    "DuplicateToolError",
    "Experience",
    "Filter",
    "FilterRequest",
    "HistoryStore",
    "Hit",
    "InputProcessor",
    "InputStep",
    "InvalidPatternError",
    "InvalidToolError",
    "LoadedToolStore",
    "MCPProvider",
    "MemoryStore",
    "Namespace",
    "OpenAPIProvider",
    "Phase",
    "ProviderError",
    "RedisStore",
    "ReservedToolNameError",
    "ResumeError",
    "RunResult",
    "RunningLoopError",
    "SearchIndex",
    "StaticProvider",
    "StoreError",
    "TagFilter",
    "TokenLimitError",
    "TokenLimiter",
    "Tool",
    "ToolArgumentsError",
    "ToolCallError",
    "ToolContext",
    "ToolNotCallableError",
    "ToolProvider",
    "ToolResolver",
    "ToolSearchError",
    "ToolSearchProcessor",
    "ToolSession",
    "ToolTransform",
    "ToolTransformConfig",
    "ToolUnavailableError",
    "Transform",
    "Visibility",
    "__version__",
    "cached_filter",
    "run_processors",
    "tool",
]

_ON_DEMAND = {
    "HistoryStore": "stores",
    "MCPProvider": "providers",
    "OpenAPIProvider": "providers",
    "RedisStore": "stores",
}

if not TYPE_CHECKING:  # a type checker would believe that every name exists

    def __getattr__(name: str) -> Any:
        """Import the larger stores and providers when they are asked for: most programs use few of them."""
        if name in _ON_DEMAND:
            return getattr(import_module(f"{__name__}.{_ON_DEMAND[name]}"), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
