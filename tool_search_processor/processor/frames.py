"""What one step could see, and what may be told of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from tool_search_processor.catalog.finding import fetch_all, suggest
from tool_search_processor.catalog.request_view import CatalogView
from tool_search_processor.meta_tools import MetaToolNames, changed_tool_text, missing_tool_text
from tool_search_processor.policy.admission import LATE, Admission
from tool_search_processor.processor.loading import LoadedTools, RunMemory
from tool_search_processor.processor.processor_options import Options
from tool_search_processor.steps import InputStep
from tool_search_processor.tools import Tool


@dataclass(frozen=True)
class StepFrame:
    """What one step could see, and what may be told of it."""

    step: InputStep
    catalog: CatalogView
    view: CatalogView
    """What can be found: the catalog, and the step's own tools where those are searched."""
    own: Sequence[Tool]
    """The step's own tools that it lists."""
    pinned: Sequence[Tool]
    """The catalog's tools that are listed at every step where phase `active` admits them."""
    options: Options
    loads: LoadedTools

    @property
    def names(self) -> MetaToolNames:
        """What the meta-tools are called."""
        return self.options.names

    @cached_property
    def unsearched(self) -> frozenset[str]:
        """Names that searches leave out: what is listed anyway."""
        return frozenset((*self.names.present, *(tool.name for tool in (*self.own, *self.pinned))))

    @cached_property
    def listed(self) -> dict[str, Tool]:
        """The tools that this step lists whatever is loaded; pinned ones once they are admitted."""
        return {tool.name: tool for tool in self.own}

    @property
    def absent(self) -> frozenset[str]:
        """Pinned tools that this step does not list: phase `active` denies them, and loading won't help."""
        return frozenset(tool.name for tool in self.pinned if tool.name not in self.listed)

    @property
    def run(self) -> RunMemory:
        """What the step's run has seen."""
        return self.loads.run(self.step)

    def admission(self) -> Admission:
        """Return a new request to the filter."""
        return Admission(
            self.options.filter,
            context=self.step.context,
            thread_id=self.step.thread_id,
            timeout_seconds=self.options.filter_timeout_seconds,
        )

    async def usable(self, names: Sequence[str], *, admission: Admission) -> Sequence[str]:
        """Return those of the names that may be told of: a denied tool is as one that isn't there."""
        if admission.is_open:
            return names
        return [tool.name for tool in await admission.admit(await fetch_all(self.view, names), "active")]

    async def unknown_text(self, name: str, *, admission: Admission) -> str:
        """Return the sentence for a call of a tool that is unknown or denied, and take note of the call."""
        repeated = self.run.guard.is_asked_again(("call", name))
        return await self.missing_text(name, admission=admission, repeated=repeated)

    async def missing_text(self, name: str, *, admission: Admission, repeated: bool = False) -> str:
        """Return the sentence for a tool that is unknown or denied: the same for both."""
        # A policy that has just hung at this very call would cost its time limit once more.
        hangs = self.run.unsettled.get(name) == LATE
        if not hangs and self.run.is_another(name) and await self._is_loadable(name, admission):
            return changed_tool_text(name, names=self.names)
        alike = [] if hangs else await suggest(self.view, name, admission=admission)
        names = None if self.run.passed_through else self.names
        return missing_tool_text(name, suggestions=alike, names=names, repeated=repeated)

    async def _is_loadable(self, name: str, admission: Admission) -> bool:
        tool = await self.view.fetch(name)
        return tool is not None and await admission.admits(tool, "load")
