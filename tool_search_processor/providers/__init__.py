"""Providers: where tools come from."""

from typing import TYPE_CHECKING, Any

from tool_search_processor.providers.callable import CallableProvider
from tool_search_processor.providers.protocol import ToolProvider
from tool_search_processor.providers.provider import Provider, TransformedProvider
from tool_search_processor.providers.refusals import RefusedTool
from tool_search_processor.providers.static import StaticProvider

if TYPE_CHECKING:
    from tool_search_processor.providers.mcp import MCPProvider
    from tool_search_processor.providers.openapi import OpenAPIProvider

__all__ = [
    "CallableProvider",
    "MCPProvider",
    "OpenAPIProvider",
    "Provider",
    "RefusedTool",
    "StaticProvider",
    "ToolProvider",
    "TransformedProvider",
]

if not TYPE_CHECKING:  # a type checker would believe that every name exists

    def __getattr__(name: str) -> Any:
        """Import the providers of remote tools when they are asked for: most programs use none."""
        if name == "MCPProvider":
            from tool_search_processor.providers.mcp import MCPProvider

            return MCPProvider
        if name == "OpenAPIProvider":
            from tool_search_processor.providers.openapi import OpenAPIProvider

            return OpenAPIProvider
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
