"""What every source of tools shares."""

from __future__ import annotations

import inspect
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from tool_search_processor.components import Prompt, Resource, ResourceTemplate
from tool_search_processor.concurrency.foreign_calls import is_no_failure
from tool_search_processor.errors import ConfigurationError, DuplicateToolError
from tool_search_processor.providers.changes import HeldTool
from tool_search_processor.providers.functions import FunctionTools, is_function, to_tool
from tool_search_processor.providers.refusals import RefusedTool, tools_refused_by
from tool_search_processor.tools import Tool
from tool_search_processor.transforms.rows import (
    check_transforms,
    get_agreed,
    hides_resource,
    index_components,
    look_through,
    overrides_get,
    transform_stages,
)
from tool_search_processor.transforms.transform import Kind, Transform, as_transforms

logger = logging.getLogger(__name__)

Context = Mapping[str, Any]
MakeTool = Callable[..., Tool]
"""Makes the tool of an item: `to_tool`, or something that remembers what it made."""


@runtime_checkable
class ToolProvider(Protocol):
    """A source of tools.

    ```python
    class Plugins:
        def list_tools(self, context: Mapping[str, Any]) -> list[Tool]:
            return [tool(create_issue)]

    search = ToolSearchProcessor([Plugins()])
    ```

    In a list of tools and providers, `list_tools` may be a plain `def` where it has nothing to wait for, and
    what it lists may be plain functions. A provider may also have:

    - `name: str`: what status reports and errors call it.
    - `version() -> Hashable | None`: a cheap change mark. It promises that the lists depend on nothing
      but this mark — not on the request — so each is read once a mark and shared by all requests.
      Without it, or while it is None, a list is read for each request.
    - `failure() -> str | None`: what is wrong with it now, for a catalog's status, though its list may hold.
    - `refused_tools() -> Sequence[RefusedTool]`: what it left out of the list it gave last, each with the
      reason, for `status().refused`.
    - `foreign: bool`: somebody else defines its tools, so a catalog watches them for changes.
    - `list_resources(context)`, `list_resource_templates(context)`, `list_prompts(context)`: what a
      gateway passes on beside the tools.
    - `async get_unlisted_resource(uri, context)`: a resource that it can read but doesn't list, as a link in
      an answer may lead to one; None for a URI that is none of its own, and for what it lists.
    - `async warm_up()`: does what takes long once a process, such as an import, before the first list is
      asked for; it counts against no time limit.
    - `async aclose()`: lets go of connections.
    """

    async def list_tools(self, context: Context) -> Sequence[Tool]:
        """Return the tools for a request, in a stable order."""
        ...


