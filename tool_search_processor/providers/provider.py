"""What every provider has, also one of the user's own, and the transforms around it."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol, runtime_checkable

from tool_search_processor.components import Prompt, Resource, ResourceTemplate
from tool_search_processor.concurrency.closing import AsyncClosing
from tool_search_processor.concurrency.foreign_calls import FailuresLogged, awaited
from tool_search_processor.providers.changes import HeldTool
from tool_search_processor.providers.functions import FunctionTools, is_function
from tool_search_processor.providers.refusals import RefusedTool
from tool_search_processor.tools import Tool
from tool_search_processor.tools.origins import Origin
from tool_search_processor.transforms import rows
from tool_search_processor.transforms.transform import Kind, Transform, as_transforms

logger = logging.getLogger(__name__)

Context = Mapping[str, Any]


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


class Provider(AsyncClosing, ABC):
    """Base of all providers: `list_tools` is needed, everything else has a default.

    ```python
    class Plugins(Provider):
        name = "plugins"

        async def list_tools(self, context: Mapping[str, Any]) -> list[Tool]:
            return [tool(create_issue)]

    catalog = Catalog([Plugins().with_transforms(Namespace("plugins"))])
    ```
    """

    name: str = "provider"
    """What status reports and errors call it."""
    static: bool = False
    """Whether the list can be read without waiting, so that mistakes show at construction."""
    direct: bool = False
    """Whether it only stands for tools that were given to a catalog directly."""
    grows: bool = False
    """Whether tools may still be added before the first request."""
    limits_itself: bool = False
    """Whether listing always ends in time by itself, as a catalog's does; then no other limit is set."""
    foreign: bool = False
    """Whether somebody else defines the tools, so that a catalog watches them for changes."""

    @property
    def label(self) -> str:
        """The name, or the name of the class where the name is empty."""
        return str(self.name or type(self).__name__)

    def __repr__(self) -> str:
        """Return the kind of provider and its name."""
        return f"<{type(self).__name__} {self.label!r}>"

    @abstractmethod
    async def list_tools(self, context: Context) -> Sequence[Tool]:
        """Return the tools for a request, in a stable order."""

    async def list_with_held(self, context: Context) -> Sequence[Tool]:
        """Return the tools together with those that are held back (`HeldTool`)."""
        listed: Sequence[Tool] = await awaited(self.list_tools(context))
        return listed

    async def list_resources(self, context: Context) -> Sequence[Resource]:
        """Return the resources that a gateway serves next to the tools."""
        return ()

    async def list_resource_templates(self, context: Context) -> Sequence[ResourceTemplate]:
        """Return the resource templates that a gateway serves next to the tools."""
        return ()

    async def list_prompts(self, context: Context) -> Sequence[Prompt]:
        """Return the prompts that a gateway serves next to the tools."""
        return ()

    async def get_unlisted_resource(self, uri: str, context: Context) -> Resource | None:
        """Return a resource that can be read but isn't listed, such as the target of a link, or None."""
        return None

    async def hides_resource(self, uri: str, context: Context) -> bool:
        """Return True if the resource at this URI is hidden, so no template may make it either."""
        return False

    def version(self) -> Hashable | None:
        """Return a cheap mark that changes whenever a list does, or None.

        A mark promises that the lists depend on nothing else, the request included: they are read once for
        each mark and shared by all requests. With None, every request reads them.
        """
        return None

    def failure(self) -> str | None:
        """Return what is wrong right now, for a catalog's status, even if the list still holds."""
        return None

    def outages(self) -> Collection[Origin]:
        """Return the sources inside that can't be reached now; an outer catalog asks this."""
        return ()

    def refused_tools(self) -> Sequence[RefusedTool]:
        """Return the tools that were left out of the last list, each with the reason."""
        return ()

    async def check_tools(self, context: Context) -> None:
        """Raise if the current list shows a mistake of the program.

        Raises:
            ConfigurationError: A transform can't do its work, or names clash in a nested catalog.
        """

    async def warm_up(self) -> None:
        """Do what takes long once per process, such as an import. No time limit applies."""

    def with_transforms(self, *transforms: Transform) -> TransformedProvider:
        """Return this provider as seen through transforms, the first one innermost."""
        return TransformedProvider(self, transforms)


