"""Stores: where the names of loaded tools are kept."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tool_search_processor.stores.memory import MemoryStore
from tool_search_processor.stores.protocol import AddResult, LoadedToolStore, LoadScope
from tool_search_processor.stores.store import Store

if TYPE_CHECKING:
    from tool_search_processor.stores.history import HistoryStore
    from tool_search_processor.stores.redis import RedisStore

__all__ = ["AddResult", "HistoryStore", "LoadScope", "LoadedToolStore", "MemoryStore", "RedisStore", "Store"]

_ON_DEMAND = {"HistoryStore": "history", "RedisStore": "redis"}

if not TYPE_CHECKING:  # a type checker would believe that every name exists

    def __getattr__(name: str) -> Any:
        """Import the other stores when they are asked for: most programs use only one."""
        if name in _ON_DEMAND:
            return getattr(import_module(f"{__name__}.{_ON_DEMAND[name]}"), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
