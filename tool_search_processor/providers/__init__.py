"""Providers: where tools come from."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tool_search_processor.providers.callable import CallableProvider
from tool_search_processor.providers.provider import Provider, ToolProvider, TransformedProvider
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

_ON_DEMAND = {"MCPProvider": "mcp", "OpenAPIProvider": "openapi"}

if not TYPE_CHECKING:  # a type checker would believe that every name exists

    def __getattr__(name: str) -> Any:
        """Import the providers of remote tools when they are asked for: most programs use none."""
        if name in _ON_DEMAND:
            return getattr(import_module(f"{__name__}.{_ON_DEMAND[name]}"), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
