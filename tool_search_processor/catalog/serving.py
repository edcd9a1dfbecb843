"""The base of what serves a catalog: a processor, an MCP server, a gateway."""

from __future__ import annotations

from collections.abc import Callable

from tool_search_processor.catalog.catalog import Catalog
from tool_search_processor.catalog.indexes import WarmUpProgress
from tool_search_processor.concurrency.closing import AsyncClosing


class CatalogServer(AsyncClosing):
    """Base of what serves a catalog: it can be made ready beforehand, and `async with` closes it."""

    catalog: Catalog

    async def warm_up(
        self,
        *,
        wait_for_vectors: bool = True,
        on_progress: Callable[[WarmUpProgress], object] = lambda progress: None,
    ) -> bool:
        """Read every provider and build the index before the first request; see `Catalog.make_ready`."""
        return await self.catalog.make_ready(wait_for_vectors=wait_for_vectors, on_progress=on_progress)