class Provider(ABC):
    """Base of the shipped providers: a name, and transforms around the list.

    ```python
    class Plugins(Provider):
        name = "plugins"

        async def list_tools(self, context: Mapping[str, Any]) -> list[Tool]:
            return [tool(create_issue)]

    catalog = Catalog([Plugins().with_transforms(Namespace("plugins"))])
    ```
    """

    name: str = "provider"
    static: bool = False
    """Whether the list can be read without waiting, so that mistakes show at construction."""
    limits_itself: bool = False
    """Whether listing always ends in time by itself, as a catalog's does; then no other limit is set."""
    foreign: bool = False
    """Whether somebody else defines the tools, so that a catalog watches them for changes."""

    @abstractmethod
    async def list_tools(self, context: Context) -> Sequence[Tool]:
        """Return the tools for a request, in a stable order."""

    def version(self) -> Hashable | None:
        """Return a mark that changes whenever the list does; None where only listing can tell."""
        return None

    async def aclose(self) -> None:  # noqa: B027 - most have nothing to close
        """Let go of connections; the base has none."""

    def with_transforms(self, *transforms: Transform) -> TransformedProvider:
        """Return this provider as seen through transforms, the first one innermost."""
        return TransformedProvider(self, transforms)


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
        self.provider = provider
        self.transforms = as_transforms(transforms)
        self._make = FunctionTools()
        self.name = provider_name(provider)
        self.static = bool(getattr(provider, "static", False))
        self.limits_itself = bool(getattr(provider, "limits_itself", False))
        self.foreign = bool(getattr(provider, "foreign", False))

    async def list_tools(self, context: Context) -> Sequence[Tool]:
        """Return the wrapped provider's tools, transformed; less those that a `get_tool` disowns."""
        return [tool for tool in await self.list_with_held(context) if not isinstance(tool, HeldTool)]

    async def list_with_held(self, context: Context) -> Sequence[Tool]:
        """Return the tools, and those that an inner catalog holds back, under their outer names."""
        return await self._transformed(context, "tool")

    async def list_resources(self, context: Context) -> Sequence[Resource]:
        """Return the wrapped provider's resources, transformed; none where it has none."""
        return await self._transformed(context, "resource")

    async def list_resource_templates(self, context: Context) -> Sequence[ResourceTemplate]:
        """Return the wrapped provider's templates of resources, transformed; none where it has none."""
        return await self._transformed(context, "resource_template")

    async def list_prompts(self, context: Context) -> Sequence[Prompt]:
        """Return the wrapped provider's prompts, transformed; none where it has none."""
        return await self._transformed(context, "prompt")

    async def get_unlisted_resource(self, uri: str, context: Context) -> Resource | None:
        """Return what the wrapped provider can read but doesn't list, transformed, by its outer URI."""
        return await look_through(
            self.transforms, uri, lambda inner: unlisted_resource_of(self.provider, inner, context)
        )

    async def hides_resource(self, uri: str, context: Context) -> bool:
        """Tell whether a resource of this outer URI is hidden by the transforms, or below them."""
        return await hides_resource(
            self.transforms,
            uri,
            listed=lambda: components_of(self.provider, context, kind="resource"),
            is_hidden=lambda inner: hides_resource_of(self.provider, inner, context),
        )

    async def _transformed(self, context: Context, kind: Kind) -> Sequence[Any]:
        listed = tuple(await components_of(self.provider, context, kind=kind, make=self._make))
        stages = await transform_stages(self.transforms, listed, kind=kind)
        if not any(overrides_get(transform, kind=kind) for transform in self.transforms):
            return stages[-1]
        indexed = [index_components(stage) for stage in stages]
        agreed = [await get_agreed(self.transforms, indexed, key, kind=kind) for key in indexed[-1]]
        return [component for component in agreed if component is not None]

    def version(self) -> Hashable | None:
        """Return the wrapped provider's mark."""
        return provider_version(self.provider)

    def failure(self) -> str | None:
        """Return what is wrong with the wrapped provider, where it tells."""
        return provider_failure(self.provider)

    def refused_tools(self) -> Sequence[RefusedTool]:
        """Return what the wrapped provider left out, where it tells."""
        return tools_refused_by(self.provider)

    async def warm_up(self) -> None:
        """Warm the wrapped provider up."""
        await warm_up_provider(self.provider)

    async def check_tools(self, context: Context) -> None:
        """Raise where a transform can't do its work on what the wrapped provider lists now.

        Raises:
            ConfigurationError: Says what is missing.
        """
        await check_provider(self.provider, context)
        tools = await components_of(self.provider, context, kind="tool", make=self._make)
        await check_transforms(self.transforms, tuple(tools))

    async def aclose(self) -> None:
        """Close the wrapped provider."""
        await close_provider(self.provider)


def provider_name(provider: object) -> str:
    """Return what status reports and errors call a provider."""
    return str(getattr(provider, "name", None) or type(provider).__name__)


async def components_of(
    provider: ToolProvider, context: Context, *, kind: Kind, make: MakeTool = to_tool
) -> Sequence[Any]:
    """Return what a provider lists of a kind; nothing where it has no such method.

    Its method may also be a plain function. Of tools, what it holds back (`HeldTool`) is among them, where
    it tells of that, and functions among them become tools.

    Args:
        provider: The source; a catalog looks at what comes from it.
        context: The request's own data.
        kind: What is asked for.
        make: Makes the tool of a function.
    """
    held = getattr(provider, "list_with_held", None) if kind == "tool" else None
    method = held or getattr(provider, f"list_{kind}s", None)
    listed: Any = () if method is None else method(context)
    if inspect.isawaitable(listed):
        listed = await listed
    if kind != "tool" or not isinstance(listed, list | tuple) or not any(map(is_function, listed)):
        return listed  # type: ignore[no-any-return]  # foreign code
    name = provider_name(provider)
    _make_room(make, len(listed))
    return [make(item, origin=name) if is_function(item) else item for item in listed]


