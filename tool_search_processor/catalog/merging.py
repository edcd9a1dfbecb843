"""Makes one list of tools from many: assigns names, applies transforms, holds back what changed."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from tool_search_processor.catalog.drift import Drift
from tool_search_processor.catalog.name_register import NO_NAMES, GivenNames, NameRegister, Offer
from tool_search_processor.catalog.provider_cache import Source
from tool_search_processor.catalog.request_view import Fetch
from tool_search_processor.catalog.toolsets import NO_TOOLS, ToolSet
from tool_search_processor.concurrency.once import Once
from tool_search_processor.providers.changes import HeldTool
from tool_search_processor.providers.refusals import RefusedTool
from tool_search_processor.tools import Tool
from tool_search_processor.tools.origins import origin_of
from tool_search_processor.transforms.rows import (
    check_transforms,
    get_agreed,
    index_components,
    overrides_get,
    transform_stages,
)
from tool_search_processor.transforms.transform import Transform
from tool_search_processor.wire.plain import are_same

logger = logging.getLogger(__name__)

Listing = tuple[Source[Tool], Sequence[Tool]]


@dataclass(frozen=True, slots=True, kw_only=True)
class United:
    """One consistent set of tools, and what it was made from."""

    tools: ToolSet = NO_TOOLS
    lists: tuple[Sequence[Tool], ...] | None = None
    """The lists it was made from, if all requests share it."""
    stages: Sequence[Mapping[str, Tool]] = ()
    """The tools by name after each transform; empty if no `get_tool` has to be asked."""
    transforms: tuple[Transform, ...] = ()
    """What leads from each stage to the next."""
    refused: tuple[RefusedTool, ...] = ()
    held: tuple[HeldTool, ...] = ()
    epoch: int = 0
    """Which changes of foreign tools were accepted when it was made."""


def fetch_from(shared: United, own: United) -> Fetch:
    """Return a lookup through the transforms' own `get_tool`."""

    async def fetch(name: str) -> Tool | None:
        united = own if name in own.tools.by_name else shared
        return await get_agreed(united.transforms, united.stages, name) if united.stages else None

    return fetch


@dataclass(slots=True)
class Seen:
    """What the last reading of a catalog held back."""

    refused: tuple[RefusedTool, ...] = ()
    held: Mapping[str, HeldTool] = field(default_factory=dict)
    """By the names that users know."""


