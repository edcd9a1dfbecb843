"""What a catalog passes on besides tools: resources, templates of resources, and prompts."""

from __future__ import annotations

from collections.abc import Sequence

from tool_search_processor.catalog.components import Components
from tool_search_processor.components import Prompt, Resource, ResourceTemplate
from tool_search_processor.providers.provider import Context, Provider


class ComponentCatalog(Provider):
    """A provider whose resources, templates and prompts are those of many; see `Catalog`."""

    _components: Components

    async def list_resources(self, context: Context | None = None) -> Sequence[Resource]:
        """Return the resources of a request in the providers' order; of equal URIs the first stays."""
        return await self._components.resources.all(context or {})

    async def get_resource(self, uri: str, context: Context | None = None) -> Resource | None:
        """Return one resource of a request by its exact URI, or None."""
        return await self._components.resources.get(uri, context or {})

    async def get_unlisted_resource(self, uri: str, context: Context | None = None) -> Resource | None:
        """Return a resource that one of the providers can read but doesn't list, or None."""
        return await self._components.unlisted_resource(uri, context or {})

    async def list_resource_templates(self, context: Context | None = None) -> Sequence[ResourceTemplate]:
        """Return the templates of resources of a request, in order; of equal templates the first stays."""
        return await self._components.templates.all(context or {})

    async def get_resource_template(
        self, uri: str, context: Context | None = None
    ) -> ResourceTemplate | None:
        """Return the template with exactly this text, else the first that can make this URI, else None."""
        return await self._components.template(uri, context or {})

    async def hides_resource(self, uri: str, context: Context) -> bool:
        """Return True if a resource at this URI is hidden; an outer catalog asks this."""
        return await self._components.hides_resource(uri, context)

    async def list_prompts(self, context: Context | None = None) -> Sequence[Prompt]:
        """Return the prompts of a request in the providers' order; of equal names the first stays."""
        return await self._components.prompts.all(context or {})

    async def get_prompt(self, name: str, context: Context | None = None) -> Prompt | None:
        """Return one prompt of a request by its exact name, or None."""
        return await self._components.prompts.get(name, context or {})
