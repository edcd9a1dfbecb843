"""What one step can find, what it lists, and what may be said about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from tool_search_processor.catalog.policy_view import PolicyView
from tool_search_processor.catalog.request_view import CatalogView
from tool_search_processor.meta_tools.meta_tool_names import MetaToolNames
from tool_search_processor.meta_tools.texts import changed_tool_text, missing_tool_text
from tool_search_processor.policy.admission import LATE, Admission
from tool_search_processor.processor.loading import LoadedTools
from tool_search_processor.processor.processor_options import Options
from tool_search_processor.processor.run_memory import RunMemory
from tool_search_processor.steps import InputStep
from tool_search_processor.tools import Tool
from tool_search_processor.wire.messages import last_user_text


@dataclass(frozen=True, kw_only=True)
class StepView(PolicyView):
    """What one step can find, what it lists, and what may be said about it."""

    options: Options
    step: InputStep
    shared: CatalogView
    """The catalog without the tools that the step itself brings."""
    own: Sequence[Tool]
    """The step's own tools that it lists."""
    pinned: Sequence[Tool]
    """The catalog's tools that every step lists if phase `active` admits them."""
    loads: LoadedTools

    @property
    def names(self) -> MetaToolNames:
        """What the meta-tools are called."""
        return self.options.names

    @cached_property
    def unsearched(self) -> frozenset[str]:
        """The names that searches leave out, since they are listed anyway."""
        return frozenset((*self.names.present, *(tool.name for tool in (*self.own, *self.pinned))))

    @cached_property
    def listed(self) -> dict[str, Tool]:
        """The tools that this step lists whatever is loaded; pinned ones join once they are admitted."""
        return {tool.name: tool for tool in self.own}

    @property
    def absent(self) -> frozenset[str]:
        """Pinned tools that this step does not list: phase `active` denies them, and loading won't help."""
        return frozenset(tool.name for tool in self.pinned if tool.name not in self.listed)

    @property
    def run(self) -> RunMemory:
        """What the step's run has seen."""
        return self.loads.run(self.step)

    @property
    def turn(self) -> str:
        """The last message of the user."""
        return last_user_text(self.step.messages)

    async def unknown_text(self, name: str, admission: Admission) -> str:
        """Record the call of an unknown or denied tool, and return the sentence that answers it."""
        repeated = self.run.guard.is_asked_again(("call", name))
        return await self.missing_text(name, admission, repeated=repeated)

    async def missing_text(self, name: str, admission: Admission, *, repeated: bool = False) -> str:
        """Return the sentence for a tool that is unknown or denied, the same for both."""
        # A policy that has just timed out on this call would cost its time limit a second time.
        hangs = self.run.unsettled.get(name) == LATE
        if not hangs and self.run.is_another(name) and await self._is_loadable(name, admission):
            return changed_tool_text(name, names=self.names)
        alike = [] if hangs else await self.suggest(name, admission)
        names = None if self.run.passed_through else self.names
        return missing_tool_text(name, suggestions=alike, names=names, repeated=repeated)

    def inventory(self) -> tuple[str, Sequence[str]]:
        """Return the sentence about what can be found, and its tags and namespaces.

        What a step brings is left out, so that a definition changes only when the catalog does.
        """
        return self._inventory(self.shared, listed=self.shared.pinned(self.options.pinned))

    async def _is_loadable(self, name: str, admission: Admission) -> bool:
        tool = await self.catalog.fetch(name)
        return tool is not None and await admission.admits(tool, "load")
