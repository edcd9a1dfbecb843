"""The protocol's requests, each answered from the catalog as that request sees it."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from types import MappingProxyType
from typing import Any, TypeVar

import mcp_types as types
from mcp.server.lowlevel.server import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import event_to_notification

from tool_search_processor.catalog import Catalog
from tool_search_processor.components import Prompt, Resource
from tool_search_processor.components.spellings import spellings_of
from tool_search_processor.concurrency.foreign_calls import is_no_failure
from tool_search_processor.errors import ToolCallError
from tool_search_processor.providers.provider import components_of
from tool_search_processor.server.mcp import component_handlers
from tool_search_processor.server.mcp.call_results import failure_text, text_result, wire_tool
from tool_search_processor.server.mcp.client_requests import REQUEST_KEY, FrontRequest
from tool_search_processor.server.mcp.hub import Hub, Tell, mark_of
from tool_search_processor.server.mcp.paging import page_of
from tool_search_processor.server.mcp.questions import ASK, OpenCalls, Questions
from tool_search_processor.server.mcp.reports import CallReports
from tool_search_processor.server.mcp.tool_calls import FrontCalls
from tool_search_processor.server.mcp.tool_view import ToolView
from tool_search_processor.tools import ToolContext
from tool_search_processor.transforms.transform import Kind
from tool_search_processor.wire.plain import clean_text

ALL_CHANGES = NotificationOptions(tools_changed=True, resources_changed=True, prompts_changed=True)
"""What a client hears of that keeps a connection, or a session."""

_CALL_IS_OVER = "Error: this call has ended, or was another's: call again from its beginning."
_RESOURCE_NOT_FOUND = -32002
_NOT_FOUND_UPSTREAM = (_RESOURCE_NOT_FOUND, types.INVALID_PARAMS)
"""What servers answer for a resource that isn't there: those with a handshake, and those without."""

_ResultT = TypeVar("_ResultT")

Ctx = Any
"""The SDK's `ServerRequestContext`, which is generic in what no handler here needs."""


