"""Search by meaning: the cosine between the vectors of a query and of each tool."""

from tool_search_processor.search.vector.index import VectorIndex

__all__ = ["VectorIndex"]
