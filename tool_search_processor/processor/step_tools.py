"""The tools that a step itself brings: listed at once, or withheld until the model finds them."""

from __future__ import annotations

import logging

from tool_search_processor.errors import ReservedToolNameError
from tool_search_processor.meta_tools import MetaTool
from tool_search_processor.processor.guarded import GuardedTool
from tool_search_processor.processor.processor_options import Options
from tool_search_processor.steps import InputStep
from tool_search_processor.tools import Tool

logger = logging.getLogger(__name__)


def withheld_tools(step: InputStep, options: Options) -> tuple[Tool, ...]:
    """Return the step's tools that a model has to find first."""
    return tuple(tool for tool in step.tools if _is_withheld(tool, options))


def listed_tools(step: InputStep, options: Options, *, processor_id: str) -> list[Tool]:
    """Return the step's tools that are listed at once.

    Raises:
        ReservedToolNameError: If one of the step's tools has a meta-tool's name.
    """
    listed: list[Tool] = []
    reserved = frozenset(options.names.present)
    for tool in step.tools:
        if tool.name in reserved:
            _refuse(tool, processor_id)
        elif not _is_withheld(tool, options):
            listed.append(tool)
    return listed


def _is_withheld(tool: Tool, options: Options) -> bool:
    # The model has already found a tool that another searcher lists.
    return options.include_step_tools and not tool.pinned and not isinstance(tool, (MetaTool, GuardedTool))


def _refuse(tool: Tool, processor_id: str) -> None:
    clash = f"a tool named {tool.name!r}, which is the name of a meta-tool of {processor_id!r}"
    if not isinstance(tool, GuardedTool):
        raise ReservedToolNameError(f"the step brings {clash}: rename it, or give the meta-tool another name")
    # Another searcher's catalog may bring any name at any time: that must not end the run.
    logger.warning("a tool of another searcher is not sent: %s", clash)
