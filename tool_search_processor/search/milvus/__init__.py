"""Search in a Milvus engine: embedded (milvus-lite), one server, or a cluster."""

from tool_search_processor.search.milvus.collection import CatalogVersion
from tool_search_processor.search.milvus.index import MilvusIndex, Mode

__all__ = ["CatalogVersion", "MilvusIndex", "Mode"]
