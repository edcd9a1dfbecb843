"""Runs what a model calls after a step: listed tools, unlisted tools, and targets of the call tool."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from tool_search_processor import telemetry
from tool_search_processor.errors import ToolArgumentsError, ToolUnavailableError
from tool_search_processor.meta_tools import answers, reading, texts
from tool_search_processor.meta_tools.definitions import MetaTool
from tool_search_processor.policy.admission import Admission
from tool_search_processor.processor.guarded import GuardedTool, guard
from tool_search_processor.processor.step_view import StepView
from tool_search_processor.session.prepared_calls import refusal_text
from tool_search_processor.tools import Tool, ToolContext
from tool_search_processor.tools.near_names import meant_name
from tool_search_processor.tools.origins import put_source


@dataclass(frozen=True)
class StepCalls:
    """Runs the tools that a model calls after one step, with what that step could see."""

    view: StepView

    def guard(self, tool: Tool) -> GuardedTool:
        """Return a copy of a listed tool whose every call asks phase `active` again."""
        return self._guarded(tool, guard(tool, self._run))

    async def call(self, arguments: Mapping[str, Any], context: ToolContext) -> Any:
        """Answer a call of the call tool."""
        name, given = reading.read_call(arguments)
        if name in self._meta_tools:
            return f"Error: {texts.meta_tool_refused_text(name, names=self.view.names)}"
        with self.view.admission() as admission:
            tool = await self._callable(name, admission)
            if tool is None and meant_name(name, self._meta_tools) is not None:
                return f"Error: {texts.meta_tool_refused_text(name, names=self.view.names)}"
            if tool is None:
                return f"Error: {await self.view.unknown_text(name, admission)}"
        if tool.requires_approval:  # an approved call runs as the target of `proxied`, not here
            return refusal_text(tool.name, None)
        return await tool.call(given, context)

    async def proxied(
        self, arguments: Mapping[str, Any], _: ToolContext
    ) -> tuple[Tool, Mapping[str, Any]] | None:
        """Return the tool and the arguments of the call that a call of the call tool asks for.

        Raises:
            ToolUnavailableError: If the filter gave no verdict. `call` would ask again, and wait again for a
                policy that hangs.
        """
        name, given = reading.read_call(arguments)
        if name in self._meta_tools:
            return None
        with self.view.admission() as admission:
            tool = await self._callable(name, admission)
            if tool is None and (problem := admission.problem):
                raise _unavailable(await self.view.unknown_text(name, admission), problem)
        return None if tool is None else (tool, given)

    async def unlisted(self, name: str) -> GuardedTool | None:
        """Return a tool that the step does not list, if phases `load` and `active` admit it."""
        with self.view.admission() as admission:
            tool = await self.view.meant(name, admission)
            if tool is not None and self.view.run.is_another(tool.name):
                tool = None
            self.view.run.unsettled[name] = admission.problem if tool is None else None
        return None if tool is None else self._unlisted(tool)

    async def introduce(self, name: str) -> dict[str, Any] | None:
        """Load a tool that was called before it was listed, and return its parameters; None if not found.

        Raises:
            ToolUnavailableError: Phase `active` denies it.
        """
        tool = await self.unlisted(name)
        if tool is None or tool.explain is None:
            return None
        problem = ToolArgumentsError(texts.unlisted_text(names=self.view.names))
        answer: dict[str, Any] = await tool.explain(problem)
        return answer

    @property
    def _meta_tools(self) -> Collection[str]:
        # Includes those of other searchers: a proxy behind a proxy would hide which call needs approval.
        others = (name for name, tool in self.view.listed.items() if isinstance(tool, MetaTool))
        return (*self.view.names.present, *others)

    async def _callable(self, name: str, admission: Admission) -> Tool | None:
        if name in self.view.listed:
            return self.view.listed[name]
        tool = await self.view.meant(name, admission)
        meant = meant_name(name, self.view.listed)
        if meant is not None and (tool is None or tool.name == meant):
            return None if meant in self._meta_tools else self.view.listed[meant]
        is_certain = tool is not None and (meant is None or tool.name == name)
        return self._unlisted(tool) if tool is not None and is_certain else None

    def _unlisted(self, tool: Tool) -> GuardedTool:
        return self._guarded(tool, guard(tool, self._run_unlisted, explain=partial(self._explain, tool)))

    def _guarded(self, tool: Tool, copy: GuardedTool) -> GuardedTool:
        if tool.requires_approval and (mark := self.view.catalog.mark(tool.name)):
            put_source(copy, mark)  # an approval of this tool holds for no other of its name
        return copy

    async def _run(self, tool: Tool, arguments: Any, context: ToolContext | None) -> Any:
        """Run a listed tool, if policy still allows it."""
        await self._check_active(tool)
        await self.view.loads.mark_called(self.view.step, tool.name)
        return await self._call(tool, arguments, context)

    async def _run_unlisted(self, tool: Tool, arguments: Any, context: ToolContext | None) -> Any:
        """Load and run a tool whose parameters the model may not have seen."""
        await self._take_in(tool)
        try:
            return await self._call(tool, arguments, context)
        except ToolArgumentsError as exc:
            if exc.ran:
                raise
            return self._explained(tool, exc)

    async def _call(self, tool: Tool, arguments: Any, context: ToolContext | None) -> Any:
        step = self.view.step
        context = context or ToolContext(thread_id=step.thread_id, run_id=step.run_id, context=step.context)
        with telemetry.span(f"execute_tool {tool.name}", telemetry.call_attributes(tool.name)):
            answer = await tool.call(arguments, context)
        await self.view.learn(tool)
        return answer

    async def _explain(self, tool: Tool, problem: ToolArgumentsError) -> dict[str, Any]:
        """Load a tool, and answer a call whose arguments don't fit without running it."""
        await self._take_in(tool)
        return self._explained(tool, problem)

    async def _take_in(self, tool: Tool) -> None:
        await self._check_active(tool)
        if self.view.names.mode != "call":
            await self.view.loads.add(self.view.step, (tool.name,))
        await self.view.loads.mark_called(self.view.step, tool.name)

    def _explained(self, tool: Tool, problem: ToolArgumentsError) -> dict[str, Any]:
        loaded = tool.name in self.view.run.seen
        return answers.invalid_arguments_answer(tool, problem=str(problem), loaded=loaded)

    async def _check_active(self, tool: Tool) -> None:
        with self.view.admission() as admission:
            if await admission.admits(tool, "active"):
                return
            problem = admission.problem
            raise _unavailable(await self.view.missing_text(tool.name, admission), problem)


def _unavailable(text: str, problem: str | None) -> ToolUnavailableError:
    """Return the error for a tool that policy kept from running."""
    error = ToolUnavailableError(text)
    error.ran, error.problem = False, problem
    return error
