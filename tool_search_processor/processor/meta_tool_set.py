"""Makes the meta-tools that a step lists, with what answers their calls."""

from __future__ import annotations

from collections.abc import Mapping

from tool_search_processor import meta_tools
from tool_search_processor.catalog.toolsets import ToolSet
from tool_search_processor.meta_tools import MetaTool
from tool_search_processor.processor.load_answers import LoadAnswers
from tool_search_processor.processor.search_answers import SearchAnswers
from tool_search_processor.processor.step_calls import StepCalls
from tool_search_processor.processor.step_view import StepView


class MetaToolSet:
    """A processor's meta-tools; their definitions are made again only when the catalog changes."""

    def __init__(self) -> None:
        """Begin without definitions."""
        # The shared catalog state, and the definitions made for it: one value, since threads share it.
        self._last: tuple[ToolSet, Mapping[str, MetaTool]] | None = None

    def answered_by(self, calls: StepCalls) -> list[MetaTool]:
        """Return the meta-tools in order; their calls are answered with what a step can see."""
        view = calls.view
        names, definitions = view.names, self._definitions(view)
        loads = LoadAnswers(view)
        bound = {names.search: definitions[names.search].answered_by(SearchAnswers(view).answer)}
        if names.load in definitions:
            bound[names.load] = definitions[names.load].answered_by(loads.answer)
        if names.call in definitions:
            bound[names.call] = definitions[names.call].answered_by(calls.call, proxy=calls.proxied)
        if names.unload in definitions:
            bound[names.unload] = definitions[names.unload].answered_by(loads.answer_unload)
        return [bound[name] for name in names.present]

    def _definitions(self, view: StepView) -> Mapping[str, MetaTool]:
        if view.shared.own:
            return _defined(view)
        last = self._last
        if last is None or last[0] is not view.shared.shared:
            last = self._last = (view.shared.shared, _defined(view))
        return last[1]


def _defined(view: StepView) -> dict[str, MetaTool]:
    """Return the definitions of the meta-tools that are present, by name."""
    names = view.names
    inventory, tags = view.inventory()
    search = meta_tools.search_tool(
        names,
        inventory=inventory,
        takes_pattern=view.catalog.takes_pattern,
        default_limit=view.options.top_k,
        tags=tags,
    )
    others = {
        names.load: meta_tools.load_tool,
        names.call: meta_tools.call_tool,
        names.unload: meta_tools.unload_tool,
    }
    return {name: others[name](names) if name != names.search else search for name in names.present}
