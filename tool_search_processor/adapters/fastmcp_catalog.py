"""The tools of a FastMCP server as one catalog, of which each caller sees a part."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cachetools import LRUCache
from fastmcp.tools.base import Tool as ServerTool

from tool_search_processor.catalog.indexes import IndexPool
from tool_search_processor.catalog.request_view import CatalogView
from tool_search_processor.catalog.toolsets import NO_TOOLS, Part, ToolSet
from tool_search_processor.errors import InvalidToolError
from tool_search_processor.search.strategies import Strategy
from tool_search_processor.tools import Tool
from tool_search_processor.tools.tool_names import hashed_tool_name, is_tool_name, make_tool_name

logger = logging.getLogger(__name__)

MAX_KEPT = 20_000
"""The most tools to keep, so that a server that keeps making tools can't fill the memory."""
_MAX_PARTS = 64
_KEYWORDS = "keywords"


@dataclass(frozen=True, slots=True)
class Offered:
    """The tools that one caller may see."""

    view: CatalogView
    originals: Mapping[str, ServerTool]
    """The server's own tools, by our names."""


class ServerCatalog:
    """Keeps the tools of a server, and the one index in which they are all found.

    Every listing of a server makes new objects of tools that are mounted, versioned or switched by a session.
    So a tool is known by its content, and made again only if that has changed; what callers see is a part of
    all tools that were seen, ranked within the same index.
    """

    def __init__(self, strategy: Strategy) -> None:
        """Begin without tools.

        Raises:
            ConfigurationError: The strategy can't be used.
            ImportError: The strategy needs an extra that is not installed.
        """
        self._indexes = IndexPool(strategy)
        self._made: dict[str, tuple[tuple[Any, ...], Tool | None]] = {}
        self._owners: dict[str, str] = {}
        self._known: dict[str, Tool] = {}
        self._whole = NO_TOOLS
        self._parts: LRUCache[tuple[int, frozenset[str]], ToolSet] = LRUCache(_MAX_PARTS)
        self._lock = threading.Lock()

    @property
    def takes_pattern(self) -> bool:
        """Whether queries are patterns."""
        return self._indexes.takes_pattern

    def tool(self, original: ServerTool) -> Tool | None:
        """Return the catalog tool for a server's tool; None, with a warning, if it can't be one."""
        name, content = original.name, _content(original)
        kept = self._made.get(name)
        if kept is None or kept[0] != content:
            if len(self._made) >= MAX_KEPT:
                self._made, self._owners = {}, {}
            kept = self._made[name] = content, self._converted(original)
        return kept[1]

    def offer(self, originals: Sequence[ServerTool]) -> Offered:
        """Return what a caller sees if it may see these tools."""
        with self._lock:
            for original in originals:
                self._claim(original.name)
            made = [(tool, original) for original in originals if (tool := self.tool(original)) is not None]
            tools = {tool.name: tool for tool, _ in made}
            view = CatalogView(self._part(tools), NO_TOOLS, indexes=self._indexes)
        return Offered(view, {tool.name: original for tool, original in made})

    def _part(self, tools: Mapping[str, Tool]) -> ToolSet:
        known = self._known
        if any(known.get(name) is not tool for name, tool in tools.items()):
            known = {**known, **tools} if len(known) < MAX_KEPT else dict(tools)
            self._known, self._whole = known, ToolSet(known.values())
        if len(tools) == len(known):
            return self._whole
        key = self._whole.generation, frozenset(tools)
        if key not in self._parts:
            self._parts[key] = Part(tools.values(), whole=self._whole)
        return self._parts[key]

    def _converted(self, original: ServerTool) -> Tool | None:
        definition = {
            "name": original.name,
            "title": original.title,
            "description": original.description,
            "inputSchema": original.parameters,
            "annotations": original.annotations,
            "_meta": _meta(original),
        }
        try:
            return Tool.from_mcp(
                definition,
                name=self._name(original.name),
                tags=original.tags,
                keywords=_keywords(original),
            )
        except InvalidToolError as exc:
            logger.warning("a tool of the server can't be found by search: %s", exc)
            return None

    def _claim(self, name: str) -> None:
        """Reserve a valid name for the tool whose own name it is, even if another tool was given it."""
        owner = self._owners.get(name, name)
        if is_tool_name(name):
            self._owners[name] = name
        if owner != name:
            self._made.pop(owner, None)

    def _name(self, original: str) -> str:
        """Return the name for models: the server's, or a valid one derived from it."""
        self._claim(original)
        name = make_tool_name(original)
        owner = self._owners.setdefault(name, original)
        return name if owner == original else hashed_tool_name(name, original)


def _content(original: ServerTool) -> tuple[Any, ...]:
    """Return the values that identify a tool. Copies share them, so comparing takes a microsecond."""
    return (
        original.description,
        original.parameters,
        original.tags,
        original.title,
        original.annotations,
        _meta(original),
    )


def _meta(original: ServerTool) -> Mapping[str, Any]:
    """Return a tool's meta without FastMCP's own entries, which differ between sessions."""
    return {key: value for key, value in (original.meta or {}).items() if key != "fastmcp"}


def _keywords(original: ServerTool) -> list[str]:
    found = _meta(original).get(_KEYWORDS)
    return [word for word in found if isinstance(word, str)] if isinstance(found, list | tuple | set) else []
