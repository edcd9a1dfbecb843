"""The tools of a catalog that all requests share."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from tool_search_processor.catalog.drift import Drift
from tool_search_processor.catalog.merging import United, Uniting
from tool_search_processor.catalog.provider_cache import Source, are_same
from tool_search_processor.tools import Tool


class SharedTools:
    """Unites the lists that hold for every request, again only when one of them has changed."""

    def __init__(self, sources: Sequence[Source[Tool]], *, uniting: Uniting, drift: Drift) -> None:
        """Begin with no tools.

        Args:
            sources: All providers of the catalog, in order.
            uniting: Makes one set of their lists.
            drift: Moves its epoch when the set has to be made again although no list has changed.
        """
        self.last = United()
        self._sources = sources
        self._uniting = uniting
        self._drift = drift
        self._lock = threading.Lock()

    async def unite(self, *, strict: bool) -> United:
        """Return the set of what the sources last listed.

        Raises:
            ConfigurationError: If `strict`, for what is refused otherwise.
        """
        sources = [source for source in self._sources if source.is_shared]
        lists = tuple(source.listed for source in sources)
        known = self.last
        is_known = known.lists is not None and known.epoch == self._drift.epoch
        if is_known and not strict and are_same(lists, known.lists or ()):
            return known
        united = await self._uniting.share(
            list(zip(sources, lists, strict=True)),
            is_whole=len(sources) == len(self._sources),
            strict=strict,
        )
        with self._lock:
            if self.last.tools.generation < united.tools.generation:
                self.last = united
        return united
