"""A request's view of a catalog whose index finds what it is given."""

from tool_search_processor.catalog.indexes import IndexPool
from tool_search_processor.catalog.request_view import CatalogView
from tool_search_processor.catalog.toolsets import ToolSet
from tool_search_processor.search.protocol import Hit
from tool_search_processor.tools import Tool

TOOLS = [Tool(f"t{n}", tags={"even"} if n % 2 == 0 else ()) for n in range(300)]


class Given:
    """An index that finds what it is given, whatever the query, and records how deep it was asked."""

    def __init__(self, *rankings):
        self.rankings = rankings
        self.limits = []

    def update(self, documents):
        pass

    def search(self, query, *, limit=None, within=None, extra=()):
        ranking = self.rankings[min(len(self.limits), len(self.rankings) - 1)]
        self.limits.append(limit)
        found = [hit if isinstance(hit, Hit) else Hit(name=hit, score=0.5) for hit in ranking]
        return [hit for hit in found if within is None or hit.name in within][:limit]


def view_of(index, tools=TOOLS):
    """Return what a request sees of a catalog of tools, searched by an index."""
    return CatalogView(ToolSet(tools), ToolSet(()), indexes=IndexPool(index))
