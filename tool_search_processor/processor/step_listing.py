"""What a step lists and says beside the meta-tools."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice

from tool_search_processor.catalog.finding import fetch_all
from tool_search_processor.meta_tools import catalog_line, catalog_text, instruction_text, inventory_text
from tool_search_processor.policy.admission import Admission
from tool_search_processor.processor.guarded import GuardedTool
from tool_search_processor.processor.search_answers import best_names
from tool_search_processor.processor.step_calls import StepCalls
from tool_search_processor.session.tool_choices import read_tool_choice
from tool_search_processor.tokens.counting import DefinitionCounter, TextCounter
from tool_search_processor.tools import Tool
from tool_search_processor.tools.wording import near_name
from tool_search_processor.wire.messages import last_user_text

logger = logging.getLogger(__name__)

_BATCH = 50


async def passthrough(
    calls: StepCalls, admission: Admission, *, definitions: DefinitionCounter
) -> list[GuardedTool] | None:
    """Return every allowed tool, or None when their definitions cost more than `passthrough_tokens`."""
    hidden = {tool.name for tool in calls.own}
    listed_anyway = {tool.name for tool in calls.pinned}
    left = calls.options.passthrough_tokens
    everything: list[GuardedTool] = []
    for batch in batched((tool for tool in calls.view if tool.name not in hidden), _BATCH):
        to_load = [tool for tool in batch if tool.name not in listed_anyway]
        admitted = listed_anyway | {tool.name for tool in await admission.admit(to_load, "load")}
        for tool in await admission.admit((tool for tool in batch if tool.name in admitted), "active"):
            left -= definitions.count((tool,))
            if left < 0:
                return None
            everything.append(calls.guard(tool))
    return everything


async def replay(calls: StepCalls, admission: Admission) -> None:
    """Load for this run what its conversation says was loaded, where phase `load` still admits it."""
    unread = calls.loads.unread(calls.step)
    admitted = await admission.admit(await fetch_all(calls.view, unread.names), "load")
    denied = {*unread.names} - {tool.name for tool in admitted}
    await calls.loads.replay(calls.step, unread.less(denied))


async def preload_tools(calls: StepCalls, admission: Admission) -> None:
    """Load the best tools for the last user message, once a user turn."""
    if not calls.options.preload:
        return
    messages = calls.step.messages
    text = last_user_text(messages)
    turn = (sum(message.get("role") == "user" for message in messages), text)
    run = calls.run
    if not text or run.turn == turn:
        return
    run.turn = turn
    # What the thread has loaded comes first in the list, so it has to be seen first.
    await calls.loads.names(calls.step)
    names = await best_names(calls, text, limit=calls.options.preload, admission=admission)
    await calls.loads.add(calls.step, names)


async def load_chosen(calls: StepCalls, admission: Admission) -> list[Tool]:
    """Load what the step's `tool_choice` names, where phases `load` and `active` admit it."""
    listed = {*calls.names.present, *(tool.name for tool in (*calls.own, *calls.pinned))}
    names = [name for name in read_tool_choice(calls.step.tool_choice).names if name not in listed]
    if not names:
        return []
    chosen = await admission.admit(await fetch_all(calls.view, names), "load")
    chosen = await admission.admit(chosen, "active")
    if calls.names.mode != "call":
        # What the thread has loaded comes first in the list, so it has to be seen first.
        await calls.loads.names(calls.step)
        await calls.loads.add(calls.step, [tool.name for tool in chosen])
    return chosen


async def list_loaded(
    calls: StepCalls, admission: Admission, *, chosen: Sequence[Tool] = ()
) -> list[GuardedTool]:
    """Return the loaded tools that phase `active` admits, in load order.

    Args:
        calls: What the step could see.
        admission: Asks the filter.
        chosen: Admitted tools to list in any case: what a `tool_choice` names has to be there.
    """
    names = await calls.loads.names(calls.step)
    wanted = [name for name in names if name not in calls.unsearched] if calls.names.mode != "call" else []
    admitted = await admission.admit(await fetch_all(calls.view, wanted), "active")
    listed = {tool.name: tool for tool in (*admitted, *chosen)}
    return [calls.guard(tool) for tool in listed.values()]


async def instructions(calls: StepCalls, admission: Admission, *, counter: TextCounter) -> list[str]:
    """Return the texts for the system prompt: the fixed one, and the list of tools where wanted."""
    text = instruction_text(calls.names)
    if not calls.options.catalog_in_prompt:
        return [text]
    lines = await _catalog_lines(calls, admission, counter)
    return [text, catalog_text(lines, calls.names)] if lines else [text]


async def _catalog_lines(calls: StepCalls, admission: Admission, counter: TextCounter) -> list[str]:
    lines: list[str] = []
    left = calls.options.catalog_token_limit - counter(catalog_text((), calls.names))
    findable = (tool for tool in calls.view if tool.name not in calls.unsearched)
    for batch in batched(findable, _BATCH):
        for tool in await admission.admit(batch, "search"):
            line = catalog_line(tool)
            # One more for the line's end, so that the parts never sum up to less than the whole.
            left -= counter(line) + 1
            if left < 0:
                return lines
            lines.append(line)
    return lines


def inventory(calls: StepCalls) -> tuple[str, Sequence[str]]:
    """Return the sentence about what can be found, and its tags and namespaces.

    With a filter both are empty: they would tell what is hidden.
    """
    if calls.options.filter is not None:
        return "", ()
    # What a step brings is left out: the definition changes only when the catalog does.
    pinned = calls.catalog.pinned(calls.options.pinned)
    text = inventory_text(len(calls.catalog) - len(pinned), calls.catalog.namespaces(without=pinned))
    return text, tuple(calls.catalog.labels(without=pinned))


def batched(tools: Iterable[Tool], size: int) -> Iterator[list[Tool]]:
    """Yield tools in lists of at most `size`."""
    remaining = iter(tools)
    while batch := list(islice(remaining, size)):
        yield batch


def warn_of_unknown(pinned: Iterable[str], known: Collection[str] | None) -> None:
    """Log the pinned names that no tool bears, where all tools are known; they may still be added."""
    missing = [] if known is None else [name for name in pinned if name not in known]
    for name in missing:
        near = near_name(name, sorted(known or ()))
        hint = f": did you mean {near!r}?" if near else ""
        logger.warning("no tool of the catalog is named %r, which is pinned%s", name, hint)
