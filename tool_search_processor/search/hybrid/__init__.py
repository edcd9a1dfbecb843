"""Words and meaning together: one list from lexical search and vector search."""

from tool_search_processor.search.hybrid.index import HybridIndex

__all__ = ["HybridIndex"]
