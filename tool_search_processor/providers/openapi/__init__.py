"""OpenAPI documents as sources of tools."""

from tool_search_processor.providers.openapi.operations import Operation, Selection
from tool_search_processor.providers.openapi.provider import OpenAPIProvider

__all__ = ["OpenAPIProvider", "Operation", "Selection"]
