"""Makes tools of plain functions: a function gives the same tool however often it is listed."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeGuard

from cachetools import LRUCache

from tool_search_processor.errors import ConfigurationError, DuplicateToolError
from tool_search_processor.tools import Tool

_Named = tuple[Callable[..., Any], str | None]
_MAX_KEPT = 500
_WAYS: Mapping[str, str] = {
    "langchain_core": "make it ours, from_langchain(tool), of tool_search_processor.adapters.langchain",
    "pydantic_ai": "leave it with its agent, and hide it: ToolSearchCapability(search, hide_own=True)",
    "agents": "leave it with its agent, and hide it: ToolSearchAgent(..., hide_own=True)",
    "google": "give it to the adapter: ToolSearchToolset(search, inner=[tool])",
    "strands": "leave it with its agent, and hide it: ToolSearchPlugin(search, hide_own=True)",
}
"""How a framework's tool becomes searchable, by the package that its class comes from."""


class FunctionTools:
    """Makes tools of functions and remembers the last ones, so that schemas are built once per list.

    The last 500, and as many more as the longest list had: a tool takes some 30 KB, and a list that is longer
    than what is remembered would push out each of its tools before it is asked for again.
    """

    def __init__(self) -> None:
        """Begin with none."""
        self._made: LRUCache[_Named, Tool] = LRUCache(_MAX_KEPT)
        self._lock = threading.Lock()

    def make_room(self, count: int) -> None:
        """Remember enough for a list of this length."""
        with self._lock:
            if self._made.maxsize < _MAX_KEPT + count:
                more: LRUCache[_Named, Tool] = LRUCache(_MAX_KEPT + count)
                more.update(self._made)
                self._made = more

    def __call__(self, item: object, *, name: str | None = None, origin: str) -> Tool:
        """Return one tool, as `to_tool` does.

        Raises:
            ConfigurationError: When it is neither a tool nor a function.
        """
        if not is_function(item):
            return to_tool(item, name=name, origin=origin)
        try:
            with self._lock:
                made = self._made.get((item, name))
        except TypeError:  # a callable object may not be hashable
            return to_tool(item, name=name, origin=origin)
        if made is None:
            made = to_tool(item, name=name, origin=origin)
            with self._lock:
                made = self._made.setdefault((item, name), made)
        return made


def is_function(item: object) -> TypeGuard[Callable[..., Any]]:
    """Return True if a tool can be made of it: it is callable, and neither a tool nor a class."""
    return callable(item) and not isinstance(item, type | Tool)


def refuse_class(item: object, *, origin: str) -> None:
    """Raise if a provider's class was given instead of a provider.

    Raises:
        ConfigurationError: It does.
    """
    if isinstance(item, type) and callable(getattr(item, "list_tools", None)):
        raise ConfigurationError(
            f"{origin}: {item!r:.80} is the class of a provider: create it, {item.__name__}(...)"
        )


def refuse_awaitable(item: object, *, origin: str) -> None:
    """Raise if an `await` was forgotten.

    Raises:
        ConfigurationError: It was.
    """
    if inspect.isawaitable(item):
        if inspect.iscoroutine(item):
            item.close()  # told here: no second warning
        raise ConfigurationError(f"{origin}: {item!r:.80} was not awaited: write `await` before it")


def as_list(given: object, *, origin: str, items: str) -> list[object]:
    """Return what was given as a list of tools; its items are checked by `to_tool`.

    Args:
        given: Any iterable.
        origin: What errors call it.
        items: What errors say that it may hold.

    Raises:
        ConfigurationError: It is a single thing, or an `await` was forgotten.
    """
    refuse_awaitable(given, origin=origin)
    if isinstance(given, str | bytes | Tool) or callable(given) or not isinstance(given, Iterable):
        raise ConfigurationError(f"{origin} must be a list of {items}, found {given!r:.80}: put it in a list")
    return list(given)


def to_tool(item: object, *, name: str | None = None, origin: str) -> Tool:
    """Return a tool as it is, and a function as a tool.

    Args:
        item: A tool or a function.
        name: The key that a mapping has it under: a function's name, and an alias of a tool, which keeps the
            name that policy knows.
        origin: What errors call the source.

    Raises:
        ConfigurationError: When it is neither a tool nor a function.
    """
    if isinstance(item, Tool):
        if item.missing_object:
            raise ConfigurationError(f"{origin}: {item.missing_object}")
        if name is None or item.name == name:
            return item
        aliases = tuple(dict.fromkeys((*item.aliases, name)))
        return item.replace(metadata={**item.metadata, "aliases": aliases})
    if is_function(item):
        return Tool.from_function(item) if name is None else Tool.from_function(item, name=name)
    refuse_class(item, origin=origin)
    if isinstance(item, list | tuple):  # what MCPProvider.from_config returns, say
        raise ConfigurationError(
            f"{origin}: {item!r:.80} is a list within the list: unpack it with a star, [*…]"
        )
    refuse_awaitable(item, origin=origin)
    if callable(getattr(item, "list_tools", None)):
        raise ConfigurationError(
            f"{origin}: {item!r:.80} is a provider, which a ToolSearchProcessor or a Catalog takes: give it "
            "to one of them"
        )
    packages = [cls.__module__.partition(".")[0] for cls in type(item).__mro__]
    if way := next((_WAYS[package] for package in packages if package in _WAYS), ""):
        raise ConfigurationError(f"{origin}: {item!r:.80} is a tool of a framework: {way}")
    raise ConfigurationError(
        f"{origin}: {item!r:.80} is neither a Tool nor a function: pass the function itself, or import a "
        "definition with Tool.from_openai, Tool.from_anthropic or Tool.from_mcp"
    )


def to_tools(source: object, *, origin: str, make: FunctionTools | None = None) -> tuple[Tool, ...]:
    """Return the tools in what a user passed as tools.

    Args:
        source: A mapping of names to tools or functions, or an iterable of tools and functions. A key names
            a function; a tool keeps its own name, and its key is an alias.
        origin: What errors call the source.
        make: Makes the tools of functions.

    Raises:
        ConfigurationError: When something in it is neither a tool nor a function.
    """
    if not isinstance(source, Iterable) or isinstance(source, str | bytes):
        raise ConfigurationError(f"{origin}: expected tools, found {source!r:.80}: pass a list of them")
    make = make or FunctionTools()
    items = source if isinstance(source, Mapping) else tuple(source)
    make.make_room(len(items))
    if not isinstance(items, Mapping):
        return tuple(make(item, origin=origin) for item in items)
    made: dict[object, Tool] = {}  # a tool under several keys is one tool
    for key, item in items.items():
        place = ("tool", id(item)) if isinstance(item, Tool) else key
        made[place] = make(made.get(place, item), name=str(key), origin=origin)
    return tuple(made.values())


def refuse_duplicates(tools: Iterable[Tool], *, origin: str) -> None:
    """Raise if two tools have the same name and the same original name.

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
