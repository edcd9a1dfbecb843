"""The catalog: providers and transforms in, one consistent set of tools out."""

from __future__ import annotations

import asyncio
import copy
import logging
import time
from collections import ChainMap
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from types import MappingProxyType

from tool_search_processor.catalog.backoff import ProviderLimits
from tool_search_processor.catalog.drift import Drift, OnChange
from tool_search_processor.catalog.indexes import IndexPool, WarmUpProgress, told
from tool_search_processor.catalog.merging import Seen, United, Uniting, fetch_from
from tool_search_processor.catalog.provider_cache import Source, labels_of, read_stale
from tool_search_processor.catalog.reporting import ReportingCatalog
from tool_search_processor.catalog.request_view import CatalogView
from tool_search_processor.concurrency.shared_task import run_without_waiting
from tool_search_processor.providers.given import ToolSource, as_providers
from tool_search_processor.providers.provider import Context
from tool_search_processor.search.protocol import Hit
from tool_search_processor.search.strategies import IndexCache, Strategy
from tool_search_processor.tools import Tool
from tool_search_processor.transforms.rows import overrides_get
from tool_search_processor.transforms.transform import Transform, as_transforms
from tool_search_processor.wire.checks import check_flags
from tool_search_processor.wire.plain import counted

logger = logging.getLogger(__name__)


