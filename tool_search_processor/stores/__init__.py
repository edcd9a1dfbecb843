"""Stores: where the names of loaded tools are kept."""

from tool_search_processor.stores.base import AddResult, LoadedToolStore, LoadScope
from tool_search_processor.stores.memory import MemoryStore

__all__ = ["AddResult", "LoadScope", "LoadedToolStore", "MemoryStore"]
