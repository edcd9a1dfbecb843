"""What a search has learned from use: which requests led to which tool, bounded and fading."""

from tool_search_processor.search.experience.entries import Entry, Limits, Observation

__all__ = ["Entry", "Limits", "Observation"]
