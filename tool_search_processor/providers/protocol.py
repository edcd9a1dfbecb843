"""What is asked of an object that users supply as a provider, and of whatever hides resources."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from tool_search_processor.concurrency.foreign_calls import FailuresLogged
from tool_search_processor.tools import Tool

logger = logging.getLogger(__name__)


@runtime_checkable
class ToolProvider(Protocol):
    """A source of tools.

    ```python
    class Plugins:
        def list_tools(self, context: Mapping[str, Any]) -> list[Tool]:
            return [tool(create_issue)]

    search = ToolSearchProcessor([Plugins()])
    ```

    This one method is enough, and it may be a plain `def`. Whatever else `Provider` has (a name, a change
    mark, resources, prompts, closing) may be there as well; what isn't has the default of `Provider`.
    """

    async def list_tools(self, context: Mapping[str, Any]) -> Sequence[Tool]:
        """Return the tools for a request, in a stable order."""
        ...


class HidesResources(Protocol):
    """Knows which resources must not be served."""

    @property
    def label(self) -> str:
        """What warnings call it."""
        ...

    async def hides_resource(self, uri: str, context: Mapping[str, Any]) -> bool:
        """Return True if the resource at this URI is hidden, so no template may make it either."""
        ...


async def hides_resource_of(provider: HidesResources, uri: str, context: Mapping[str, Any]) -> bool:
    """Return True if a provider hides the resource at this URI, so no template may make it either.

    If the lookup fails, log a warning and return True.
    """
    with FailuresLogged(logger, "the provider %r can't tell whether it hides %r", provider.label, uri):
        return bool(await provider.hides_resource(uri, context))
    return True


async def any_hides_resource(
    providers: Iterable[HidesResources], uri: str, context: Mapping[str, Any]
) -> bool:
    """Return True if any of the providers hides the resource at this URI."""
    for provider in providers:
        if await hides_resource_of(provider, uri, context):
            return True
    return False