@dataclass(kw_only=True, eq=False)
class Uniting:
    """Makes one set of several lists, for shared tools and for a request's own in the same way."""

    sources: Sequence[Source[Tool]]
    """All providers of the catalog, in order."""
    transforms: tuple[Transform, ...]
    """What the lists go through, the first one innermost."""
    reserved_names: Mapping[str, str | None]
    """Names that no tool may have after the transforms, each with the option that changes it."""
    drift: Drift
    """Watches the shared lists."""
    owner: str
    """What errors call the catalog."""
    last: United = field(default_factory=United)
    """What all requests share, as last united."""

    def __post_init__(self) -> None:
        """Begin with nothing united."""
        self._lock = threading.Lock()
        self._for_parts = tuple(transform.for_part() for transform in self.transforms)
        self._warned = Once()
        self._before = NO_NAMES
        self._before_transformed = NO_NAMES

    async def share(self, *, strict: bool) -> United:
        """Return the set of the tools that all requests share, made again only if a list has changed.

        Raises:
            ConfigurationError: If `strict`, for what is refused otherwise.
        """
        epoch = self.drift.epoch
        listings = [(source, source.listed) for source in self.sources if source.is_shared]
        lists = tuple(listed for _, listed in listings)
        known = self.last
        is_known = known.lists is not None and known.epoch == epoch
        if is_known and not strict and are_same(lists, known.lists or ()):
            return known
        register = self._register({}, strict=strict, before=self._before)
        entered, places = _settled(register, listings)
        tools = [
            tool
            for (source, _), listed in zip(listings, entered, strict=True)
            for tool in self.drift.watch(listed, provider=source.name, foreign=source.provider.foreign)
        ]
        is_whole = len(listings) == len(self.sources)
        # What isn't there at the start may still be added: only requests are warned of it.
        is_early = strict and any(source.provider.grows for source, _ in listings)
        transforms = self.transforms if is_whole and not is_early else self._for_parts
        # What one request lacks another may have: only a list that is the whole can be judged.
        if strict and is_whole:
            await check_transforms(transforms, tools)
        self._before = register.given
        united = await self._united(
            tools,
            places,
            taken={},
            transforms=transforms,
            refused=register.refused,
            lists=None if is_early else lists,
            epoch=epoch,
            strict=strict,
        )
        with self._lock:
            if self.last.tools.generation < united.tools.generation:
                self.last = united
        return united

    async def add(self, listings: Sequence[Listing], *, taken: Mapping[str, Tool], strict: bool) -> United:
        """Return the set of a request's own tools, which take no name that is in `taken`."""
        register = self._register(taken, strict=strict)
        entered, places = _settled(register, listings)
        tools = [tool for listed in entered for tool in listed]
        return await self._united(
            tools, places, taken=taken, transforms=self._for_parts, refused=register.refused, strict=strict
        )

    def check(self, listings: Sequence[Listing]) -> None:
        """Check the names in what is known of the shared lists.

        Raises:
            DuplicateToolError: Two tools have one name.
            ReservedToolNameError: A tool has a reserved name.
        """
        _settled(self._register({}, strict=True), listings)

    def _register(
        self, taken: Mapping[str, Tool], *, strict: bool, before: GivenNames = NO_NAMES
    ) -> NameRegister:
        """Return the register of names as they are before the transforms, which may change them."""
        if self.transforms:
            return NameRegister(taken={}, strict=strict, before=before)
        return NameRegister(taken=taken, reserved=self.reserved_names, strict=strict, before=before)

    async def _united(
        self,
        tools: Sequence[Tool],
        places: Mapping[str, str],
        *,
        taken: Mapping[str, Tool],
        transforms: Sequence[Transform],
        refused: Sequence[RefusedTool],
        strict: bool,
        lists: tuple[Sequence[Tool], ...] | None = None,
        epoch: int = 0,
    ) -> United:
        """Apply the transforms and assign the names again."""
        stages: Sequence[Sequence[Tool]] = (tools,)
        if transforms:
            stages = await transform_stages(transforms, tools)
            register = NameRegister(
                taken=taken,
                reserved=self.reserved_names,
                strict=strict,
                before=NO_NAMES if lists is None else self._before_transformed,
            )
            tools, places = self._settle_transformed(register, stages[-1], places, before=tools)
            if lists is not None:
                self._before_transformed = register.given
            refused = [*refused, *register.refused]
        for tool in filter(self._warned.is_new, refused):
            logger.warning("the tool %r of %s is not served: %s", tool.name, tool.provider, tool.reason)
        asked = any(map(overrides_get, transforms))
        held = tuple(tool for tool in tools if isinstance(tool, HeldTool))
        served = [tool for tool in tools if not isinstance(tool, HeldTool)] if held else tools
        # Only now, so that what is held keeps its name from others, and has the one that users know.
        return United(
            tools=ToolSet(served, places=places),
            lists=lists,
            stages=[index_components(stage) for stage in stages] if asked else (),
            transforms=self.transforms,
            refused=tuple(refused),
            held=held,
            epoch=epoch,
        )

    def _settle_transformed(
        self,
        register: NameRegister,
        listed: Sequence[Tool],
        places: Mapping[str, str],
        *,
        before: Iterable[Tool],
    ) -> tuple[Sequence[Tool], dict[str, str]]:
        """Assign the names after the transforms; a copy has the place of its original."""
        by_origin = {origin_of(tool): places[tool.name] for tool in before}
        # What a transform made itself has a place of its own.
        found = [by_origin.get(origin_of(tool), "transforms") for tool in listed]
        origin = f"the transforms of {self.owner}"

        def offers() -> Sequence[Offer]:
            return [Offer(tool, place, origin) for tool, place in zip(listed, found, strict=True)]

        if register.give_all(listed, offers):
            return listed, _placed(listed, found)
        return [tool for tool in register.settle(offers()) if tool is not None], register.places


def _settled(
    register: NameRegister, listings: Sequence[Listing]
) -> tuple[Sequence[Sequence[Tool]], dict[str, str]]:
    """Return the lists with the names that their tools get, and the place of each name."""

    def offers() -> Sequence[Offer]:
        return [offer for source, listed in listings for offer in source.offers(listed)]

    wanted = [tool for _, listed in listings for tool in listed]
    if register.give_all(wanted, offers):
        found = [place for source, listed in listings for place in source.places(listed)]
        return [listed for _, listed in listings], _placed(wanted, found)
    settled = iter(register.settle(offers()))
    lists = [islice(settled, len(listed)) for _, listed in listings]
    return [[tool for tool in named if tool is not None] for named in lists], register.places


def _placed(tools: Sequence[Tool], places: Sequence[str]) -> dict[str, str]:
    """Return the place of each tool by its name."""
    return dict(zip([tool.name for tool in tools], places, strict=True))
