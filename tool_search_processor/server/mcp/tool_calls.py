"""Answers to `tools/call`, whether of a meta-tool, a listed tool or an unlisted tool."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import mcp_types as types

from tool_search_processor import meta_tools, telemetry
from tool_search_processor.concurrency.foreign_calls import awaited, is_cancelled, is_no_failure
from tool_search_processor.errors import ToolArgumentsError
from tool_search_processor.server.mcp import meta_tool_definitions
from tool_search_processor.server.mcp.call_results import (
    error_result,
    failure_text,
    fit,
    fitting,
    of_target,
    text_result,
    tool_result,
)
from tool_search_processor.server.mcp.middleware import Middleware, ToolCall
from tool_search_processor.server.mcp.searching import FrontSearch
from tool_search_processor.server.mcp.tool_view import ToolView
from tool_search_processor.session.tool_results import encode_result, error_text, read_result
from tool_search_processor.tools import Tool, ToolContext
from tool_search_processor.tools.near_names import meant_name

logger = logging.getLogger(__name__)

_OVER_MCP = "mcp"
"""The search mode that metrics show for searches over MCP, which use the index as it is."""

_Run = Callable[[ToolCall], Awaitable[types.CallToolResult]]
"""Makes a call, and raises nothing."""


@dataclass(frozen=True)
class FrontCalls:
    """Answers the calls of one request."""

    view: ToolView
    context: ToolContext
    """What the tool that is called gets."""

    async def answer(self, name: str, arguments: Mapping[str, Any]) -> types.CallToolResult:
        """Answer a call; unknown, hidden and denied tools get the same sentence."""
        names = self.view.options.names
        tool, meta = None, name if name in names.present else None
        if meta is None:
            with self.view.admission() as admission:
                tool = await self.view.meant(name, admission)
                if tool is None and (meta := meant_name(name, names.present)) is None:
                    told = await self.view.missing_text(name, admission)
                    return text_result(f"Error: {told}", is_error=True)
        if tool is not None:
            return await self._run(tool, arguments)
        return await (self._search if meta == names.search else self._call)(arguments)

    async def _search(self, arguments: Mapping[str, Any]) -> types.CallToolResult:
        metrics, started = self.view.metrics, time.perf_counter()
        try:
            answer = await FrontSearch(self.view).answer(arguments)
        except BaseException as exc:  # foreign code: its failure goes to the log
            if is_no_failure(exc):
                raise
            logger.warning("a search failed", exc_info=True)
            if metrics is not None:
                metrics.failed(_OVER_MCP)
            return text_result(meta_tool_definitions.SEARCH_FAILED, is_error=True)
        if metrics is not None and answer.top_score is not None:
            seconds = time.perf_counter() - started
            metrics.found(_OVER_MCP, seconds=seconds, hits=len(answer.tools), top_score=answer.top_score)
        text = encoded = encode_result(answer.content)
        if self.view.options.result_format == "markdown":
            text = meta_tool_definitions.markdown(answer.content, answer.tools)
        return text_result(text, structured=json.loads(encoded))

    async def _call(self, arguments: Mapping[str, Any]) -> types.CallToolResult:
        name, given = meta_tools.read_call(arguments)
        with self.view.admission() as admission:
            tool = await self.view.proxied(name, admission)
        if isinstance(tool, str):  # models read results, but not protocol errors
            return text_result(f"Error: {tool}", is_error=True)
        return of_target(await self._run(tool, given, through_proxy=True), tool)

    async def _run(self, tool: Tool, arguments: Any, *, through_proxy: bool = False) -> types.CallToolResult:
        about = self.context.context
        call = ToolCall(tool=tool, arguments=arguments, context=about, through_proxy=through_proxy)
        run: _Run = self._result
        for middleware in reversed(self.view.middleware):
            run = partial(self._around, run, middleware)
        result = await run(call)
        if self.view.metrics is not None:
            self.view.metrics.called(failed=bool(result.is_error))
        if not result.is_error:
            await self.view.learn(tool)
        return result

    async def _result(self, call: ToolCall) -> types.CallToolResult:
        tool = call.tool

        async def work() -> types.CallToolResult:
            with telemetry.span(f"execute_tool {tool.name}", telemetry.call_attributes(tool.name)):
                result = tool_result(tool, await read_result(await tool.call(call.arguments, self.context)))
            # a client checks what it calls itself, by the schema in its list
            return result if call.through_proxy else fitting(tool, result)

        return await self._answered(work(), tool, what=f"the tool {tool.name!r}")

    async def _around(self, run: _Run, middleware: Middleware, call: ToolCall) -> types.CallToolResult:
        given: list[types.CallToolResult] = []

        async def go_on(changed: ToolCall = call, /) -> types.CallToolResult:
            given.append(await run(changed))
            return given[-1]

        async def work() -> types.CallToolResult:
            value = await awaited(middleware(call, go_on))
            if value is None:
                raise TypeError("a middleware returned None: return what `await next(call)` returned")
            if any(value is result for result in given):
                return value  # type: ignore[no-any-return]  # it is one of the results
            if isinstance(value, types.CallToolResult):
                return fit(value)
            return tool_result(call.tool, await read_result(value))

        return await self._answered(work(), call.tool, what=f"a middleware around the tool {call.name!r}")

    async def _answered(
        self, work: Coroutine[Any, Any, types.CallToolResult], tool: Tool, /, *, what: str
    ) -> types.CallToolResult:
        """Return the result of some work; an exception becomes an answer, not a protocol error."""
        try:
            return await work
        except asyncio.CancelledError:
            if is_cancelled():
                raise
            return text_result(f"Error: {tool.name} was cancelled before it answered.", is_error=True)
        except KeyboardInterrupt:
            raise
        except BaseException as exc:  # noqa: BLE001 - foreign code; it is logged
            if isinstance(exc, ToolArgumentsError) and not exc.ran:
                # A client that found the tool by search may never have shown its parameters.
                answer = meta_tools.invalid_arguments_answer(tool, problem=error_text(exc), loaded=False)
                return text_result(encode_result(answer), is_error=True)
            told = failure_text(exc, what=what, is_masked=self.view.options.mask_error_details)
            return error_result(tool, exc, told)
