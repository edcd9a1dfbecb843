"""Checks of an agent's tools and processors, before anything runs."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from tool_search_processor.errors import ConfigurationError, DuplicateToolError, ReservedToolNameError
from tool_search_processor.providers.functions import as_list, to_tool
from tool_search_processor.steps import InputProcessor, ToolResolver
from tool_search_processor.tools import Tool


def checked_tools(tools: Iterable[Tool | Callable[..., Any]], *, owner: str) -> tuple[Tool, ...]:
    """Return the tools, with each plain function made a tool, after checking their names.

    Raises:
        ConfigurationError: Something is neither a tool nor a function.
        DuplicateToolError: Two tools have one name.
    """
    given = as_list(tools, origin=f"tools of {owner}", items="tools and functions")
    result = [to_tool(item, origin=f"tools[{number}] of {owner}") for number, item in enumerate(given)]
    first: dict[str, int] = {}
    for number, tool in enumerate(result):
        if tool.name in first:
            places = [f"tools[{place}] of {owner}" for place in (first[tool.name], number)]
            raise DuplicateToolError(tool.name, places)
        first[tool.name] = number
    return tuple(result)


def checked_processors(
    processors: Iterable[InputProcessor], *, tools: Sequence[Tool] = ()
) -> tuple[InputProcessor, ...]:
    """Return the processors after checking their ids and the names they reserve.

    Raises:
        ConfigurationError: Something is not a processor, two have one id or reserve one name, or a
            processor that counts what is sent comes before a processor that adds to it.
        ReservedToolNameError: A tool has a name that a processor reserves.
    """
    if isinstance(processors, InputProcessor):
        raise ConfigurationError("input_processors must be a list, found one processor: put it in a list")
    if not isinstance(processors, Iterable):
        raise ConfigurationError(f"input_processors must be a list, found {processors!r:.80}")
    result = tuple(processors)
    for item in result:
        if isinstance(item, type):
            raise ConfigurationError(
                f"{item!r:.100} is the class of a processor: create it, {item.__name__}(...)"
            )
        if not isinstance(item, InputProcessor):
            raise ConfigurationError(
                f"an input processor has `id` and `async process_input_step(step)`, found {item!r:.80}"
            )
    for one, other in itertools.combinations(result, 2):
        _check_pair(one, other)
        _check_order(one, other)
    for item in result:
        clash = sorted(reserved_names(item) & {tool.name for tool in tools})
        if clash:
            raise ReservedToolNameError(
                f"the tool {clash[0]!r} has a name that the processor {item.id!r} offers itself: rename "
                "the tool, or give the processor other names (search_tool_name=, load_tool_name=, …)"
            )
    return result


def check_approvals(approvals: object) -> None:
    """Refuse answers to calls that wait for approval if they are not a mapping.

    Raises:
        ConfigurationError: Says what was found.
    """
    if not isinstance(approvals, Mapping):
        raise ConfigurationError(
            f"approvals must be a mapping of call ids to True, False or a reason, found {approvals!r:.80}"
        )


def reserved_names(processor: InputProcessor) -> frozenset[str]:
    """Return the tool names that a processor keeps for itself; empty if there are none."""
    return frozenset(getattr(processor, "reserved_names", ()))


def resolvers(processors: Iterable[InputProcessor]) -> list[ToolResolver]:
    """Return the processors that also answer calls, in list order."""
    return [processor for processor in processors if isinstance(processor, ToolResolver)]


def _check_pair(one: InputProcessor, other: InputProcessor) -> None:
    shared = sorted(reserved_names(one) & reserved_names(other))
    if shared:
        raise ConfigurationError(
            f"the processors {one.id!r} and {other.id!r} both offer tools named {', '.join(shared)}: give "
            "one of them names of its own (search_tool_name=, load_tool_name=, call_tool_name=, "
            "unload_tool_name=) and an id of its own (id=)"
        )
    if one.id == other.id:
        raise ConfigurationError(
            f"two input processors have the id {one.id!r}, under which each keeps its state of a run: "
            f"give one of them another, such as id={one.id + '-2'!r}"
        )


def _check_order(one: InputProcessor, later: InputProcessor) -> None:
    if getattr(one, "counts_what_is_sent", False) and isinstance(later, ToolResolver):
        raise ConfigurationError(
            f"the processor {one.id!r} counts what is sent, and {later.id!r}, which comes after it, adds "
            f"tools that it could not count: put {one.id!r} last in the list"
        )
