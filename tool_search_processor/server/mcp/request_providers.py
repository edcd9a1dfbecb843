"""Providers that a function chooses for each request."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from tool_search_processor.components import Prompt, Resource, ResourceTemplate
from tool_search_processor.concurrency.foreign_calls import FailuresLogged, awaited
from tool_search_processor.concurrency.shared_task import within
from tool_search_processor.providers.changes import HeldTool
from tool_search_processor.providers.functions import FunctionTools
from tool_search_processor.providers.given import as_providers
from tool_search_processor.providers.provider import (
    Context,
    Provider,
    any_hides_resource,
    components_of,
    unlisted_resource_of,
)
from tool_search_processor.tools import Tool
from tool_search_processor.transforms.transform import Kind
from tool_search_processor.wire.checks import check_callable

logger = logging.getLogger(__name__)

ProvidersFor = Callable[[Context], Any | Awaitable[Any]]


class RequestProviders(Provider):
    """Asks a function which providers a request has; a failing provider doesn't affect the others."""

    name = "providers_for"
    limits_itself = True
    """Each provider has its own time limit: a hanging provider must not cost the tools of the others."""

    def __init__(self, function: ProvidersFor, *, timeout_seconds: float | None) -> None:
        """Ask `function` for the providers of each request.

        Args:
            function: `(context) -> providers`, sync or async.
            timeout_seconds: How long it may take, and then each provider; None waits forever.

        Raises:
            ConfigurationError: When it can't be called.
        """
        check_callable("providers_for", function, "(context) -> providers")
        self._function = function
        self._timeout_seconds = timeout_seconds
        self._make = FunctionTools()

    async def list_tools(self, context: Context) -> Sequence[Tool]:
        """Return the tools of this request's providers, in the order in which they are named."""
        listed = await self._all(context, "tool")
        return [tool for tool in listed if not isinstance(tool, HeldTool)]

    async def list_resources(self, context: Context) -> Sequence[Resource]:
        """Return the resources of this request's providers."""
        return await self._all(context, "resource")

    async def list_resource_templates(self, context: Context) -> Sequence[ResourceTemplate]:
        """Return the templates of resources of this request's providers."""
        return await self._all(context, "resource_template")

    async def get_unlisted_resource(self, uri: str, context: Context) -> Resource | None:
        """Return a resource that one of this request's providers can read but doesn't list, or None."""
        for provider in await self._providers(context):
            found = await unlisted_resource_of(provider, uri, context)
            if found is not None:
                return found
        return None

    async def hides_resource(self, uri: str, context: Context) -> bool:
        """Return True if one of this request's providers hides a resource of this URI."""
        return await any_hides_resource(await self._providers(context), uri, context)

    async def list_prompts(self, context: Context) -> Sequence[Prompt]:
        """Return the prompts of this request's providers."""
        return await self._all(context, "prompt")

    async def _all(self, context: Context, kind: Kind) -> list[Any]:
        named = await self._providers(context)
        lists = await asyncio.gather(*(self._list(each, context, kind) for each in named))
        return [component for listed in lists for component in listed]

    async def _providers(self, context: Context) -> Sequence[Provider]:
        given = await within(awaited(self._function(context)), self._timeout_seconds)
        return as_providers(given)

    async def _list(self, provider: Provider, context: Context, kind: Kind) -> Sequence[Any]:
        with FailuresLogged(logger, "the provider %r failed to list for a request", provider.label):
            await provider.warm_up()
            work = components_of(provider, context, kind=kind, make=self._make)
            return tuple(await within(work, self._timeout_seconds))
        return ()
