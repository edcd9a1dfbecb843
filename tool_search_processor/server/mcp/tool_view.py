"""The tools as one request sees them: listed, findable, callable."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from tool_search_processor import meta_tools
from tool_search_processor.catalog.finding import find_by_name, suggest
from tool_search_processor.catalog.request_view import CatalogView
from tool_search_processor.policy.admission import Admission
from tool_search_processor.policy.filters import Filter, FilterRequest
from tool_search_processor.server.mcp.client_requests import FrontRequest
from tool_search_processor.server.mcp.middleware import Middleware
from tool_search_processor.server.mcp.rules import SessionRules
from tool_search_processor.server.mcp.server_options import FrontOptions
from tool_search_processor.server.mcp.tool_modes import Mode, is_on_demand
from tool_search_processor.tools import Tool

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from tool_search_processor.catalog.toolsets import ToolSet
    from tool_search_processor.server.metrics import ServerMetrics


class ListedNames:
    """The names that each mode lists, worked out once for what all requests share."""

    def __init__(self, always_visible: Iterable[str] = ()) -> None:
        """Take the names and tags of what every mode lists."""
        self._always = frozenset(always_visible)
        self._last: dict[Mode, tuple[ToolSet, frozenset[str]]] = {}

    def of(self, view: CatalogView, mode: Mode) -> frozenset[str]:
        """Return the names of the view's tools that a mode lists."""
        if mode == "discovery" and not self._always:
            return frozenset()
        shared, names = self._last.get(mode, (None, frozenset()))
        if shared is not view.shared:
            names = self._among(view.shared, mode)
            self._last[mode] = (view.shared, names)
        if not view.own:
            return names
        return names.difference(view.own.by_name) | self._among(view.own, mode)

    def missing(self, view: CatalogView) -> list[str]:
        """Return what is always visible, and is neither the name nor a tag of any tool."""
        known = {word for tool in view for word in (tool.name, *tool.tags)}
        return sorted(self._always - known)

    def _among(self, tools: Iterable[Tool], mode: Mode) -> frozenset[str]:
        return frozenset(tool.name for tool in tools if self._is_listed(tool, mode))

    def _is_listed(self, tool: Tool, mode: Mode) -> bool:
        if mode == "normal" and not is_on_demand(tool):
            return True
        return tool.name in self._always or not self._always.isdisjoint(tool.tags)


@dataclass(frozen=True)
class ToolView:
    """What one request sees, finds and may call."""

    request: FrontRequest
    catalog: CatalogView
    options: FrontOptions
    listed_names: ListedNames
    metrics: ServerMetrics | None = None
    middleware: Sequence[Middleware] = ()

    @cached_property
    def unsearched(self) -> frozenset[str]:
        """Names that a search leaves out, since they are listed anyway."""
        return self.listed_names.of(self.catalog, self.request.mode)

    @property
    def is_always_searched(self) -> bool:
        """Whether the meta-tools are listed whatever there is to find."""
        return self.options.search_when_empty and self.request.mode == "discovery"

    @cached_property
    def is_open(self) -> bool:
        """Whether this request may know of everything there is."""
        return self.options.filter is None and not self.request.session.rules

    def admission(self) -> Admission:
        """Return a new request to the filter and the session's rules."""
        session = self.request.session
        return Admission(
            None if self.is_open else ruled(self.options.filter, session.rules),
            context=self.request.context,
            thread_id=session.id,
            timeout_seconds=self.options.filter_timeout_seconds,
        )

    async def list_tools(self, admission: Admission) -> list[Tool]:
        """Return the catalog's tools that this mode lists and phase `active` admits."""
        listed = self.unsearched
        if not listed:
            return []
        admitted = await admission.admit((tool for tool in self.catalog if tool.name in listed), "active")
        rules = self.request.session.rules
        # A hook may have switched off what it had admitted before.
        return [tool for tool in admitted if rules.admits(tool)] if rules else admitted

    async def has_findable(self, admission: Admission) -> bool:
        """Tell whether a search could find anything."""
        unsearched = self.unsearched
        if len(self.catalog) <= len(unsearched):
            return False
        findable = (tool for tool in self.catalog if tool.name not in unsearched)
        return bool(await admission.admit(findable, "search", limit=1))

    def inventory(self) -> tuple[str, Sequence[str]]:
        """Return the sentence about what can be found, and its tags and namespaces.

        Both are empty where they would tell what is hidden.
        """
        if not self.is_open:
            return "", ()
        listed = [tool for name in self.unsearched if (tool := self.catalog.get(name)) is not None]
        text = meta_tools.inventory_text(
            len(self.catalog) - len(self.unsearched), self.catalog.namespaces(without=listed)
        )
        return text, tuple(self.catalog.labels(without=listed))

    async def meant(self, name: str, admission: Admission) -> Tool | None:
        """Return the tool that a model means by a name, if phases `load` and `active` admit it."""
        tool = await find_by_name(self.catalog, name, admission=admission)
        return tool if tool is not None and await admission.admits(tool, "active") else None

    async def missing_text(self, name: str, admission: Admission) -> str:
        """Return the sentence for a tool that is unknown or denied: the same for both."""
        alike = await suggest(self.catalog, name, admission=admission)
        names = self.options.names if await self.has_findable(admission) else None
        return meta_tools.missing_tool_text(name, suggestions=alike, names=names)


def ruled(filter: Filter | None, rules: SessionRules) -> Callable[[FilterRequest], bool | Awaitable[bool]]:  # noqa: A002
    """Return a filter that a session's rules stand above."""

    def ask(request: FilterRequest) -> bool | Awaitable[bool]:
        if not rules.admits(request.tool):
            return False
        return True if filter is None else filter(request)

    return ask