class FrontHandlers:
    """Answers requests; what a client may know of comes from the request's own view."""

    def __init__(
        self,
        view: Callable[[FrontRequest], Awaitable[ToolView]],
        *,
        catalog: Catalog,
        mask_error_details: bool,
    ) -> None:
        """Answer with the tools of `view` and the resources and prompts of `catalog`; see `ToolServer`."""
        self._view = view
        self._catalog = catalog
        self._masks = mask_error_details
        self._open_calls = OpenCalls()

    async def mark(self, request: FrontRequest, kind: Kind) -> str:
        """Return a mark of what a request is listed now."""
        if kind == "tool":
            return mark_of(tool.fingerprint for tool in await (await self._view(request)).list_tools())
        return mark_of(map(component_handlers.listed_text, await self._shown(request, kind)))

    async def initialized(self, ctx: Ctx, _: types.NotificationParams | None) -> None:
        """Watch a session's lists from now on."""
        hub: Hub = ctx.lifespan_context
        request = request_of(ctx)
        if _is_kept(request):
            await hub.watch(request, _tell(ctx))

    async def set_log_level(self, ctx: Ctx, params: types.SetLevelRequestParams) -> types.EmptyResult:
        """Keep the least severe level that a session's client wants of its log."""
        request_of(ctx).session.log_level = params.level
        return types.EmptyResult()

    async def listen(
        self, ctx: Ctx, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """Serve a stream of changes."""
        hub: Hub = ctx.lifespan_context
        return await hub.listen(request_of(ctx), ctx, params)

    async def list_tools(
        self, ctx: Ctx, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        """List the tools of a request."""
        tools = await (await self._view(request_of(ctx))).list_tools()
        _note_listed(ctx, (tool.fingerprint for tool in tools), kind="tool")
        page, cursor = page_of(tools, params)
        return types.ListToolsResult(tools=[*map(wire_tool, page)], next_cursor=cursor)

    async def call_tool(
        self, ctx: Ctx, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        """Run a tool, or go on with one that had to ask the client first."""
        request, questions = request_of(ctx), Questions(ctx)
        if params.request_state is None and not questions.may_come:
            return await self._call(ctx, params, questions)
        owner = (request.user, request.session.id, params.name, params.arguments)
        if params.request_state is None:
            work = self._call(ctx, params, questions, outlives=True)
            return await _while_awaited(request, self._open_calls.begin(work, questions, owner=owner))
        answers = params.input_responses or {}
        resumed = self._open_calls.resume(params.request_state, answers, owner=owner)
        return await _while_awaited(request, resumed) or text_result(_CALL_IS_OVER, is_error=True)

    async def _call(
        self, ctx: Ctx, params: types.CallToolRequestParams, questions: Questions, *, outlives: bool = False
    ) -> types.CallToolResult:
        """Run a tool; its context also holds `report_progress`, `log`, and the SDK's own context, `mcp`.

        Args:
            ctx: The SDK's context.
            params: The call.
            questions: Those that may be asked of its client.
            outlives: Whether the call may go on once this request is answered by a question.
        """
        request = request_of(ctx)
        reports = CallReports(ctx, log_level=request.session.log_level)
        ways = {"report_progress": reports.progress, "log": reports.log, "mcp": ctx, ASK: questions.ask}
        try:
            view = await self._view(request)
            context = ToolContext(
                thread_id=request.session.id,
                run_id=uuid.uuid4().hex,
                tool_call_id=str(ctx.request_id),
                context=MappingProxyType({**view.request.context, **ways}),
            )
            answer = FrontCalls(view, context).answer(params.name, params.arguments or {})
            return await (answer if outlives else _while_awaited(request, answer))
        finally:
            await reports.finish()

    async def list_components(
        self, ctx: Ctx, params: types.PaginatedRequestParams | None, *, kind: Kind
    ) -> Any:
        """List the resources, templates or prompts that a session's rules leave on."""
        shown = await self._shown(request_of(ctx), kind)
        _note_listed(ctx, map(component_handlers.listed_text, shown), kind=kind)
        page, cursor = page_of(shown, params)
        return component_handlers.list_result(page, kind=kind, next_cursor=cursor)

    async def read_resource(
        self, ctx: Ctx, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        """Read a resource: one from the lists, from a template, or linked to by an answer and not listed."""
        request = request_of(ctx)
        content = await self._content(request, params.uri)
        return await self._answered(request, content, what=f"the resource {params.uri!r:.200}")

    async def get_prompt(self, ctx: Ctx, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        """Fill a prompt in."""
        request = request_of(ctx)
        prompt: Prompt = await self._known(request, "prompt", params.name)
        rendered = component_handlers.render(prompt, params.arguments or {})
        return await self._answered(request, rendered, what=f"the prompt {prompt.name!r}")

    async def complete(self, ctx: Ctx, params: types.CompleteRequestParams) -> types.CompleteResult:
        """Complete an argument of a prompt, or a variable of a template of resources."""
        request = request_of(ctx)
        if isinstance(params.ref, types.PromptReference):
            found = await self._known(request, "prompt", params.ref.name)
        else:
            found = await self._known(request, "resource_template", params.ref.uri)
        answer = component_handlers.complete(found, params)
        return await self._answered(request, answer, what=f"the completion for {found.name!r}")

    async def _shown(self, request: FrontRequest, kind: Kind) -> Sequence[Any]:
        listed = await components_of(self._catalog, request.context, kind=kind)
        return [component for component in listed if request.session.rules.admits(component, kind=kind)]

    async def _known(self, request: FrontRequest, kind: Kind, name: str) -> Any:
        """Return a prompt of a name, or a template of resources for a URI."""
        get = self._catalog.get_prompt if kind == "prompt" else self._catalog.get_resource_template
        found = await get(name, request.context)
        if found is None or not request.session.rules.admits(found, kind=kind):
            told = f"Unknown {kind.replace('_', ' ')}: {name[:80]!r}"
            raise MCPError(types.INVALID_PARAMS, clean_text(told))
        return found

    async def _content(self, request: FrontRequest, uri: str) -> Awaitable[types.ReadResourceResult]:
        """Return what reads a resource.

        Raises:
            MCPError: There is none, in the words of the protocol.
        """
        rules = request.session.rules
        resource = await self._catalog.get_resource(uri, request.context)
        if resource is not None and rules.admits(resource, kind="resource"):
            return component_handlers.read(resource, uri)
        others = [await self._catalog.get_resource(each, request.context) for each in spellings_of(uri)]
        if any(each is not None and not rules.admits(each, kind="resource") for each in (resource, *others)):
            raise _not_found(uri)  # nor is it made by a template
        template = await self._catalog.get_resource_template(uri, request.context)
        if template is not None and rules.admits(template, kind="resource_template"):
            return component_handlers.read(template, uri)
        if template is None and (unlisted := await self._unlisted(request, uri)):
            return _or_not_found(component_handlers.read(unlisted, uri), uri)
        raise _not_found(uri)

    async def _unlisted(self, request: FrontRequest, uri: str) -> Resource | None:
        """Return a resource that is in no list, unless another spelling of its URI is listed or hidden."""
        found: list[Resource] = []
        for spelling in spellings_of(uri):
            unlisted = await self._catalog.get_unlisted_resource(spelling, request.context)
            if unlisted is None or not request.session.rules.admits(unlisted, kind="resource"):
                return None
            found.append(unlisted)
        return found[0] if found else None

    async def _answered(self, request: FrontRequest, answer: Awaitable[_ResultT], *, what: str) -> _ResultT:
        """Return what a provider answers; what it raises becomes an error of the protocol."""
        try:
            return await _while_awaited(request, answer)
        except BaseException as exc:  # foreign code
            if isinstance(exc, MCPError) or is_no_failure(exc):
                raise
            told = failure_text(exc, what=what, is_masked=self._masks)
            raise MCPError(types.INTERNAL_ERROR, told) from exc


class ProtocolServer(Server[Hub]):
    """The SDK's server with every handler in place; it announces changed lists."""

    def __init__(
        self,
        name: str,
        *,
        version: str,
        handlers: FrontHandlers,
        lifespan: Callable[[Any], AbstractAsyncContextManager[Hub]],
        instructions: str | None,
        tells_changes: bool,
    ) -> None:
        """Put the handlers in their places; `tells_changes` is whether HTTP clients keep a session."""
        super().__init__(
            name,
            version=version,
            lifespan=lifespan,
            instructions=instructions,
            # What a header repeats of the arguments is for proxies on the way: the arguments count here.
            get_tool_input_schema=lambda _: None,
            on_list_tools=handlers.list_tools,
            on_call_tool=handlers.call_tool,
            on_list_resources=partial(handlers.list_components, kind="resource"),
            on_list_resource_templates=partial(handlers.list_components, kind="resource_template"),
            on_read_resource=handlers.read_resource,
            on_list_prompts=partial(handlers.list_components, kind="prompt"),
            on_get_prompt=handlers.get_prompt,
            on_completion=handlers.complete,
            on_subscriptions_listen=handlers.listen,
        )
        self._told_changes = ALL_CHANGES if tells_changes else NotificationOptions()
        self.add_request_handler("logging/setLevel", types.SetLevelRequestParams, handlers.set_log_level)
        self.add_notification_handler(
            "notifications/initialized", types.NotificationParams, handlers.initialized
        )

    def create_initialization_options(
        self, notification_options: NotificationOptions | None = None, *more: Any, **options: Any
    ) -> InitializationOptions:
        """Return what a client learns at its start, such as that it will be notified of changes."""
        told = notification_options or self._told_changes
        return super().create_initialization_options(told, *more, **options)

    def get_capabilities(self, *given: Any, **options: Any) -> types.ServerCapabilities:
        """Return what the server can do: subscriptions to a single resource are not among it."""
        capabilities = super().get_capabilities(*given, **options)
        if capabilities.resources is not None:
            capabilities.resources.subscribe = False
        return capabilities


def request_of(ctx: Ctx) -> FrontRequest:
    """Return the request that the SDK hands over: of an HTTP session, or of the connection's own."""
    if ctx.request is None:
        hub: Hub = ctx.lifespan_context
        return FrontRequest(session=hub.session)
    found: FrontRequest = ctx.request.scope[REQUEST_KEY]
    return found


async def _or_not_found(answer: Awaitable[_ResultT], uri: str) -> _ResultT:
    """Return an upstream server's answer; a resource that it doesn't know does not exist here either."""
    try:
        return await answer
    except ToolCallError as exc:
        if isinstance(exc.__cause__, MCPError) and exc.__cause__.code in _NOT_FOUND_UPSTREAM:
            raise _not_found(uri) from exc
        raise


def _not_found(uri: str) -> MCPError:
    return MCPError(_RESOURCE_NOT_FOUND, "Resource not found", {"uri": uri})


def _note_listed(ctx: Ctx, texts: Iterable[str], *, kind: Kind) -> None:
    """Notify a session when the list that it is being sent changes later."""
    request = request_of(ctx)
    if _is_kept(request) and request.own_mode is None:
        hub: Hub = ctx.lifespan_context
        hub.listed(request, _tell(ctx), kind=kind, mark=mark_of(texts))


def _tell(ctx: Ctx) -> Tell:
    """Return a function that notifies a session of a change."""
    return lambda event: ctx.session.send_notification(event_to_notification(event, {}))


def _is_kept(request: FrontRequest) -> bool:
    return request.session.rules.holds_for == "session"


async def _while_awaited(request: FrontRequest, answer: Awaitable[_ResultT]) -> _ResultT:
    """Return an answer; it is cancelled when nobody waits for it any more."""
    with request.presence.awaited():
        return await answer
    raise MCPError(types.INTERNAL_ERROR, "The client has left")
