"""Stores for experience: in this process, in a file, or in Redis."""

from tool_search_processor.stores.experience.memory import MemoryExperienceStore
from tool_search_processor.stores.experience.protocol import ExperienceStore
from tool_search_processor.stores.experience.redis import RedisExperienceStore
from tool_search_processor.stores.experience.sqlite import SQLiteExperienceStore

__all__ = [
    "ExperienceStore",
    "MemoryExperienceStore",
    "RedisExperienceStore",
    "SQLiteExperienceStore",
]
