"""The catalog: providers and transforms in, one consistent set of tools out."""

from __future__ import annotations

import asyncio
import copy
import logging
import threading
import time
from collections.abc import Callable, Collection, Coroutine, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tool_search_processor.catalog.clashes import NameRegister, RefusedTool
from tool_search_processor.catalog.indexes import IndexPool
from tool_search_processor.catalog.reading import Limits
from tool_search_processor.catalog.sources import ProviderStatus, Source, are_same, as_providers
from tool_search_processor.catalog.toolsets import ToolSet
from tool_search_processor.catalog.views import CatalogView, Fetch
from tool_search_processor.providers.base import Context, Provider
from tool_search_processor.search.base import Hit
from tool_search_processor.search.strategies import Strategy
from tool_search_processor.tools import Tool
from tool_search_processor.transforms.base import (
    Transform,
    as_transforms,
    check_transforms,
    get_agreed_tool,
    index_components,
    overrides_get_tool,
    transform_stages,
)

logger = logging.getLogger(__name__)

_NOTHING = ToolSet()
_MAX_WARNED = 1000
_Listing = tuple[str, Sequence[Tool]]
_Stages = Sequence[Mapping[str, Tool]]


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogStatus:
    """How the catalog's providers are doing, and what they offered in vain."""

    providers: tuple[ProviderStatus, ...]
    refused: tuple[RefusedTool, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _United:
    """One consistent set of tools, and how it came about."""

    tools: ToolSet = _NOTHING
    lists: tuple[Sequence[Tool], ...] | None = None
    stages: _Stages = ()
    refused: tuple[RefusedTool, ...] = ()


class Catalog(Provider):
    """Providers and transforms in, one consistent set of tools out: unique names in a stable order.

    Tools that all requests share come first, in the providers' order; tools that are resolved for a
    request come after them. A catalog is a provider itself, so catalogs nest.

    A provider that fails or hangs is reported (`status`) and passed over: its last good list is served,
    the others go on, and it is asked again after a while, which grows from a second to a minute. Waiting
    for it costs `provider_timeout_seconds` once; later readings of it hold no request up.
    """

    limits_itself = True

    def __init__(
        self,
        providers: object = (),
        *,
        transforms: Iterable[Transform] = (),
        search: Strategy = "bm25",
        reserved_names: Collection[str] = (),
        provider_timeout_seconds: float | None = 30.0,
        max_stale_seconds: float | None = None,
        name: str = "catalog",
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Take the sources; whatever is known without waiting is checked at once.

        Args:
            providers: A list of providers, tools and plain functions, mixed freely; a mapping of names
                to tools; a single provider; or one function `(context) -> tools`.
            transforms: What the tools go through, the first one innermost. Those that all requests
                share are transformed as one list, those of a request as another.
            search: The strategy: a name, an index, or a factory of indexes.
            reserved_names: Names that no tool may bear.
            provider_timeout_seconds: How long a provider may take to list its tools; then it is reported
                and passed over, and asked again in the background. None waits for ever.
            max_stale_seconds: How long the last good list of a provider that fails is served; None serves
                it until the provider is back.
            name: What an outer catalog calls this one.
            clock: Returns the time in seconds, by which lists grow old and failed providers are asked again.

        Raises:
            DuplicateToolError: When two tools that are known now have one name.
            ReservedToolNameError: When a tool that is known now bears a reserved name.
            ConfigurationError: When a source, a transform or the strategy can't be used.
        """
        limits = Limits(
            timeout_seconds=provider_timeout_seconds, max_stale_seconds=max_stale_seconds, clock=clock
        )
        self.name = name
        self._sources = [Source(provider, limits=limits) for provider in as_providers(providers)]
        self.static = all(source.static for source in self._sources)
        self._set_up(as_transforms(transforms), search=search, reserved_names=reserved_names)

    def _set_up(
        self, transforms: tuple[Transform, ...], *, search: Strategy, reserved_names: Collection[str]
    ) -> None:
        """Begin with what comes after the sources, and check what is known."""
        self.transforms = transforms
        self._for_parts = tuple(transform.for_part() for transform in transforms)
        self.reserved_names = frozenset(reserved_names)
        self._indexes = IndexPool(search)
        self._shared = _United()
        self._refused: tuple[RefusedTool, ...] = ()
        self._warned: set[RefusedTool] = set()
        self._lock = threading.Lock()
        _run_without_waiting(self._read({}, strict=True) if self.static else self._check_static())

    def adapted(
        self,
        *,
        transforms: Iterable[Transform] = (),
        search: Strategy = "bm25",
        reserved_names: Collection[str] = (),
    ) -> Catalog:
        """Return a catalog over the same sources: each is read once for both, and its state is one.

        Args:
            transforms: What the tools go through after this catalog's own.
            search: The strategy, in place of this catalog's own.
            reserved_names: Names that no tool may bear, beside this catalog's own.

        Raises:
            ConfigurationError: What a construction raises.
        """
        other = copy.copy(self)
        other._set_up(  # noqa: SLF001 - of the same class
            (*self.transforms, *as_transforms(transforms)),
            search=search,
            reserved_names=self.reserved_names | frozenset(reserved_names),
        )
        return other

    @property
    def fingerprint(self) -> str:
        """A hash of the content of the tools that all requests share, as last read."""
        return self._shared.tools.fingerprint

    @property
    def indexes(self) -> IndexPool:
        """What the catalog is searched by."""
        return self._indexes

    @property
    def known_names(self) -> frozenset[str] | None:
        """Names of the tools as last read; None where some are only known once a request asks."""
        return frozenset(self._shared.tools.by_name) if self.static else None

    async def list_tools(self, context: Context | None = None) -> list[Tool]:
        """Return the tools of a request, in order."""
        return list(await self.view(context))

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
            tags: Only tools that bear any of these; empty asks nothing.
        """
        return await (await self.view(context)).search(query, limit=limit, tags=frozenset(tags))

    async def view(self, context: Context | None = None) -> CatalogView:
        """Return what a request sees; the shared part is the same object until it changes."""
        return await self._read({} if context is None else context)

    async def refresh(self, context: Context | None = None) -> None:
        """Read every provider again, check what a construction checks, and make the index ready.

        Raises:
            DuplicateToolError: When two tools have one name.
            ReservedToolNameError: When a tool bears a reserved name.
            ConfigurationError: When a list holds something else than tools, or a transform can't do
                its work on what is there.
        """
        for source in self._sources:
            source.expire()
        view = await self._read({} if context is None else context, strict=True)
        await self._indexes.prepare(view.shared)

    async def check_tools(self, context: Context) -> None:
        """Check what a construction checks on the tools of a request; an outer catalog asks this.

        Raises:
            ConfigurationError: See `refresh`.
        """
        await self._read(context, strict=True)

    def version(self) -> Hashable | None:
        """Return a mark of the providers' marks; None where a list is resolved for each request."""
        marks = tuple(source.mark() for source in self._sources)
        return None if None in marks else marks

    def status(self) -> CatalogStatus:
        """Tell which providers are up, how many tools each had when last read, and what was refused."""
        return CatalogStatus(
            providers=tuple(source.status() for source in self._sources), refused=self._refused
        )

    async def aclose(self) -> None:
        """Close every provider, even where one fails.

        Raises:
            ExceptionGroup: What the failing ones raised.
        """
        closing = [source.aclose() for source in self._sources]
        results = await asyncio.gather(*closing, return_exceptions=True)
        failures = [result for result in results if isinstance(result, Exception)]
        if failures:
            raise ExceptionGroup(f"closing the providers of {self.name!r} failed", failures)

    async def _read(self, context: Context, *, strict: bool = False) -> CatalogView:
        """Read what may have changed and unite it; `strict` raises for what is refused otherwise."""
        fresh = await self._read_stale(context, strict=strict)
        shared = await self._share([s for s in self._sources if s.is_shared], strict=strict)
        requested = [(s.name, fresh[s]) for s in self._sources if not s.is_shared and fresh.get(s)]
        if not requested:
            return self._view(shared, _United())
        return self._view(shared, await self._unite(requested, taken=shared.tools.by_name, strict=strict))

    async def _check_static(self) -> None:
        """Check the names of what is known without waiting, where the rest has to be waited for."""
        register = self._register({}, strict=True)
        for source in self._sources:
            if source.static:
                register.enter(await source.read({}, strict=True), origin=source.name)

    async def _read_stale(self, context: Context, *, strict: bool) -> dict[Source, tuple[Tool, ...]]:
        stale = [s for s in self._sources if s.is_due() or (strict and not s.is_current())]
        # Static lists are read one by one, without waiting, so that a construction needs no event loop.
        fresh = {source: await source.read(context, strict=strict) for source in stale if source.static}
        waiting = [source for source in stale if not source.static]
        if len(waiting) == 1:
            fresh[waiting[0]] = await waiting[0].read(context, strict=strict)
        elif waiting:
            reads = await asyncio.gather(*(source.read(context, strict=strict) for source in waiting))
            fresh.update(zip(waiting, reads, strict=True))
        return fresh

    async def _share(self, sources: Sequence[Source], *, strict: bool) -> _United:
        lists = tuple(source.tools for source in sources)
        known = self._shared
        if not strict and known.lists is not None and are_same(lists, known.lists):
            return known
        listings = [(source.name, source.tools) for source in sources]
        united = await self._unite(listings, taken={}, lists=lists, strict=strict)
        with self._lock:
            if self._shared.tools.generation < united.tools.generation:
                self._shared = united
        return united

    async def _unite(
        self,
        listings: Sequence[_Listing],
        *,
        taken: Mapping[str, Tool],
        strict: bool,
        lists: tuple[Sequence[Tool], ...] | None = None,
    ) -> _United:
        """Give out the names, before the transforms and again after them."""
        register = self._register(taken, strict=strict)
        tools = [tool for origin, listed in listings for tool in register.enter(listed, origin=origin)]
        refused = register.refused
        stages: Sequence[Sequence[Tool]] = (tools,)
        if self.transforms:
            # What one request lacks another may have: only a list that is the whole can be judged.
            is_whole = lists is not None and all(source.is_shared for source in self._sources)
            if strict and is_whole:
                await check_transforms(self.transforms, tools)
            stages = await transform_stages(self.transforms if is_whole else self._for_parts, tools)
            register = NameRegister(taken=taken, reserved=self.reserved_names, strict=strict)
            tools = register.enter(stages[-1], origin=f"the transforms of {self.name}")
            refused = [*refused, *register.refused]
        self._note(refused)
        return _United(
            tools=ToolSet(tools), lists=lists, stages=self._indexed(stages), refused=tuple(refused)
        )

    def _register(self, taken: Mapping[str, Tool], *, strict: bool) -> NameRegister:
        """Return the register of names as they are before the transforms, which may change them."""
        if self.transforms:
            return NameRegister(taken={}, strict=strict)
        return NameRegister(taken=taken, reserved=self.reserved_names, strict=strict)

    def _indexed(self, stages: Sequence[Sequence[Tool]]) -> _Stages:
        """Return the stages by name, where a transform has its own `get_tool` and they will be asked."""
        if not any(map(overrides_get_tool, self.transforms)):
            return ()
        return [index_components(stage) for stage in stages]

    def _note(self, refused: Iterable[RefusedTool]) -> None:
        """Warn of each refused tool once."""
        for tool in refused:
            if tool not in self._warned and len(self._warned) < _MAX_WARNED:
                self._warned.add(tool)
                logger.warning("the tool %r of %s is not served: %s", tool.name, tool.provider, tool.reason)

    def _view(self, shared: _United, own: _United) -> CatalogView:
        self._refused = shared.refused + own.refused
        return CatalogView(
            shared.tools,
            own.tools,
            indexes=self._indexes,
            fetch=self._fetcher(shared, own) if shared.stages or own.stages else None,
        )

    def _fetcher(self, shared: _United, own: _United) -> Fetch:
        async def fetch(name: str) -> Tool | None:
            stages = own.stages if name in own.tools.by_name else shared.stages
            return await get_agreed_tool(self.transforms, stages, name) if stages else None

        return fetch


def _run_without_waiting(coroutine: Coroutine[Any, Any, object]) -> None:
    """Run a coroutine that never suspends; one that does is left for the first request."""
    try:
        coroutine.send(None)
    except StopIteration:
        return
    coroutine.close()
