"""Answers to calls of the load tool and of the unload tool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tool_search_processor import telemetry
from tool_search_processor.catalog.lookups import find_named
from tool_search_processor.meta_tools import answers, reading, receipts, texts
from tool_search_processor.policy.admission import Admission
from tool_search_processor.processor.step_view import StepView
from tool_search_processor.tools import ToolContext
from tool_search_processor.tools.near_names import meant_name


@dataclass(frozen=True)
class LoadAnswers:
    """Answers calls of the load tool and the unload tool with what one step can see."""

    view: StepView

    async def answer(self, arguments: Mapping[str, Any], _: ToolContext) -> dict[str, Any]:
        """Answer a call of the load tool."""
        names = reading.read_names(arguments)
        if not names:
            return answers.load_answer(message=texts.NO_NAMES)
        asked = {telemetry.REQUESTED: len(names)}
        with self.view.admission() as admission, telemetry.span("tool_search.load", asked) as span:
            answer = await self.load(names[: reading.MAX_NAMES], admission)
            span.set({telemetry.LOADED: len(answer["loaded"])})
        left = texts.left_text(len(names) - reading.MAX_NAMES)
        return {**answer, "message": f"{answer['message']}{left}"}

    async def load(self, names: Sequence[str], admission: Admission) -> dict[str, Any]:
        """Load tools by name, and return the answer."""
        view = self.view
        found = await find_named(
            view.catalog,
            names,
            admission=admission,
            listed={*view.listed, *view.names.present},
            without=view.absent,
        )
        outcome = await view.loads.add(view.step, found.wanted)
        asked_again = view.run.guard.is_asked_again(("load", *sorted(names)))
        if outcome.loaded:
            view.run.guard.used()
        already = (*found.listed, *outcome.already_loaded)
        evicted = await view.usable(outcome.evicted, admission)
        return answers.load_answer(
            loaded=outcome.loaded,
            already_loaded=already,
            not_found=[
                {"name": texts.clip(name), "suggestions": alike} for name, alike in found.missing.items()
            ],
            message=texts.loaded_text(
                view.names,
                loaded=outcome.loaded,
                already=already,
                missing=found.missing,
                full=outcome.refused,
                limit=view.options.max_loaded or 0,
                repeated=asked_again and not (outcome.loaded or outcome.refused or outcome.unavailable),
                evicted=evicted,
                unavailable=outcome.unavailable,
            ),
            receipt=view.loads.receipt(view.step, outcome, found.wanted, evicted=evicted),
        )

    async def answer_unload(self, arguments: Mapping[str, Any], _: ToolContext) -> dict[str, Any]:
        """Answer a call of the unload tool."""
        names = reading.read_names(arguments)
        if not names:
            return answers.unload_answer(message=texts.NO_NAMES)
        view = self.view
        with view.admission() as admission:
            loaded = await view.usable(tuple(view.run.seen), admission)
            given = dict.fromkeys(meant_name(name, loaded) or name for name in names[: reading.MAX_NAMES])
            usable = await view.usable(tuple(given), admission)
        unloaded = await view.loads.remove(view.step, usable)
        missing = [name for name in given if name not in unloaded]
        text = texts.unloaded_text(unloaded=unloaded, missing=missing)
        is_noted = unloaded and view.loads.writes_receipts(view.step)
        return answers.unload_answer(
            unloaded=unloaded,
            not_loaded=[texts.clip(name) for name in missing],
            message=f"{text}{texts.left_text(len(names) - reading.MAX_NAMES)}",
            receipt=receipts.receipt(unloaded, kind="unloaded") if is_noted else None,
        )
