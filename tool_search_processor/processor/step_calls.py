"""What a step's calls run: the meta-tools, the tools it lists, and those that it does not list."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any

from tool_search_processor import meta_tools, telemetry
from tool_search_processor.catalog.finding import find_by_name
from tool_search_processor.errors import ToolArgumentsError, ToolUnavailableError
from tool_search_processor.meta_tools import MetaTool
from tool_search_processor.policy.admission import Admission
from tool_search_processor.processor.frames import StepFrame
from tool_search_processor.processor.guarded import GuardedTool, guard
from tool_search_processor.processor.load_answers import answer_load, answer_unload
from tool_search_processor.processor.search_answers import answer_search
from tool_search_processor.session.model_calls import refusal_text
from tool_search_processor.tools import Tool, ToolContext
from tool_search_processor.tools.near_names import meant_name


class StepCalls(StepFrame):
    """Answers the calls that a model makes after one step, with what that step could see."""

    async def list_pinned(self, admission: Admission) -> list[GuardedTool]:
        """Return the pinned tools to list, less those that the step's own tools hide."""
        visible = (tool for tool in self.pinned if tool.name not in self.listed)
        pinned = [self.guard(tool) for tool in await admission.admit(visible, "active")]
        self.listed.update((tool.name, tool) for tool in pinned)
        return pinned

    def tools(self, inventory: str, tags: Sequence[str]) -> list[MetaTool]:
        """Return the meta-tools, bound to this step; see `meta_tools.search_tool`."""
        names = self.names
        found: dict[str, MetaTool] = {
            names.search: meta_tools.search_tool(
                names,
                inventory=inventory,
                takes_pattern=self.options.takes_pattern,
                default_limit=self.options.top_k,
                tags=tags,
                handler=partial(answer_search, self),
            )
        }
        if names.load in names.present:
            found[names.load] = meta_tools.load_tool(names, handler=partial(answer_load, self))
        if names.call in names.present:
            found[names.call] = meta_tools.call_tool(names, handler=self.call, proxy=self.proxied)
        if names.allow_unload:
            found[names.unload] = meta_tools.unload_tool(names, handler=partial(answer_unload, self))
        return [found[name] for name in names.present]

    async def call(self, arguments: Mapping[str, Any], context: ToolContext) -> Any:
        """Answer a call of the call tool."""
        name, given = meta_tools.read_call(arguments)
        if name in self._meta_tools:
            return f"Error: {meta_tools.meta_tool_refused_text(name, names=self.names)}"
        with self.admission() as admission:
            tool = await self._callable(name, admission)
            if tool is None and meant_name(name, self._meta_tools) is not None:
                return f"Error: {meta_tools.meta_tool_refused_text(name, names=self.names)}"
            if tool is None:
                return f"Error: {await self.unknown_text(name, admission=admission)}"
        if tool.requires_approval:  # what was approved runs as the call's target, and not through here
            return refusal_text(tool.name, None)
        return await tool.call(given, context)

    async def proxied(
        self, arguments: Mapping[str, Any], _: ToolContext
    ) -> tuple[Tool, Mapping[str, Any]] | None:
        """Return the tool and the arguments that a call of the call tool really runs.

        Raises:
            ToolUnavailableError: The filter gave no verdict on it. `call` would ask once more, and wait once
                more for a policy that hangs.
        """
        name, given = meta_tools.read_call(arguments)
        if name in self._meta_tools:
            return None
        with self.admission() as admission:
            tool = await self._callable(name, admission)
            if tool is None and (problem := admission.problem):
                raise _unavailable(await self.unknown_text(name, admission=admission), problem)
        return None if tool is None else (tool, given)

    async def unlisted(self, name: str) -> GuardedTool | None:
        """Return a tool that the step does not list, if phases `load` and `active` admit it."""
        with self.admission() as admission:
            tool = await find_by_name(self.view, name, admission=admission)
            if tool is not None and (
                self.run.is_another(tool.name) or not await admission.admits(tool, "active")
            ):
                tool = None
            self.run.note(name, admission.problem if tool is None else None)
        return None if tool is None else self._unlisted(tool)

    def guard(self, tool: Tool) -> GuardedTool:
        """Return a listed tool's copy, whose every call asks phase `active` again."""
        return guard(tool, self._run)

    @property
    def _meta_tools(self) -> Collection[str]:
        # Another searcher's too: a proxy behind a proxy would hide whose approval is needed.
        others = (name for name, tool in self.listed.items() if isinstance(tool, MetaTool))
        return (*self.names.present, *others)

    async def _callable(self, name: str, admission: Admission) -> Tool | None:
        if name in self.listed:
            return self.listed[name]
        tool = await find_by_name(self.view, name, admission=admission)
        if tool is not None and not await admission.admits(tool, "active"):
            tool = None
        meant = meant_name(name, self.listed)
        if meant is not None and (tool is None or tool.name == meant):
            return None if meant in self._meta_tools else self.listed[meant]
        is_certain = tool is not None and (meant is None or tool.name == name)
        return self._unlisted(tool) if tool is not None and is_certain else None

    def _unlisted(self, tool: Tool) -> GuardedTool:
        return guard(tool, self._run_unlisted, explain=partial(self._explain, tool))

    async def _run(self, tool: Tool, arguments: Any, context: ToolContext | None) -> Any:
        """Run a listed tool, if the policy of this moment allows it."""
        await self._check_active(tool)
        await self.loads.called(self.step, tool.name)
        return await self._call(tool, arguments, context)

    async def _run_unlisted(self, tool: Tool, arguments: Any, context: ToolContext | None) -> Any:
        """Run a tool whose parameters the model may not have seen, and list it from now on."""
        await self._take_in(tool)
        try:
            return await self._call(tool, arguments, context)
        except ToolArgumentsError as exc:
            if exc.ran:
                raise
            return self._explained(tool, exc)

    async def _call(self, tool: Tool, arguments: Any, context: ToolContext | None) -> Any:
        with telemetry.span(f"execute_tool {tool.name}", telemetry.call_attributes(tool.name)):
            return await tool.call(arguments, context or self._context())

    async def _explain(self, tool: Tool, problem: ToolArgumentsError) -> dict[str, Any]:
        """Answer a call that is not run, since its arguments don't fit, as if it had been tried."""
        await self._take_in(tool)
        return self._explained(tool, problem)

    async def _take_in(self, tool: Tool) -> None:
        await self._check_active(tool)
        if self.names.mode != "call":
            await self.loads.add(self.step, (tool.name,))
        await self.loads.called(self.step, tool.name)

    def _explained(self, tool: Tool, problem: ToolArgumentsError) -> dict[str, Any]:
        loaded = tool.name in self.run.seen
        return meta_tools.invalid_arguments_answer(tool, problem=str(problem), loaded=loaded)

    async def _check_active(self, tool: Tool) -> None:
        with self.admission() as admission:
            if await admission.admits(tool, "active"):
                return
            problem = admission.problem
            raise _unavailable(await self.missing_text(tool.name, admission=admission), problem)

    def _context(self) -> ToolContext:
        return ToolContext(thread_id=self.step.thread_id, run_id=self.step.run_id, context=self.step.context)


def _unavailable(text: str, problem: str | None) -> ToolUnavailableError:
    """Return the error for a tool that policy did not let run."""
    error = ToolUnavailableError(text)
    error.ran, error.problem = False, problem
    return error
