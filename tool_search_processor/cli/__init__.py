"""The command `tool-search`: searches a catalog, measures a search, and checks a catalog."""

from tool_search_processor.cli.program import main

__all__ = ["main"]