class ForeignProvider(Provider):
    """An object of the user's that lists tools, with the defaults of `Provider` for what it lacks."""

    def __init__(self, provider: ToolProvider) -> None:
        """Wrap an object with a `list_tools`, which may be a plain function; so may its other methods."""
        self.provider = provider
        self.name = str(getattr(provider, "name", None) or type(provider).__name__)
        self.static = bool(getattr(provider, "static", False))
        self.grows = bool(getattr(provider, "grows", False))
        self.limits_itself = bool(getattr(provider, "limits_itself", False))
        self.foreign = bool(getattr(provider, "foreign", False))
        for name in _SYNC_METHODS:
            if callable(method := getattr(provider, name, None)):
                setattr(self, name, method)
        for name in _ASYNC_METHODS:
            if callable(method := getattr(provider, name, None)):
                setattr(self, name, partial(_called, method))

    async def list_tools(self, context: Context) -> Sequence[Tool]:
        """Return what the object lists."""
        listed: Sequence[Tool] = await awaited(self.provider.list_tools(context))
        return listed


_SYNC_METHODS = ("version", "failure", "refused_tools")
_ASYNC_METHODS = (
    *("list_with_held", "list_resources", "list_resource_templates", "list_prompts"),
    *("get_unlisted_resource", "hides_resource", "check_tools", "warm_up", "aclose"),
)
"""Methods that an object may have, each in the place of the default of `Provider`."""


async def _called(method: Callable[..., Any], *arguments: object) -> Any:
    return await awaited(method(*arguments))


def adapt(provider: ToolProvider) -> Provider:
    """Return a provider with every method of `Provider`, wrapped if it lacks any."""
    return provider if isinstance(provider, Provider) else ForeignProvider(provider)


class TransformedProvider(Provider):
    """A provider as seen through transforms.

    ```python
    provider = TransformedProvider(StaticProvider([create_issue]), [Namespace("github")])
    [tool.name for tool in await provider.list_tools({})]  # -> ['github_create_issue']
    ```
    """

    def __init__(self, provider: ToolProvider, transforms: Iterable[Transform]) -> None:
        """Wrap a provider.

        Args:
            provider: The source.
            transforms: What its list goes through; the first one is innermost.
        """
        self.provider = adapt(provider)
        self.transforms = as_transforms(transforms)
        self._make = FunctionTools()
        self.name = self.provider.label
        self.static = self.provider.static
        self.limits_itself = self.provider.limits_itself
        self.foreign = self.provider.foreign

    async def list_tools(self, context: Context) -> Sequence[Tool]:
        """Return the wrapped provider's tools, transformed, without those that a `get_tool` rejects."""
        return [tool for tool in await self.list_with_held(context) if not isinstance(tool, HeldTool)]

    async def list_with_held(self, context: Context) -> Sequence[Tool]:
        """Return the tools, and those that an inner catalog holds back, under their outer names."""
        return await self._transformed(context, "tool")

    async def list_resources(self, context: Context) -> Sequence[Resource]:
        """Return the wrapped provider's resources, transformed."""
        return await self._transformed(context, "resource")

    async def list_resource_templates(self, context: Context) -> Sequence[ResourceTemplate]:
        """Return the wrapped provider's templates of resources, transformed."""
        return await self._transformed(context, "resource_template")

    async def list_prompts(self, context: Context) -> Sequence[Prompt]:
        """Return the wrapped provider's prompts, transformed."""
        return await self._transformed(context, "prompt")

    async def get_unlisted_resource(self, uri: str, context: Context) -> Resource | None:
        """Return what the wrapped provider can read but doesn't list, transformed, by its outer URI."""
        return await rows.look_through(
            self.transforms, uri, lambda inner: unlisted_resource_of(self.provider, inner, context)
        )

    async def hides_resource(self, uri: str, context: Context) -> bool:
        """Return True if the transforms, or what they wrap, hide the resource at this outer URI."""
        return await rows.hides_resource(
            self.transforms,
            uri,
            listed=lambda: components_of(self.provider, context, kind="resource"),
            is_hidden=lambda inner: any_hides_resource([self.provider], inner, context),
        )

    async def _transformed(self, context: Context, kind: Kind) -> Sequence[Any]:
        listed = tuple(await components_of(self.provider, context, kind=kind, make=self._make))
        stages = await rows.transform_stages(self.transforms, listed, kind=kind)
        if not any(rows.overrides_get(transform, kind=kind) for transform in self.transforms):
            return stages[-1]
        indexed = [rows.index_components(stage) for stage in stages]
        agreed = [await rows.get_agreed(self.transforms, indexed, key, kind=kind) for key in indexed[-1]]
        return [component for component in agreed if component is not None]

    def version(self) -> Hashable | None:
        """Return the wrapped provider's mark."""
        return self.provider.version()

    def failure(self) -> str | None:
        """Return what is wrong with the wrapped provider."""
        return self.provider.failure()

    def outages(self) -> Collection[Origin]:
        """Return the sources inside the wrapped provider that can't be reached now."""
        return self.provider.outages()

    def refused_tools(self) -> Sequence[RefusedTool]:
        """Return what the wrapped provider left out."""
        return tools_refused_by(self.provider)

    async def warm_up(self) -> None:
        """Warm the wrapped provider up."""
        await self.provider.warm_up()

    async def check_tools(self, context: Context) -> None:
        """Raise where a transform can't do its work on what the wrapped provider lists now.

        Raises:
            ConfigurationError: Says what is missing.
        """
        await self.provider.check_tools(context)
        tools = await components_of(self.provider, context, kind="tool", make=self._make)
        await rows.check_transforms(self.transforms, tuple(tools))

    async def aclose(self) -> None:
        """Close the wrapped provider."""
        await self.provider.aclose()


