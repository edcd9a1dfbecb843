"""The tools as one request sees them: listed, findable, callable."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from tool_search_processor import meta_tools
from tool_search_processor.catalog.policy_view import PolicyView
from tool_search_processor.catalog.request_view import CatalogView
from tool_search_processor.meta_tools import MetaToolNames
from tool_search_processor.policy.admission import Admission
from tool_search_processor.policy.filters import Filter, FilterRequest
from tool_search_processor.server.mcp import meta_tool_definitions
from tool_search_processor.server.mcp.client_requests import FrontRequest
from tool_search_processor.server.mcp.middleware import Middleware
from tool_search_processor.server.mcp.paging import PAGE_SIZE
from tool_search_processor.server.mcp.rules import SessionRules
from tool_search_processor.server.mcp.server_options import FrontOptions
from tool_search_processor.server.mcp.tool_modes import Mode, is_on_demand
from tool_search_processor.tools import Tool

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from tool_search_processor.catalog.toolsets import ToolSet
    from tool_search_processor.server.metrics import ServerMetrics


class ListedNames:
    """The names that each mode lists, computed once for the tools that all requests share."""

    def __init__(self, always_visible: Iterable[str] = ()) -> None:
        """List tools with these names and tags in every mode."""
        self._always = frozenset(always_visible)
        self._last: dict[Mode, tuple[ToolSet, frozenset[str]]] = {}

    def of(self, view: CatalogView, mode: Mode) -> frozenset[str]:
        """Return the names of the tools that a mode lists."""
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
        """Return the always visible words that are neither the name nor a tag of any tool."""
        known = {word for tool in view for word in (tool.name, *tool.tags)}
        return sorted(self._always - known)

    def _among(self, tools: Iterable[Tool], mode: Mode) -> frozenset[str]:
        return frozenset(
            tool.name
            for tool in tools
            if (mode == "normal" and not is_on_demand(tool))
            or tool.name in self._always
            or not self._always.isdisjoint(tool.tags)
        )


@dataclass(frozen=True, kw_only=True)
class ToolView(PolicyView):
    """What one request lists, finds and may call."""

    options: FrontOptions
    request: FrontRequest
    listed_names: ListedNames
    metrics: ServerMetrics | None = None
    middleware: Sequence[Middleware] = ()

    @property
    def names(self) -> MetaToolNames:
        """What the meta-tools are called."""
        return self.options.names

    @cached_property
    def unsearched(self) -> frozenset[str]:
        """The names that searches leave out, since this mode lists them anyway."""
        return self.listed_names.of(self.catalog, self.request.mode)

    @cached_property
    def is_open(self) -> bool:
        """Whether this request may know about every tool."""
        return self.options.filter is None and not self.request.session.rules

    @property
    def filter(self) -> Filter | None:
        """What this request's tools must pass: the filter, and the session's rules."""
        return None if self.is_open else ruled(self.options.filter, self.request.session.rules)

    async def list_tools(self) -> list[Tool]:
        """Return the tools to list; the meta-tools only if there is something to find."""
        with self.admission() as admission:
            tools = await self.listed(admission)
            always = self.options.search_when_empty and self.request.mode == "discovery"
            is_searched = always or await self.list_findable(admission, limit=1)
        if not is_searched:
            return tools
        # On the first page, since some clients ask for no other.
        return [*tools, *self._meta_tools()] if len(tools) < PAGE_SIZE - 1 else [*self._meta_tools(), *tools]

    def _meta_tools(self) -> list[Tool]:
        inventory, tags = self.inventory()
        limit, result_format = self.options.top_k, self.options.result_format
        takes_pattern = self.catalog.takes_pattern
        base = meta_tools.search_tool(
            self.names, inventory=inventory, takes_pattern=takes_pattern, default_limit=limit, tags=tags
        )
        search = meta_tool_definitions.search_tool(base, default_limit=limit, result_format=result_format)
        return [search, meta_tool_definitions.call_tool(self.names)]

    async def listed(self, admission: Admission) -> list[Tool]:
        """Return the catalog's tools that this mode lists and phase `active` admits."""
        listed = self.unsearched
        if not listed:
            return []
        admitted = await admission.admit((tool for tool in self.catalog if tool.name in listed), "active")
        rules = self.request.session.rules
        # A hook may have switched off a tool that it had admitted before.
        return [tool for tool in admitted if rules.admits(tool)] if rules else admitted


def ruled(filter: Filter | None, rules: SessionRules) -> Callable[[FilterRequest], bool | Awaitable[bool]]:  # noqa: A002
    """Return a filter that a session's rules override."""

    def ask(request: FilterRequest) -> bool | Awaitable[bool]:
        if not rules.admits(request.tool):
            return False
        return True if filter is None else filter(request)

    return ask


def learner_of(request: FrontRequest) -> str | None:
    """Return whose searches and calls belong together: the session's, or else the user's."""
    if request.session.id:
        return str(request.session.id)
    return None if request.user is None else f"user {request.user!r}"
