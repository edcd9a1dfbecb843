"""What a catalog passes on besides tools: resources, resource templates, prompts."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Generic

from tool_search_processor.catalog.provider_cache import Source
from tool_search_processor.catalog.status import ProviderStatus
from tool_search_processor.components import Prompt, Resource, ResourceTemplate
from tool_search_processor.components.spellings import spellings_of
from tool_search_processor.concurrency.foreign_calls import FailuresLogged
from tool_search_processor.concurrency.once import Once
from tool_search_processor.providers.provider import (
    Context,
    Provider,
    any_hides_resource,
    unlisted_resource_of,
)
from tool_search_processor.tools import Tool
from tool_search_processor.transforms.rows import (
    get_agreed,
    hides_resource,
    index_components,
    look_through,
    overrides_get,
    transform_stages,
)
from tool_search_processor.transforms.transform import (
    KINDS,
    ComponentT,
    Kind,
    Transform,
    component_key,
    kind_of,
)
from tool_search_processor.wire.plain import are_same

logger = logging.getLogger(__name__)

_LONGEST_URI = 8192
"""The longest unlisted URI: each template is tried on it. RFC 9110 asks for 8,000."""


@dataclass(kw_only=True, eq=False)
class Gathering(Generic[ComponentT]):
    """Gathers one kind of component from all providers: unique names or URIs in a stable order."""

    kind: Kind
    sources: Sequence[Source[ComponentT]]
    """Those of this kind, in order; nothing is read yet."""
    transforms: Sequence[Transform]
    """What the whole list goes through, the first one innermost."""
    owner: str
    """What warnings call the catalog."""
    _warned: Once = field(default_factory=Once)
    # The lists last read and the stages made of them: one value, since threads share it.
    _last: tuple[Sequence[Sequence[ComponentT]], Sequence[Mapping[str, ComponentT]]] = ((), ())

    async def all(self, context: Context) -> Sequence[ComponentT]:
        """Return the components of a request, in order, without those that a get method rejects."""
        stages = await self._stages(context)
        if not any(overrides_get(transform, kind=self.kind) for transform in self.transforms):
            return tuple(stages[-1].values())
        agreed = [await get_agreed(self.transforms, stages, key, kind=self.kind) for key in stages[-1]]
        return tuple(component for component in agreed if component is not None)

    async def get(self, key: str, context: Context) -> ComponentT | None:
        """Return the component of this name or URI, if every transform with its own get method agrees."""
        return await get_agreed(self.transforms, await self._stages(context), key, kind=self.kind)

    async def untransformed(self, context: Context) -> Collection[ComponentT]:
        """Return the components of a request as the providers list them."""
        return (await self._stages(context))[0].values()

    def error_of(self, provider: Provider) -> str | None:
        """Return why a provider's last listing failed, or None if it succeeded."""
        errors = (source.status().error for source in self.sources if source.provider is provider)
        method = KINDS[self.kind].list_name
        return next((f"{method}: {error}" for error in errors if error is not None), None)

    async def _stages(self, context: Context) -> Sequence[Mapping[str, ComponentT]]:
        """Return the gathered list, and the list after each transform, by name or URI."""
        lists = await asyncio.gather(*(self._read(source, context) for source in self.sources))
        known, made = self._last
        if made and are_same(lists, known):
            return made
        origins = [source.name for source in self.sources]
        gathered = self._entered(zip(origins, lists, strict=True))
        *rows, last = await transform_stages(self.transforms, tuple(gathered.values()), kind=self.kind)
        outer = self._entered([(f"the transforms of {self.owner}", last)])
        stages = [*map(index_components, rows), outer]
        self._last = lists, stages
        return stages

    async def _read(self, source: Source[ComponentT], context: Context) -> Sequence[ComponentT]:
        fresh = await source.read(context) if source.is_due() else ()
        return source.listed if source.is_shared else fresh

    def _entered(self, lists: Iterable[tuple[str, Iterable[ComponentT]]]) -> dict[str, ComponentT]:
        """Return what lists of some origins hold, by name or URI: the first stays, once a warning tells."""
        entered: dict[str, ComponentT] = {}
        what = self.kind.replace("_", " ")
        for origin, listed in lists:
            for component in listed:
                key = component_key(component)
                is_first = entered.setdefault(key, component) is component
                if not is_first and self._warned.is_new((key, origin)):
                    logger.warning("the %s %r of %s is not served: the name is taken", what, key, origin)
        return entered


