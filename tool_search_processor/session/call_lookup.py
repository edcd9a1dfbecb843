"""Finds what a call means: a tool that the step lists, a tool that a processor knows, or a sentence."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from tool_search_processor.concurrency.foreign_calls import awaited
from tool_search_processor.errors import ToolArgumentsError
from tool_search_processor.session.tool_results import encode_result, error_text
from tool_search_processor.steps import InputStep, ToolResolver
from tool_search_processor.tools import Tool
from tool_search_processor.tools.near_names import meant_name
from tool_search_processor.tools.tool_names import MAX_NAME_LENGTH
from tool_search_processor.wire.plain import clean_text

_NEAR_NAMES = 3
_NEAR_ENOUGH = 0.6
_WORDS = re.compile(r"[A-Za-z0-9_-]+")


class CallLookup:
    """Looks up the calls that follow one step."""

    def __init__(self, step: InputStep, resolvers: Sequence[ToolResolver]) -> None:
        """Look calls up in a step, as the processors left it; the resolvers are asked about other tools."""
        self._step = step
        self._resolvers = resolvers

    def lists(self, name: str) -> bool:
        """Return True if the step lists a tool of this name, so that the model has seen its parameters."""
        return any(tool.name == name for tool in self._step.tools)

    async def find(self, name: str) -> Tool | None:
        """Return the tool that a call means, exact names first; None if there is none, or it may be two."""
        listed = {tool.name: tool for tool in reversed(self._step.tools)}
        if name in listed:
            return listed[name]
        found = await self._resolve(name)
        near = meant_name(name, listed)
        if near is None or (found is not None and found.name == name):
            return found
        return listed[near] if found is None or found.name == near else None

    async def standing(self, names: Iterable[str]) -> list[Tool]:
        """Return the tools of these names that the step does not list and that policy admits now."""
        found = [(name, await self._resolve(name)) for name in names if not self.lists(name)]
        return [tool for name, tool in found if tool is not None and tool.name == name]

    def policy_problem(self, name: str) -> str | None:
        """Return why a processor's policy gave no verdict on a tool that was not found."""
        problems = (hook(self._step, name) for hook in self._hooks("policy_problem"))
        return next(filter(None, problems), None)

    def receipt(self, name: str) -> Mapping[str, Any] | None:
        """Return a processor's receipt of a tool that it has loaded at a call; None for a listed tool."""
        if self.lists(name):
            return None
        receipts = (hook(self._step, name) for hook in self._hooks("call_receipt"))
        return next(filter(None, receipts), None)

    async def missing_text(self, name: str) -> str:
        """Return what the processors say about an unknown tool, and similar names that are listed."""
        texts = [await awaited(hook(self._step, name)) for hook in self._hooks("missing_tool_text")]
        said = "\n".join(map(str, filter(None, texts)))
        said = said or f"Error: there is no tool named {name[:MAX_NAME_LENGTH]!r}."
        listed = [tool.name for tool in self._step.tools]
        near = [one for one in _near_names(name, listed) if one not in _WORDS.findall(said)]
        hint = f" Did you mean {' or '.join(near)}?" if near else ""
        return clean_text(f"{said}{hint}")

    async def mistake(self, tool: Tool, arguments: Mapping[str, Any]) -> str | None:
        """Return what is wrong with the arguments, and the parameters if the model hasn't seen them."""
        try:
            tool.check_arguments(arguments)
        except ToolArgumentsError as exc:
            return await self.explained(tool, exc)
        return None

    async def explained(self, tool: Tool, problem: ToolArgumentsError) -> str:
        """Return a problem with arguments, followed by the parameters if the model hasn't seen them."""
        if self.lists(tool.name):
            return error_text(problem)
        explain = getattr(tool, "explain", None)
        if explain is not None:
            return encode_result(await explain(problem))
        return f"{error_text(problem)} The parameters of {tool.name}: {encode_result(tool.wire_schema())}"

    def _hooks(self, name: str) -> Iterator[Callable[..., Any]]:
        """Yield what the processors may have beyond the protocol."""
        hooks = (getattr(resolver, name, None) for resolver in self._resolvers)
        return (hook for hook in hooks if hook is not None)

    async def _resolve(self, name: str) -> Tool | None:
        for resolver in self._resolvers:
            tool = await resolver.resolve_call(self._step, name)
            if tool is not None:
                return tool
        return None


def _near_names(name: str, names: Sequence[str]) -> list[str]:
    from rapidfuzz import process
    from rapidfuzz.distance import OSA

    similarity = OSA.normalized_similarity
    found = process.extract(name, names, scorer=similarity, limit=_NEAR_NAMES, score_cutoff=_NEAR_ENOUGH)
    return [match for match, _, _ in found]