async def unlisted_resource_of(provider: object, uri: str, context: Context) -> Resource | None:
    """Return a resource that a provider can read but doesn't list; None where there is none.

    None, and a warning, as well where its lookup fails: others may have it.
    """
    get = getattr(provider, "get_unlisted_resource", None)
    try:
        found: Resource | None = None if get is None else await get(uri, context)
    except BaseException as exc:  # foreign code
        if is_no_failure(exc):
            raise
        logger.warning(
            "the provider %r failed to look up %r, which it doesn't list",
            provider_name(provider),
            uri,
            exc_info=True,
        )
        return None
    return found


async def hides_resource_of(provider: object, uri: str, context: Context) -> bool:
    """Tell whether a provider keeps back a resource of this URI: then no template makes it either.

    True, and a warning, as well where that can't be found out.
    """
    hides = getattr(provider, "hides_resource", None)
    try:
        return hides is not None and bool(await hides(uri, context))
    except BaseException as exc:  # foreign code
        if is_no_failure(exc):
            raise
        logger.warning(
            "the provider %r can't tell whether it hides %r", provider_name(provider), uri, exc_info=True
        )
        return True


async def any_hides_resource(providers: Iterable[object], uri: str, context: Context) -> bool:
    """Tell whether one of some providers keeps back a resource of this URI."""
    for provider in providers:
        if await hides_resource_of(provider, uri, context):
            return True
    return False


def provider_version(provider: object) -> Hashable | None:
    """Return a provider's change mark, or None where it has none."""
    version: Callable[[], Hashable | None] | None = getattr(provider, "version", None)
    return version() if callable(version) else None


def provider_failure(provider: object) -> str | None:
    """Return what a provider says is wrong with it now; None where nothing is, or it does not tell."""
    failure: Callable[[], str | None] | None = getattr(provider, "failure", None)
    return failure() if callable(failure) else None


async def check_provider(provider: object, context: Context) -> None:
    """Ask a provider with a `check_tools` whether what it lists now is without fault.

    Raises:
        ConfigurationError: When a transform can't do its work, or a nested catalog's names clash.
    """
    check = getattr(provider, "check_tools", None)
    if check is not None:
        await check(context)


async def warm_up_provider(provider: object) -> None:
    """Let a provider do what it does once a process, if there is anything."""
    warm_up = getattr(provider, "warm_up", None)
    if warm_up is not None:
        await warm_up()


async def close_provider(provider: object) -> None:
    """Close a provider that can be closed."""
    aclose = getattr(provider, "aclose", None)
    if aclose is not None:
        await aclose()


def to_tools(source: object, *, origin: str, make: MakeTool = to_tool) -> tuple[Tool, ...]:
    """Return the tools in what a user passed as such.

    Args:
        source: A mapping of names to tools or functions, or an iterable of tools and functions. A key names
            a function; a tool keeps its own name, and its key is an alias.
        origin: What errors call the source.
        make: Makes the tool of one of them.

    Raises:
        ConfigurationError: When something in it is neither a tool nor a function.
    """
    if isinstance(source, Mapping):
        _make_room(make, len(source))
        return _keyed(source, origin=origin, make=make)
    if not isinstance(source, Iterable) or isinstance(source, str | bytes):
        raise ConfigurationError(f"{origin}: expected tools, found {source!r:.80}: pass a list of them")
    items = tuple(source)
    _make_room(make, len(items))
    return tuple(make(item, origin=origin) for item in items)


def _keyed(source: Mapping[Any, Any], *, origin: str, make: MakeTool) -> tuple[Tool, ...]:
    """Return the tools of a mapping; one that stands under several keys is one tool."""
    made: dict[object, Tool] = {}
    for key, item in source.items():
        place = ("tool", id(item)) if isinstance(item, Tool) else key
        made[place] = make(made.get(place, item), name=str(key), origin=origin)
    return tuple(made.values())


def _make_room(make: MakeTool, count: int) -> None:
    if isinstance(make, FunctionTools):
        make.make_room(count)


def refuse_duplicates(tools: Iterable[Tool], *, origin: str) -> None:
    """Raise when two tools bear one name and come from one original.

    Raises:
        DuplicateToolError: Naming both places.
    """
    listed = tuple(tools)
    if len({tool.name for tool in listed}) == len(listed):
        return
    seen: dict[tuple[str, str], int] = {}
    for place, tool in enumerate(listed):
        key = (tool.name, tool.original_name)
        if key in seen:
            raise DuplicateToolError(tool.name, (f"{origin}[{seen[key]}]", f"{origin}[{place}]"))
        seen[key] = place
