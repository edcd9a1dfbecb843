"""Lexical search: BM25F over the fields of a tool, names first."""

from tool_search_processor.search.bm25.index import BM25Index

__all__ = ["BM25Index"]