class ComponentCatalog(Provider):
    """A provider whose resources, templates and prompts are those of many; see `Catalog`."""

    def _gather(self, sources: Sequence[Source[Tool]], transforms: Iterable[Transform]) -> None:
        """Set what is passed on besides some tools: what their providers list, through transforms."""

        def gathering(kind: type[ComponentT]) -> Gathering[ComponentT]:
            own = [source.of_kind(kind) for source in sources]
            return Gathering(kind=kind_of(kind), sources=own, transforms=self._row, owner=self.name)

        self._row = tuple(transform.for_part() for transform in transforms)
        self._resources = gathering(Resource)
        self._templates = gathering(ResourceTemplate)
        self._prompts = gathering(Prompt)

    async def list_resources(self, context: Context | None = None) -> Sequence[Resource]:
        """Return the resources of a request in the providers' order; of equal URIs the first stays."""
        return await self._resources.all(context or {})

    async def get_resource(self, uri: str, context: Context | None = None) -> Resource | None:
        """Return one resource of a request by its exact URI, or None."""
        return await self._resources.get(uri, context or {})

    async def get_unlisted_resource(self, uri: str, context: Context | None = None) -> Resource | None:
        """Return an unlisted resource from the first provider that can read this URI, or None."""

        async def find(uri: str) -> Resource | None:
            for source in self._resources.sources:
                found = await unlisted_resource_of(source.provider, uri, context or {})
                if found is not None:
                    return found
            return None

        if len(uri) > _LONGEST_URI:
            return None
        with FailuresLogged(logger, "the resource %r is not given: a lookup failed", uri):
            return await look_through(self._row, uri, find)
        return None

    async def list_resource_templates(self, context: Context | None = None) -> Sequence[ResourceTemplate]:
        """Return the templates of resources of a request, in order; of equal templates the first stays."""
        return await self._templates.all(context or {})

    async def get_resource_template(
        self, uri: str, context: Context | None = None
    ) -> ResourceTemplate | None:
        """Return the template with exactly this text, or the first that can make this URI.

        None for the URI of a hidden resource, and for one with `..`, which may lead to one.
        """
        found = None if len(uri) > _LONGEST_URI else await self._templates.get(uri, context or {})
        if found is None:
            return None
        spellings = spellings_of(uri)
        for spelling in spellings:
            if await any_hides_resource([self], spelling, context or {}):
                return None
        return found if spellings else None

    async def hides_resource(self, uri: str, context: Context) -> bool:
        """Return True if a provider lists a resource at this outer URI that isn't served."""

        async def is_hidden(uri: str) -> bool:
            providers = [source.provider for source in self._resources.sources]
            return await any_hides_resource(providers, uri, context)

        listed = partial(self._resources.untransformed, context)
        return await hides_resource(self._row, uri, listed=listed, is_hidden=is_hidden)

    async def list_prompts(self, context: Context | None = None) -> Sequence[Prompt]:
        """Return the prompts of a request in the providers' order; of equal names the first stays."""
        return await self._prompts.all(context or {})

    async def get_prompt(self, name: str, context: Context | None = None) -> Prompt | None:
        """Return one prompt of a request by its exact name, or None."""
        return await self._prompts.get(name, context or {})

    def _judged(self, status: ProviderStatus, provider: Provider) -> ProviderStatus:
        """Return a provider's status: also down if its last listing of other components failed."""
        errors = (kind.error_of(provider) for kind in (self._resources, self._templates, self._prompts))
        error = next((error for error in errors if error is not None), None)
        return status if error is None or status.up is False else replace(status, up=False, error=error)

    def _stop_gathering(self) -> None:
        """Cancel the readings of components that are under way."""
        for kind in (self._resources, self._templates, self._prompts):
            for source in kind.sources:
                source.stop()
