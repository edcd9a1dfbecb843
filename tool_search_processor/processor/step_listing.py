"""What a step lists besides the meta-tools, and what it says in the system prompt."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from tool_search_processor.catalog.finding import guess
from tool_search_processor.errors import ReservedToolNameError
from tool_search_processor.meta_tools.definitions import MetaTool
from tool_search_processor.meta_tools.texts import catalog_line, catalog_text, instruction_text
from tool_search_processor.policy.admission import Admission
from tool_search_processor.processor.guarded import GuardedTool
from tool_search_processor.processor.processor_options import Options
from tool_search_processor.processor.step_calls import StepCalls
from tool_search_processor.processor.step_view import StepView
from tool_search_processor.session.tool_choices import read_tool_choice
from tool_search_processor.steps import InputStep
from tool_search_processor.tokens.counting import DefinitionCounter, TextCounter
from tool_search_processor.tools import Tool
from tool_search_processor.tools.wording import near_name
from tool_search_processor.wire.messages import last_user_text

logger = logging.getLogger(__name__)

_BATCH = 50


@dataclass(frozen=True)
class StepListing:
    """Loads and lists the tools of one step."""

    calls: StepCalls
    admission: Admission

    @property
    def view(self) -> StepView:
        """What the step can see."""
        return self.calls.view

    async def everything(self, *, definitions: DefinitionCounter) -> list[GuardedTool] | None:
        """Return every allowed tool, or None if their definitions cost more than `passthrough_tokens`."""
        hidden = {tool.name for tool in self.view.own}
        listed_anyway = {tool.name for tool in self.view.pinned}
        left = self.view.options.passthrough_tokens
        everything: list[GuardedTool] = []
        for batch in batched((tool for tool in self.view.catalog if tool.name not in hidden), _BATCH):
            to_load = [tool for tool in batch if tool.name not in listed_anyway]
            loadable = await self.admission.admit(to_load, "load")
            admitted = listed_anyway | {tool.name for tool in loadable}
            for tool in await self.admission.admit((t for t in batch if t.name in admitted), "active"):
                left -= definitions.count((tool,))
                if left < 0:
                    return None
                everything.append(self.calls.guard(tool))
        return everything

    async def replay(self) -> None:
        """Load for this run what its conversation says was loaded, if phase `load` still admits it."""
        loads, step = self.view.loads, self.view.step
        unread = loads.unread(step)
        if not unread.names:
            return
        admitted = await self.admission.admit(await self.view.catalog.fetch_all(unread.names), "load")
        denied = {*unread.names} - {tool.name for tool in admitted}
        await loads.replay(step, unread.less(denied))

    async def preload(self) -> None:
        """Load the best tools for the last user message, once in each user turn."""
        limit, messages = self.view.options.preload, self.view.step.messages
        if not limit:
            return
        text = last_user_text(messages)
        turn = (sum(message.get("role") == "user" for message in messages), text)
        run = self.view.run
        if not text or run.turn == turn:
            return
        run.turn = turn
        wanted = self.view.wanted(limit=limit)
        best = await guess(
            self.view.catalog, text, wanted=wanted, admission=self.admission, purpose="preload"
        )
        await self._load_after_earlier([tool.name for tool in best])

    async def load_chosen(self) -> list[Tool]:
        """Load the tools that the step's `tool_choice` names, and return those that phase `active` admits."""
        listed = self.view.unsearched
        names = [name for name in read_tool_choice(self.view.step.tool_choice).names if name not in listed]
        if not names:
            return []
        chosen = await self.admission.admit(await self.view.catalog.fetch_all(names), "load")
        chosen = await self.admission.admit(chosen, "active")
        if self.view.names.mode != "call":
            await self._load_after_earlier([tool.name for tool in chosen])
        return chosen

    async def list_pinned(self) -> list[GuardedTool]:
        """Add the pinned tools that phase `active` admits to what the step lists, and return them.

        The step's own tools hide pinned tools of the same name.
        """
        visible = (tool for tool in self.view.pinned if tool.name not in self.view.listed)
        pinned = [self.calls.guard(tool) for tool in await self.admission.admit(visible, "active")]
        self.view.listed.update((tool.name, tool) for tool in pinned)
        return pinned

    async def loaded(self, *, chosen: Sequence[Tool] = ()) -> list[GuardedTool]:
        """Renew the thread, and return its loaded tools that phase `active` admits, in load order.

        Args:
            chosen: Admitted tools to list in any case: a tool that `tool_choice` names has to be there.
        """
        view = self.view
        names = await view.loads.renew(view.step)
        wanted = [name for name in names if name not in view.unsearched] if view.names.mode != "call" else []
        admitted = await self.admission.admit(await view.catalog.fetch_all(wanted), "active")
        listed = {tool.name: tool for tool in (*admitted, *chosen)}
        return [self.calls.guard(tool) for tool in listed.values()]

    async def instructions(self, *, counter: TextCounter) -> list[str]:
        """Return the texts for the system prompt: the fixed one, and the list of tools if that is on."""
        text = instruction_text(self.view.names)
        if not self.view.options.catalog_in_prompt:
            return [text]
        lines, is_all = await self._catalog_lines(counter)
        return [text, catalog_text(lines, self.view.names, is_all=is_all)] if lines else [text]

    async def _load_after_earlier(self, names: Sequence[str]) -> None:
        """Load tools, after reading what the thread loaded earlier, which stays first in the list."""
        await self.view.loads.renew(self.view.step)
        await self.view.loads.add(self.view.step, names)

    async def _catalog_lines(self, counter: TextCounter) -> tuple[list[str], bool]:
        """Return a line for each tool that can be found, as many as fit, and whether that is all of them."""
        lines: list[str] = []
        head = catalog_text((), self.view.names, is_all=False)  # the longer one of both
        left = self.view.options.catalog_token_limit - counter(head)
        for batch in batched(self.view.findable(), _BATCH):
            for tool in await self.admission.admit(batch, "search"):
                line = catalog_line(tool)
                # One more for the line break, so that the sum of the lines is never less than the whole.
                left -= counter(line) + 1
                if left < 0:
                    return lines, False
                lines.append(line)
        return lines, not await self.view.has_outage(self.admission)


