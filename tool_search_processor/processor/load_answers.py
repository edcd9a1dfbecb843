"""Answers to calls of the load tool and of the unload tool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tool_search_processor import meta_tools, telemetry
from tool_search_processor.catalog.finding import find_named
from tool_search_processor.policy.admission import Admission
from tool_search_processor.processor.frames import StepFrame
from tool_search_processor.tools import ToolContext
from tool_search_processor.tools.near_names import meant_name


async def answer_load(frame: StepFrame, arguments: Mapping[str, Any], _: ToolContext) -> dict[str, Any]:
    """Answer a call of the load tool."""
    names = meta_tools.read_names(arguments)
    if not names:
        return meta_tools.load_answer(message=meta_tools.NO_NAMES)
    most = meta_tools.MAX_NAMES
    asked = {telemetry.REQUESTED: len(names)}
    with frame.admission() as admission, telemetry.span("tool_search.load", asked) as span:
        answer = await load_names(frame, names[:most], admission=admission)
        span.set({telemetry.LOADED: len(answer["loaded"])})
    left = meta_tools.left_text(len(names) - most, limit=most)
    return {**answer, "message": f"{answer['message']}{left}"}


async def load_names(frame: StepFrame, names: Sequence[str], *, admission: Admission) -> dict[str, Any]:
    """Load tools by the names that somebody gave, and tell what came of it."""
    found = await find_named(
        frame.view,
        names,
        admission=admission,
        listed={*frame.listed, *frame.names.present},
        without=frame.absent,
    )
    outcome = await frame.loads.add(frame.step, found.wanted)
    asked_again = frame.run.guard.is_asked_again(("load", *sorted(names)))
    if outcome.loaded:
        frame.run.guard.used()
    already = (*found.listed, *outcome.already_loaded)
    repeated = asked_again and not (outcome.loaded or outcome.refused or outcome.unavailable)
    evicted = await frame.usable(outcome.evicted, admission=admission)
    return meta_tools.load_answer(
        loaded=outcome.loaded,
        already_loaded=already,
        not_found=[
            {"name": meta_tools.clip(name), "suggestions": alike} for name, alike in found.missing.items()
        ],
        message=meta_tools.loaded_text(
            frame.names,
            loaded=outcome.loaded,
            already=already,
            missing=found.missing,
            full=outcome.refused,
            limit=frame.options.max_loaded or 0,
            repeated=repeated,
            evicted=evicted,
            unavailable=outcome.unavailable,
        ),
        receipt=frame.loads.receipt(frame.step, outcome, found.wanted, evicted=evicted),
    )


async def answer_unload(frame: StepFrame, arguments: Mapping[str, Any], _: ToolContext) -> dict[str, Any]:
    """Answer a call of the unload tool."""
    names = meta_tools.read_names(arguments)
    if not names:
        return meta_tools.unload_answer(message=meta_tools.NO_NAMES)
    most = meta_tools.MAX_NAMES
    with frame.admission() as admission:
        loaded = await frame.usable(tuple(frame.run.seen), admission=admission)
        given = dict.fromkeys(meant_name(name, loaded) or name for name in names[:most])
        usable = await frame.usable(tuple(given), admission=admission)
    unloaded = await frame.loads.remove(frame.step, usable)
    missing = [name for name in given if name not in unloaded]
    text = meta_tools.unloaded_text(unloaded=unloaded, missing=missing)
    return meta_tools.unload_answer(
        unloaded=unloaded,
        not_loaded=[meta_tools.clip(name) for name in missing],
        message=f"{text}{meta_tools.left_text(len(names) - most, limit=most)}",
        receipt=meta_tools.receipt(unloaded, kind="unloaded")
        if unloaded and frame.loads.writes_receipts
        else None,
    )
