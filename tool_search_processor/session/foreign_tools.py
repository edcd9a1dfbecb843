"""Tools of another framework: listed, found and admitted like ours, and run by the framework itself."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from tool_search_processor.errors import InvalidToolError, ToolNotCallableError
from tool_search_processor.tools import Tool
from tool_search_processor.tools.execution import run_callable

ForeignRun: TypeAlias = Callable[[Mapping[str, Any]], Awaitable[Any] | Any]
"""Runs a framework's own tool with these arguments, sync or async; a sync function runs in a thread."""


@dataclass(frozen=True)
class ForeignTool(Tool):
    """A framework's own tool, as the catalog, search and filter see it.

    ```python
    tool = ForeignTool("whoami", "Says who the user is.", schema, original=their_tool)
    ```

    Make one for each object of the framework and keep it: a tool that is made again at each step is
    indexed again at each step. `ModelCall.hand_over` runs it; `call` alone raises `ToolNotCallableError`.
    """

    __hash__ = Tool.__hash__

    original: object = field(default=None, repr=False, compare=False, kw_only=True)
    """The framework's object; required."""

    def __post_init__(self) -> None:
        """Make the tool run through the current handover.

        Raises:
            InvalidToolError: There is no `original`.
        """
        if self.original is None:
            raise InvalidToolError(
                f"the foreign tool {self.name!r} has no original: pass the framework's object, original=…"
            )
        if self.execute is None:
            object.__setattr__(self, "execute", run_by_framework())
        super().__post_init__()


class Handover:
    """One run of a foreign tool: the function that runs it, and what it returned or raised."""

    def __init__(self, run: ForeignRun) -> None:
        """Set the function that runs the tool; nothing is called yet."""
        self._run = run
        self.began = False
        self._value: Any = None
        self._error: BaseException | None = None

    async def run(self, arguments: Mapping[str, Any]) -> Any:
        """Run the tool, and remember what it returned or raised.

        Raises:
            ToolNotCallableError: It ran before.
            BaseException: What the tool raised.
        """
        if self.began:
            raise ToolNotCallableError("one call of a foreign tool runs it once")
        self.began = True
        try:
            self._value = await run_callable(self._run, (arguments,), {})
        except BaseException as exc:
            self._error = exc
            raise
        return self._value

    def result(self) -> Any:
        """Return what the framework returned, unchanged.

        Raises:
            BaseException: What the framework raised, even if a gate has since turned it into an answer.
        """
        if self._error is not None:
            raise self._error
        return self._value


HANDOVER: ContextVar[Handover | None] = ContextVar("tool-search-handover", default=None)
"""The handover under way in this context: the processors' gates, which know only tools, can't pass it on."""


def is_foreign(tool: Tool) -> bool:
    """Return True for a foreign tool, and for a processor's guarded copy of one."""
    # a guarded copy has every attribute of its tool, under a class that this row can't import
    return getattr(tool, "original", None) is not None


def original_of(tool: Tool | None, kind: type) -> Any:
    """Return the framework's object of a foreign tool; None for a tool of ours, or of another framework.

    Args:
        tool: The tool, or a processor's guarded copy.
        kind: The framework's class, an abstract one too.
    """
    original = getattr(tool, "original", None)
    return original if isinstance(original, kind) else None


def run_by_framework(outside: ForeignRun | None = None) -> Callable[[Mapping[str, Any]], Awaitable[Any]]:
    """Return a foreign tool's `execute`, which runs the current handover.

    Args:
        outside: Runs the tool outside of a handover; None raises `ToolNotCallableError` then.
    """

    # No schema has this name: a parameter named like a property would get only that property.
    async def execute(arguments_of_the_call: Mapping[str, Any]) -> Any:
        handover = HANDOVER.get()
        # a handover that has begun is of a running tool that calls this one
        if outside is not None and (handover is None or handover.began):
            return await run_callable(outside, (arguments_of_the_call,), {})
        if handover is None:
            raise ToolNotCallableError(
                "this tool belongs to another framework, which has to run it: use "
                "ModelCall.hand_over(call, run)"
            )
        return await handover.run(arguments_of_the_call)

    return execute
