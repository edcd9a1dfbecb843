"""The catalog: providers and transforms in, one consistent set of tools out."""

from __future__ import annotations

import asyncio
import copy
import logging
import threading
import time
from collections import ChainMap
from collections.abc import Callable, Collection, Coroutine, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from tool_search_processor.catalog.clashes import NameRegister, RefusedTool
from tool_search_processor.catalog.drift import Drift, OnChange
from tool_search_processor.catalog.indexes import IndexPool
from tool_search_processor.catalog.reading import Limits
from tool_search_processor.catalog.sources import ProviderStatus, Source, are_same, as_providers
from tool_search_processor.catalog.toolsets import ToolSet
from tool_search_processor.catalog.views import CatalogView, Fetch
from tool_search_processor.providers.base import Context, Provider
from tool_search_processor.providers.changes import HeldTool, ToolChange
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
_Listing = tuple[Source, Sequence[Tool]]
_Stages = Sequence[Mapping[str, Tool]]


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogStatus:
    """How the catalog's providers are doing, and what they offered in vain."""

    providers: tuple[ProviderStatus, ...]
    refused: tuple[RefusedTool, ...]
    changed: tuple[ToolChange, ...] = ()
    """Foreign tools that changed after they were first seen, and were not accepted since."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _United:
    """One consistent set of tools, and how it came about."""

    tools: ToolSet = _NOTHING
    lists: tuple[Sequence[Tool], ...] | None = None
    stages: _Stages = ()
    refused: tuple[RefusedTool, ...] = ()
    held: tuple[HeldTool, ...] = ()
    epoch: int = 0
    """Which changes of foreign tools were accepted when it was made."""


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
        on_change: OnChange = "warn",
        known_fingerprints: Mapping[str, str] = MappingProxyType({}),
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
            on_change: What becomes of a foreign tool whose definition changes after it was first seen:
                "warn" serves it and logs a warning; "block" does not list, find, load or call it until
                it is accepted (`accept`). Foreign are the tools of providers that say so (MCP, OpenAPI)
                and those whose `tool_type` begins with "external"; lists by request are not watched.
            known_fingerprints: What `fingerprints` returned in an earlier process.
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
        self._drift = Drift(on_change, known_fingerprints)
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
        self._held: Mapping[str, HeldTool] = {}
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

    async def list_with_held(self, context: Context | None = None) -> list[Tool]:
        """Return the tools of a request, and behind them the changed ones that are not served."""
        view = await self.view(context)
        return [*view, *view.held]

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
        return None if None in marks else (self._drift.epoch, *marks)

    def status(self) -> CatalogStatus:
        """Tell which providers are up, how many tools each has, and what was refused or has changed."""
        held = [replace(tool.change, name=name) for name, tool in self._held.items() if tool.change]
        return CatalogStatus(
            providers=tuple(source.status() for source in self._sources),
            refused=self._refused,
            changed=(*held, *(change for change in self._drift.changes() if not change.blocked)),
        )

    def accept(self, name: str, *, fingerprint: str | None = None) -> None:
        """Take the changed definition of a foreign tool for good; a blocked one is served from now on.

        Args:
            name: The tool's name as `status` tells it, in this catalog.
            fingerprint: The `new_fingerprint` that was looked at: a tool that has changed once more since
                then is not accepted. None accepts what is offered now.

        Raises:
            ConfigurationError: When no tool of this name has changed, or it has changed once more.
        """
        held = self._held.get(name)
        if held is None or held.accept is None:
            self._drift.accept(name, fingerprint)
        else:
            held.accept(fingerprint)
            self._held = {other: tool for other, tool in self._held.items() if other != name}

    def fingerprints(self) -> dict[str, str]:
        """Return the accepted fingerprint of each foreign tool that was seen, by its provider's name for it.

        Kept in a file and given to the next process as `known_fingerprints`, it lets a change between the
        two be told. What a provider's transforms make of a tool is part of it.
        """
        return self._drift.fingerprints()

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
        requested = [(s, fresh[s]) for s in self._sources if not s.is_shared and fresh.get(s)]
        if not requested:
            return self._view(shared, _United())
        taken: Mapping[str, Tool] = shared.tools.by_name
        if shared.held:  # what is held keeps its name
            taken = ChainMap({tool.name: tool for tool in shared.held}, taken)  # type: ignore[arg-type]
        return self._view(shared, await self._unite(requested, taken=taken, strict=strict))

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
        known, epoch = self._shared, self._drift.epoch
        is_known = known.lists is not None and known.epoch == epoch and are_same(lists, known.lists)
        if is_known and not strict:
            return known
        listings = list(zip(sources, lists, strict=True))
        united = await self._unite(listings, taken={}, lists=lists, strict=strict, epoch=epoch)
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
        epoch: int = 0,
    ) -> _United:
        """Give out the names, before the transforms and again after them."""
        register = self._register(taken, strict=strict)
        tools: list[Tool] = []
        for source, listed in listings:
            entered = register.enter(listed, origin=source.name)
            if lists is not None:
                entered = self._drift.watch(entered, provider=source.name, foreign=source.foreign)
            tools += entered
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
        # Only now, so that what is held keeps its name from others, and has the one that users know.
        return _United(
            tools=ToolSet(tool for tool in tools if not isinstance(tool, HeldTool)),
            lists=lists,
            stages=self._indexed(stages),
            refused=tuple(refused),
            held=tuple(tool for tool in tools if isinstance(tool, HeldTool)),
            epoch=epoch,
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
        held = shared.held + own.held
        if held or self._held:
            self._held = {tool.name: tool for tool in held}
        return CatalogView(
            shared.tools,
            own.tools,
            indexes=self._indexes,
            fetch=self._fetcher(shared, own) if shared.stages or own.stages else None,
            held=held,
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
