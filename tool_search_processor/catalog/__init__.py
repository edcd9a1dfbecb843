"""The catalog: providers and transforms in, one consistent set of tools out."""

from tool_search_processor.catalog.catalog import Catalog
from tool_search_processor.catalog.request_view import CatalogView
from tool_search_processor.catalog.status import CatalogStatus, ProviderStatus
from tool_search_processor.providers.changes import ToolChange
from tool_search_processor.providers.refusals import RefusedTool

__all__ = ["Catalog", "CatalogStatus", "CatalogView", "ProviderStatus", "RefusedTool", "ToolChange"]