async def components_of(
    provider: Provider, context: Context, *, kind: Kind, make: FunctionTools | None = None
) -> Sequence[Any]:
    """Return what a provider lists of a kind; its functions are made tools.

    Tools that are held back (`HeldTool`) are among the tools.

    Args:
        provider: The source; a catalog checks what comes from it.
        context: The request's own data.
        kind: What is asked for.
        make: Makes the tools of functions.
    """
    listed: Any = await awaited(_LISTS[kind](provider, context))
    if kind != "tool" or not isinstance(listed, list | tuple) or not any(map(is_function, listed)):
        return listed  # type: ignore[no-any-return]  # foreign code
    make = make or FunctionTools()
    make.make_room(len(listed))
    return [make(item, origin=provider.label) if is_function(item) else item for item in listed]


_LISTS: Mapping[Kind, Callable[[Provider, Context], Any]] = {
    "tool": lambda provider, context: provider.list_with_held(context),
    "resource": lambda provider, context: provider.list_resources(context),
    "resource_template": lambda provider, context: provider.list_resource_templates(context),
    "prompt": lambda provider, context: provider.list_prompts(context),
}


async def any_hides_resource(providers: Iterable[Provider], uri: str, context: Context) -> bool:
    """Return True if a provider hides the resource at this URI, or can't tell, which is logged."""
    told = "the provider %r can't tell whether it hides %r"
    for provider in providers:
        with FailuresLogged(logger, told, provider.label, uri):
            if not await provider.hides_resource(uri, context):
                continue
        return True
    return False


async def unlisted_resource_of(provider: Provider, uri: str, context: Context) -> Resource | None:
    """Return a resource that a provider can read but doesn't list, or None.

    If the lookup fails, log a warning and return None: another provider may have the resource.
    """
    told = "the provider %r failed to look up %r, which it doesn't list"
    with FailuresLogged(logger, told, provider.label, uri):
        return await provider.get_unlisted_resource(uri, context)
    return None


def tools_refused_by(provider: Provider) -> Sequence[RefusedTool]:
    """Return the tools that a provider left out of its last list; empty if it can't say."""
    with FailuresLogged(logger, "the provider %r can't tell which tools it left out", provider.label):
        return tuple(tool for tool in provider.refused_tools() if isinstance(tool, RefusedTool))
    return ()