class Catalog(ReportingCatalog):
    """Providers and transforms in, one consistent set of tools out: unique names in a stable order.

    ```python
    catalog = Catalog([create_issue, list_issues], transforms=[Namespace("github")])
    hits = await catalog.search("create an issue")
    hits[0].name  # -> 'github_create_issue'
    [provider.up for provider in catalog.status().providers]  # -> [True]
    ```

    Tools that all requests share come first, in the providers' order; tools that are resolved for a
    request come after them. A catalog is a provider itself, so catalogs nest.

    A provider that fails or hangs is reported (`status`) and passed over: its last good list is served,
    the others go on, and it is asked again after a while, which grows from a second to a minute. Waiting
    for it costs `provider_timeout_seconds` once; later readings of it hold no request up.
    """

    limits_itself = True

    def __init__(
        self,
        providers: ToolSource = (),
        *,
        transforms: Iterable[Transform] = (),
        search: Strategy = "bm25",
        index_cache: IndexCache | None = None,
        reserved_names: Collection[str] = (),
        provider_timeout_seconds: float | None = 30.0,
        max_stale_seconds: float | None = None,
        on_change: OnChange = "warn",
        known_fingerprints: Mapping[str, str] = MappingProxyType({}),
        name: str = "catalog",
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Build a catalog, and check at once whatever is known without waiting.

        Args:
            providers: A list of providers, tools and plain functions, mixed freely; a mapping of names
                to tools; a single provider; or one function `(context) -> tools`.
            transforms: What the tools go through, the first one innermost. Those that all requests
                share are transformed as one list, those of a request as another.
            search: The strategy: a name, an index, or a factory of indexes.
            index_cache: A folder in which "bm25", "vector" and "hybrid" keep what they make of the tools: a
                restart with the same tools reads it, in a tenth of the time, and embeds nothing. Processes
                may share one. An index that you pass takes a `cache_path` of its own instead.
            reserved_names: Names that no tool may have; in a mapping, each with the option that changes it.
            provider_timeout_seconds: How long a provider may take to list its tools; then it is reported
                and passed over, and asked again in the background. None waits forever.
            max_stale_seconds: How long the last good list of a provider that fails is served; None serves
                it until the provider is back.
            on_change: What happens to a foreign tool whose definition changes after it was first seen:
                "warn" serves it and logs a warning; "block" does not list, find, load or call it until
                it is accepted (`accept`). Foreign are the tools of providers that say so (MCP, OpenAPI)
                and those whose `tool_type` begins with "external"; lists by request are not watched.
            known_fingerprints: What `fingerprints` returned in an earlier process.
            name: What an outer catalog calls this one.
            clock: Returns the time in seconds, by which lists grow old and failed providers are asked again.

        Raises:
            DuplicateToolError: When two tools that are known now have one name.
            ReservedToolNameError: When a tool that is known now has a reserved name.
            ConfigurationError: When a source, a transform or the strategy can't be used.
        """
        limits = ProviderLimits(
            timeout_seconds=provider_timeout_seconds, max_stale_seconds=max_stale_seconds, clock=clock
        )
        self.name = name
        found = as_providers(providers)
        self._sources = [
            Source(provider, kind=Tool, limits=limits, label=label)
            for provider, label in zip(found, labels_of(found), strict=True)
        ]
        self.static = all(source.static for source in self._sources)
        self._drift = Drift(on_change, known_fingerprints)
        self._indexes = IndexPool(search, index_cache=index_cache)
        self._seen = Seen()
        self._set_up(as_transforms(transforms), reserved_names)

    def _set_up(self, transforms: tuple[Transform, ...], reserved_names: Collection[str]) -> None:
        """Set what the sources' lists go through and which names are reserved, and check what is known."""
        self.transforms = transforms
        self._gather(self._sources, transforms)
        self._reserved = _with_options(reserved_names)
        self.reserved_names = frozenset(self._reserved)
        self._uniting = Uniting(
            sources=self._sources,
            transforms=transforms,
            reserved_names=self._reserved,
            drift=self._drift,
            owner=self.name,
        )
        run_without_waiting(self._read({}, strict=True) if self.static else self._check_static())

    def adapted(
        self,
        *,
        transforms: Iterable[Transform] = (),
        search: Strategy = "bm25",
        index_cache: IndexCache | None = None,
        reserved_names: Collection[str] = (),
    ) -> Catalog:
        """Return a catalog over the same sources: each is read once for both, and both share its state.

        Args:
            transforms: What the tools go through after this catalog's own.
            search: The strategy, in place of this catalog's own.
            index_cache: A folder for what the index is made of; by default this catalog's own, if the
                strategy is a name.
            reserved_names: Names that no tool may have, in addition to this catalog's own.

        Raises:
            ConfigurationError: What a construction raises.
        """
        own = self._indexes.strategy
        is_default = isinstance(own, str) and own == "bm25"
        if not is_default and search is not own and search != own:
            logger.warning(
                "the catalog %r has search=%r, and is searched by %r here: give search= to what takes it",
                self.name,
                own,
                search,
            )
        if index_cache is None and isinstance(search, str):
            index_cache = self._indexes.index_cache
        other, added = copy.copy(self), as_transforms(transforms)
        other._indexes = IndexPool(search, index_cache=index_cache)  # noqa: SLF001 - of the same class
        if added:  # otherwise the names are the same, and both share what they have seen
            other._seen = Seen()  # noqa: SLF001
        names = {**self._reserved, **_with_options(reserved_names)}
        other._set_up((*self.transforms, *added), names)  # noqa: SLF001
        return other

    def add_transform(self, transform: Transform) -> None:
        """Add a transform after the existing ones, for tools, resources and prompts.

        Raises:
            ConfigurationError: What a construction raises; nothing is changed then.
        """
        other = copy.copy(self)
        other._set_up((*self.transforms, *as_transforms([transform])), self._reserved)  # noqa: SLF001
        vars(self).update(vars(other))
        self._drift.renew()  # what was united before, or is just now, is united again

    def __repr__(self) -> str:
        known = self._uniting.last.tools
        count = counted(len(known), "tool") + ("" if self.static else " as last read")
        sources = ", ".join(source.name for source in self._sources)
        return f"<Catalog {self.name!r}: {count}, of {sources or 'no provider'}>"

    @property
    def fingerprint(self) -> str:
        """A hash of the content of the tools that all requests share, as last read."""
        return self._uniting.last.tools.fingerprint

    @property
    def indexes(self) -> IndexPool:
        """The indexes that the catalog is searched with."""
        return self._indexes

    @property
    def known_names(self) -> frozenset[str] | None:
        """Names of the tools as last read; None if some are known only once a request asks."""
        return frozenset(self._uniting.last.tools.by_name) if self.static else None

    @property
    def known_aliases(self) -> frozenset[str]:
        """Aliases of the tools as last read."""
        return frozenset(self._uniting.last.tools.aliases)

    async def list_tools(self, context: Context | None = None) -> list[Tool]:
        """Return the tools of a request, in order."""
        return list(await self.view(context))

    async def list_with_held(self, context: Context | None = None) -> list[Tool]:
        """Return the tools that every `get_tool` confirms, then the changed tools that are held back."""
        view = await self.view(context)
        # An outer catalog reads this and asks no further.
        asks = any(map(overrides_get, self.transforms))
        tools = [tool for tool in view if await view.fetch(tool.name) is not None] if asks else view
        return [*tools, *view.held]

    async def get_tool(self, name: str, context: Context | None = None) -> Tool | None:
        """Return one tool of a request by its exact name, or None."""
        return await (await self.view(context)).fetch(name)

    async def search(
        self,
        query: str,
        *,
        context: Context | None = None,
        limit: int | None = None,
        tags: Iterable[str] = (),
    ) -> list[Hit]:
        """Rank a request's tools for a query; no filter is asked.

        Args:
            query: What is looked for.
            context: The request's own data.
            limit: The most hits to return; None returns all.
            tags: Only tools with any of these tags or namespaces, or this one; empty asks nothing.
        """
        asked = frozenset([tags] if isinstance(tags, str) else tags)
        return await (await self.view(context)).search(query, limit=limit, tags=asked)

    async def view(self, context: Context | None = None) -> CatalogView:
        """Return what a request sees; the shared part is the same object until it changes."""
        return await self._read({} if context is None else context)

    async def refresh(self, context: Context | None = None) -> None:
        """Read every provider again, check what a construction checks, and make the index ready.

        Raises:
            DuplicateToolError: When two tools have one name.
            ReservedToolNameError: When a tool has a reserved name.
            ConfigurationError: When a list holds something else than tools, or a transform can't do
                its work on what is there.
        """
        view = await self._read_again({} if context is None else context)
        await self._indexes.prepare(view.shared)

    async def make_ready(
        self,
        *,
        wait_for_vectors: bool = True,
        on_progress: Callable[[WarmUpProgress], object] = lambda progress: None,
    ) -> bool:
        """Read every provider and build the index, so that the first request needn't wait.

        ```python
        await catalog.make_ready(on_progress=print)
        ```

        Args:
            wait_for_vectors: Wait for vectors that are made in the background; until they are there, words
                answer alone.
            on_progress: Called in the event loop whenever there is something to tell; it may be async.

        Returns:
            Whether all of the index is ready. False with `wait_for_vectors` says that making vectors failed;
            the log says why.

        Raises:
            ConfigurationError: What `refresh` raises.
        """
        check_flags(wait_for_vectors=wait_for_vectors)
        total = len(self._sources)
        await told(on_progress, WarmUpProgress(stage="providers", done=0, total=total))
        view = await self._read_again({})
        await told(on_progress, WarmUpProgress(stage="providers", done=total, total=total))
        return await self._indexes.make_ready(
            view.shared, wait_for_vectors=wait_for_vectors, on_progress=on_progress
        )

    @property
    def is_ready(self) -> bool:
        """Whether the index is complete; False while vectors are being made and only words answer."""
        return self._indexes.is_ready

    async def check_tools(self, context: Context) -> None:
        """Check what a construction checks on the tools of a request; an outer catalog asks this.

        Raises:
            ConfigurationError: See `refresh`.
        """
        await self._read(context, strict=True)

    def version(self) -> Hashable | None:
        """Return all providers' marks as one; None if any list is resolved for each request."""
        return None if None in (marks := self.marks()) else marks

    def marks(self) -> tuple[Hashable | None, ...]:
        """Return the providers' marks, with None for each whose list is resolved for each request."""
        return (self._drift.epoch, *(source.mark() for source in self._sources))

    async def aclose(self) -> None:
        """Close every provider, even if one fails to close.

        Raises:
            ExceptionGroup: What the failing ones raised.
        """
        self._stop_gathering()
        for source in self._sources:
            source.stop()
        closing = [source.provider.aclose() for source in self._sources]
        results = await asyncio.gather(*closing, return_exceptions=True)
        failures = [result for result in results if isinstance(result, Exception)]
        if failures:
            raise ExceptionGroup(f"closing the providers of {self.name!r} failed", failures)

    async def _read_again(self, context: Context) -> CatalogView:
        """Read every provider, also if its last list still holds; raise for what is otherwise refused."""
        for source in self._sources:
            source.expire()
        return await self._read(context, strict=True)

    async def _read(self, context: Context, *, strict: bool = False) -> CatalogView:
        """Read what may have changed and unite it; if `strict`, raise for what is otherwise refused."""
        fresh = await read_stale(self._sources, context, strict=strict)
        shared = await self._uniting.share(strict=strict)
        requested = [(s, fresh[s]) for s in self._sources if not s.is_shared and fresh.get(s)]
        if not requested:
            return self._view(shared, United())
        taken: Mapping[str, Tool] = shared.tools.by_name
        if shared.held:  # what is held keeps its name
            taken = ChainMap({tool.name: tool for tool in shared.held}, taken)  # type: ignore[arg-type]
        return self._view(shared, await self._uniting.add(requested, taken=taken, strict=strict))

    async def _check_static(self) -> None:
        """Check the names that are known without waiting, while the rest must be waited for."""
        static = [source for source in self._sources if source.static]
        self._uniting.check([(source, await source.read({}, strict=True)) for source in static])

    def _view(self, shared: United, own: United) -> CatalogView:
        self._seen.refused = shared.refused + own.refused
        held = shared.held + own.held
        self._seen.held = {tool.name: tool for tool in held}
        return CatalogView(
            shared.tools,
            own.tools,
            indexes=self._indexes,
            lookup=fetch_from(shared, own) if shared.stages or own.stages else None,
            held=held,
            outages=self.outages,
        )


def _with_options(names: Collection[str]) -> Mapping[str, str | None]:
    """Return reserved names, each with the option that changes it, or None."""
    return names if isinstance(names, Mapping) else dict.fromkeys(names)
