"""Calls a tool's callable: with which arguments, with the context where, and on which thread."""

from __future__ import annotations

import functools
import inspect
import re
import typing
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from types import UnionType
from typing import Annotated, Any, Literal

from tool_search_processor.concurrency.foreign_calls import awaited
from tool_search_processor.concurrency.threads import Threads
from tool_search_processor.errors import ToolArgumentsError
from tool_search_processor.tools.arguments import problems_text
from tool_search_processor.tools.wording import Problem, unknown_text

MAX_THREADS = 64
"""Sync tools that run at one time in this process; more of them wait. Tools that such a tool
itself waits for, because it runs another agent, say, are counted apart."""
_threads = Threads(MAX_THREADS, name="tool-search-tool")

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_MAPPING_NAMES = frozenset(
    {"args", "arguments", "data", "input", "inputs", "kwargs", "parameters", "params", "payload"}
)
_CONTEXT_NAMES = frozenset({"context", "ctx", "run_context", "tool_context"})
_CONTEXT_WORD = re.compile(r"\bToolContext\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """What a tool may know about the run that calls it.

    ```python
    def whoami(run: ToolContext) -> str:
        return run.context["user"]

    await tool(whoami).call({}, ToolContext(context={"user": "ada"}))  # -> 'ada'
    ```
    """

    thread_id: str | None = None
    """The conversation; None in an anonymous run."""
    run_id: str = ""
    tool_call_id: str = ""
    """The id that the model gave the call."""
    context: Mapping[str, Any] = field(default_factory=dict)
    """The request's own data, as it was given to the run."""


def is_context_annotation(annotation: Any) -> bool:
    """Return True if an annotation means `ToolContext`: itself, `Optional`, `Annotated`, or as a string."""
    if isinstance(annotation, str):
        return _CONTEXT_WORD.search(annotation) is not None
    if annotation is ToolContext:
        return True
    origin = typing.get_origin(annotation)
    if origin is Annotated:
        return is_context_annotation(typing.get_args(annotation)[0])
    if origin is typing.Union or origin is UnionType:
        return any(is_context_annotation(inner) for inner in typing.get_args(annotation))
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class CallPlan:
    """How one callable takes arguments and context."""

    style: Literal["keywords", "mapping"] = "keywords"
    """`keywords`: each argument by its name; `mapping`: all of them as the one first argument."""
    positional: tuple[inspect.Parameter, ...] = ()
    """Positional-only parameters, which can take no keyword."""
    required: frozenset[str] = frozenset()
    accepted: frozenset[str] | None = None
    """Names it takes; None takes every name."""
    context_keyword: str | None = None
    context_place: Literal["before", "after"] | None = None
    """In `mapping` style: where the context stands as a positional argument."""

    def bind(self, arguments: Any, context: ToolContext) -> tuple[Sequence[Any], Mapping[str, Any]]:
        """Return the arguments and keyword arguments to call with.

        Raises:
            ToolArgumentsError: If the callable doesn't take such an argument, or a required one is missing.
        """
        keywords = {self.context_keyword: context} if self.context_keyword else {}
        if self.style == "mapping" or not isinstance(arguments, Mapping):
            given = {"before": (context, arguments), "after": (arguments, context), None: (arguments,)}
            return given[self.context_place], keywords
        self._check(arguments)
        values = {**arguments, **keywords}
        positional = [values.pop(p.name, p.default) for p in self.positional]
        return positional, values

    def _check(self, arguments: Mapping[str, Any]) -> None:
        missing = [name for name in self.required if name not in arguments]
        problems = [Problem((name,), "is required but missing") for name in sorted(missing)]
        if self.accepted is not None:
            known = missing or sorted(self.accepted)
            unknown = [name for name in arguments if name not in self.accepted]
            problems += [Problem((name,), unknown_text(name, known)) for name in unknown]
        if problems:
            raise ToolArgumentsError(problems_text(problems))


def plan_call(execute: Callable[..., Any], properties: Collection[str]) -> CallPlan:
    """Return how `execute` is to be called for a schema with these properties.

    By keywords, unless its first positional parameter is not one of the properties and is either named for
    the whole (`arguments`, `args`, `params`, `input` …) or could not be filled at all: then it gets the
    arguments as one mapping, and the context as the second argument if it has one that is required,
    annotated `ToolContext`, or named `context` or `ctx`. Elsewhere the context goes to the parameter that
    is annotated `ToolContext`.
    """
    try:
        parameters = list(inspect.signature(execute).parameters.values())
    except (TypeError, ValueError):  # some callables of C have no signature
        return CallPlan()
    named = [p.name for p in parameters if is_context_annotation(p.annotation)]
    positional = [p for p in parameters if p.kind in _POSITIONAL]
    var_keyword = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters)
    rest = [p for p in positional if p.name not in named]
    if rest and _takes_mapping(rest[0], properties, var_keyword=var_keyword):
        return _mapping_plan(positional, named)
    return keyword_plan(parameters, context_keyword=named[0] if named else None)


def _mapping_plan(positional: Sequence[inspect.Parameter], named: Sequence[str]) -> CallPlan:
    if positional[0].name in named:
        return CallPlan(style="mapping", context_place="before")
    if len(positional) > 1 and _takes_context(positional[1]):
        return CallPlan(style="mapping", context_place="after")
    return CallPlan(style="mapping", context_keyword=named[0] if named else None)


def keyword_plan(parameters: Sequence[inspect.Parameter], *, context_keyword: str | None) -> CallPlan:
    """Return the plan that gives each argument by its name."""
    variadic = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    named = [p for p in parameters if p.kind not in variadic]
    own = [p for p in named if p.name != context_keyword]
    open_ended = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters)
    return CallPlan(
        positional=tuple(p for p in named if p.kind is inspect.Parameter.POSITIONAL_ONLY),
        required=frozenset(p.name for p in own if p.default is inspect.Parameter.empty),
        accepted=None if open_ended else frozenset(p.name for p in own),
        context_keyword=context_keyword,
    )


def _takes_mapping(first: inspect.Parameter, properties: Collection[str], *, var_keyword: bool) -> bool:
    if first.name in properties:
        return False
    return first.name in _MAPPING_NAMES or (first.default is inspect.Parameter.empty and not var_keyword)


def _takes_context(second: inspect.Parameter) -> bool:
    # One with a default is often no parameter at all: `lambda args, tool=tool: ...`.
    required = second.default is inspect.Parameter.empty
    return required or second.name in _CONTEXT_NAMES or is_context_annotation(second.annotation)


async def run_callable(
    execute: Callable[..., Any], arguments: Sequence[Any], keywords: Mapping[str, Any]
) -> Any:
    """Call `execute`: an async one is awaited, a sync one runs in a thread of this package's own.

    Context variables are the caller's. What a sync callable returns is awaited if it can be. Cancelling
    frees the caller at once; a thread that already runs goes on to its end.
    """
    if _is_async(execute):
        return await execute(*arguments, **keywords)
    return await awaited(await _threads.run(functools.partial(execute, *arguments, **keywords)))


def _is_async(execute: Callable[..., Any]) -> bool:
    call = getattr(execute, "__call__", None)  # noqa: B004  # the method of a callable object
    return inspect.iscoroutinefunction(execute) or inspect.iscoroutinefunction(call)
