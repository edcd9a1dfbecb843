"""`ToolServer`: a catalog over the Model Context Protocol."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from tool_search_processor import meta_tools
from tool_search_processor._version import __version__
from tool_search_processor.catalog import Catalog
from tool_search_processor.catalog.drift import OnChange
from tool_search_processor.catalog.experience import Experience
from tool_search_processor.catalog.request_view import CatalogView
from tool_search_processor.policy.filters import Filter
from tool_search_processor.providers.given import ToolSource
from tool_search_processor.search.strategies import IndexCache, Strategy
from tool_search_processor.server.access import Access, TokenCheck
from tool_search_processor.server.mcp.client_requests import FrontRequest
from tool_search_processor.server.mcp.handlers import FrontHandlers, ProtocolServer
from tool_search_processor.server.mcp.middleware import Middleware
from tool_search_processor.server.mcp.registry import Registry, as_sources
from tool_search_processor.server.mcp.request_providers import ProvidersFor, RequestProviders
from tool_search_processor.server.mcp.server_options import FrontOptions
from tool_search_processor.server.mcp.sessions import SESSION_TTL_SECONDS, SignedIds
from tool_search_processor.server.mcp.tool_modes import Mode, ModeFor, is_on_demand, mode_by_code
from tool_search_processor.server.mcp.tool_view import ListedNames, ToolView, learner_of
from tool_search_processor.server.options import MAX_SESSIONS, ResultFormat
from tool_search_processor.tools import Tool
from tool_search_processor.transforms.transform import Transform
from tool_search_processor.wire.checks import as_names

logger = logging.getLogger(__name__)


class ToolServer(Registry):
    """Serves tools to MCP clients: listed, or found by search and run through a proxy.

    ```python
    server = ToolServer([create_issue, list_issues])          # listed
    server.register_on_demand_tool(close_issue, "resolve")    # found by search only
    asyncio.run(server.run_stdio())
    ```

    A client sees the two meta-tools, `search_tools` and `call_tool`, where there is something to find.
    In mode `normal` those are the on-demand tools. Mode `discovery` lists only the meta-tools and what is
    `always_visible`; everything else can be found. Hiding a tool is not access control: any client that
    knows its name can call it, unless the `filter` denies it. A call of a denied tool is answered as if the
    tool did not exist. `requires_approval` has no effect here: clients ask their users themselves.

    A parameter annotated `ToolContext` gives a tool its request: its `context` holds `user`, `headers`,
    `session_id`, `mode`, `session_rules` (a `SessionRules`, which switches tools off for this session alone),
    `report_progress(progress, total, message)`, `log(level, data)`, and the SDK's own context, `mcp`.

    What a tool raises is logged, and sent to the client unless `mask_error_details` is set.
    """

    def __init__(
        self,
        tools: ToolSource = (),
        *,
        name: str = "tool-search",
        mode: Mode = "normal",
        mode_for: ModeFor | None = None,
        search_tool_name: str = "search_tools",
        call_tool_name: str = "call_tool",
        search: Strategy = "bm25",
        index_cache: IndexCache | None = None,
        top_k: int = 5,
        result_format: ResultFormat = "json",
        search_when_empty: bool = False,
        always_visible: str | Iterable[str] = (),
        filter: Filter | None = None,  # noqa: A002 - as everywhere in this package
        filter_timeout_seconds: float | None = None,
        mask_error_details: bool = False,
        transforms: Iterable[Transform] = (),
        middleware: Iterable[Middleware] = (),
        providers_for: ProvidersFor | None = None,
        provider_timeout_seconds: float | None = 30.0,
        on_change: OnChange = "warn",
        authenticate: TokenCheck | None = None,
        keep_sessions: bool = True,
        session_ttl_seconds: float = SESSION_TTL_SECONDS,
        max_sessions: int = MAX_SESSIONS,
        session_secret: str | bytes | None = None,
        experience: Experience | None = None,
        instructions: str | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Set up what is served, and how.

        Args:
            tools: A list of tools, functions and providers, mixed freely; a mapping; a `Catalog`, whose
                resources and prompts are served, too; or a function `(context) -> tools`.
            name: The server's name, as clients see it.
            mode: The mode of clients that don't ask for one, by the header `X-MCP-Tool-Mode: discovery` or
                the query `?tool_mode=discovery`; it also replaces an unknown mode, with a warning. A session
                keeps the mode that it began with, except for a single request with the value `force`
                (discovery) or `force-normal`.
            mode_for: `(context) -> mode` of one request, sync or async, such as by its user's role; None
                keeps what the client asked for, which is the context's `mode`.
            search_tool_name: The name of the tool that searches.
            call_tool_name: The name of the tool that runs another.
            search: How tools are searched; see `Catalog`.
            index_cache: A folder for what the index is made of, so that a restart is quick; see `Catalog`.
            top_k: Results of a search unless it asks for more, 1 to 100; a lower `limit` counts as this.
            result_format: How a search answers: "json", all of it as text; "markdown", short text, with the
                same structured content; "mcp", each result as an entry of `tools/list` (`inputSchema`,
                `outputSchema`, `annotations` …), with `score`, `namespace` and `tags` in its `_meta`.
            search_when_empty: Whether `discovery` lists the meta-tools even while there is nothing to find:
                for providers that may come later, and clients that list once.
            always_visible: Names or tags of tools that every mode lists besides the meta-tools; searches
                leave out what is listed.
            filter: Decides which tools a client may find (phase `search`), see listed (`active`) and call
                (`load` and `active`). Its `request.context` holds `user`, `headers`, `session_id`, `mode` and
                `session_rules`; an exception denies. It is not asked about resources and prompts: let
                `providers_for` give each user their own.
            filter_timeout_seconds: How long an awaitable of the filter may take before it denies.
            mask_error_details: Whether clients only learn that a tool, a resource or a prompt failed, and
                not what it raised. Errors that are meant for them are sent in any case: `ToolCallError` and
                the like, `MCPError`, wrong arguments, and the answers of upstream servers.
            transforms: Applied to everything that is served, including what is registered later, the first
                one innermost; see `Catalog`.
            middleware: Functions around each call of a tool, for audit or limits, say, the first one
                outermost: `async (call, next)` returns what `await next(call)` returned, or something in its
                place; an exception is answered as a tool's failure. `call` has `name`, `tool`, `arguments`
                and the request's `context`. A call through the proxy is one call, the target's.
            providers_for: `(context) -> providers` of one request, besides the tools that all requests have.
            provider_timeout_seconds: How long a provider may take to list its tools; see `Catalog`.
            on_change: What to do with a foreign tool whose definition changes; see `Catalog`.
            authenticate: The bearer token that HTTP clients need, or a function (sync or async) from a
                token to its user, None for a wrong token. Users that compare equal share their sessions.
            keep_sessions: Whether HTTP clients get a session; without sessions, each request stands alone,
                and session rules hold for the user.
            session_ttl_seconds: How long a session, or a user without a session, may be idle.
            max_sessions: The most sessions that this process keeps; a client that would begin one more is
                refused (503).
            session_secret: Signs session ids, which then carry their mode: any worker with the same secret
                can serve them, no worker keeps any, and they end `session_ttl_seconds` after they began. A
                user's `repr` must be the same in all workers.
            experience: Learns from use which requests a tool is called for, and lets searches profit from it;
                its functions get the filter's context. By default nothing is learned.
            instructions: What the server is for, as clients see it; by default, that tools can be searched.
            clock: Returns the time in seconds, by which sessions end.

        Raises:
            ConfigurationError: For an option that can't work; says what to do.
            DuplicateToolError: When two tools have one name.
            ReservedToolNameError: When a tool has a meta-tool's name.
        """
        self.options = FrontOptions(
            names=meta_tools.MetaToolNames(mode="call", search=search_tool_name, call=call_tool_name),
            mode=mode,
            mode_for=mode_for,
            filter=filter,
            filter_timeout_seconds=filter_timeout_seconds,
            top_k=top_k,
            result_format=result_format,
            search_when_empty=search_when_empty,
            always_visible=as_names(always_visible, what="always_visible"),
            mask_error_details=mask_error_details,
            keep_sessions=keep_sessions,
            session_ttl_seconds=session_ttl_seconds,
            max_sessions=max_sessions,
            experience=experience,
            signed_ids=None
            if session_secret is None
            else SignedIds(session_secret, ttl_seconds=session_ttl_seconds, clock=clock),
        )
        self._clock = clock
        Access(authenticate, option="authenticate")  # raises for what can't check a token
        self._token = authenticate
        super().__init__(middleware)
        sources: list[Any] = [*as_sources(tools), self._registered]
        # Under a filter always: otherwise the text would reveal that something is hidden.
        is_searched = (
            mode == "discovery"
            or filter is not None
            or any(isinstance(source, Tool) and is_on_demand(source) for source in sources)
        )
        if instructions is None and is_searched:
            instructions = meta_tools.instruction_text(self.options.names)
        if providers_for is not None:
            sources.append(RequestProviders(providers_for, timeout_seconds=provider_timeout_seconds))
        self.catalog = Catalog(
            sources,
            transforms=transforms,
            search=search,
            index_cache=index_cache,
            reserved_names=self.options.names.options,
            provider_timeout_seconds=provider_timeout_seconds,
            on_change=on_change,
            name=name,
        )
        self._note_given()
        self._listed_names = ListedNames(self.options.always_visible)
        self._handlers = FrontHandlers(self.view, catalog=self.catalog, mask_error_details=mask_error_details)
        self.lowlevel = ProtocolServer(
            name,
            version=__version__,
            handlers=self._handlers,
            lifespan=self._lifespan,
            instructions=instructions,
            tells_changes=self.options.has_table,
        )
        """The SDK's server: what `mcp.Client(server.lowlevel)` connects to in memory."""

    def __repr__(self) -> str:
        return f"<ToolServer: mode {self.options.mode}; {self.catalog!r}>"

    async def view(self, request: FrontRequest) -> ToolView:
        """Return a request's view of the tools."""
        if (mode_for := self.options.mode_for) is not None:
            mode = await mode_by_code(mode_for, request.context, default=request.mode)
            request = replace(request, own_mode=mode)
        catalog = await self.catalog.view(request.context)
        if self.options.experience is not None:
            catalog = await self.options.experience.applied(catalog, request.context)
        return ToolView(
            request=request,
            catalog=catalog,
            options=self.options,
            context=request.context,
            thread_id=request.session.id,
            learner=None if self.options.experience is None else learner_of(request),
            listed_names=self._listed_names,
            metrics=self.metrics,
            middleware=self._middleware,
        )

    def warn_of_missing(self, view: CatalogView) -> None:
        """Log each word of `always_visible` that is neither a tool's name nor a tag."""
        for word in self._listed_names.missing(view):
            logger.warning("no tool is named or tagged %r, which is always_visible", word)
