"""Tool search in a FastMCP server: `search_tools` and `call_tool` are listed in place of the server's tools.

```python
mcp = FastMCP("Files")
...  # tools, mounted servers, OpenAPI providers
mcp.add_transform(ToolSearchTransform(search="hybrid", filter=policy))
```

Searches are answered from what the caller may see: after the server's transforms, middleware, authorization
and session visibility. The server itself runs the tools, so its middleware, authorization, progress and
elicitation work as without the transform. A tool that `filter` denies is answered as an unknown tool, whether
it is called through `call_tool` or by its own name.

What can't work: a server doesn't see the conversation, so tools are called through `call_tool` or by name,
and never loaded. Tools that a middleware injects bypass every transform, and so the filter: give them an
`auth=`. Where a server with this transform is mounted in a namespace, its answers call the meta-tools by
their names without it: mount it without a namespace, or put the transform on the outer server.
Seen with FastMCP 4.2.3.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

try:
    from fastmcp.exceptions import NotFoundError, ValidationError
    from fastmcp.server.context import Context
    from fastmcp.server.dependencies import get_context
    from fastmcp.server.transforms import GetToolNext, Visibility
    from fastmcp.server.transforms.catalog import CatalogTransform
    from fastmcp.tools.base import InputRequiredToolResult, Tool, ToolResult
    from fastmcp.utilities.versions import VersionSpec
except ImportError as exc:
    raise ImportError(
        'ToolSearchTransform needs FastMCP: pip install "tool-search-processor[fastmcp]"'
    ) from exc

from tool_search_processor import meta_tools, telemetry
from tool_search_processor.adapters.fastmcp_catalog import ServerCatalog
from tool_search_processor.adapters.fastmcp_view import (
    CallerView,
    answer,
    error,
    explained,
    listed_meta_tools,
    request_context,
    session_id,
)
from tool_search_processor.adapters.runs import read_context
from tool_search_processor.concurrency.foreign_calls import awaited
from tool_search_processor.concurrency.once import Once
from tool_search_processor.errors import ConfigurationError, ReservedToolNameError, ToolArgumentsError
from tool_search_processor.meta_tools import MetaToolNames, ResultDetail
from tool_search_processor.policy.filters import Filter, Phase
from tool_search_processor.processor.processor_options import SEARCH_TOOL_NAME, Options
from tool_search_processor.search.strategies import Strategy
from tool_search_processor.session.prepared_calls import read_arguments
from tool_search_processor.session.tool_results import error_text
from tool_search_processor.tools import Tool as CatalogTool
from tool_search_processor.wire.checks import as_names, check_callable

logger = logging.getLogger(__name__)

ContextOf = Callable[[Context], "object | Awaitable[object]"]
"""`(ctx) -> mapping` for one request, sync or async; it may return anything that `read_context` accepts."""


class ToolSearchTransform(CatalogTransform):
    """Lists a search tool and a call tool in place of a FastMCP server's own tools.

    ```python
    mcp = FastMCP("Files")
    mcp.add_transform(
        ToolSearchTransform(
            search="hybrid",
            filter=lambda request: "admin" in request.context["roles"] or "admin" not in request.tool.tags,
            context=lambda ctx: {"roles": get_access_token().claims["roles"]},
        )
    )
    ```

    Add it to a server as its last transform: it asks the filter about the names that clients see.
    """

    def __init__(
        self,
        search: Strategy = "bm25",
        *,
        top_k: int = 5,
        min_score: float = 0.0,
        filter: Filter | None = None,  # noqa: A002 - the field's word for it
        filter_timeout_seconds: float | None = None,
        context: ContextOf | None = None,
        always_visible: Iterable[str] = (),
        result_detail: ResultDetail = "schema",
        search_tool_name: str = SEARCH_TOOL_NAME,
        call_tool_name: str = "call_tool",
    ) -> None:
        """Set how tools are found, and who may find and call which.

        Args:
            search: The strategy: "bm25", "regex", "fuzzy", "vector", "hybrid", an index, or a function that
                makes one. A tool's `meta` may hold `keywords` (more words to find it by) and
                `example_requests`.
            top_k: Results of a query unless the model asks for more, 1 to 20; a lower `limit` counts as this.
            min_score: The lowest score of a result, 0 to 1.
            filter: Asked in the phases `search`, `load` (a tool is called by name) and `active` (it is listed
                or run); an exception denies.
            filter_timeout_seconds: How long an async filter may take before it counts as a denial.
            context: `(ctx) -> mapping`, sync or async, makes the filter's context of FastMCP's; if it fails,
                the request gets no tools. By default, `user` is the access token, `headers` are those of
                HTTP, and `session_id` and `client_id` are as in `ctx`, each None if there is none.
            always_visible: Names of tools that stay listed, and are left out of results.
            result_detail: What a result says about parameters: "brief", "signature" or "schema".
            search_tool_name: What the search tool is called.
            call_tool_name: What the call tool is called.

        Raises:
            ConfigurationError: An option can't work.
            ImportError: The strategy needs an extra that is not installed.
        """
        super().__init__()
        check_callable("context", context, "(ctx) -> mapping", optional=True)
        self._context = context or request_context
        self._options = Options(
            names=MetaToolNames(mode="call", search=search_tool_name, call=call_tool_name),
            top_k=top_k,
            min_score=min_score,
            filter=filter,
            filter_timeout_seconds=filter_timeout_seconds,
            pinned=as_names(always_visible, what="always_visible"),
            result_detail=result_detail,
        )
        self._catalog = ServerCatalog(search)
        self._meta_tools = listed_meta_tools(
            self._options, takes_pattern=self._catalog.takes_pattern, search=self._search, call=self._call
        )
        self._has_listed = False
        self._warned = Once()

    # -- transform

    async def transform_tools(self, tools: Sequence[Tool]) -> Sequence[Tool]:
        """Return the tools that are always visible, if phase `active` admits them, and the meta-tools.

        Raises:
            ReservedToolNameError: A tool has a meta-tool's name when the first list is made.
            ConfigurationError: Another transform comes after this one.
        """
        self._check_last()
        self._check_clashes(tools)
        always = frozenset(self._options.pinned) - self._meta_tools.keys()
        pinned = [tool for tool in tools if tool.name in always and await self._admits(tool, "active")]
        return [*pinned, *self._meta_tools.values()]

    async def get_tool(
        self, name: str, call_next: GetToolNext, *, version: VersionSpec | None = None
    ) -> Tool | None:
        """Return a meta-tool or a tool that phases `load` and `active` admit; None for any other."""
        self._check_last()
        if name in self._meta_tools:
            return self._meta_tools[name]
        tool = await call_next(name, version=version)
        phases: tuple[Phase, ...] = ("active",) if name in self._options.pinned else ("load", "active")
        return tool if tool is None or await self._admits(tool, *phases) else None

    # -- meta-tools

    async def _search(self, arguments: Mapping[str, Any]) -> ToolResult:
        view = await self._view()
        call = meta_tools.read_search(arguments, default_limit=self._options.top_k)
        if not call.queries:
            total = 0 if view.is_open else None
            return answer(meta_tools.search_answer((), total=total, message=meta_tools.EMPTY_QUERY))
        asked = telemetry.search_attributes(call.queries)
        with view.admission() as admission, telemetry.span("tool_search.search", asked) as span:
            found = await view.search(call, admission, limit=meta_tools.MAX_RESULTS)
            span.set({telemetry.HITS: len(found.ranked), telemetry.TOP_SCORE: found.top_score})
            message = found.problem or await view.message(found, admission)
        results = [view.result(tool, score=hit.score) for hit, tool in found.ranked]
        total = await view.count(found)
        return answer(meta_tools.search_answer(results, total=total, message=f"{found.preface}{message}"))

    async def _call(self, arguments: Mapping[str, Any]) -> ToolResult:
        view = await self._view()
        name, given = meta_tools.read_call(arguments)
        with view.admission() as admission:
            tool = await view.proxied(name, admission)
        if isinstance(tool, str):
            return error(f"Error: {tool}")
        read, problem = read_arguments(given, name=tool.name)
        return explained(tool, problem) if problem else await self._run(tool, read, view.originals[tool.name])

    async def _run(self, tool: CatalogTool, arguments: dict[str, Any], original: Tool) -> ToolResult:
        """Let the server run a tool: its middleware sees the call, and this transform admits it again."""
        unfit = None
        try:
            arguments = tool.check_arguments(arguments)  # a schema with an odd root was shown in another one
        except ToolArgumentsError as exc:
            unfit = error_text(exc)
        version = VersionSpec(eq=original.version) if original.version is not None else None
        try:
            result = await get_context().fastmcp.call_tool(original.name, arguments, version=version)
        except ValidationError:
            if unfit is None:  # it is about another call, which the tool has made
                raise
            return explained(tool, unfit)
        except NotFoundError as exc:  # passed on, the server would say that the call tool is unknown
            return error(f"Error: {exc}")
        if not isinstance(result, ToolResult) or isinstance(result, InputRequiredToolResult):
            return result  # a task, or a question to the client
        return result.model_copy(update={"meta": {**(result.meta or {}), **meta_tools.target_meta(tool)}})

    # -- what a caller sees

    async def _view(self) -> CallerView:
        """Return what the caller may find and call."""
        self._check_last()
        tools = await self.get_tool_catalog(get_context())
        return await self._view_of([tool for tool in tools if tool.name not in self._meta_tools])

    async def _view_of(self, tools: Sequence[Tool]) -> CallerView:
        offered, options = self._catalog.offer(tools), self._options
        context: Mapping[str, Any] = {}
        thread_id = None
        if options.filter is not None and (ctx := _current()) is not None:
            try:
                context = read_context(await awaited(self._context(ctx)))
                thread_id = session_id(ctx)
            except Exception:  # foreign code: a header may be missing
                logger.warning("context= failed for a request, which gets no tools", exc_info=True)
                options = replace(options, filter=lambda _: False)
        return CallerView(
            catalog=offered.view,
            options=options,
            context=context,
            thread_id=thread_id,
            originals=offered.originals,
        )

    async def _admits(self, tool: Tool, *phases: Phase) -> bool:
        if self._options.filter is None:
            return True
        made, view = self._catalog.tool(tool), await self._view_of(())
        with view.admission() as admission:
            return made is not None and await admission.admits(made, *phases)

    # -- mistakes in the set-up of a server

    def _check_last(self) -> None:
        """Refuse to serve if a later transform may rename tools: the filter would be asked of other names.

        Raises:
            ConfigurationError: Another transform comes after this one.
        """
        ctx = _current()
        transforms = ctx.fastmcp.transforms if ctx is not None else []
        place = next((place for place, other in enumerate(transforms) if other is self), len(transforms))
        behind = next((other for other in transforms[place + 1 :] if not isinstance(other, Visibility)), None)
        if behind is not None:
            raise ConfigurationError(
                f"ToolSearchTransform has to be the server's last transform, found {behind!r} behind "
                "it: call add_transform for it last"
            )

    def _check_clashes(self, tools: Sequence[Tool]) -> None:
        """Refuse a server that begins with a tool of a meta-tool's name; leave out one that comes later.

        Raises:
            ReservedToolNameError: A tool has a meta-tool's name when the first list is made.
        """
        taken = sorted({tool.name for tool in tools} & self._meta_tools.keys())
        if taken and not self._has_listed:
            option = self._options.names.options[taken[0]]
            raise ReservedToolNameError(
                f"the server has a tool {taken[0]!r}, which is a meta-tool's name: rename it, or give "
                f"ToolSearchTransform another {option}"
            )
        self._has_listed = True
        for name in filter(self._warned.is_new, taken):
            logger.warning("the tool %r is not served: a meta-tool of the tool search has its name", name)


def _current() -> Context | None:
    """Return the context of the request under way; None where a program asks the server outside of one."""
    try:
        return get_context()
    except RuntimeError:
        return None
