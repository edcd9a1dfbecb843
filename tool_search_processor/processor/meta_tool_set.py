"""Makes the meta-tools that a step lists, with what answers their calls."""

from __future__ import annotations

from collections.abc import Mapping

from tool_search_processor.catalog.toolsets import ToolSet
from tool_search_processor.meta_tools import MetaTool, definitions
from tool_search_processor.processor.load_answers import LoadAnswers
from tool_search_processor.processor.search_answers import SearchAnswers
from tool_search_processor.processor.step_calls import StepCalls
from tool_search_processor.processor.step_view import StepView

_OTHERS = {"load": definitions.load_tool, "call": definitions.call_tool, "unload": definitions.unload_tool}


class MetaToolSet:
    """A processor's meta-tools; their definitions are made again only when the catalog changes."""

    def __init__(self) -> None:
        """Begin without definitions."""
        # The shared catalog state, and the definitions made for it: one value, since threads share it.
        self._last: tuple[ToolSet, Mapping[str, MetaTool]] | None = None

    def answered_by(self, calls: StepCalls) -> list[MetaTool]:
        """Return the meta-tools in order; their calls are answered with what a step can see."""
        view = calls.view
        loads = LoadAnswers(view)
        answers: Mapping[str, definitions.Handler] = {
            "search": SearchAnswers(view).answer,
            "load": loads.answer,
            "call": calls.call,
            "unload": loads.answer_unload,
        }
        return [
            tool.answered_by(answers[kind], proxy=calls.proxied if kind == "call" else None)
            for kind, tool in self._definitions(view).items()
        ]

    def _definitions(self, view: StepView) -> Mapping[str, MetaTool]:
        if view.shared.own:
            return _defined(view)
        last = self._last
        if last is None or last[0] is not view.shared.shared:
            last = self._last = (view.shared.shared, _defined(view))
        return last[1]


def _defined(view: StepView) -> dict[str, MetaTool]:
    """Return the definitions of the meta-tools that are listed, in order, by kind."""
    names = view.names
    inventory, tags = view.inventory()
    search = definitions.search_tool(
        names,
        inventory=inventory,
        takes_pattern=view.catalog.takes_pattern,
        default_limit=view.options.top_k,
        tags=tags,
    )
    return {kind: _OTHERS[kind](names) if kind in _OTHERS else search for kind in names.kinds}