def batched(tools: Iterable[Tool], size: int) -> Iterator[list[Tool]]:
    """Yield tools in lists of at most `size`."""
    remaining = iter(tools)
    while batch := list(islice(remaining, size)):
        yield batch


def warn_of_unknown(unknown: Iterable[str], known: Collection[str]) -> None:
    """Log the pinned names that no tool has; they may still be added.

    Args:
        unknown: The names.
        known: The names of all tools.
    """
    for name in unknown:
        near = near_name(name, sorted(known))
        hint = f": did you mean {near!r}?" if near else ""
        logger.warning("no tool of the catalog is named %r, which is pinned%s", name, hint)


def split_tools(
    step: InputStep, options: Options, *, processor_id: str
) -> tuple[list[Tool], tuple[Tool, ...]]:
    """Return the step's tools that are listed at once, and those that a model has to find first.

    Raises:
        ReservedToolNameError: If one of the step's tools has a meta-tool's name.
    """
    reserved = frozenset(options.names.present)
    listed: list[Tool] = []
    withheld: list[Tool] = []
    for tool in step.tools:
        # The model has already found a tool that another searcher lists.
        is_found = tool.pinned or isinstance(tool, (MetaTool, GuardedTool))
        if tool.name in reserved:
            _refuse_name(tool, processor_id)
        elif options.include_step_tools and not is_found:
            withheld.append(tool)
        else:
            listed.append(tool)
    return listed, tuple(withheld)


def _refuse_name(tool: Tool, processor_id: str) -> None:
    clash = f"a tool named {tool.name!r}, which is the name of a meta-tool of {processor_id!r}"
    if not isinstance(tool, GuardedTool):
        raise ReservedToolNameError(f"the step brings {clash}: rename it, or give the meta-tool another name")
    # Another searcher's catalog may bring any name at any time: that must not end the run.
    logger.warning("a tool of another searcher is not sent: %s", clash)
