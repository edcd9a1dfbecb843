"""Providers: where tools come from."""

from tool_search_processor.providers.base import Provider, ToolProvider, TransformedProvider
from tool_search_processor.providers.callable import CallableProvider
from tool_search_processor.providers.static import StaticProvider

__all__ = ["CallableProvider", "Provider", "StaticProvider", "ToolProvider", "TransformedProvider"]
