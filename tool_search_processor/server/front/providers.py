"""Providers that a function names anew for each request."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from tool_search_processor.catalog.sources import as_providers
from tool_search_processor.components import Prompt, Resource, ResourceTemplate
from tool_search_processor.errors import ConfigurationError
from tool_search_processor.providers.base import Context, Provider, components_of, provider_name
from tool_search_processor.providers.changes import HeldTool
from tool_search_processor.providers.functions import FunctionTools
from tool_search_processor.tools import Tool
from tool_search_processor.transforms.base import Kind

logger = logging.getLogger(__name__)

ProvidersFor = Callable[[Context], Any | Awaitable[Any]]


class RequestProviders(Provider):
    """Asks a function which providers a request has; one that fails doesn't take the others down."""

    name = "providers_for"

    def __init__(self, function: ProvidersFor) -> None:
        """Take the function: `(context) -> providers`, sync or async.

        Raises:
            ConfigurationError: When it can't be called.
        """
        if not callable(function):
            raise ConfigurationError(
                f"providers_for is a function (context) -> providers, found {function!r:.80}"
            )
        self._function = function
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

    async def list_prompts(self, context: Context) -> Sequence[Prompt]:
        """Return the prompts of this request's providers."""
        return await self._all(context, "prompt")

    async def _all(self, context: Context, kind: Kind) -> list[Any]:
        named = self._function(context)
        providers = as_providers(await named if inspect.isawaitable(named) else named)
        lists = await asyncio.gather(
            *(components_of(each, context, kind=kind, make=self._make) for each in providers),
            return_exceptions=True,
        )
        found: list[Any] = []
        for provider, listed in zip(providers, lists, strict=True):
            if isinstance(listed, BaseException):
                logger.warning(
                    "the provider %r failed to list for a request", provider_name(provider), exc_info=listed
                )
            else:
                found += listed
        return found
