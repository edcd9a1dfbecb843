"""The REST application: its routes, and how it starts and ends."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Collection, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any, Unpack

from pydantic import TypeAdapter
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tool_search_processor._version import __version__
from tool_search_processor.catalog import Catalog
from tool_search_processor.catalog.experience import Experience
from tool_search_processor.catalog.finding import Wanted
from tool_search_processor.catalog.policy_view import PolicyOptions
from tool_search_processor.catalog.toolsets import of_other_types
from tool_search_processor.meta_tools import OUTAGE
from tool_search_processor.policy.admission import Admission
from tool_search_processor.policy.filters import Filter
from tool_search_processor.providers.given import ToolSource
from tool_search_processor.search.index import SearchMode
from tool_search_processor.search.strategies import Strategy
from tool_search_processor.server.access import TokenCheck
from tool_search_processor.server.apps import make_app, problem
from tool_search_processor.server.hosts import LOOPBACK
from tool_search_processor.server.metrics import ServerMetrics
from tool_search_processor.server.protection import Limits, protection
from tool_search_processor.server.rest.document import MESSAGE_HEADER, openapi_document
from tool_search_processor.server.rest.inspection import Inspector, InspectRequest
from tool_search_processor.server.rest.letta import (
    SearchRequest,
    SearchResult,
    ToolOut,
    checked_fields,
    search_result,
    tool_out,
)
from tool_search_processor.server.rest.page import get_page
from tool_search_processor.server.rest.search_modes import Found, ModeSearch, RestView
from tool_search_processor.server.rest.search_requests import (
    MAX_BODY_BYTES,
    context_of,
    for_people,
    guarded,
    read_body,
    read_query,
)
from tool_search_processor.server.rest.tool_pages import ListRequest, find_by_id, list_page

_RESULTS = TypeAdapter(list[SearchResult])
_TOOL = TypeAdapter(ToolOut)
_TOOLS = TypeAdapter(list[ToolOut])
_RETRY_SECONDS = "5"

OPEN_PATHS = ("/", "/v1/inspect", "/health", "/v1/health/")
"""Paths whose endpoints ask for the token themselves, as browsers expect, or show less without it."""


def create_app(
    tools_or_catalog: ToolSource,
    *,
    search: Strategy = "hybrid",
    token: TokenCheck | None = None,
    filter: Filter | None = None,  # noqa: A002 - the option's public name
    filter_timeout_seconds: float | None = None,
    tool_fields: Iterable[str] = (),
    experience: Experience | None = None,
    **limits: Unpack[Limits],
) -> Starlette:
    """Return an ASGI application that searches a catalog, as Letta's client asks for it.

    ```python
    app = create_app([create_issue, list_issues], search="bm25", token="...")
    uvicorn.run(app, port=8000)
    ```

    `POST /v1/tools/search`, `GET /v1/tools`, `GET /v1/tools/{id}`, `GET /health`, `GET /openapi.json`,
    `GET /metrics` (Prometheus), and a page for people at `/`, which without a token is served to this
    machine only.

    Args:
        tools_or_catalog: A `Catalog`, which the caller closes, or what a catalog is made of: tools, functions
            and providers, mixed freely.
        search: The strategy. `"hybrid"` (which needs the extra `embeddings`) answers all three search
            modes, `"vector"` that one, every other the mode `fts`. If the catalog has an index of this
            strategy, it is shared; otherwise another is made.
        token: The token that every request but `/health` needs; or a function, sync or async, from a token to
            its user, None for a wrong token. None lets everyone in.
        filter: Asked in phase `search` which tools a request may find; the context of its request, and
            that of providers, holds `headers` (found in upper and lower case) and `user`.
        filter_timeout_seconds: How long an awaitable of the filter may take before it denies.
        tool_fields: Further fields to show of a tool: "metadata" (all of it), "source_code" (from the
            metadata, or else of its function), "return_char_limit" and Letta's other fields, from the
            metadata.
        experience: What a processor or server has learned from use; searches profit from it. Nothing is
            learned here, since nothing is called here, and the caller closes it.
        limits: What `Protection` takes: `allowed_origins`, `requests_per_second` … Without a token only
            clients that call the host by a loopback name are served, unless `allowed_hosts` says otherwise:
            a foreign page can make its own name lead here (DNS rebinding).

    Raises:
        ConfigurationError: When an option can't work.
        ImportError: When the strategy needs an extra that is not installed.
    """
    given = tools_or_catalog if isinstance(tools_or_catalog, Catalog) else None
    catalog = Catalog(tools_or_catalog, search=search) if given is None else given
    options = PolicyOptions(
        filter=filter, filter_timeout_seconds=filter_timeout_seconds, experience=experience
    )
    endpoints = RestEndpoints(ModeSearch(catalog, search, options), tool_fields=checked_fields(tool_fields))

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        await endpoints.search.prepare()
        try:
            yield
        finally:
            if given is None:
                await catalog.aclose()

    limits.setdefault("allowed_hosts", LOOPBACK if token is None else None)
    limits.setdefault("max_body_bytes", MAX_BODY_BYTES)
    limits.setdefault("open_paths", OPEN_PATHS)
    checks = [protection(token=token, **limits)]
    return make_app(endpoints.routes(has_token=token is not None), middleware=checks, lifespan=lifespan)


class RestEndpoints:
    """Answers requests over one catalog, under one filter."""

    def __init__(
        self, search: ModeSearch, *, tool_fields: Collection[str] = (), metrics: ServerMetrics | None = None
    ) -> None:
        """Set the search, the further fields to show, and the metrics; None counts in metrics of its own."""
        self.search = search
        self._fields = tool_fields
        self._inspector = Inspector()
        self._document = openapi_document()
        self._metrics = metrics or ServerMetrics()

    def routes(self, *, has_token: bool) -> list[Route]:
        """Return the routes, for `Protection` to stand before them, with `OPEN_PATHS`.

        Without a token, the routes for people are served to this machine only.
        """
        people = partial(for_people, has_token=has_token)
        answers = [
            ("/v1/tools/search", self.post_search, "POST"),
            ("/v1/tools", self.get_tools, "GET"),
            ("/v1/tools/", self.get_tools, "GET"),
            ("/v1/tools/{tool_id}", self.get_tool, "GET"),
            ("/openapi.json", self.get_document, "GET"),
            ("/metrics", self._metrics.show, "GET"),
            ("/health", self.get_health, "GET"),
            ("/v1/health/", self.get_health, "GET"),
            ("/", people(get_page), "GET"),
            ("/v1/inspect", people(self.get_facts), "GET"),
            ("/v1/inspect", people(self.post_inspection), "POST"),
        ]
        return [Route(path, guarded(answer), methods=[method]) for path, answer, method in answers]

    async def post_search(self, request: Request) -> Response:
        """Search the tools that the caller may find."""
        asked = await read_body(request, SearchRequest)
        mode = asked.search_mode or self.search.default_mode
        if mode not in self.search.modes:
            offered = ", ".join(self.search.modes)
            return problem(400, f"this server has no index for search_mode {mode!r}; it has: {offered}")
        view = await self._view(request)
        view = replace(view, unsearched=of_other_types(view.catalog, frozenset(asked.tool_types or ())))
        wanted = view.wanted(limit=asked.most, tags=frozenset(asked.tags or ()))
        query = asked.query or ""
        with view.admission() as admission:
            if query.strip():
                found = await self._measured(view, query, admission, mode=mode, wanted=wanted)
            else:
                found = await view.listed(admission, wanted=wanted)
            is_cut_off = not found and await view.has_outage(admission)
        if mode == "vector" and not found and not self.search.indexes.is_ready:
            return problem(503, "the tools are being embedded: try again", {"retry-after": _RETRY_SECONDS})
        results = [search_result(one, embeds=self.search.has_vectors, fields=self._fields) for one in found]
        return _json(_RESULTS, results, headers={MESSAGE_HEADER: OUTAGE} if is_cut_off else {})

    async def _measured(
        self, view: RestView, query: str, admission: Admission, *, mode: SearchMode, wanted: Wanted
    ) -> list[Found]:
        started = time.perf_counter()
        try:
            found = await view.find(query, admission, mode=mode, wanted=wanted)
        except Exception:
            self._metrics.failed(mode)
            raise
        self._metrics.found(
            mode,
            seconds=time.perf_counter() - started,
            hits=len(found),
            top_score=found[0].fit if found else 0.0,
        )
        return found

    async def get_tools(self, request: Request) -> Response:
        """List the tools that the caller may find."""
        asked = read_query(request, ListRequest)
        page = await list_page(await self._view(request), asked)
        return _json(_TOOLS, [tool_out(tool, fields=self._fields) for tool in page])

    async def get_tool(self, request: Request) -> Response:
        """Show one tool."""
        tool = await find_by_id(await self._view(request), request.path_params["tool_id"])
        return _json(_TOOL, tool_out(tool, fields=self._fields))

    async def get_facts(self, request: Request) -> Response:
        """Return what the page shows of the catalog."""
        return JSONResponse(await self._inspector.facts(await self._view(request)))

    async def post_inspection(self, request: Request) -> Response:
        """Rank the tools for the page."""
        asked = await read_body(request, InspectRequest)
        return JSONResponse(await self._inspector.answer(asked, await self._view(request)))

    async def get_document(self, _: Request) -> Response:
        """Show the OpenAPI document."""
        return JSONResponse(self._document)

    async def get_health(self, request: Request) -> Response:
        """Show how the server is doing."""
        return JSONResponse(self.health(request))

    def health(self, request: Request) -> dict[str, Any]:
        """Return that the server is up, and whether everything is embedded."""
        return {"status": "ok", "version": __version__, "ready": self.search.indexes.is_ready}

    async def _view(self, request: Request) -> RestView:
        return await self.search.view(context_of(request))


def _json(
    adapter: TypeAdapter[Any], value: object, *, headers: Mapping[str, str] = MappingProxyType({})
) -> Response:
    # Unset fields are those that this server does not show, or the tool does not have.
    body = adapter.dump_json(value, exclude_unset=True)
    return Response(body, headers=headers, media_type="application/json")
